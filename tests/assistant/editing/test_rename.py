"""Renames: what is taken, what is near and is not; over a real package, that all of it still compiles and loads."""

import ast
import builtins
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import click
from examples import table
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cli_guard.assistant.editing import plan_refactor

# request, texts, what must be in the new texts, what must not
TABLE: tuple[tuple[str, Mapping[str, str], Mapping[str, str]], ...] = (
    (
        "rename method C.m to n",  # a name that no other class has
        {"a.py": "class C:\n    def m(self): ...\ndef g(x):\n    x.m()\n"},
        {"a.py": "class C:\n    def n(self): ...\ndef g(x):\n    x.n()\n"},
    ),
    (
        "rename parameter a of f to b",
        {"a.py": "def g():\n    def f(a): return a\n    return f(a=1)\nf(a=1)\n"},
        {"a.py": "def g():\n    def f(b): return b\n    return f(b=1)\nf(a=1)\n"},
    ),
    (
        "rename parameter x of __init__ to y",
        {
            "a.py": "class C:\n    def __init__(self, x): self.x = x\nclass D(C): ...\nC(x=1), D(x=2), E(x=3)\n"
        },
        {
            "a.py": "class C:\n    def __init__(self, y): self.x = y\nclass D(C): ...\nC(y=1), D(y=2), E(x=3)\n"
        },
    ),
    (
        "rename parameter x of C.m to y",
        {
            "a.py": "class C:\n    def m(self, x): ...\nclass D(C):\n    def m(self, x): ...\nC().m(x=1), D().m(x=2)\n"
        },
        {
            "a.py": "class C:\n    def m(self, y): ...\nclass D(C):\n    def m(self, y): ...\nC().m(y=1), D().m(y=2)\n"
        },
    ),
    (
        "rename variable n in f to m",
        {"a.py": "def f(xs):\n    return [n for n in xs if (n := 1)], n\n"},
        {"a.py": "def f(xs):\n    return [n for n in xs if (m := 1)], m\n"},
    ),
    (
        "rename variable n in f to m",
        {
            "a.py": "def f(v):\n    match v:\n        case {'a': 1, **n}: return n\n        case [*n]: return n\n"
        },
        {
            "a.py": "def f(v):\n    match v:\n        case {'a': 1, **m}: return m\n        case [*m]: return m\n"
        },
    ),
    (
        "rename attribute C.x to y",
        {
            "a.py": "class C:\n    x = 1\ndef g(c: C):\n    match c:\n        case C(x=1): return c.x\n"
        },
        {
            "a.py": "class C:\n    y = 1\ndef g(c: C):\n    match c:\n        case C(y=1): return c.y\n"
        },
    ),
    (
        "rename f to g",
        {
            "a.py": "def f():\n    return f\n",
            "b.py": "from a import f as f\nimport a\na.f()\nother.f()\n",
        },
        {
            "a.py": "def g():\n    return g\n",
            "b.py": "from a import g as g\nimport a\na.g()\nother.f()\n",
        },
    ),
    (
        "rename f to g",
        {
            "a.py": "def f(): ...\n",
            "b.py": "from a import *\nf()\n",
            "c.py": "def h(f):\n    return f\n",
        },
        {"a.py": "def g(): ...\n", "b.py": "from a import *\ng()\n"},
    ),
    (
        "rename class C to D",
        {
            "a.py": "class C: ...\ndef m(x: 'list[C]') -> 'C':\n    y: Literal['C']\n    s = 'C'\n"
        },
        {
            "a.py": "class D: ...\ndef m(x: 'list[D]') -> 'D':\n    y: Literal['C']\n    s = 'C'\n"
        },
    ),
    (
        "rename T to U",
        {"a.py": "from typing import TypeVar\nT = TypeVar('T')\nx = 'T'\n"},
        {"a.py": "from typing import TypeVar\nU = TypeVar('U')\nx = 'T'\n"},
    ),
    (
        "rename method A.read_it to load_it",
        {
            "a.py": "class A:\n    def read_it(self): ...\n    def m(self):\n        self.read_it()\nclass B(A):\n"
            "    def read_it(self):\n        super().read_it()\n",
            "b.py": "from a import B\nB().read_it()\n",
        },
        {
            "a.py": "class A:\n    def load_it(self): ...\n    def m(self):\n        self.load_it()\nclass B(A):\n"
            "    def load_it(self):\n        super().load_it()\n",
            "b.py": "from a import B\nB().load_it()\n",
        },
    ),
    (
        "rename parameter a of f to b",
        {
            "a.py": "def f(a):\n    return a\nf(a=1)\ng(a=1)\na = 2\n",
            "c.py": "from a import f as h\nh(a=3)\n",
        },
        {
            "a.py": "def f(b):\n    return b\nf(b=1)\ng(a=1)\na = 2\n",
            "c.py": "from a import f as h\nh(b=3)\n",
        },
    ),
    (
        "rename variable x to y in f",
        {"a.py": "x = 1\ndef f():\n    x = 2\n    return [x for _ in x]\nx\n"},
        {"a.py": "x = 1\ndef f():\n    y = 2\n    return [y for _ in y]\nx\n"},
    ),
    (
        "rename f to g",
        {
            "a.py": "try:\n    from fast import f\nexcept ImportError:\n    def f(): ...\n__all__ = ['f']\n",
            "b.py": "from a import f as h, other\nh()\nimport a as z\nz.f()\n",
        },
        {
            "a.py": "try:\n    from fast import f as g\nexcept ImportError:\n    def g(): ...\n__all__ = ['g']\n",
            "b.py": "from a import g as h, other\nh()\nimport a as z\nz.g()\n",
        },
    ),
    (
        "rename f in p/a.py to g",
        {
            "p/__init__.py": "from .a import f as f\n",
            "p/a.py": "def f(): ...\n",
            "c.py": "def use():\n    from p import f\n    return f\ndef f(): ...\n",
            "d.py": "import p.a, p\np.a.f(p.f)\nx.p.f\n",
        },
        {
            "p/__init__.py": "from .a import g as g\n",
            "p/a.py": "def g(): ...\n",
            "c.py": "def use():\n    from p import g\n    return g\ndef f(): ...\n",
            "d.py": "import p.a, p\np.a.g(p.g)\nx.p.f\n",
        },
    ),
    (
        "rename LIMIT to MOST",
        {
            "a.py": "LIMIT = 1\ndef f():\n    global LIMIT\n    LIMIT += 1\n    return f'{LIMIT:>{LIMIT}} LIMIT'\n"
        },
        {
            "a.py": "MOST = 1\ndef f():\n    global MOST\n    MOST += 1\n    return f'{MOST:>{MOST}} LIMIT'\n"
        },
    ),
    (
        "rename load to read",
        {
            "p/__init__.py": "",
            "p/a.py": 'def load():\n    """See `load`.\n\n    >>> load()\n    """\n',
            "pyproject.toml": "[project.scripts]\nx = 'p.a:load'\n",
            "docs/use.md": "Call `load()`, `p.a.load` or :func:`load`; load nothing, `load it`.\n",
            "b.py": "patch('p.a.load')\npatch('q.load')\n",
        },
        {
            "p/a.py": 'def read():\n    """See `load`.\n\n    >>> load()\n    """\n',
            "pyproject.toml": "[project.scripts]\nx = 'p.a:read'\n",
            "b.py": "patch('p.a.read')\npatch('q.load')\n",
        },
    ),
    (
        "rename attribute C.size to length",
        {
            "a.py": "class C:\n    def __init__(self):\n        self.size = 1\n"
            "    def m(this):\n        return this.size\n",
            "b.py": "from a import C\ndef f(c: C, d: 'C', e: int):\n    c.size = d.size\n",
        },
        {
            "a.py": "class C:\n    def __init__(self):\n        self.length = 1\n"
            "    def m(this):\n        return this.length\n",
            "b.py": "from a import C\ndef f(c: C, d: 'C', e: int):\n    c.length = d.length\n",
        },
    ),
    (
        "rename method Base.fetch_it to load_it",
        {
            "a.py": "class Base:\n    def fetch_it(self): ...\n",
            "b.py": "import a\nclass B(a.Base): ...\nclass C(B):\n    fetch_it = 1\n"
            "class D:\n    def fetch_it(self): ...\n"
            "C().fetch_it\nD().fetch_it\nx = B()\nx.fetch_it()\n",
        },
        {
            "a.py": "class Base:\n    def load_it(self): ...\n",
            "b.py": "import a\nclass B(a.Base): ...\nclass C(B):\n    load_it = 1\n"
            "class D:\n    def fetch_it(self): ...\n"
            "C().load_it\nD().fetch_it\nx = B()\nx.load_it()\n",
        },
    ),
    (
        "rename parameter key of Store.get to name",
        {
            "a.py": 'class Store:\n    def get(self, key, **more):\n        """:param key: it"""\n        return key\n'
            "class Sub(Store):\n    def get(self, key):\n        return super().get(key=key)\nSub().get(key=1)\n",
        },
        {
            "a.py": "class Store:\n    def get(self, name, **more):\n"
            '        """:param name: it"""\n        return name\n'
            "class Sub(Store):\n    def get(self, name):\n        return super().get(name=name)\nSub().get(name=1)\n",
        },
    ),
    (
        "rename parameter a of C.__init__ to b",
        {
            "a.py": "class C:\n    def __init__(self, a):\n        self.a = a\n"
            "class D(C): ...\nC(a=1), D(a=2), f(a=3)\n"
        },
        {
            "a.py": "class C:\n    def __init__(self, b):\n        self.a = b\n"
            "class D(C): ...\nC(b=1), D(b=2), f(a=3)\n"
        },
    ),
)


