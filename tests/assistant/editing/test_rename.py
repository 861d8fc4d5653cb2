"""Renames: what is taken, what is near and is not; over a real package, that all of it still compiles and loads."""

import ast
import builtins
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import click
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cli_guard.assistant.editing import plan_refactor

# request, texts, what must be in the new texts, what must not
TABLE: tuple[tuple[str, Mapping[str, str], Mapping[str, str]], ...] = (
    (
        "rename f to g",
        {"a.py": "def f():\n    return f\n", "b.py": "from a import f as f\nimport a\na.f()\nother.f()\n"},
        {"a.py": "def g():\n    return g\n", "b.py": "from a import g as g\nimport a\na.g()\nother.f()\n"},
    ),
    (
        "rename f to g",
        {"a.py": "def f(): ...\n", "b.py": "from a import *\nf()\n", "c.py": "def h(f):\n    return f\n"},
        {"a.py": "def g(): ...\n", "b.py": "from a import *\ng()\n"},
    ),
    (
        "rename class C to D",
        {"a.py": "class C: ...\ndef m(x: 'list[C]') -> 'C':\n    y: Literal['C']\n    s = 'C'\n"},
        {"a.py": "class D: ...\ndef m(x: 'list[D]') -> 'D':\n    y: Literal['C']\n    s = 'C'\n"},
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
        "rename module p.a to p.b",
        {
            "p/__init__.py": "",
            "p/a.py": "X = 1\n",
            "c.py": "import p.a\nfrom p import a\nfrom p.a import X\np.a.X, a.X\n",
        },
        {"p/b.py": "X = 1\n", "c.py": "import p.b\nfrom p import b\nfrom p.b import X\np.b.X, b.X\n"},
    ),
    (
        "rename getUser to loadUser",
        {
            "a.ts": "export function getUser(): void {}\nconst o = { getUser };\no.getUser();\n",
            "b.ts": "import { getUser } from './a';\nimport * as n from './a';\n"
            "function f(getUser: any) { getUser }\n"
            "getUser(); n.getUser();\n",
        },
        {
            "a.ts": "export function loadUser(): void {}\nconst o = { getUser: loadUser };\no.getUser();\n",
            "b.ts": "import { loadUser } from './a';\nimport * as n from './a';\n"
            "function f(getUser: any) { getUser }\n"
            "loadUser(); n.loadUser();\n",
        },
    ),
    (
        "rename FetchAll to LoadAll",
        {
            "p/a.go": "package p\n\n// FetchAll does.\nfunc FetchAll() {}\n",
            "m.go": 'package m\n\nimport "x/p"\n\nfunc f() { p.FetchAll() }\n',
        },
        {
            "p/a.go": "package p\n\n// LoadAll does.\nfunc LoadAll() {}\n",
            "m.go": 'package m\n\nimport "x/p"\n\nfunc f() { p.LoadAll() }\n',
        },
    ),
    (
        "rename class Foo to Baz",
        {
            "x/Foo.java": "package x;\npublic class Foo { Foo() {} }\n",
            "x/B.java": "package x;\nclass B { Foo f; }\n",
        },
        {
            "x/Baz.java": "package x;\npublic class Baz { Baz() {} }\n",
            "x/B.java": "package x;\nclass B { Baz f; }\n",
        },
    ),
    (
        "rename load_all to read_all",
        {
            "src/lib.rs": "use crate::u::load_all;\nfn f() { load_all(); }\n",
            "src/u.rs": "pub fn load_all() {}\n",
        },
        {
            "src/lib.rs": "use crate::u::read_all;\nfn f() { read_all(); }\n",
            "src/u.rs": "pub fn read_all() {}\n",
        },
    ),
)


@pytest.mark.parametrize(
    ("request_", "texts", "wanted"), TABLE, ids=[f"{n} {row[0]}" for n, row in enumerate(TABLE)]
)
def test_a_rename_takes_what_it_means_and_nothing_else(
    request_: str, texts: Mapping[str, str], wanted: Mapping[str, str]
) -> None:
    plan = plan_refactor(request_, texts)
    assert dict(plan.changes) == wanted, plan
    assert plan.complete
    assert plan == plan_refactor(request_, dict(reversed(texts.items())))


REFUSED = (
    ("rename f to g", {"a.py": "def f(): ...\ndef g(): ...\n"}, "a.py:2: g is there already"),
    ("rename f to x", {"a.py": "def f(): ...\ndef m(x):\n    return f(x)\n"}, "x means something else in m"),
    ("rename f to len", {"a.py": "def f(): ...\nlen([])\n"}, "len is read here from outside"),
    ("rename f to g", {"a.js": "function f() {}\nfunction h(g) { f(g) }\n"}, "g means something else in h"),
    ("rename Foo to Bar", {"a.go": "package a\ntype Foo int\ntype Bar int\n"}, "Bar is in use here"),
    ("rename n to m", {"a.rs": "fn n() {}\nfn f(n: u8) {}\n"}, "binds n to something else"),
)


@pytest.mark.parametrize(("request_", "texts", "why"), REFUSED, ids=[r[2] for r in REFUSED])
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
    assert not plan.complete
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
                found.append(("class" if isinstance(node, ast.ClassDef) else "function", node.name, path))
    return found


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
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
            isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name and node.col_offset == 0
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


def test_what_is_handed_on_by_require_is_not_renamed_in_one_place_alone() -> None:
    utils = "exports.tag = function () {};\n"
    shared = {"utils.js": utils, "app.js": "var tag = require('./utils').tag;\ntag();\n"}
    plan = plan_refactor("rename tag to label", shared)
    assert plan.patch == ""
    assert [place[:2] for place in plan.by_hand] == [("app.js", 1), ("app.js", 2), ("utils.js", 1)]
    own = plan_refactor("rename tag to label", {"app.js": "var tag = require('./utils').other;\ntag();\n"})
    assert own.changes == {"app.js": "var label = require('./utils').other;\nlabel();\n"}
