"""A hook that was there before ours: it keeps running, and comes back byte for byte and mode for mode."""

import os
import stat
from pathlib import Path

import pytest
from in_process import guard
from repositories import Done, Repo, key

LEAK = f'KEY = "{key()}"\n'
TELLS = '#!/bin/sh\nprintf "%s|" "$0" "$@" > ran\ncat > refs\n'


def hook_of(repo: Repo, name: str = "pre-commit") -> Path:
    return repo.path / ".git/hooks" / name


def put_hook(repo: Repo, text: str, name: str = "pre-commit", mode: int = 0o755) -> Path:
    path = hook_of(repo, name)
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(mode)
    return path


def installing(repo: Repo, *options: str) -> str:
    done = guard(repo, "install", *options)
    assert done.code == 0, done.err
    return done.out


def committing(repo: Repo, content: str = LEAK) -> Done:
    repo.write("app.py", content)
    repo.git("add", "app.py")
    return repo.try_git("commit", "-qm", "Change the app")


def picture(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Every file of a folder: its mode, and its bytes or where it points."""
    files = {}
    for path in sorted(folder.iterdir()):
        content = os.fsencode(path.readlink()) if path.is_symlink() else path.read_bytes()
        files[path.name] = (path.lstat().st_mode, content)
    return files


def test_it_runs_first_with_the_same_arguments(committed: Repo) -> None:
    put_hook(committed, TELLS, "commit-msg")
    installing(committed)
    assert committing(committed, "y = 2\n").code == 0
    assert (
        committed.path / "ran"
    ).read_text() == ".git/hooks/commit-msg.before-cli-guard|.git/COMMIT_EDITMSG|"


def test_it_reads_the_refs_of_a_push_too(committed: Repo) -> None:
    remote = committed.path.parent / "remote.git"
    committed.git("init", "-q", "--bare", str(remote))
    committed.git("remote", "add", "origin", str(remote))
    put_hook(committed, TELLS, "pre-push")
    installing(committed)
    committed.git("push", "-q", "origin", "main")
    head = committed.git("rev-parse", "HEAD")
    assert (committed.path / "ran").read_text().endswith(f"|origin|{remote}|")
    assert (
        committed.path / "refs"
    ).read_text() == f"refs/heads/main {head} refs/heads/main {'0' * 40}\n"


@pytest.mark.parametrize("name", ["pre-commit", "commit-msg"])
def test_its_failure_stops_the_commit(committed: Repo, name: str) -> None:
    put_hook(committed, "#!/bin/sh\necho mine says no\nexit 7\n", name)
    installing(committed)
    done = committing(committed, "y = 2\n")
    assert done.code != 0
    assert "mine says no" in done.all
    assert committed.run(f".git/hooks/{name}", "file").code == 7


def test_its_failure_stops_the_push(committed: Repo) -> None:
    remote = committed.path.parent / "remote.git"
    committed.git("init", "-q", "--bare", str(remote))
    put_hook(committed, "#!/bin/sh\nexit 7\n", "pre-push")
    installing(committed)
    assert committed.try_git("push", "-q", str(remote), "main").code != 0
    assert committed.git("ls-remote", str(remote)) == ""
    assert committed.run(".git/hooks/pre-push", "origin", "url").code == 7


def test_what_it_stages_is_reviewed(committed: Repo) -> None:
    put_hook(committed, "#!/bin/sh\ngit add made.py\n")
    installing(committed)
    committed.write("made.py", LEAK)
    done = committing(committed, "y = 2\n")
    assert done.code == 1
    assert "made.py:1" in done.all


def test_what_it_takes_out_is_not_reviewed(committed: Repo) -> None:
    put_hook(committed, "#!/bin/sh\ngit reset -q leak.py\n")
    installing(committed)
    committed.write("leak.py", LEAK)
    committed.git("add", "leak.py")
    assert committing(committed, "y = 2\n").code == 0
    assert committed.git("show", "--name-only", "--format=") == "app.py"


def test_a_hook_without_its_first_line_runs_as_git_would_run_it(committed: Repo) -> None:
    put_hook(committed, "echo mine ran\n")
    assert "mine ran" in committing(committed, "y = 2\n").all
    installing(committed)
    assert "mine ran" in committing(committed, "y = 3\n").all


def test_a_hook_that_is_not_executable_stays_so(committed: Repo) -> None:
    put_hook(committed, "#!/bin/sh\ntouch ran\nexit 1\n", mode=0o644)
    assert "is not executable: it is kept as" in installing(committed, "-t", "pre-commit")
    assert committing(committed, "y = 2\n").code == 0
    assert not (committed.path / "ran").exists()


def test_installing_again_changes_nothing_and_never_chains_to_itself(
    committed: Repo,
) -> None:
    put_hook(committed, "#!/bin/sh\necho mine ran\n")
    installing(committed)
    first = picture(committed.path / ".git/hooks")
    said = installing(committed)
    assert picture(committed.path / ".git/hooks") == first
    assert "pre-commit: updated; the existing hook runs before it" in said
    assert committing(committed, "y = 2\n").all.count("mine ran") == 1


@pytest.mark.parametrize(
    "before",
    ["script", "no execute bit", "binary", "link", "dangling link", "bash", "nothing"],
)
def test_uninstall_restores_what_was_there(committed: Repo, before: str) -> None:
    hook = hook_of(committed)
    committed.write("tool.sh", "#!/bin/sh\nexit 0\n").chmod(0o755)
    match before:
        case "script":
            put_hook(committed, "#!/bin/sh\nexit 0\n", mode=0o750)
        case "no execute bit":
            put_hook(committed, "#!/bin/sh\nexit 1\n", mode=0o600)
        case "binary":
            hook.write_bytes(bytes(range(256)))
            hook.chmod(0o700)
        case "link":
            hook.symlink_to("../../tool.sh")
        case "dangling link":
            hook.symlink_to("../../nowhere")
        case "bash":
            put_hook(
                committed,
                "#!/usr/bin/env bash\n# calls: # cli-guard hook: of ours\nexit 0\n",
            )
    there = picture(hook.parent)
    installing(committed)
    assert stat.S_ISREG(hook.lstat().st_mode)
    assert (committed.path / "tool.sh").read_text() == "#!/bin/sh\nexit 0\n"
    installing(committed)
    done = guard(committed, "uninstall")
    assert done.code == 0
    assert picture(hook.parent) == there
    assert (
        guard(committed, "uninstall").out
        == "cli-guard: no cli-guard hook is installed here\n"
    )


def test_a_linked_hook_runs(committed: Repo) -> None:
    committed.write("tool.sh", "#!/bin/sh\necho tool ran\n").chmod(0o755)
    hook_of(committed).symlink_to("../../tool.sh")
    installing(committed)
    done = committing(committed)
    assert done.code == 1 and "tool ran" in done.all and "app.py:1" in done.all


def test_a_dangling_link_is_no_hook_to_git_and_none_to_us(committed: Repo) -> None:
    hook_of(committed).symlink_to("../../nowhere")
    installing(committed)
    assert committing(committed, "y = 2\n").code == 0


def test_force_replaces_the_hook(committed: Repo) -> None:
    put_hook(committed, "#!/bin/sh\necho mine ran\n")
    assert "in place of the existing hook" in installing(committed, "--force")
    done = committing(committed)
    assert done.code == 1 and "mine ran" not in done.all
    guard(committed, "uninstall")
    assert not hook_of(committed).exists()


def test_two_hooks_to_keep_are_refused_before_anything_changes(committed: Repo) -> None:
    put_hook(committed, "#!/bin/sh\nexit 0\n", "pre-push")
    put_hook(committed, "#!/bin/sh\nexit 1\n", "pre-push.before-cli-guard")
    there = picture(committed.path / ".git/hooks")
    done = guard(committed, "install")
    assert (done.code, len(done.err.splitlines())) == (2, 1)
    assert "delete one of them, or use --force" in done.err
    assert picture(committed.path / ".git/hooks") == there
    assert guard(committed, "install", "--force").code == 0


def test_a_hook_that_was_written_over_ours_is_left_alone(committed: Repo) -> None:
    put_hook(committed, "#!/bin/sh\nexit 0\n")
    installing(committed)
    put_hook(committed, "#!/bin/sh\necho another manager\n")
    said = guard(committed, "uninstall").out
    assert (
        "pre-commit: belongs to another program; the previous hook is still kept as" in said
    )
    assert hook_of(committed).read_text() == "#!/bin/sh\necho another manager\n"


def test_uninstall_brings_back_what_was_kept_though_ours_was_deleted(
    committed: Repo,
) -> None:
    put_hook(committed, "#!/bin/sh\nexit 0\n")
    there = picture(committed.path / ".git/hooks")
    installing(committed, "-t", "pre-commit")
    hook_of(committed).unlink()
    guard(committed, "uninstall")
    assert picture(committed.path / ".git/hooks") == there
