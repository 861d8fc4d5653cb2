"""What goes wrong for an honest user: one clear line, no traceback, nothing lost and nothing accepted."""

import os
import pty
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
from forging.table import assert_plain
from forging.world import (
    ADA,
    BOUND,
    NOTES,
    REVOKED,
    SIGNERS,
    TOUCH,
    World,
    needs_ssh_keygen,
    security_key,
    signed,
    signer,
)
from in_process import RISKY
from repositories import GUARD, Done, Repo

pytestmark = needs_ssh_keygen


def error_line(done: Done, *codes: int) -> str:
    """The one line of a refusal."""
    assert_plain(done)
    assert done.code in (codes or (1, 2, 3)), done.all
    lines = [line for line in done.err.splitlines() if line]
    assert len(lines) == 1, done.all
    assert lines[0].startswith("cli-guard: "), lines
    assert len(lines[0]) < 600, lines
    return lines[0]


def programs(folder: Path, ssh_keygen: str = "") -> dict[str, str]:
    """An environment with Git and nothing else but an `ssh-keygen` of this text."""
    folder.mkdir()
    for name in ("git", "sh", "cat"):
        found = next(
            Path(each, name)
            for each in os.environ["PATH"].split(":")
            if Path(each, name).exists()
        )
        (folder / name).symlink_to(found)
    if ssh_keygen:
        path = folder / "ssh-keygen"
        path.write_text(f"#!/bin/sh\n{ssh_keygen}\n")
        path.chmod(0o755)
    return {"PATH": str(folder)}


OLD = "echo 'ssh-keygen: illegal option -- Y' >&2; echo 'usage: ssh-keygen [-q] [-b bits]' >&2; exit 1"
BROKEN = {
    "missing": "",
    "too old": OLD,
    "killed": "kill -9 $$",
    "says nothing": "exit 0",
    "says much": "i=0; while [ $i -lt 2000 ]; do echo 'one more line of it' >&2; i=$((i+1)); done; exit 1",
    "says bytes": "printf '\\377\\376\\033[2K\\r' >&2; exit 255",
}


def assert_kept(world: World, done: Done) -> None:
    """Nothing was approved, and the review still waits."""
    assert done.code != 0, done.all
    assert world.lines() == []
    assert world.hook_on_staged().code == 3
    assert len(world.pending()) == 1


@pytest.mark.parametrize("how", BROKEN)
def test_approving_without_a_working_ssh_keygen(world: World, how: str) -> None:
    world.stage()
    done = world.approve(env=programs(world.folder / "bin", BROKEN[how]))
    line = error_line(done)
    assert "ssh-keygen" in line or "enrol" in line or "sign" in line, line
    assert_kept(world, done)


@pytest.mark.parametrize("how", ["missing", "too old", "killed", "says much", "says bytes"])
def test_verifying_without_a_working_ssh_keygen(world: World, how: str) -> None:
    world.note(signed(world.change(), ADA))
    before = world.lines()
    done = world.verify(env=programs(world.folder / "bin", BROKEN[how]))
    assert_plain(done)
    assert done.code in (2, 3), done.all
    if how in ("missing", "too old"):
        assert "ssh-keygen" in done.all, done.all
    assert world.lines() == before
    assert world.verify().code == 0


@pytest.mark.parametrize("how", ["missing", "too old"])
def test_a_commit_without_a_working_ssh_keygen(world: World, how: str) -> None:
    world.note(signed(world.change(), ADA))
    done = world.hook(env=programs(world.folder / "bin", BROKEN[how]))
    assert_plain(done)
    assert done.code in (1, 2, 3), done.all
    assert "ssh-keygen" in done.all, done.all


@pytest.mark.parametrize("how", ["missing", "too old"])
@pytest.mark.parametrize(
    "words", ["add {key} --principal carol@example.org", "revoke bob@example.org", "init"]
)
def test_enrolling_without_a_working_ssh_keygen(world: World, how: str, words: str) -> None:
    before = world.repo.git("status", "--porcelain")
    argv = words.format(key=world.key_file("carol").with_suffix(".pub")).split()
    done = world.guard("signers", *argv, env=programs(world.folder / "bin", BROKEN[how]))
    assert_plain(done)
    if done.code != 0:
        error_line(done)
        assert world.repo.git("status", "--porcelain") == before


def test_no_agent(world: World) -> None:
    """The key is only in an agent, and there is none."""
    world.set_policy(TOUCH)
    world.stage()
    public = world.folder / "ada-sk.pub"
    for variables in (
        {},
        {"SSH_AUTH_SOCK": str(world.folder / "nothing")},
        {"SSH_AUTH_SOCK": ""},
    ):
        done = world.approve("--key", str(public), env=variables)
        error_line(done)
        assert_kept(world, done)


@pytest.mark.parametrize("options", [{"locked": True}, {"refuses": True}])
def test_an_agent_that_does_not_sign(world: World, options: Mapping[str, bool]) -> None:
    world.set_policy(TOUCH)
    world.stage()
    public = str(world.folder / "ada-sk.pub")
    with world.agent(security_key(), **options) as variables:
        done = world.approve("--key", public, env=variables)
        error_line(done)
        assert_kept(world, done)


