"""The smaller changes: texts, constants, versions. Each request gives this text, or none."""

from collections.abc import Mapping

import pytest
from examples import table
from repositories import Repo

from cli_guard.assistant.editing import plan_refactor

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
    return json.list_loaded(path), datetime.utcnow()


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
    (
        "change LIMIT = 3 to LIMIT = 5 in pkg/core.py",
        "pkg/core.py",
        "LIMIT = 5\n",
        "LIMIT = 3",
    ),
    ("bump version to 1.2.3", "pyproject.toml", 'version = "1.2.3"', "1.2.2"),
    ("bump the minor version", "pyproject.toml", 'version = "1.3.0"', "1.2.2"),
    ("fix the typo teh -> the", "README.md", "the end\n", "teh"),
)


@pytest.mark.parametrize(
    ("request_", "path", "there", "gone"), CHANGES, ids=[c[0] for c in CHANGES]
)
def test_a_mechanical_change(
    request_: str, path: str, there: str, gone: str, repo: Repo
) -> None:
    plan = plan_refactor(request_, TEXTS)
    assert path in plan.changes, plan
    assert there in plan.changes[path]
    assert not gone or gone not in plan.changes[path]
    assert plan.patch
    for name, text in TEXTS.items():
        repo.write(name, text)
    patch = repo.path / ".git" / "plan.patch"
    patch.write_text(plan.patch)
    repo.git("apply", "--check", str(patch))
    repo.git("apply", str(patch))
    for name, text in plan.changes.items():
        assert (repo.path / name).read_text() == text


REFUSED = (
    ("rename Store to load", "cannot be used"),
    ("rename load to class", "word of the language"),
    ("bump version to 1.2.2", "it has that version already"),
)


@table(("request_", "why"), REFUSED, ids=[r[0] for r in REFUSED])
def test_no_patch_where_it_must_not_be(request_: str, why: str) -> None:
    plan = plan_refactor(request_, TEXTS)
    assert not plan.changes
    assert not plan.patch
    assert why in " ".join((*plan.risks, *(s.purpose for s in plan.steps)))


MISSING = (
    ("rename nowhere to anywhere", "nowhere"),
    ("rename lode to anything", "near: load"),
    ("change a to b in nowhere.py", "nowhere.py"),
    ("change zzz to b in app.py", "zzz"),
    ("delete the function nowhere", "nowhere"),
    ("migrate from zlib9 to zstd9", "zlib9"),
)


@table(("request_", "name"), MISSING, ids=[m[0] for m in MISSING])
def test_what_is_not_there_is_named(request_: str, name: str) -> None:
    plan = plan_refactor(request_, TEXTS)
    assert any(name in each for each in (*plan.missing, plan.summary))
    assert not plan.changes


PLANNED = (
    ("delete the function load", "Delete load", "app.py:2 import, 3 call, 4 call"),
    ("delete the method Store.get", "Delete Store.get", "app.py:6 call"),
    (
        "move load from pkg/core.py to pkg/io.py",
        "Move load to pkg/io.py",
        "app.py:2 import, 3 call, 4 call",
    ),
)


@table(("request_", "purpose", "uses"), PLANNED, ids=[row[0] for row in PLANNED])
def test_what_is_moved_or_deleted_is_planned_with_its_uses(
    request_: str, purpose: str, uses: str
) -> None:
    plan = plan_refactor(request_, TEXTS)
    assert not plan.patch
    assert purpose in [step.purpose for step in plan.steps]
    places = [place for step in plan.steps for place in step.places]
    assert uses in places, places


def test_a_file_is_renamed_by_hand_with_all_that_names_it() -> None:
    plan = plan_refactor(
        "rename pkg/core.py to pkg/base.py", TEXTS | {"a.md": "pkg/core.py"}
    )
    assert not plan.patch
    assert [(step.purpose, step.paths) for step in plan.steps[:3]] == [
        ("Move pkg/core.py to pkg/base.py", ("pkg/core.py",)),
        ("Change what imports it", ("app.py", "pkg/__init__.py", "tests/test_core.py")),
        ("Bring up to date what names it", ("a.md",)),
    ]


