"""core.hooksPath: refused with the fix where it leads elsewhere, and the fix followed to the letter."""

import re
from pathlib import Path

import pytest
from in_process import guard
from repositories import GUARD, Repo, key

LEAK = f'KEY = "{key()}"\n'


def refused(repo: Repo, **options: str) -> str:
    done = guard(repo, "install", **options)
    assert (done.code, done.out) == (2, "")
    assert len(done.err.splitlines()) == 1
    assert not (repo.path / ".git/hooks/pre-commit").exists()
    return done.err


def blocks(repo: Repo, name: str = "app.py") -> bool:
    repo.write(name, LEAK)
    repo.git("add", name)
    done = repo.try_git("commit", "-qm", "Add the key")
    return done.code == 1 and f"{name}:1" in done.all


def follow(repo: Repo, line: str) -> None:
    """Runs what stands between the first backticks, as a user would."""
    fix = re.search("`(.*?)`", line)
    assert fix, line
    done = repo.run("sh", "-c", fix[1])
    assert done.code == 0, done.err


@pytest.mark.parametrize("scope", ["local", "global", "worktree"])
def test_the_fix_works(committed: Repo, scope: str) -> None:
    if scope == "worktree":
        committed.git("config", "extensions.worktreeConfig", "true")
    committed.git("config", f"--{scope}", "core.hooksPath", "../shared hooks")
    line = refused(committed)
    assert (
        f"core.hooksPath ({scope}) points to ../shared hooks, so Git runs no hook" in line
    )
    assert not blocks(committed, "unseen.py")
    follow(committed, line)
    assert guard(committed, "install").code == 0
    assert blocks(committed)


def test_the_fix_covers_every_place_at_once(committed: Repo) -> None:
    """Two values in one file, one more in the user's own, and one in a file that is included."""
    included = committed.path.parent / "my include.cfg"
    included.write_text("[core]\n\thooksPath = ~/work-hooks\n")
    committed.git("config", "--global", "core.hooksPath", "/dev/null")
    committed.git("config", "--add", "core.hooksPath", "/a")
    committed.git("config", "--add", "core.hooksPath", "/b")
    committed.git("config", "include.path", str(included))
    committed.write("deep/x.py", "")
    line = refused(committed, at="deep")
    assert (
        "core.hooksPath (local) points to "
        + str(Path(committed.env["HOME"]) / "work-hooks")
        in line
    )
    follow(committed, line)
    assert guard(committed, "install").code == 0
    assert blocks(committed)


def test_the_other_way_works_too(committed: Repo) -> None:
    """`cli-guard hook <name> "$@"` in the hooks that Git does run."""
    committed.git(
        "config", "--global", "core.hooksPath", str(committed.path.parent / "shared")
    )
    line = refused(committed)
    call = re.findall("`(.*?)`", line)[-1]
    assert call == 'cli-guard hook <name> "$@"'
    for name in ("pre-commit", "commit-msg", "pre-push"):
        hook = committed.path.parent / "shared" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(
            f"#!/bin/sh\n{call.replace('<name>', name).replace('cli-guard', GUARD, 1)}\n"
        )
        hook.chmod(0o755)
    assert blocks(committed)
    committed.git("commit", "-qnm", "Add the key")
    remote = committed.path.parent / "remote.git"
    committed.git("init", "-q", "--bare", str(remote))
    done = committed.try_git("push", "-q", str(remote), "main")
    assert done.code == 1 and "app.py" in done.all


def test_a_value_in_the_environment_is_told_apart(committed: Repo) -> None:
    variables = {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.hooksPath",
        "GIT_CONFIG_VALUE_0": "/elsewhere",
    }
    done = guard(committed, "install", env=variables)
    assert done.code == 2
    assert "remove it from Git's command line and the GIT_CONFIG_* variables" in done.err


@pytest.mark.parametrize(
    "value", [".git/hooks", "{root}/.git/hooks", ".git/../.git/hooks/", "./linked"]
)
def test_the_repositorys_own_folder_by_any_name_is_fine(
    committed: Repo, value: str
) -> None:
    (committed.path / "linked").symlink_to(".git/hooks")
    committed.git("config", "--global", "core.hooksPath", "/elsewhere")
    committed.git("config", "core.hooksPath", value.format(root=committed.path))
    assert guard(committed, "install", at=".").code == 0
    assert blocks(committed)


def test_a_relative_folder_is_another_one_in_a_linked_work_tree(committed: Repo) -> None:
    committed.git("config", "core.hooksPath", ".git/hooks")
    linked = Repo(committed.path.parent / "linked", committed.env)
    committed.git("worktree", "add", "-q", str(linked.path))
    line = refused(linked)
    assert not blocks(linked, "unseen.py")
    follow(linked, line)
    assert guard(linked, "install").code == 0
    assert blocks(linked)


def test_uninstall_works_while_git_looks_elsewhere(guarded: Repo) -> None:
    guarded.git("config", "core.hooksPath", "/elsewhere")
    assert "pre-commit: removed" in guard(guarded, "uninstall").out
    assert not (guarded.path / ".git/hooks/pre-commit").exists()