@table(
    ("request_", "texts", "wanted"),
    TABLE,
    ids=[f"{n} {row[0]}" for n, row in enumerate(TABLE)],
)
def test_a_rename_takes_what_it_means_and_nothing_else(
    request_: str, texts: Mapping[str, str], wanted: Mapping[str, str]
) -> None:
    plan = plan_refactor(request_, texts)
    assert dict(plan.changes) == wanted, plan
    assert plan.patch
    assert plan == plan_refactor(request_, dict(reversed(texts.items())))


REFUSED = (
    (
        "rename f to g",
        {"a.py": "def f(): ...\ndef g(): ...\n"},
        "a.py:2: g is there already",
    ),
    (
        "rename f to x",
        {"a.py": "def f(): ...\ndef m(x):\n    return f(x)\n"},
        "x means something else in m",
    ),
    (
        "rename f to len",
        {"a.py": "def f(): ...\nlen([])\n"},
        "len is read here from outside",
    ),
    ("rename f to $g", {"a.py": "def f(): ...\n"}, "$g is not a name in Python"),
    ("rename f to f", {"a.py": "def f(): ...\n"}, "it has that name already"),
    (
        "rename A.f to g",
        {"a.py": "class A:\n    def f(self): ...\n    def g(self): ...\n"},
        "A has g already",
    ),
    (
        "rename parameter a of f to b",
        {"a.py": "def f(a, b): ...\n"},
        "a.py:1: b is there already",
    ),
)