LITERALS: tuple[tuple[str, Mapping[str, str], Mapping[str, str]], ...] = (
    (
        "change MAX_RETRIES to 5",
        {"a.py": "MAX_RETRIES = 3  # tries\n"},
        {"a.py": "MAX_RETRIES = 5  # tries\n"},
    ),
    (
        "set MAX_RETRIES = 5 in a.py",
        {"a.py": "MAX_RETRIES: int = 3\n"},
        {"a.py": "MAX_RETRIES: int = 5\n"},
    ),
    (
        "Increase `MAX_TRIES` from 3 to 5",
        {"a.js": "export const MAX_TRIES = 3;\n"},
        {"a.js": "export const MAX_TRIES = 5;\n"},
    ),
    (
        "set MAX_TRIES to 5",
        {"A.java": "  static final int MAX_TRIES = 3;\n"},
        {"A.java": "  static final int MAX_TRIES = 5;\n"},
    ),
    (
        "set MAX_RETRIES to 5",
        {"a.go": "const MAX_RETRIES = 3\n"},
        {"a.go": "const MAX_RETRIES = 5\n"},
    ),
    (
        "set BASE_URL to https://b",
        {"a.py": "BASE_URL = 'https://a'\n"},
        {"a.py": "BASE_URL = 'https://b'\n"},
    ),
    (
        "set USE_CACHE to False",
        {"a.py": "USE_CACHE = True\n"},
        {"a.py": "USE_CACHE = False\n"},
    ),
    (
        "set LIMIT to 5",
        {"a.py": "LIMIT = 3\n", "tests/test_a.py": "LIMIT = 3\n"},
        {"a.py": "LIMIT = 5\n"},
    ),
    ("set MAX_RETRIES to many", {"a.py": "MAX_RETRIES = 3\n"}, {}),
    (
        "set MAX_RETRIES to 5",
        {"a.py": "MAX_RETRIES = 3\n", "b.py": "MAX_RETRIES = 4\n"},
        {},
    ),
    ("set MAX_RETRIES to 5", {"a.py": "MAX_RETRIES = 3 * FACTOR\n"}, {}),
    ("set MAX_RETRIES to 5", {"a.py": "print(MAX_RETRIES == 3)\n"}, {}),
    ("set MAX_RETRIES to 5", {"a.py": "MAX_RETRIES = 5\n"}, {}),
    ("set BASE_URL to it's", {"a.py": "BASE_URL = 'a'\n"}, {}),
    # Names of manifests, HCL and environment files
    (
        "bump express to 4.21.2",
        {
            "package.json": '{\n  "dependencies": {\n    "express": "^4.18.0"\n  }\n}\n',
            "package-lock.json": '{\n    "express": "^4.18.0"\n}\n',
        },
        {"package.json": '{\n  "dependencies": {\n    "express": "^4.21.2"\n  }\n}\n'},
    ),
    (
        "pin express to 4.21.2",
        {"package.json": '{\n  "dependencies": {\n    "express-x": "^4.18.0"\n  }\n}\n'},
        {},
    ),
    (
        'set instance_class to "db.t4g.small"',
        {"main.tf": 'resource "a" "b" {\n  instance_class = "db.t3.micro"\n}\n'},
        {"main.tf": 'resource "a" "b" {\n  instance_class = "db.t4g.small"\n}\n'},
    ),
    (
        "change instance_class to db.t4g.small in main.tf",
        {"main.tf": 'resource "a" "b" {\n  instance_class = "db.t3.micro"\n}\n'},
        {"main.tf": 'resource "a" "b" {\n  instance_class = "db.t4g.small"\n}\n'},
    ),
    ("set PORT to 8080", {".env.example": "PORT=3000\n"}, {".env.example": "PORT=8080\n"}),
    (
        "set max_size to 8",
        {"app.yml": "max_size: 3\n", "README.md": "max_size = 3\n"},
        {"app.yml": "max_size: 8\n"},
    ),
)


@table(
    ("request_", "texts", "wanted"),
    LITERALS,
    ids=[f"{n} {r[0]}" for n, r in enumerate(LITERALS)],
)
def test_a_literal_is_set_where_one_assignment_gives_it(
    request_: str, texts: Mapping[str, str], wanted: Mapping[str, str]
) -> None:
    assert plan_refactor(request_, texts).changes == wanted


VERSIONS = (
    (
        "package.json",
        '{\n  "version": "1.0.0",\n  "dependencies": {"a": "1.0.0"}\n}\n',
        ['"version": "2.0.0"', '"a": "1.0.0"'],
    ),
    (
        "Cargo.toml",
        '[package]\nversion = "1.0.0"\n[dependencies]\na = { version = "1.0.0" }\n',
        ['a = { version = "1.0.0" }'],
    ),
    (
        "pom.xml",
        "<project>\n<version>1.0.0</version>\n<dependencies>\n<version>1.0.0</version>",
        ["<version>1.0.0</version>"],
    ),
    ("setup.cfg", "[metadata]\nversion = 1.0.0\n", ["version = 2.0.0\n"]),
    ("setup.py", "setup(version='1.0.0')\n", []),
    ("pkg/__init__.py", "__version__ = '1.0.0'\n", ["'2.0.0'"]),
    ("VERSION", "1.0.0\n", ["2.0.0\n"]),
)


@table(("path", "text", "parts"), VERSIONS, ids=[row[0] for row in VERSIONS])
def test_a_version_is_changed_where_it_is_the_projects_own(
    path: str, text: str, parts: list[str]
) -> None:
    plan = plan_refactor(
        "bump version to 2.0.0",
        {path: text, "poetry.lock": "1.0.0\n", "a.txt": "uses 1.0.0\n"},
    )
    if not parts:
        assert plan.missing
        return
    assert set(plan.changes) == {path}
    assert plan.changes[path].count("2.0.0") == 1
    assert all(part in plan.changes[path] for part in parts)
    others, locks = plan.risks
    assert "a.txt:1" in others
    assert "poetry.lock" in locks


def test_what_a_change_of_text_takes_for_granted_is_said() -> None:
    plan = plan_refactor(
        "change load to fetch in a.py", {"a.py": "def load(): ...\nload()\n"}
    )
    assert plan.changes == {"a.py": "def fetch(): ...\nfetch()\n"}
    assert plan.assumed == "all 2 places in a.py are meant"
    assert "load is also a name in code (a.py): code that uses it may break" in plan.risks


def test_a_constant_of_a_named_document_is_a_change_of_text() -> None:
    assert plan_refactor("set LIMIT to 5 in a.md", {"a.md": "LIMIT of 3\n"}).changes == {
        "a.md": "5 of 3\n"
    }
    assert plan_refactor(
        "set LIMIT_X to 5 in zz.py", {"a.py": "LIMIT_X = 3\n"}
    ).missing == ("zz.py",)