def test_an_agent_with_other_keys(world: World) -> None:
    world.set_policy(TOUCH)
    world.stage()
    with world.agent(security_key(of="mallory")) as variables:
        done = world.approve("--key", str(world.folder / "ada-sk.pub"), env=variables)
        error_line(done)
        assert_kept(world, done)


def test_a_key_with_a_passphrase_and_nobody_to_type_it(world: World) -> None:
    """There is a terminal on standard input, and none that ssh-keygen can open."""
    world.stage()
    key = world.key_file("ada")
    command = ("ssh-keygen", "-q", "-p", "-P", "", "-N", "secret", "-f", str(key))
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    ours, theirs = pty.openpty()
    os.write(ours, b"yes\n")
    env = {
        name: value
        for name, value in world.repo.env.items()
        if name not in ("DISPLAY", "SSH_ASKPASS")
    }
    done = subprocess.run(
        (GUARD, "approve"), cwd=world.repo.path, env=env, stdin=theirs, capture_output=True, text=True,
        timeout=60, start_new_session=True, check=False,
    )  # fmt: skip
    os.close(theirs)
    os.close(ours)
    answer = Done(done.returncode, done.stdout, done.stderr)
    line = error_line(answer)
    assert "passphrase" in line or "sign" in line, line
    assert_kept(world, answer)


def test_keys_that_are_none(world: World) -> None:
    world.stage()
    folder = world.folder / "keys"
    folder.mkdir()
    (folder / "empty").touch()
    (folder / "text").write_text("this is no key\n")
    (folder / "bytes").write_bytes(bytes(range(256)) * 100)
    (folder / "cut").write_text(world.key_file("ada").read_text()[:200])
    (folder / "public.pub").write_text(f"{ADA.public_line()}\n")
    (folder / "folder").mkdir()
    for name in ("missing", "empty", "text", "bytes", "cut", "folder"):
        done = world.approve("--key", str(folder / name))
        error_line(done)
        assert_kept(world, done)
        done = world.guard(
            "signers", "add", str(folder / name), "--principal", "x@example.org"
        )
        error_line(done)


SIGNERS_FILES: dict[str, str | bytes] = {
    "text": "who may approve: ask Ada\n",
    "bytes": bytes(range(256)),
    "utf-16": signer("ada@example.org", ADA).encode("utf-16"),
    "a mark": "\ufeff" + signer("ada@example.org", ADA) + "\n",
    "no key": f"ada@example.org {BOUND}\n",
    "no name": f"{ADA.public_line()}\n",
    "half a key": signer("ada@example.org", ADA)[:-40] + "\n",
    "another option": signer("ada@example.org", ADA, "no-such-option") + "\n",
    "a quote": signer("ada@example.org", ADA, 'namespaces="cli-guard-approval@v1') + "\n",
    "a date": signer("ada@example.org", ADA, f'{BOUND},valid-before="tomorrow"') + "\n",
    "the same twice": f"{signer('ada@example.org', ADA)}\n{signer('ada@example.org', ADA)}\n",
    "a long line": "x" * 1_000_000 + "\n",
}


@pytest.mark.parametrize("kind", SIGNERS_FILES)
def test_a_broken_signers_file(world: World, kind: str) -> None:
    """No command takes it for an empty one, and none breaks."""
    world.set_base({SIGNERS: SIGNERS_FILES[kind]})
    statement = world.change()
    nobody = world.verify()
    assert_plain(nobody)
    assert nobody.code in (2, 3), nobody.all
    world.note(signed(statement, ADA))
    line = error_line(world.verify(), 2)
    assert (SIGNERS in line and "line" in line) or kind in (
        "bytes",
        "utf-16",
        "a mark",
        "text",
    ), line
    error_line(world.guard("signers", "list"))
    carol = str(world.key_file("carol").with_suffix(".pub"))
    before = (world.repo.path / SIGNERS).read_bytes()
    error_line(world.guard("signers", "add", carol, "--principal", "carol@example.org"))
    assert (world.repo.path / SIGNERS).read_bytes() == before
    hook = world.hook()
    assert_plain(hook)
    assert hook.code in (2, 3), hook.all


def test_a_signers_file_that_is_a_folder(world: World) -> None:
    world.repo.git("rm", "-q", SIGNERS)
    world.set_base({f"{SIGNERS}/ada": signer("ada@example.org", ADA)})
    world.record("Add the report", {"report.py": RISKY})
    done = world.verify()
    assert_plain(done)
    assert done.code in (2, 3), done.all
    error_line(world.guard("signers", "list"))


def test_a_signers_file_with_windows_line_ends(world: World) -> None:
    """As Git writes it with `core.autocrlf`: it holds, or is refused in one line."""
    text = world.repo.git("show", f"HEAD:{SIGNERS}")
    world.set_base({SIGNERS: text.replace("\n", "\r\n") + "\r\n"})
    world.note(signed(world.change(), ADA))
    done = world.verify()
    assert_plain(done)
    if done.code != 0:
        error_line(done, 2)


