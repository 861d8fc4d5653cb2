"""The command as a newcomer meets it: help, versions, wrong usage, one line each."""

import io

import pytest
from examples import table
from repositories import Repo

from cli_guard.__main__ import main


def test_version_is_one_line(repo: Repo) -> None:
    done = repo.guard("--version")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("cli-guard 0.")


@table(
    ("arguments", "says"),
    [
        (["bogus"], "No such command 'bogus'"),
        (["review", "--bogus"], "No such option"),
        (["review", "--format", "xml"], "'xml' is not one of"),
        (["review", "--staged", "--worktree"], "exclude each other"),
        (["review", "--range", "main"], "is not a range"),
        (["review", "--range", "nope..main"], "there is no commit 'nope'"),
        (["review", "--commit", "nope"], "there is no commit 'nope'"),
        (["review", "--commit", "--all"], "there is no commit '--all'"),
        (["review", "--patch", "missing.diff"], "cannot be read: No such file"),
        (["hook", "commit-msg", "missing"], "cannot be read: No such file"),
        (["hook", "post-commit"], "No such command 'post-commit'"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_2(
    committed: Repo, arguments: list[str], says: str
) -> None:
    done = committed.guard(*arguments)
    assert done.code == 2
    assert done.out == ""
    assert len(done.err.strip().splitlines()) == 1
    assert says in done.err


@pytest.mark.parametrize(
    ("said", "code"), [("in literal:\n  KeyboardInterrupt: ", 130), ("in literal", 4)]
)
def test_an_interrupt_inside_compiled_code_is_one(
    committed: Repo, monkeypatch: pytest.MonkeyPatch, said: str, code: int
) -> None:
    class SchemaError(Exception):
        """As pydantic_core names it, which has the interrupt in its text alone."""

    def fail(argv: list[str], streams: object) -> int:
        raise SchemaError(f"Error building validator {said}")

    monkeypatch.setattr("cli_guard.cli.app.dispatch", fail)
    stream = io.StringIO()
    assert (
        main(["review"], io.StringIO(), stream, stream, committed.path, committed.env)
        == code
    )
    assert stream.getvalue().startswith("cli-guard: in")
