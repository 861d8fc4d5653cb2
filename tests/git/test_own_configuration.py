"""The configuration that a repository itself brings: read, never run, and never trusted when it cannot be read."""

import os
from pathlib import Path

import pytest
from repositories import Repo

from cli_guard.git.process import UNREADABLE, Git, own_configuration


def own(repo: Repo) -> dict[str, tuple[str, ...]]:
    return own_configuration(Git(repo.path, repo.env))


def test_it_is_the_repository_s_and_not_the_user_s(committed: Repo) -> None:
    committed.git("config", "--global", "core.pager", "mine")
    committed.git("config", "alias.X.y", "log")
    committed.git("config", "Diff.My Tool.textConv", "a\nb")
    committed.git("config", "--add", "diff.My Tool.textconv", "c")
    found = own(committed)
    assert found["alias.X.y"] == ("log",)
    assert found["diff.My Tool.textconv"] == ("a\nb", "c")
    assert "core.pager" not in found
    assert "core.fsmonitor" not in found, "what our own calls set is not the repository's"


def test_a_key_without_a_value_is_true(committed: Repo) -> None:
    with (committed.path / ".git" / "config").open("a") as file:
        file.write("[core]\nfsmonitor\n[alias]\nempty =\n")
    assert own(committed)["core.fsmonitor"] == ("true",)
    assert own(committed)["alias.empty"] == ("",)


def test_included_files_and_the_one_of_the_work_tree_count(committed: Repo) -> None:
    committed.write(".gitextra", "[core]\npager = run-me\n")
    committed.git("config", "include.path", "../.gitextra")
    committed.git("config", "extensions.worktreeConfig", "true")
    committed.git("config", "--worktree", "core.fsmonitor", "watch-me")
    found = own(committed)
    assert (found["core.pager"], found["core.fsmonitor"]) == (("run-me",), ("watch-me",))
    assert "include.path" not in found


@pytest.mark.parametrize("broken", ["config", "included"])
def test_what_cannot_be_read_is_marked(committed: Repo, broken: str) -> None:
    committed.git("config", "include.path", "extra")
    (committed.path / ".git" / ("config" if broken == "config" else "extra")).write_text(
        "[core\n"
    )
    assert own(committed) == UNREADABLE


def test_no_git_is_no_knowledge(committed: Repo, tmp_path: Path) -> None:
    assert (
        own_configuration(Git(committed.path, committed.env | {"PATH": str(tmp_path)}))
        == UNREADABLE
    )
    assert own_configuration(Git(tmp_path / "nowhere", committed.env)) == UNREADABLE


def test_outside_a_repository_there_is_none(
    tmp_path: Path, isolated: dict[str, str]
) -> None:
    assert own_configuration(Git(tmp_path, isolated)) == {}


def test_bytes_that_are_no_text_survive(committed: Repo) -> None:
    with (committed.path / ".git" / "config").open("ab") as file:
        file.write(b'[alias]\nodd = "\xff"\n')
    assert own(committed)["alias.odd"] == (os.fsdecode(b"\xff"),)
