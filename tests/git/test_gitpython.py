"""What runs Git through GitPython: `report`, `stats`, questions about the history, and `api.review`."""

import os
import subprocess
import sys
import time
from pathlib import Path

import git
import pytest
from booby_traps import Traps
from in_process import guard
from repositories import Repo, isolated_environment

from cli_guard import api
from cli_guard.errors import GitError
from cli_guard.git.call import GitCall
from cli_guard.git.gitpython import start_by_gitpython
from cli_guard.git.process import Git
from cli_guard.git.repository import GitRepository

COMMANDS = [
    ("report", "--range", "HEAD~1..HEAD"),
    ("report",),
    ("stats",),
    ("ask", "Who changed app.py last?"),
    ("ask", "What did the last commit change?"),
]


@pytest.fixture
def lived(committed: Repo) -> Repo:
    """A repository with a few commits and reviews, and a name that is not UTF-8."""
    for number in range(3):
        committed.write("app.py", f"x = {number}\n" * (number + 1))
        (Path(os.fsdecode(os.fsencode(committed.path) + b"/odd \xff.py"))).write_text(
            f"y = {number}\n"
        )
        committed.git("add", "-A")
        assert guard(committed, "review").code == 0
        committed.git("commit", "-q", "-m", f"Change number {number}")
    return committed


def forbid(*_: object, **__: object) -> None:
    raise AssertionError("Git was started without GitPython")


def sees_history(repo: Repo) -> list[str]:
    """What the commands print; a report says when it was made."""
    return [guard(repo, *words).out for words in COMMANDS if words[0] != "report"]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_they_start_git_by_gitpython_alone(
    lived: Repo, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    if words[0] == "ask":
        # What else `ask` reads is not its history.
        monkeypatch.setattr(
            "cli_guard.assistant.history.HistoryReader.__init__", started(monkeypatch)
        )
    else:
        monkeypatch.setattr(subprocess, "Popen", forbid)
    done = guard(lived, *words)
    assert done.code == 0, done.err
    assert done.out


def started(monkeypatch: pytest.MonkeyPatch) -> object:
    """Forbid what is not GitPython's from here on."""
    from cli_guard.assistant.history import HistoryReader

    real = HistoryReader.__init__

    def watch(*arguments: object, **named: object) -> None:
        monkeypatch.setattr(subprocess, "Popen", forbid)
        real(*arguments, **named)  # type: ignore[arg-type]

    return watch


def test_the_api_starts_git_by_gitpython_alone(
    lived: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = git.Repo(lived.path)
    lived.write("app.py", "x = 9\n")
    lived.git("add", "-A")
    monkeypatch.setattr(subprocess, "Popen", forbid)
    for way in (
        {"staged": True},
        {"commit": "HEAD"},
        {"range": "HEAD~2..HEAD"},
        {"worktree": True},
    ):
        assert api.review(repo, **way).decision == "allow"  # type: ignore[arg-type]


def test_no_trap_is_sprung(
    lived: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = sees_history(lived)
    traps = Traps.set(lived, tmp_path)
    for name, value in traps.env.items():
        monkeypatch.setenv(name, value)
    assert sees_history(lived) == before
    assert all(guard(lived, *words, env=traps.env).code == 0 for words in COMMANDS)
    assert not traps.sprung()


def test_no_file_without_an_end_is_read(lived: Repo) -> None:
    """A `git.Repo` reads what is included when it is made: so none is made, but where a caller has one."""
    before = sees_history(lived)
    for name in ("core.attributesFile", "mailmap.file", "blame.ignoreRevsFile"):
        lived.git("config", name, "/dev/zero")
    assert sees_history(lived) == before
    lived.git("config", "include.path", "/dev/zero")
    done = guard(lived, "stats")
    assert (done.code, done.out) == (2, "")
    assert "/dev/zero" in done.err


@pytest.fixture
def through(committed: Repo) -> Git:
    return Git(committed.path, committed.env, start_by_gitpython)


def test_bytes_come_as_they_are(lived: Repo) -> None:
    repository = GitRepository.discover(lived.path, lived.env, through_gitpython=True)
    with repository.blobs(100) as reader:
        assert reader.read("HEAD:app.py") == b"x = 2\n" * 3
        assert reader.read("HEAD:odd \udcff.py") == b"y = 2\n"
    assert "odd \udcff.py" in repository.git.text("ls-files", "-z")


def test_input_errors_and_codes_are_those_of_git(through: Git) -> None:
    assert through.run("stripspace", stdin=b"a  \n" * 50_000) == b"a\n" * 50_000
    code, out, err = through.attempt("cat-file", "blob", "HEAD:nothing")
    assert (code, out) == (128, b"") and b"nothing" in err


def test_more_errors_than_a_pipe_holds_stop_nothing(tmp_path: Path) -> None:
    noisy = "import sys; sys.stderr.write('x' * 300_000); sys.stdout.write('y' * 300_000)"
    command = (sys.executable, "-I", "-c", noisy)
    made = GitCall(command, tmp_path, {}, b"", start_by_gitpython)
    until = time.monotonic() + 600
    read = made.rest(until)
    code, errors = made.ended(until)
    made.close()
    assert read == b"y" * 300_000
    assert code == 0 and len(errors) == 1 << 16


def test_what_this_process_has_set_does_not_count(
    through: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("GIT_DIR", "GIT_INDEX_FILE", "GIT_ATTR_SOURCE", "GIT_NAMESPACE"):
        monkeypatch.setenv(name, "/nowhere")
    assert through.text("rev-parse", "--show-prefix") == ""
    assert through.run("ls-files")


def test_without_a_folder_or_git_it_says_so(committed: Repo, tmp_path: Path) -> None:
    with pytest.raises(GitError, match="there is no folder"):
        Git(tmp_path / "gone", committed.env, start_by_gitpython).text("version")
    bare = isolated_environment(tmp_path) | {"PATH": str(tmp_path)}
    with pytest.raises(GitError, match="not found on PATH"):
        Git(committed.path, bare, start_by_gitpython).text("version")
