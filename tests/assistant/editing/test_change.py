"""The mechanical changes: each request gives this new text, and none where it must not."""

import pytest
from repositories import Repo

from cli_guard.assistant.editing import plan_refactor, propose_change

CORE = '''"""Core."""
import os
import json
from datetime import datetime

LIMIT = 3


def load(path, retries=2):
    """Load.

    :param path: where
    """
    print("debug", path)
    return json.loads(path), datetime.utcnow()


class Store:
    def get(self, key):
        return self.fetch(key)

    def fetch(self, key):
        print(key)


def unused_one():
    return LIMIT
'''
TEXTS = {
    "pkg/__init__.py": "from .core import load as load, Store\n__all__ = ['load', 'Store']\n",
    "pkg/core.py": CORE,
    "app.py": "import pkg.core\nfrom pkg import load, Store\nx = load(path='a')\n"
    "pkg.core.load('b')\ns = Store()\ns.get(1)\n",
    "tests/test_core.py": "from pkg.core import load as fetch\n\n\ndef test_load():\n    assert fetch(path='x')\n",
    "README.md": "# Demo\nUse `load()` to load.\n\nVersion: 1.2.2\n\nteh end\n",
    "pyproject.toml": '[project]\nname = "pkg"\nversion = "1.2.2"\n[project.scripts]\nx = "pkg.core:load"\n',
    ".gitignore": "*.pyc",
}

CHANGES = (
    ("change LIMIT = 3 to LIMIT = 5 in pkg/core.py", "pkg/core.py", "LIMIT = 5\n", "LIMIT = 3"),
    ("set the default of retries in load to 5", "pkg/core.py", "def load(path, retries=5):", "retries=2"),
    ("bump version to 1.2.3", "pyproject.toml", 'version = "1.2.3"', "1.2.2"),
    ("bump the minor version", "pyproject.toml", 'version = "1.3.0"', "1.2.2"),
    ("add `*.log` to .gitignore", ".gitignore", "*.pyc\n*.log\n", ""),
    ("remove unused imports in pkg/core.py", "pkg/core.py", "import json\n", "import os"),
    ("delete the function unused_one", "pkg/core.py", "print(key)\n", "unused_one"),
    ('add a line "hello" to README.md', "README.md", "teh end\nhello\n", ""),
    ('add a section "Usage" to README.md', "README.md", "\n## Usage\n", ""),
    ("add parameter timeout=10 to load", "pkg/core.py", "def load(path, retries=2, timeout=10):", ""),
    ("remove the debug prints in pkg/core.py", "pkg/core.py", "        pass\n", "print("),
    (
        "add `from __future__ import annotations` to pkg/core.py",
        "pkg/core.py",
        '"""Core."""\n\nfrom __future__ import annotations\n',
        "",
    ),
    ("fix the typo teh -> the", "README.md", "the end\n", "teh"),
    (
        "replace deprecated datetime.utcnow() with datetime.now(timezone.utc)",
        "pkg/core.py",
        "datetime.now(timezone.utc)",
        "utcnow",
    ),
)


@pytest.mark.parametrize(("request_", "path", "there", "gone"), CHANGES, ids=[c[0] for c in CHANGES])
def test_a_mechanical_change(request_: str, path: str, there: str, gone: str, repo: Repo) -> None:
    plan = propose_change(request_, TEXTS)
    assert path in plan.changes, plan
    assert there in plan.changes[path]
    assert not gone or gone not in plan.changes[path]
    assert plan.complete
    for name, text in TEXTS.items():
        repo.write(name, text)
    patch = repo.path / ".git" / "plan.patch"
    patch.write_text(plan.patch)
    repo.git("apply", "--check", str(patch))
    repo.git("apply", str(patch))
    for name, text in plan.changes.items():
        assert (repo.path / name).read_text() == text


REFUSED = (
    ("delete the function load", "used in"),
    ("rename Store to load", "cannot be used"),
    ("rename load to class", "word of the language"),
    ("set the default of path in load to '.'", ""),
    ("add parameter retries=1 to load", "there already"),
    ("add parameter other to load", "without a default"),
    ("add `*.pyc` to .gitignore", "so already"),
)


@pytest.mark.parametrize(("request_", "why"), REFUSED, ids=[r[0] for r in REFUSED])
def test_no_patch_where_it_must_not_be(request_: str, why: str) -> None:
    plan = plan_refactor(request_, TEXTS)
    if why:
        assert not plan.changes
        assert not plan.patch
        assert why in " ".join((*plan.risks, *(s.purpose for s in plan.steps)))
    else:
        assert "def load(path='.', retries=2)" in plan.changes["pkg/core.py"]
    assert plan.complete is bool(plan.patch)


MISSING = (
    ("rename nowhere to anywhere", "nowhere"),
    ("change a to b in nowhere.py", "nowhere.py"),
    ("change zzz to b in app.py", "zzz"),
    ("set the default of zzz in load to 1", "zzz"),
    ("delete the function nowhere", "nowhere"),
    ("migrate from zlib9 to zstd9", "zlib9"),
)


@pytest.mark.parametrize(("request_", "name"), MISSING, ids=[m[0] for m in MISSING])
def test_what_is_not_there_is_named(request_: str, name: str) -> None:
    plan = propose_change(request_, TEXTS)
    assert any(name in each for each in plan.missing)
    assert not plan.changes
    assert not plan.complete


def test_an_import_goes_below_those_that_take_several_lines() -> None:
    texts = {
        "a.js": "import {\n  a,\n  b,\n} from 'lib';\na.old(1);\n",
        "b.js": "import y from 'why';\ny.fresh(2);\n",
    }
    plan = plan_refactor("replace a.old(x) with y.fresh(x)", texts)
    assert plan.changes["a.js"].startswith("import {\n  a,\n  b,\n} from 'lib';\nimport y from 'why';\n")