@table(("request_", "texts", "why"), REFUSED, ids=[r[2] for r in REFUSED])
def test_a_name_that_would_collide_is_refused_with_its_place(
    request_: str, texts: Mapping[str, str], why: str
) -> None:
    plan = plan_refactor(request_, texts)
    assert not plan.patch
    assert why in "\n".join(plan.risks)


def test_what_cannot_be_told_is_left_to_a_person_and_said() -> None:
    texts = {
        "a.py": "class A:\n    def run(self): ...\nclass B:\n    def run(self): ...\n",
        "b.py": "def f(x):\n    x.run()\n",
    }
    plan = plan_refactor("rename A.run to start", texts)
    assert set(plan.changes) == {"a.py"}
    assert plan.by_hand == (("b.py", 2, "is this .run one of A?"),)
    both = plan_refactor("rename run to start", texts)
    assert both.assumed is not None
    assert "B.run (a.py:4)" in both.assumed


def test_a_secret_is_shown_nowhere_but_in_the_patch() -> None:
    secret = "AKIA" + "QYLPMN5HFIQR7XYA"
    plan = plan_refactor("rename f to g", {"a.py": f"def f(k='{secret}'): ...\n"})
    assert secret in plan.patch
    assert secret not in repr(plan.usages)


PACKAGE = Path(click.__file__).parent
TEXTS = {f"click/{p.name}": p.read_text("utf-8") for p in sorted(PACKAGE.glob("*.py"))}


def renamable() -> list[tuple[str, str, str]]:
    """(kind, name, path) of what click defines at the top of its modules."""
    found = []
    for path, text in TEXTS.items():
        for node in ast.parse(text).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                found.append(
                    (
                        "class" if isinstance(node, ast.ClassDef) else "function",
                        node.name,
                        path,
                    )
                )
    return found


@settings(
    max_examples=8, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True
)
@given(st.sampled_from(renamable()))
def test_a_renamed_package_compiles_and_loads(subject: tuple[str, str, str]) -> None:
    kind, name, path = subject
    plan = plan_refactor(f"rename {kind} {name} in {path} to zz_renamed", TEXTS)
    assert plan.changes
    after = {**TEXTS, **plan.changes}
    for changed in plan.changes:
        compile(after[changed], changed, "exec", dont_inherit=True)
    for node in ast.walk(ast.parse(after[path])):
        assert not (
            isinstance(node, ast.FunctionDef | ast.ClassDef)
            and node.name == name
            and node.col_offset == 0
        )
    with tempfile.TemporaryDirectory() as folder:
        for file, text in after.items():
            target = Path(folder) / file
            target.parent.mkdir(exist_ok=True)
            target.write_text(text, "utf-8")
        code = "import sys, click, click.testing, click.shell_completion; assert click.__file__.startswith(sys.path[0])"
        ran = subprocess.run(
            [sys.executable, "-c", f"import sys; sys.path.insert(0, {folder!r}); {code}"],
            capture_output=True,
            text=True,
        )
        assert ran.returncode == 0, ran.stderr
    assert not hasattr(builtins, "zz_renamed")


