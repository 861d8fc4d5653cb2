"""Files that get another name or folder: every import follows, and what names them."""

from collections.abc import Mapping

from examples import table

from cli_guard.assistant.editing import plan_refactor

PACKAGE = {
    "p/__init__.py": "",
    "p/a.py": "from . import b\nfrom .b import Y\nX = 1\n",
    "p/b.py": "Y = 2\n",
}
# request, texts, what changes beside the file itself, where it goes and its new text
TABLE: tuple[tuple[str, Mapping[str, str], Mapping[str, str]], ...] = (
    (
        "rename p/b.py to p/c.py",
        {
            **PACKAGE,
            "u.py": "import p.b\nimport p.b as z\nfrom p import b, a\np.b.Y, b.Y, z\n",
        },
        {
            "p/c.py": "Y = 2\n",
            "p/a.py": "from . import c\nfrom .c import Y\nX = 1\n",
            "u.py": "import p.c\nimport p.c as z\nfrom p import c, a\np.c.Y, c.Y, z\n",
        },
    ),
    (
        "rename module p.b to p.c",
        {
            **PACKAGE,
            "conf.toml": "m = 'p.b'\nn = 'p.b:Y'\no = 'xp.b'\n",
            "doc.md": "See p.b and p/b.py, not p.bc.\n",
        },
        {
            "p/c.py": "Y = 2\n",
            "p/a.py": "from . import c\nfrom .c import Y\nX = 1\n",
            "conf.toml": "m = 'p.c'\nn = 'p.c:Y'\no = 'xp.b'\n",
            "doc.md": "See p.c and p/c.py, not p.bc.\n",
        },
    ),
    (
        "rename file p/a.py to p/sub/a.py",
        {
            **PACKAGE,
            "p/sub/__init__.py": "",
            "u.py": "from p import a, b\nfrom p.a import X\na.X, patch('p.a.X')\n",
        },
        {
            "p/sub/a.py": "from .. import b\nfrom ..b import Y\nX = 1\n",
            "u.py": "from p import b\nfrom p.sub import a\nfrom p.sub.a import X\na.X, patch('p.sub.a.X')\n",
        },
    ),
    (
        "rename file p/__init__.py to q/__init__.py",
        {**PACKAGE, "u.py": "import p.a\nfrom p.b import Y\nfrom p import a, b\np.a.X\n"},
        {
            "q/__init__.py": "",
            "q/a.py": "from . import b\nfrom .b import Y\nX = 1\n",
            "q/b.py": "Y = 2\n",
            "u.py": "import q.a\nfrom q.b import Y\nfrom q import a, b\nq.a.X\n",
        },
    ),
    (
        "rename file docs/old.md to docs/new.md",
        {"docs/old.md": "text\n", "README.md": "see docs/old.md, not xdocs/old.md\n"},
        {"docs/new.md": "text\n", "README.md": "see docs/new.md, not xdocs/old.md\n"},
    ),
    (
        "move file p/b.py to lib/b.py",
        {
            **PACKAGE,
            "lib/__init__.py": "",
            "u.py": "def f():\n    from p import b as z, a\n    return z\n",
        },
        {
            "lib/b.py": "Y = 2\n",
            "p/a.py": "from lib import b\nfrom ..lib.b import Y\nX = 1\n",
            "u.py": "def f():\n    from p import a\n    from lib import b as z\n    return z\n",
        },
    ),
    (
        "move file p/a.py to p/q/a.py",
        {
            "p/__init__.py": "",
            "p/q/__init__.py": "",
            "p/a.py": "from . import c\nfrom .c import d\nfrom .none import e\n",
            "p/c.py": "from .a import x\nfrom . import a, z\na.x\n",
        },
        {
            "p/q/a.py": "from .. import c\nfrom ..c import d\nfrom ..none import e\n",
            "p/c.py": "from .q.a import x\nfrom . import z\nfrom p.q import a\na.x\n",
        },
    ),
)


@table(("request_", "texts", "wanted"), TABLE, ids=[row[0] for row in TABLE])
def test_a_file_is_renamed_with_all_that_imports_it(
    request_: str, texts: Mapping[str, str], wanted: Mapping[str, str]
) -> None:
    plan = plan_refactor(request_, texts)
    assert dict(plan.changes) == wanted
    assert plan.complete
    assert plan.removed
    assert set(plan.removed).isdisjoint(wanted)


REFUSED = (
    ("rename p/a.py to p/b.py", PACKAGE, "a file of that name is there"),
    ("rename p/a.py to p/a.py", PACKAGE, "it has that name already"),
    (
        "rename p/b.py to p/c.py",
        {**PACKAGE, "u.py": "from p import b\nc = 1\n"},
        "c is there already",
    ),
)


@table(("request_", "texts", "why"), REFUSED, ids=[row[2] for row in REFUSED])
def test_a_name_that_is_taken_is_refused(
    request_: str, texts: Mapping[str, str], why: str
) -> None:
    plan = plan_refactor(request_, texts)
    assert not plan.patch
    assert not plan.removed
    assert why in "\n".join(plan.risks)


def test_a_file_that_is_not_there_is_named() -> None:
    plan = plan_refactor("rename file p/nowhere.py to p/b.py", PACKAGE)
    assert plan.missing
    assert not plan.changes
