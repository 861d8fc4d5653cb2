"""Calls that are replaced by another call: arguments in their places, brackets where they are needed, imports."""

from collections.abc import Mapping

from examples import table

from cli_guard.assistant.editing import plan_refactor

NAMES = "def bar(a, b): ...\n\n\ndef new_name(x): ...\n"
TABLE = (
    (
        "replace foo(a, b) with bar(b, a)",
        "foo(1, x + 2)\nobj.foo(1, 2)\n",
        "bar(x + 2, 1)\nobj.foo(1, 2)\n",
    ),
    (
        "replace twice(a) with a * 2",
        "y = twice(x + 1)\nz = twice(f(1))\n",
        "y = (x + 1) * 2\nz = f(1) * 2\n",
    ),
    (
        "use new_name instead of old_name",
        "old_name(1)\nobj.old_name\n",
        "new_name(1)\nobj.old_name\n",
    ),
    (
        "replace old() with new_name()",
        "f(old(1), key=old)\n@old\ndef g(): ...\n",
        "f(new_name(1), key=new_name)\n@new_name\n",
    ),
    (
        "replace datetime.utcnow() with datetime.now(timezone.utc)",
        "import datetime as dt\nfrom datetime import timezone\nx = dt.datetime.utcnow()\n",
        "x = dt.datetime.now(timezone.utc)\n",
    ),
    (
        "replace foo(a, None) with bar(a, 0)",
        "foo(1, None)\nfoo(1, 2)\n",
        "bar(1, 0)\nfoo(1, 2)\n",
    ),
    ("replace foo(a) with bar(a, key=a)", "f'{foo(x)}'\n", "f'{bar(x, key=x)}'\n"),
    (
        "replace lib.old(a) with lib.new(a)",
        "import lib\nlib.old(1)\n",
        "import lib\nlib.new(1)\n",
    ),
    (
        "replace lib.old(a) with lib.new(a)",
        "import lib as l\nl.old([1, 2])\n",
        "import lib as l\nl.new([1, 2])\n",
    ),
    (
        "replace lib.old with lib.new",
        "import lib\nf(lib.old, lib.older)\n",
        "import lib\nf(lib.new, lib.older)\n",
    ),
)


@table(
    ("request_", "before", "after"), TABLE, ids=[f"{n} {r[0]}" for n, r in enumerate(TABLE)]
)
def test_calls_are_replaced(request_: str, before: str, after: str) -> None:
    plan = plan_refactor(request_, {"pkg/a.py": before, "pkg/names.py": NAMES})
    lines = plan.changes["pkg/a.py"].splitlines()
    assert [each for each in after.splitlines() if each not in lines] == [], plan.changes[
        "pkg/a.py"
    ]


IMPORTS: tuple[tuple[str, Mapping[str, str], str], ...] = (
    (
        "replace foo(a) with bar(a)",
        {
            "p/__init__.py": "",
            "p/m.py": "def bar(x): ...\n",
            "a.py": "'''Doc.'''\nimport os\nfoo(1)\n",
        },
        "'''Doc.'''\nimport os\nfrom p.m import bar\nbar(1)\n",
    ),
    (
        "replace foo(a) with bar(a)",
        {"b.py": "from lib import bar\n", "a.py": "from old import foo\nfoo(1)\n"},
        "from lib import bar\nbar(1)\n",
    ),
    (
        "replace foo(a) with json.dumps(a)",
        {"a.py": "foo(1)\n"},
        "import json\njson.dumps(1)\n",
    ),
    (
        "replace foo(a) with Path(a)",
        {"a.py": "#!/bin/x\nfoo(1)\n"},
        "#!/bin/x\nfrom pathlib import Path\nPath(1)\n",
    ),
    ("replace foo(a) with print(a)", {"a.py": "foo(1)\n"}, "print(1)\n"),
    ("replace foo(a) with bar(a)", {"a.py": "bar = 1\nfoo(1)\n"}, "bar = 1\nbar(1)\n"),
)


@table(("request_", "texts", "wanted"), IMPORTS, ids=[row[2] for row in IMPORTS])
def test_the_replacement_is_imported(
    request_: str, texts: Mapping[str, str], wanted: str
) -> None:
    assert plan_refactor(request_, texts).changes["a.py"] == wanted


def test_a_call_that_does_not_fit_is_named() -> None:
    text = "foo(1)\nfoo(1, b=2)\nfoo(1, 2)\nfoo(*a, 2)\nfoo(3, foo(1, 2))\n"
    plan = plan_refactor(
        "replace foo(a, b) with bar(b, a)", {"a.py": text, "b.py": "def bar(a, b): ...\n"}
    )
    assert [(line, why.partition(" of ")[0]) for _, line, why in plan.by_hand] == [
        (1, "its arguments do not fit foo(...) as written"),
        (2, "its arguments do not fit foo(...) as written"),
        (4, "its arguments do not fit foo(...) as written"),
        (5, "it is an argument"),
    ]
    assert "bar(2, 1)\n" in plan.changes["a.py"]
    assert not plan.complete


def test_what_is_not_known_is_asked_for() -> None:
    plan = plan_refactor("replace foo(a) with zz_bar(a)", {"a.py": "foo(1)\n"})
    assert plan.by_hand == (
        ("a.py", 1, "zz_bar must be imported here: where from is not known"),
    )
    assert "Import what the replacement names: zz_bar" in [
        step.purpose for step in plan.steps
    ]
    assert plan_refactor("replace deprecated foo()", {"a.py": "foo(1)\n"}).changes == {}
    assert plan_refactor("replace zz_foo(a) with bar(a)", {"a.py": "foo(1)\n"}).missing


def test_other_calls_of_that_name_are_said_and_a_local_name_is_another() -> None:
    texts = {
        "a.py": "foo(1)\nobj.foo(2)\n",
        "b.py": "def f(foo):\n    foo(3)\n",
        "c.py": "def bar(a): ...\n",
    }
    plan = plan_refactor("replace foo(a) with bar(a)", texts)
    assert set(plan.changes) == {"a.py"}
    assert (
        "other calls named foo were left, they may mean something else: a.py:2, b.py:2"
        in plan.risks
    )