LEFT = (
    (
        "rename parameter a of f to b",
        "def f(a): ...\nrun(f, a=1)\ng(**{'a': 1})\nh({'a': 1})\n",
        [
            (2, "the function is handed over here: a= may be meant for it"),
            (3, "a key 'a': is this dict handed over with **?"),
        ],
    ),
    (
        "rename parameter a of A.m to b",
        "class A:\n    def m(self, a): ...\nclass B:\n    def m(self, a): ...\nx.m(a=1)\n",
        [(5, "does this call reach it? a= is b= there")],
    ),
    (
        "rename f_x to g_x",
        "def f_x(): ...\ngetattr(m, 'f_x')\n",
        [(2, "reached by the string 'f_x'")],
    ),
)


@table(("request_", "text", "wanted"), LEFT, ids=[row[0] for row in LEFT])
def test_what_may_be_meant_is_left_with_its_reason(
    request_: str, text: str, wanted: list[tuple[int, str]]
) -> None:
    plan = plan_refactor(request_, {"a.py": text})
    assert [(line, why) for _, line, why in plan.by_hand] == wanted
    assert plan.patch


RISKS = (
    (
        "rename C.__len__ to size",
        {"a.py": "class C:\n    def __len__(self): ...\n"},
        "called by the language itself",
    ),
    ("rename f to list", {"a.py": "def f(): ...\n"}, "list is the name of a built-in"),
    (
        "rename f to g",
        {"a.py": "def f(): ...\n"},
        "code outside of this repository that imports f from a breaks",
    ),
    (
        "rename C.m to n",
        {"a.py": "from z import Z\nclass C(Z):\n    def m(self): ...\n"},
        "extends Z, which is not in this",
    ),
    (
        "rename f to g",
        {"a.py": "def f(): ...\n", "b.js": "f()\n"},
        "javascript files that the patch leaves: b.js",
    ),
    (
        "rename f to g",
        {"a.py": "def f(): ...\n", "b.yml": "a: f\n"},
        "configuration that the patch leaves: b.yml",
    ),
    (
        "rename parameter a of f to b",
        {"a.py": "def f(a, **kw): ...\n"},
        "it takes **kw: a call that still says a=",
    ),
)


@table(("request_", "texts", "why"), RISKS, ids=[row[2] for row in RISKS])
def test_what_may_break_is_said(request_: str, texts: Mapping[str, str], why: str) -> None:
    plan = plan_refactor(request_, texts)
    assert plan.changes
    assert why in "\n".join(plan.risks)


def test_a_file_that_is_not_valid_is_left_and_said() -> None:
    plan = plan_refactor(
        "rename f to g", {"a.py": "def f(): ...\n", "b.py": "from a import f\nprint f\n"}
    )
    assert set(plan.changes) == {"a.py"}
    assert [each.path for each in plan.skipped] == ["b.py"]


def test_a_member_that_no_other_class_has_is_taken_for_it_and_that_is_said() -> None:
    plan = plan_refactor(
        "rename C.m to n",
        {"a.py": "class C:\n    def m(self): ...\ndef g(x):\n    x.m()\n"},
    )
    assert (
        plan.assumed
        == "no other class of the repository has m, so every .m is taken for it (1 place by name alone)"
    )


def test_a_keyword_is_left_where_the_function_is_handed_over_or_may_be_another() -> None:
    text = "class A:\n    def run(self, a): ...\nclass B:\n    def run(self, a): ...\ndef f(x):\n    x.run(a=1)\n"
    plan = plan_refactor("rename parameter a of A.run to b", {"a.py": text})
    assert plan.by_hand == (("a.py", 6, "does this call reach it? a= is b= there"),)
    plan = plan_refactor(
        "rename parameter a of f to b", {"a.py": "def f(a): ...\nsubmit(f, a=1)\n"}
    )
    assert plan.by_hand == (
        ("a.py", 2, "the function is handed over here: a= may be meant for it"),
    )


@table(
    ("text", "is_named"),
    [
        ('url_for("orders")', True),
        ("{{ url_for('shop.orders') }}", True),
        ('url_for("orders_old")', False),
        ('NAME = "orders"', False),
        ('url_for("/orders")', False),
    ],
)
def test_a_string_of_a_call_that_says_the_name_is_a_risk(text: str, is_named: bool) -> None:
    texts = {"a.py": "def orders():\n    return 1\n", "b.html": f"<p>{text}</p>\n"}
    plan = plan_refactor("rename orders to list_orders", texts)
    risk = "orders is also named in strings of calls that the patch leaves: b.html"
    assert (risk in plan.risks) is is_named
