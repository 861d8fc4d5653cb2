"""Definitions that go to another module: what they use comes along, what imports them follows, cycles are refused."""

from collections.abc import Mapping

from examples import table

from cli_guard.assistant.editing import plan_refactor

TABLE: tuple[tuple[str, str, Mapping[str, str], Mapping[str, str]], ...] = (
    (
        "imports come along and go",
        "move f from p/a.py to p/b.py",
        {
            "p/__init__.py": "from .a import f\n",
            "p/a.py": "import os\nimport sys\n\n\ndef f():\n    return os.sep\n\n\ndef g():\n    return f(), sys\n",
            "c.py": "from p.a import f, g\n",
        },
        {
            "p/__init__.py": "from .b import f\n",
            "p/a.py": "import sys\nfrom p.b import f\n\n\ndef g():\n    return f(), sys\n",
            "p/b.py": "import os\n\n\ndef f():\n    return os.sep\n",
            "c.py": "from p.a import g\nfrom p.b import f\n",
        },
    ),
    (
        "comments, decorators and constants",
        "move C to b.py",
        {
            "a.py": "# of C\n# more\n@deco\nclass C: ...  # end\n\n\nX = 1\n",
            "b.py": "Y = 2\n",
        },
        {
            "a.py": "X = 1\n",
            "b.py": "Y = 2\n\n\n# of C\n# more\n@deco\nclass C: ...  # end\n",
        },
    ),
    (
        "a use through the module",
        "move f from a.py to b.py",
        {"a.py": "def f(): ...\nY = 1\n", "c.py": "import a\na.f(a.Y)\n"},
        {
            "a.py": "Y = 1\n",
            "b.py": "def f(): ...\n",
            "c.py": "import a\nimport b\nb.f(a.Y)\n",
        },
    ),
    (
        "the target imported it",
        "move f from a.py to b.py",
        {
            "a.py": "def f(): ...\nY = 1\n",
            "b.py": "from a import f\n\n\ndef g():\n    return f()\n",
        },
        {"a.py": "Y = 1\n", "b.py": "def g():\n    return f()\n\n\ndef f(): ...\n"},
    ),
    (
        "types alone",
        "move f from p/a.py to p/b.py",
        {
            "p/__init__.py": "",
            "p/a.py": "from __future__ import annotations\nfrom typing import TYPE_CHECKING\n\n"
            "if TYPE_CHECKING:\n    from .c import C\n\n\ndef f(c: C): ...\n\n\ndef g(c: C): ...\n",
            "p/c.py": "class C: ...\n",
        },
        {
            "p/a.py": "from __future__ import annotations\nfrom typing import TYPE_CHECKING\n\n"
            "if TYPE_CHECKING:\n    from .c import C\n\n\ndef g(c: C): ...\n",
            "p/b.py": "from __future__ import annotations\nfrom typing import TYPE_CHECKING\n\n"
            "if TYPE_CHECKING:\n    from .c import C\n\n\ndef f(c: C): ...\n",
        },
    ),
    (
        "a relative import into another folder",
        "move f from p/a.py to p/sub/b.py",
        {
            "p/__init__.py": "",
            "p/sub/__init__.py": "",
            "p/a.py": "from .c import C\nfrom os import (\n    path as way,\n)\n\n\ndef f():\n    return C, way\n",
            "p/c.py": "class C: ...\n",
        },
        {
            "p/a.py": "",
            "p/sub/b.py": "from os import path as way\nfrom ..c import C\n\n\ndef f():\n    return C, way\n",
        },
    ),
    (
        "what its module defines is imported from there",
        "move f from a.py to b.py",
        {"a.py": "X = 1\n\n\ndef f():\n    return X\n", "b.py": "Y = 2\n"},
        {
            "a.py": "X = 1\n\n\n",
            "b.py": "from a import X\nY = 2\n\n\ndef f():\n    return X\n",
        },
    ),
    (
        "by its place in a package that imports so",
        "move f from p/a.py to p/b.py",
        {
            "p/__init__.py": "",
            "p/a.py": "from .c import C\n\nX = 1\n\n\ndef f():\n    return X, C\n",
            "p/c.py": "class C: ...\n",
        },
        {
            "p/a.py": "X = 1\n\n\n",
            "p/b.py": "from .a import X\nfrom .c import C\n\n\ndef f():\n    return X, C\n",
        },
    ),
)


