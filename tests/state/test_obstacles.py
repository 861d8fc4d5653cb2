"""What lies in the place of a state file: it blocks soon, with what to remove; and every file is the owner's alone."""

import fcntl
import os
import stat
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from in_process import guard
from repositories import Done, Repo, key

RISKY = "import os\n\n\ndef run(x):\n    os.system('a' + x)\n"
# A slow machine needs most of it to start Python.
SOON = 20


@pytest.fixture
def hook(committed: Repo, preloaded: Path) -> Callable[[], Done]:
    """Run our hook in a process; one that waits is ended, with code 124."""
    program = str(preloaded / "cli-guard")
    return partial(committed.run, "timeout", str(SOON), program, "hook", "pre-commit")


def make_fifo(path: Path) -> None:
    os.mkfifo(path)


def make_link(path: Path) -> None:
    path.symlink_to(path.parent.parent.parent.parent / "victim")


def make_folder(path: Path) -> None:
    path.mkdir()


@pytest.mark.parametrize("make", [make_fifo, make_link, make_folder])
@pytest.mark.parametrize(
    "name", ["audit.jsonl", "audit.head", "audit.jsonl.lock", "approvals.jsonl"]
)
def test_no_plain_file_blocks_and_is_named(
    committed: Repo, hook: Callable[[], Done], name: str, make: Callable[[Path], None]
) -> None:
    folder = committed.path / ".git/cli-guard"
    folder.mkdir()
    make(folder / name)
    committed.write("a.py", RISKY)
    committed.git("add", "-A")
    done = hook()
    assert done.code not in (0, 124)
    assert name in done.err and "remove it" in done.err
    assert not (committed.path.parent / "victim").exists()


def test_the_state_folder_is_a_folder(committed: Repo) -> None:
    (committed.path / ".git/cli-guard").write_text("")
    committed.write("a.py", "a = 1\n")
    committed.git("add", "-A")
    done = guard(committed, "hook", "pre-commit")
    assert done.code != 0
    assert "should be a folder: remove it" in done.err


def test_a_fifo_as_the_users_own_file_blocks(
    committed: Repo, hook: Callable[[], Done]
) -> None:
    own = Path(committed.env["HOME"]) / ".config/cli-guard/config.toml"
    own.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(own)
    committed.write("a.py", "a = 1\n")
    committed.git("add", "-A")
    done = hook()
    assert done.code == 2
    assert "it is a FIFO" in done.err


def test_a_lock_that_is_held_is_not_waited_for(
    committed: Repo, hook: Callable[[], Done]
) -> None:
    folder = committed.path / ".git/cli-guard"
    folder.mkdir()
    committed.write("a.py", "a = 1\n")
    committed.git("add", "-A")
    with (folder / "audit.jsonl.lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        done = hook()
    assert done.code not in (0, 124)
    assert "audit.jsonl.lock is locked" in done.err
    assert guard(committed, "hook", "pre-commit").code == 0


def test_every_state_file_is_its_owners_alone(committed: Repo) -> None:
    before = os.umask(0o022)
    try:
        folder = committed.path / ".git/cli-guard"
        folder.mkdir()
        (folder / "audit.jsonl").touch(0o644)
        committed.write("a.py", RISKY)
        committed.git("add", "-A")
        guard(committed, "hook", "pre-commit")
        guard(committed, "ask", "Where is run defined?")
        guard(committed, "shell", "-c", "remember the answer")
    finally:
        os.umask(before)
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert len(files) > 4
    assert [path.name for path in files if stat.S_IMODE(path.stat().st_mode) & 0o077] == []


def test_a_secret_that_is_typed_is_not_kept(committed: Repo) -> None:
    for request in (
        f"Where is {key()} used?",
        f"Run `echo {key()[:4]}` and tell whether {key()} is used",
    ):
        guard(committed, "ask", request)
    kept = [
        path for path in (committed.path / ".git/cli-guard").rglob("*") if path.is_file()
    ]
    assert kept
    assert [path.name for path in kept if key().encode() in path.read_bytes()] == []