@pytest.mark.parametrize("content", [b"garbage\n", b"SSHKRL\n\0", b"\xff" * 1000])
def test_a_broken_list_of_revoked_keys(world: World, content: bytes) -> None:
    world.set_base({REVOKED: content})
    world.record("Add the report", {"report.py": RISKY})
    done = world.verify()
    assert_plain(done)
    assert done.code in (2, 3), done.all
    revoked = world.guard("signers", "revoke", "bob@example.org")
    assert_plain(revoked)
    if revoked.code != 0:
        error_line(revoked)
        assert (world.repo.path / REVOKED).read_bytes() == content


def test_a_notes_ref_that_is_locked(world: World) -> None:
    """Another Git is writing it: the approval is given again, not half recorded."""
    world.stage()
    lock = world.repo.path / ".git" / f"{NOTES}.lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    lock.touch()
    done = world.approve()
    assert_plain(done)
    lock.unlink()
    if done.code != 0:
        error_line(done)
    world.record("Add the report")
    again = world.verify()
    assert_plain(again)
    # Either it is noted, or the command has said that it is not.
    assert again.code == 0 or done.code != 0, (done.all, again.all)


def test_a_notes_ref_that_is_broken(world: World) -> None:
    """A new approval must not be written over what nobody can read."""
    world.stage()
    ref = world.repo.path / ".git" / NOTES
    ref.parent.mkdir(parents=True, exist_ok=True)
    for text in (
        "garbage\n",
        f"{'1' * 40}\n",
        world.repo.git("rev-parse", "HEAD:app.py") + "\n",
    ):
        ref.write_text(text)
        done = world.approve()
        assert_plain(done)
        assert ref.read_text() == text or world.lines(), done.all
        if done.code != 0:
            error_line(done)
        world.forget()


@contextmanager
def in_place_of(path: Path) -> Iterator[None]:
    """A file where a folder belongs."""
    world_forgotten = path.with_name("kept")
    if path.exists():
        path.rename(world_forgotten)
    path.touch()
    yield
    path.unlink()


def test_a_state_folder_that_is_a_file(world: World) -> None:
    world.stage()
    with in_place_of(world.state):
        for done in (
            world.approve(),
            world.guard("hook", "pre-commit"),
            world.verify("HEAD..HEAD"),
        ):
            assert_plain(done)
        assert world.approve().code != 0


def public_key(world: World, name: str) -> str:
    return f"{world.key_file(name)}.pub"


def add_carol(world: World, *words: str) -> list[str]:
    return ["signers", "add", public_key(world, "carol"), "--principal", *words]


WORDS: dict[str, Callable[[World], list[str]]] = {
    "an unknown id": lambda world: ["approve", "ffffffffff"],
    "no time": lambda world: ["approve", "--expires", "soon"],
    "a negative time": lambda world: ["approve", "--expires", "-1d"],
    "an endless time": lambda world: ["approve", "--expires", "99999999999d"],
    "no such path": lambda world: ["approve", "--for", "nothing/here"],
    "a break-glass without a reason": lambda world: ["approve", "--break-glass"],
    "a break-glass of nothing": lambda world: [
        "approve",
        "ffffffffff",
        "--break-glass",
        "--note",
        "ticket 812",
    ],
    "no remote": lambda world: ["signers", "fetch"],
    "an unknown remote": lambda world: ["signers", "fetch", "nobody"],
    "a principal that is none": lambda world: add_carol(world, "a b"),
    "a pattern": lambda world: add_carol(world, "*@example.org"),
    "two names": lambda world: add_carol(world, "a@b.c,d@e.f"),
    "a date that was": lambda world: add_carol(world, "c@d.e", "--until", "2001-01-01"),
    "a key that is enrolled": lambda world: [
        "signers",
        "add",
        public_key(world, "bob"),
        "--principal",
        "x@y.z",
    ],
    "nobody to revoke": lambda world: ["signers", "revoke", "nobody@example.org"],
}


@pytest.mark.parametrize("what", WORDS)
def test_words_that_make_no_sense(world: World, what: str) -> None:
    world.stage()
    before = world.repo.git("status", "--porcelain")
    argv = WORDS[what](world)
    done = world.approve(*argv[1:]) if argv[0] == "approve" else world.guard(*argv)
    error_line(done)
    assert world.lines() == []
    assert world.repo.git("status", "--porcelain") == before


def test_a_range_of_another_repository(world: World) -> None:
    for where in (
        f"{'1' * 40}..HEAD",
        "nobody/main..HEAD",
        "HEAD..nobody",
        "HEAD:app.py..HEAD",
    ):
        error_line(world.verify(where), 2)


def test_no_repository(world: World) -> None:
    empty = world.folder / "empty"
    empty.mkdir()
    elsewhere = World(Repo(empty, world.repo.env), world.folder, world.marks)
    for argv in (
        ["verify", "--range", "a..b"],
        ["signers", "fetch"],
        ["signers", "list"],
        ["signers", "revoke", "x"],
    ):
        error_line(elsewhere.guard(*argv), 2)
