"""Whatever the user's Git is configured to do, a review reads the same, and starts no program but git."""

import os
import re
import resource
import subprocess
import time
from pathlib import Path

import git  # noqa: F401 - its import runs `git version`, which a trace of the environment notes
import pytest
from booby_traps import Traps
from in_process import guard, inspect
from repositories import GUARD, Repo, cold, key, placed

from cli_guard.errors import GitError
from cli_guard.git import call
from cli_guard.git.repository import GitRepository
from cli_guard.model import Decision
from cli_guard.review.request import Commit, Range, Request, Staged, Worktree

SECRET = f'KEY = "{key()}"\n'
EXPECTED = [("app.py", 3), ("new.py", 1)]
REQUESTS: dict[str, Request] = {
    "staged": Staged(),
    "worktree": Worktree(),
    "commit": Commit("HEAD"),
    "range": Range("HEAD^", "HEAD"),
}


@pytest.fixture(params=REQUESTS)
def change(request: pytest.FixtureRequest, committed: Repo) -> tuple[Repo, Request]:
    """A change with two secrets, as each kind of request sees it."""
    committed.commit("Old", {"app.py": "x = 1\ny = 1\n", "old.py": "a = 1\n" * 9})
    committed.git("mv", "old.py", "new name.py")
    committed.write("app.py", "x = 1\ny = 1\n" + SECRET)
    committed.write("new.py", SECRET)
    if request.param != "worktree":
        committed.git("add", "-A")
    if request.param in ("commit", "range"):
        committed.git("commit", "-q", "-m", "Change")
    return committed, REQUESTS[request.param]


@pytest.mark.parametrize(
    "settings",
    [
        {
            "diff.noprefix": "true",
            "color.ui": "always",
            "core.quotePath": "false",
            "diff.context": "7",
        },
        {
            "diff.mnemonicPrefix": "true",
            "color.diff": "always",
            "diff.relative": "true",
            "diff.renames": "false",
        },
        {
            "diff.renames": "copies",
            "diff.interHunkContext": "9",
            "diff.algorithm": "histogram",
            "diff.colorMoved": "zebra",
        },
        {
            "diff.wordRegex": ".",
            "diff.submodule": "log",
            "diff.wsErrorHighlight": "all",
            "core.whitespace": "cr-at-eol",
        },
        {
            "core.untrackedCache": "true",
            "core.preloadIndex": "false",
            "diff.suppressBlankEmpty": "true",
        },
        {
            "core.abbrev": "7",
            "diff.indentHeuristic": "false",
            "log.showSignature": "true",
            "format.pretty": "oneline",
        },
        {
            "core.commentChar": ";",
            "i18n.logOutputEncoding": "UTF-16",
            "log.showRoot": "false",
            "diff.dirstat": "0",
        },
    ],
    ids=lambda settings: " ".join(settings),
)
def test_no_setting_changes_what_is_read(
    change: tuple[Repo, Request], settings: dict[str, str]
) -> None:
    repo, request = change
    for name, value in settings.items():
        repo.git("config", "--global", name, value)
    assert placed(repo.look(request)) == EXPECTED


def test_an_order_file_does_not_reorder(
    change: tuple[Repo, Request], tmp_path: Path
) -> None:
    repo, request = change
    order = tmp_path / "order"
    order.write_text("new.py\napp.py\n")
    repo.git("config", "diff.orderFile", str(order))
    assert placed(repo.look(request)) == EXPECTED


ENDLESS = ("core.attributesFile", "mailmap.file", "blame.ignoreRevsFile", "diff.orderFile")


def test_no_file_without_an_end_is_read(change: tuple[Repo, Request]) -> None:
    repo, request = change
    for name in ENDLESS:
        repo.git("config", name, "/dev/zero")
    assert placed(repo.look(request)) == EXPECTED


