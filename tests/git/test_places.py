"""Where a review may be run from, and repositories of other kinds: linked, nested, bare, foreign, damaged, none."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from in_process import guard, inspect
from repositories import GUARD, Done, Repo, cold, key, placed

from cli_guard.model import Decision
from cli_guard.review.request import Commit, Range, Worktree

SECRET = f'KEY = "{key()}"\n'
AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as another user")
OTHER_USER = 65534


def one_line(done: Done, *words: str) -> None:
    """Fails unless it is a refusal in one line that holds these words."""
    assert (done.code, done.out) == (2, "")
    assert len(done.err.splitlines()) == 1, done.err
    for word in words:
        assert word in done.err


def test_a_linked_work_tree_and_its_hooks(
    committed: Repo, isolated: dict[str, str]
) -> None:
    committed.watch_hooks()
    path = committed.path.parent / "linked\ntree"
    committed.git("worktree", "add", "-q", "-b", "topic", str(path))
    linked = Repo(path, isolated)
    linked.write("key.py", SECRET)
    linked.git("add", "-A")
    with committed.unchanged():
        assert placed(linked.look()) == [("key.py", 1)]
        assert committed.look().review_reason == "nothing is staged"
    done = linked.try_git("commit", "-q", "-m", "Key")
    assert done.code == 1
    assert "key.py:1" in done.all
    done = linked.try_git("commit", "-q", "-m", "Key", "key.py", at=".")
    assert done.code == 1
    assert committed.hooks_run() == ["pre-commit", "pre-commit"]
    assert not (path / ".git").is_dir()
    assert (committed.path / ".git" / "cli-guard" / "last-report.json").exists()


def test_inside_a_submodule(committed: Repo, isolated: dict[str, str]) -> None:
    library = Repo.create(committed.path.parent / "library", isolated)
    library.commit("Start", {"lib.py": "a = 1\n"})
    committed.git(
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "add",
        "-q",
        str(library.path),
        "lib",
    )
    inner = Repo(committed.path / "lib", isolated)
    guard(inner, "install")
    inner.write("key.py", SECRET)
    inner.git("add", "-A")
    with committed.unchanged():
        assert placed(inner.look()) == [("key.py", 1)]
    done = inner.try_git("commit", "-q", "-m", "Key")
    assert done.code == 1
    assert "key.py:1" in done.all
    assert (
        committed.path / ".git" / "modules" / "lib" / "cli-guard" / "last-report.json"
    ).exists()


def test_a_repository_of_the_other_object_format(
    tmp_path: Path, isolated: dict[str, str]
) -> None:
    repo = Repo.create(tmp_path / "sha256", isolated, "--object-format=sha256")
    repo.write("key.py", SECRET)
    repo.git("add", "-A")
    assert placed(repo.look()) == [("key.py", 1)]
    repo.git("commit", "-q", "-m", "Start")
    repo.commit("Second", {"b.py": SECRET.replace("KEY", "B")})
    assert placed(repo.look(Commit("HEAD~1"))) == [("key.py", 1)]
    assert placed(repo.look(Range("HEAD~1", "HEAD"))) == [("b.py", 1)]
    assert len(repo.git("rev-parse", "HEAD")) == 64


def test_from_a_folder_below_the_root(committed: Repo) -> None:
    committed.write("deep/er/new.py", SECRET)
    committed.write("key.py", SECRET)
    assert placed(committed.look(Worktree(), at="deep/er")) == [
        ("deep/er/new.py", 1),
        ("key.py", 1),
    ]
    committed.git("add", "-A")
    assert placed(committed.look(at="deep/er")) == [("deep/er/new.py", 1), ("key.py", 1)]
    assert placed(committed.look(at=".git")) == [("deep/er/new.py", 1), ("key.py", 1)]
    done = committed.try_git("commit", "-q", "-m", "Key", at="deep")
    assert done.code == 0
    committed.git("config", "diff.relative", "true")
    assert len(placed(committed.look(Commit("HEAD"), at="deep"))) == 2


def test_git_dir_and_work_tree_from_the_environment(
    committed: Repo, tmp_path: Path
) -> None:
    committed.write("key.py", SECRET)
    env = {"GIT_DIR": str(committed.path / ".git"), "GIT_WORK_TREE": str(committed.path)}
    elsewhere = Repo(tmp_path, committed.env)
    assert placed(elsewhere.look(Worktree(), env=env)) == [("key.py", 1)]


def test_no_repository(tmp_path: Path, isolated: dict[str, str]) -> None:
    nowhere = Repo(tmp_path, isolated)
    for arguments in (["review"], ["hook", "pre-commit"], ["install"]):
        one_line(inspect(nowhere, *arguments), "there is no Git repository here")


def test_a_bare_repository_has_commits_and_no_index(
    committed: Repo, isolated: dict[str, str]
) -> None:
    committed.commit("Key", {"key.py": SECRET})
    path = committed.path.parent / "bare.git"
    committed.git("clone", "-q", "--bare", str(committed.path), str(path))
    before = Repo(path, isolated)
    for arguments in (["review"], ["review", "--worktree"], ["hook", "pre-commit"]):
        one_line(inspect(before, *arguments), "bare", "--commit")
    done = guard(before, "review", "--commit", "HEAD")
    assert done.code == 1
    assert "key.py:1" in done.out


@AS_ROOT
def test_a_repository_of_another_user_is_refused_in_git_s_words(committed: Repo) -> None:
    committed.write("key.py", SECRET)
    committed.git("add", "-A")
    for path in (committed.path, committed.path / ".git"):
        os.chown(path, OTHER_USER, OTHER_USER)
    one_line(inspect(committed, "review"), "dubious ownership", "safe.directory")
    one_line(inspect(committed, "hook", "pre-commit"), "dubious ownership")


@cold
@AS_ROOT
def test_where_nothing_can_be_written_the_review_answers_and_says_so(
    committed: Repo,
) -> None:
    committed.write("key.py", SECRET)
    committed.git("add", "-A")
    committed.git("config", "--global", "safe.directory", "*")
    # The way there must be open to another user; pytest makes its folders for their owner alone.
    home = Path(committed.env["HOME"])
    top = Path(tempfile.gettempdir()).resolve()
    for folder in (committed.path, *committed.path.parents, home, *home.parents):
        if folder.resolve().is_relative_to(top) and folder.resolve() != top:
            folder.chmod(0o755)
    (Path(committed.env["HOME"]) / ".gitconfig").chmod(0o644)
    probe = subprocess.run(
        ["setpriv", f"--reuid={OTHER_USER}", "--clear-groups", GUARD, "--version"],
        capture_output=True,
        check=False,
    )
    if probe.returncode != 0:
        pytest.skip("another user cannot run the interpreter of this test run")
    with committed.unchanged():
        done = committed.run(
            "setpriv", f"--reuid={OTHER_USER}", "--clear-groups", GUARD, "review"
        )
    assert done.code == 1, done.all
    assert "key.py:1" in done.out
    assert "not recorded" in done.out
    assert not (committed.path / ".git" / "cli-guard").exists()
    (committed.path / ".git" / "cli-guard").mkdir(0o700)
    done = committed.run(
        "setpriv", f"--reuid={OTHER_USER}", "--clear-groups", GUARD, "pending"
    )
    assert done.code == 0, done.all


def test_a_partial_clone_does_not_fetch(
    committed: Repo, isolated: dict[str, str], tmp_path: Path
) -> None:
    committed.commit("Second", {"app.py": "x = 2\n", "b.py": "b = 1\n"})
    committed.git("config", "uploadpack.allowFilter", "true")
    path = tmp_path / "partial"
    committed.git(
        "clone", "-q", "--filter=blob:none", f"file://{committed.path}", str(path)
    )
    partial = Repo(path, isolated)
    marker = tmp_path / "fetched"
    program = tmp_path / "upload-pack"
    program.write_text(f'#!/bin/sh\ntouch "{marker}"\nexec git-upload-pack "$@"\n')
    program.chmod(0o755)
    partial.git("config", "remote.origin.uploadpack", str(program))
    partial.write("key.py", SECRET)
    partial.git("add", "-A")
    assert placed(partial.look()) == [("key.py", 1)]
    done = inspect(partial, "review", "--commit", "HEAD")
    one_line(done, "missing")
    assert not marker.exists()
    partial.git("show", "HEAD")
    assert marker.exists()


def test_a_damaged_index_is_one_clear_line(committed: Repo) -> None:
    (committed.path / ".git" / "index").write_bytes(b"DIRC nonsense")
    one_line(inspect(committed, "review"), "index")


def test_a_head_that_names_nonsense_is_one_clear_line(committed: Repo) -> None:
    committed.write("key.py", SECRET)
    committed.git("add", "-A")
    (committed.path / ".git" / "refs" / "heads" / "main").write_text("f" * 40 + "\n")
    one_line(inspect(committed, "review"), "f" * 40, "git fsck")


def test_without_git_on_the_path(committed: Repo, tmp_path: Path) -> None:
    done = guard(committed, "review", env={"PATH": str(tmp_path)})
    one_line(done, "git was not found on PATH")


def test_a_branch_without_commits_beside_others(committed: Repo) -> None:
    committed.git("checkout", "-q", "--orphan", "fresh")
    committed.write("key.py", SECRET)
    committed.git("add", "-A")
    review = committed.look()
    assert (review.files, placed(review)) == (2, [("key.py", 1)])
    shutil.rmtree(committed.path / ".git" / "cli-guard")
    committed.git("rm", "-q", "-r", "--cached", ".")
    assert committed.look().decision is Decision.ALLOW
