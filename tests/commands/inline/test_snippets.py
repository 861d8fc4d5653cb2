"""Snippets of `snippets.toml`, as coding agents write them: what each profile answers in a project."""

import json
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from examples import table
from repositories import Repo, isolated_environment

from cli_guard.commands import judge
from cli_guard.commands.model import Profile
from cli_guard.execution.context import command_context

SNIPPETS = tomllib.loads((Path(__file__).parent / "snippets.toml").read_text())
FILES = {
    "src/app.py": "import os\n",
    "src/pkg/__init__.py": "",
    "src/pkg/mod.py": "def f(): ...\n",
    "src/x.js": "",
    "tests/test_app.py": "",
    "config/app.yaml": "a: 1\n",
    "data/users.csv": "a,b\n",
    "data/model.pkl": "",
    "docs/a.md": "a\n",
    "package.json": json.dumps({"version": "1", "scripts": {"test": "jest"}}),
    "pyproject.toml": "",
    ".claude/settings.json": "{}",
    ".gitignore": "build/\n.env\n*.db\n*.pyc\n",
}
IGNORED = ("build/out.o", ".env", "local.db", "src/pkg/__pycache__/mod.pyc")
Check = Callable[[str, dict[str, str]], None]


@pytest.fixture(scope="module")
def check(tmp_path_factory: pytest.TempPathFactory) -> Check:
    """Judge in a project with a commit, ignored files, a changed file, a new file and a link that leads out."""
    folder = tmp_path_factory.mktemp("snippets")
    (folder / "home").mkdir()
    repo = Repo.create(folder / "repo", isolated_environment(folder / "home"))
    repo.commit("Begin", dict(FILES))
    for name in IGNORED:
        repo.write(name, "x")
    repo.write("src/app.py", "import sys\n")
    repo.write("notes/new.txt", "x")
    (repo.path / "away").symlink_to(folder)
    profiles = (Profile.STRICT, Profile.WORKSPACE)
    contexts = [
        command_context(repo.path, repo.env, profile=profile) for profile in profiles
    ]

    def checked(command: str, row: dict[str, str]) -> None:
        verdicts = [judge(command, context) for context in contexts]
        found = [str(each.verdict) for each in verdicts]
        assert found == [row["strict"], row["workspace"]], (
            command,
            [each.reason for each in verdicts],
        )

    return checked


@table("row", SNIPPETS["python"], ids=lambda row: row["code"][:80])
def test_python(row: dict[str, str], check: Check) -> None:
    check(f"python3 - <<'END'\n{row['code']}\nEND", row)


@table("row", SNIPPETS["shell"], ids=lambda row: row["code"][:80])
def test_shell(row: dict[str, str], check: Check) -> None:
    check(row["code"].strip(), row)