def test_a_log_runs_no_signature_program(committed: Repo, tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    program = tmp_path / "program"
    program.write_text(f'#!/bin/sh\ntouch "{marker}"\n')
    program.chmod(0o755)
    signed = committed.git("cat-file", "commit", "HEAD").replace(
        "\n\n",
        "\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n a\n -----END PGP SIGNATURE-----\n\n",
        1,
    )
    oid = committed.git("hash-object", "-t", "commit", "-w", "--stdin", stdin=signed + "\n")
    for name, value in {"log.showSignature": "true", "gpg.program": str(program)}.items():
        committed.git("config", name, value)
    repository = GitRepository.discover(committed.path, committed.env)
    assert repository.git.text("log", "--no-walk", "--format=%H", oid, "--") == oid
    assert not marker.exists()


@pytest.mark.parametrize("name", ["MERGE_HEAD", "shallow"])
def test_a_device_in_the_git_folder_is_not_read(committed: Repo, name: str) -> None:
    repository = GitRepository.discover(committed.path, committed.env)
    (committed.path / ".git" / name).symlink_to("/dev/zero")
    with pytest.raises(GitError, match="a device"):
        _ = (
            repository.merge_heads
            if name == "MERGE_HEAD"
            else repository.is_cut("HEAD", "HEAD")
        )


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="no limit from outside")
def test_a_git_that_takes_too_much_memory_is_refused(
    committed: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(call, "MEMORY_BYTES", 100_000_000)
    committed.commit("Change", {"app.py": "x = 2\n"})
    (committed.path / ".git" / "info" / "attributes").symlink_to("/dev/zero")
    assert guard(committed, "review", "--commit", "HEAD").code == 2


@cold
def test_git_ends_with_a_review_that_is_ended(committed: Repo) -> None:
    committed.commit("Change", {"app.py": "x = 2\n"})
    (committed.path / ".git" / "info").mkdir(exist_ok=True)
    fifo = committed.path / ".git" / "info" / "attributes"
    os.mkfifo(fifo)
    review = subprocess.Popen(
        (GUARD, "review", "--commit", "HEAD"),
        cwd=committed.path,
        env=committed.env,
        stdin=subprocess.DEVNULL,
    )
    # Opens as soon as Git does, which then waits for a first line.
    with fifo.open("wb", buffering=0) as pipe:
        review.terminate()
        assert review.wait(60) == 130
        with pytest.raises(BrokenPipeError):
            for _ in range(6_000):
                pipe.write(b"\n")
                time.sleep(0.01)


@pytest.mark.parametrize("through_gitpython", [False, True])
def test_no_program_runs(
    change: tuple[Repo, Request],
    tmp_path: Path,
    through_gitpython: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    repo, request = change
    # Marked as racy, so that Git would have to compare contents and call its filters.
    (repo.path / "app.py").touch()
    traps = Traps.set(repo, tmp_path)
    # GitPython adds the environment of this process to the one that it is given.
    for name, value in traps.env.items():
        monkeypatch.setenv(name, value)
    assert (
        placed(repo.look(request, env=traps.env, through_gitpython=through_gitpython))
        == EXPECTED
    )
    assert traps.sprung() == ""


def test_trace_on_standard_error_does_not_reach_the_report(
    change: tuple[Repo, Request],
) -> None:
    repo, request = change
    env = {"GIT_TRACE": "1", "GIT_TRACE_PERFORMANCE": "2", "GIT_DIFF_OPTS": "--unified=9"}
    assert placed(repo.look(request, env=env)) == EXPECTED


@pytest.mark.parametrize(
    "variable",
    [
        "GIT_GLOB_PATHSPECS",
        "GIT_NOGLOB_PATHSPECS",
        "GIT_ICASE_PATHSPECS",
        "GIT_LITERAL_PATHSPECS",
    ],
)
def test_ways_of_reading_pathspecs_do_no_harm(committed: Repo, variable: str) -> None:
    committed.write("key.py", SECRET)
    assert placed(committed.look(Worktree(), env={variable: "1"})) == [("key.py", 1)]
    committed.git("add", "-A")
    assert placed(committed.look(env={variable: "1"})) == [("key.py", 1)]


def test_a_filter_whose_name_cannot_be_switched_off_is_refused(committed: Repo) -> None:
    committed.git("config", "filter.a=b.clean", "false")
    committed.write("key.py", SECRET)
    done = inspect(committed, "review", "--worktree")
    assert (done.code, done.out) == (2, "")
    assert re.fullmatch(
        r"cli-guard: the filter .*a=b\.clean.* cannot be switched off.*\n", done.err
    )


def test_a_commit_under_a_hostile_configuration_is_stopped(
    committed: Repo, tmp_path: Path
) -> None:
    committed.watch_hooks()
    program = tmp_path / "program"
    program.write_text(f'#!/bin/sh\necho "$0 $*" >> "{tmp_path}/ran"\n')
    program.chmod(0o755)
    for name in ("diff.external", "diff.driver.textconv", "diff.driver.command"):
        committed.git("config", name, str(program))
    committed.git("config", "color.ui", "always")
    committed.git("config", "diff.noprefix", "true")
    committed.write(".gitattributes", "*.py diff=driver -diff\n*.txt diff=driver\n")
    committed.write("key.py", SECRET)
    committed.write("key.txt", SECRET)
    committed.git("add", "-A")
    done = committed.try_git(
        "commit", "-q", "-m", "Keys", env={"GIT_EXTERNAL_DIFF": str(program)}
    )
    assert done.code == 1
    assert "key.py:1" in done.all
    assert "key.txt:1" in done.all
    assert "\x1b" not in done.all
    assert not (tmp_path / "ran").exists()
    assert committed.hooks_run() == ["pre-commit"]


def test_replaced_objects_are_not_believed(committed: Repo) -> None:
    clean = committed.commit("Clean", {"a.py": "x = 1\n"})
    dirty = committed.commit("Key", {"key.py": SECRET})
    committed.git("replace", dirty, clean)
    assert placed(committed.look(Commit(dirty))) == [("key.py", 1)]
    assert committed.look(Commit(clean)).decision is Decision.ALLOW