@table(("request_", "texts", "wanted"), [r[1:] for r in TABLE], ids=[r[0] for r in TABLE])
def test_a_definition_moves(
    request_: str, texts: Mapping[str, str], wanted: Mapping[str, str]
) -> None:
    assert dict(plan_refactor(request_, texts).changes) == wanted


REFUSED = (
    (
        "move f from p/a.py to p/b.py",
        {
            "p/__init__.py": "",
            "p/a.py": "X = 1\n\n\ndef f():\n    return X\n\n\ndef g():\n    return f()\n",
        },
        "p/a.py still uses f, which needs X of p/a.py: an import cycle",
    ),
    (
        "move f from a.py to b.py",
        {
            "a.py": "from c import x\n\n\ndef f():\n    return x\n",
            "b.py": "",
            "c.py": "import b\nx = 1\n",
        },
        "an import cycle: b.py -> c.py -> b.py",
    ),
    (
        "move f from a.py to b.py",
        {
            "a.py": "def f(): ...\nX = 1\n",
            "b.py": "import c\n",
            "c.py": "from a import f\n",
        },
        "an import cycle: c.py -> b.py -> c.py",
    ),
    (
        "move f from a.py to b.py",
        {"a.py": "def f(): ...\n", "b.py": "f = 1\n"},
        "b.py has f already",
    ),
    (
        "move f from a.py to b.py",
        {"a.py": "X = 1\ndef f():\n    global X\n    X = 2\n"},
        "it sets X of its module",
    ),
    (
        "move f from a.py to b.py",
        {"a.py": "if 1:\n    def f(): ...\n"},
        "f is defined under a condition",
    ),
    (
        "move X from a.py to b.py",
        {"a.py": "def f():\n    global X\n    X = 1\n"},
        "defined under a condition",
    ),
    (
        "move X from a.py to b.py",
        {"a.py": "X = 1; Y = 2\n"},
        "X shares its line with other code",
    ),
    ("move f from a.py to a.py", {"a.py": "def f(): ...\n"}, "it is there already"),
    (
        "move f from a.py to b.md",
        {"a.py": "def f(): ...\n", "b.md": ""},
        "b.md is not a Python module",
    ),
)


@table(("request_", "texts", "why"), REFUSED, ids=[row[2] for row in REFUSED])
def test_a_move_that_cannot_be_is_refused_with_its_reason(
    request_: str, texts: Mapping[str, str], why: str
) -> None:
    plan = plan_refactor(request_, texts)
    assert not plan.patch
    assert why in "\n".join(plan.risks)


def test_what_a_star_import_brings_is_not_known() -> None:
    plan = plan_refactor(
        "move f from a.py to b.py", {"a.py": "from c import *\ndef f(): ...\n", "c.py": ""}
    )
    assert "imports everything from another module" in "\n".join(plan.risks)


def test_a_string_with_the_old_module_is_left() -> None:
    plan = plan_refactor(
        "move f from a.py to b.py", {"a.py": "def f(): ...\n", "c.py": "patch('a.f')\n"}
    )
    assert plan.by_hand == (("c.py", 1, "a string names f by its old module"),)


def test_an_import_that_is_guarded_is_left_to_a_person() -> None:
    text = "try:\n    import fast\nexcept ImportError:\n    import slow as fast\n\n\ndef f():\n    return fast\n"
    plan = plan_refactor("move f from a.py to b.py", {"a.py": text})
    assert plan.by_hand == (
        ("b.py", 1, "bring this import along as it is guarded there: import fast"),
    )
    assert not plan.complete


def test_annotations_that_are_evaluated_in_the_new_module_are_a_risk() -> None:
    texts = {
        "a.py": "from __future__ import annotations\n\n\ndef f(): ...\n",
        "b.py": "Y = 1\n",
    }
    plan = plan_refactor("move f from a.py to b.py", texts)
    assert plan.risks[0].startswith(
        "the new module does not say from __future__ import annotations"
    )
