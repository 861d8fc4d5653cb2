"""Who trusts which checks: asked of a person, remembered for this user alone, and for exactly these checks."""

import json
import os
import pty
import stat
import subprocess
from pathlib import Path

import pytest
from checks_world import World
from examples import table
from in_process import guard
from repositories import GUARD, Repo, key

from cli_guard.approvals.seals import seals_of
from cli_guard.errors import CliGuardError, UsageError
from cli_guard.execution.checks.trust import KEPT_TABLES, Trusted
from cli_guard.git.repository import GitRepository
from cli_guard.policy.checks import digest_of
from cli_guard.policy.config import read_config
from cli_guard.runtime import Invocation, user_state


def file_of(world: World) -> Path:
    return Path(world.repo.env["HOME"]) / ".local" / "state" / "cli-guard" / "trusted.json"


def digest(repo: Repo) -> str:
    found = read_config(
        lambda name: repo.try_git("show", f"HEAD:{name}").out.encode() or None, ""
    )
    assert found
    return digest_of(found[0].checks)


def trusted(world: World, invocation: Invocation | None = None) -> bool:
    invocation = invocation or world.invocation
    repository = GitRepository.discover(invocation.cwd, invocation.env)
    return (
        Trusted(invocation).find(
            repository, digest(world.repo), seals_of(repository, invocation.env)
        )
        is not None
    )


def test_a_person_at_a_terminal_trusts(world: World) -> None:
    world.check(command="'make test'", trusted=False)
    terminal, other = pty.openpty()
    with subprocess.Popen(
        (GUARD, "trust", "--checks"),
        cwd=world.repo.path,
        env=world.repo.env,
        stdin=other,
        stdout=other,
        stderr=other,
    ) as process:
        os.close(other)
        os.write(terminal, b"yes\n")
        assert process.wait(60) == 0
    shown = os.read(terminal, 65_536).decode()
    os.close(terminal)
    assert "runs: make test" in shown and "yours to decide" in shown
    assert trusted(world)


def test_the_doctor_says_whether_they_run(world: World) -> None:
    assert "checks:" not in guard(world.repo, "doctor").out
    world.check(command="'make test'", trusted=False)
    assert (
        "! checks: t: not trusted, see `cli-guard trust --checks`"
        in guard(world.repo, "doctor").out
    )
    world.trust()
    assert "  checks: t (trusted by " in guard(world.repo, "doctor").out


def test_it_is_kept_for_the_user_alone_and_written_down(world: World) -> None:
    world.check(command="'make test'", trusted=False)
    with world.repo.unchanged():
        done = world.trust()
    assert done.code == 0 and "are trusted; run the commit or push again" in done.out
    about = file_of(world).stat()
    assert stat.S_IMODE(about.st_mode) == 0o600
    assert stat.S_IMODE(file_of(world).parent.stat().st_mode) == 0o700
    [checks] = [
        json.loads(line)
        for line in world.repo.guard("audit", "show", "--format", "json").out.splitlines()
    ]
    assert (checks["event"], checks["table"]) == ("trust", digest(world.repo))
    assert world.repo.guard("audit", "verify").code == 0
    again = world.trust()
    assert again.code == 0 and "trusted by" in again.out and "[N]o" not in again.out


@pytest.mark.parametrize("answer", ["no", "", "yess", "y e s"])
def test_any_other_answer_is_none(world: World, answer: str) -> None:
    world.check(command="'make test'", trusted=False)
    done = world.trust(answer=answer)
    assert done.code == 1 and "not trusted" in done.out
    assert not trusted(world) and not file_of(world).exists()


def test_nobody_is_there_to_be_asked(world: World) -> None:
    world.check(command="'make test'", trusted=False)
    done = guard(world.repo, "trust", stdin="yes\n")
    assert done.code == 2 and "needs a person at a terminal" in done.err
    assert not trusted(world)


def test_what_is_shown(world: World) -> None:
    world.check(
        '[checks.web]\ncommand = "npm test"\nserver = "npm start"\nneeds_port = 8000\nstage = ["pre-commit"]\n'
        f'environment = {{TOKEN = "{key("github")}", CI = "1"}}\npass_environment = ["LANG"]\n'
        'working_dir = "web"\nfiles = ["web/**"]\n[checks.wipe]\ncommand = "rm -rf / \\u001b[2J"\n',
        trusted=False,
    )
    shown = guard(world.repo, "trust", "--show")
    assert shown.code == 0 and shown.err == ""
    for line in (
        "web (pre-commit)",
        "    runs: npm test",
        "    server: npm start",
        "    port: 8000",
        "    sees of your environment: LANG",
        "    in: web",
        "    only for: web/**",
        "        never runs, even if trusted: deletes the whole file system",
        "cli-guard: the checks are not trusted: they do not run",
        "cli-guard: coding agents are not trusted here",
    ):
        assert line in shown.out
    assert key("github") not in shown.out and "CI=1" in shown.out
    assert "\x1b" not in shown.out


def test_any_change_is_another_matter(world: World) -> None:
    world.check(command="'make test'")
    assert trusted(world)
    world.check(command="'make test '", trusted=False)
    assert not trusted(world)
    world.trust()
    # Whoever goes back to what was trusted before is not asked again.
    world.check(command="'make test'", trusted=False)
    assert trusted(world)


def test_another_repository_is_another_matter(world: World) -> None:
    world.check(command="'make test'")
    beside = world.repo.path.parent / "clone"
    world.repo.git("clone", "-q", str(world.repo.path), str(beside))
    assert not trusted(world, Invocation(beside, world.repo.env, world.invocation.now))
    linked = world.repo.path.parent / "linked"
    world.repo.git("worktree", "add", "-q", str(linked), "-b", "topic")
    assert trusted(world, Invocation(linked, world.repo.env, world.invocation.now))


def test_revoked(world: World) -> None:
    world.check(command="'make test'")
    assert (
        guard(world.repo, "trust", "--revoke").out
        == "cli-guard: the checks: no longer trusted\n"
    )
    assert not trusted(world)
    assert (
        guard(world.repo, "trust", "--revoke").out
        == "cli-guard: nothing was trusted here\n"
    )
    events = [
        json.loads(line)["event"]
        for line in guard(world.repo, "audit", "show", "--format", "json").out.splitlines()
    ]
    assert events == ["trust", "trust revoked", "trust revoked"]
    assert guard(world.repo, "trust", "--show", "--revoke").code == 2


def test_what_is_not_committed_does_not_count_yet(world: World) -> None:
    world.repo.write("cli-guard.toml", '[checks.t]\ncommand = "make"\n')
    done = world.trust()
    assert "make" not in done.out and "[y]es" not in done.out
    assert "[checks] are not committed yet: they are not part of this" in done.out
    assert not file_of(world).exists()
    assert guard(world.repo, "trust", "--rev", "nowhere").code == 2


@pytest.mark.parametrize("damage", ["text", "list", "number", "future", "others", "folder"])
def test_a_file_that_says_nothing_trusts_nothing(world: World, damage: str) -> None:
    world.check(command="'make test'")
    file = file_of(world)
    if damage == "others":
        file.chmod(0o666)
    elif damage == "folder":
        file.unlink()
        file.mkdir()
    else:
        texts = {
            "text": "{",
            "list": "[]",
            "number": '{"version": 2, "trusted": 3}',
            "future": '{"version": 2}',
        }
        file.write_text(texts[damage])
    with pytest.raises((CliGuardError, OSError)) as caught:
        trusted(world)
    assert "\n" not in str(caught.value)
    assert guard(world.repo, "trust", "--show").code in (1, 2)


@pytest.mark.parametrize(
    "entry", [3, {"digest": "x"}, {"digest": 1, "by": "a", "at": "b"}, None, "x"]
)
def test_a_broken_entry_trusts_nothing(world: World, entry: object) -> None:
    world.check(command="'make test'")
    data = json.loads(file_of(world).read_text())
    data["trusted"] = [entry, *data["trusted"]]
    file_of(world).write_text(json.dumps(data))
    assert trusted(world)
    data["trusted"] = [entry]
    file_of(world).write_text(json.dumps(data))
    assert not trusted(world)


def test_it_is_bounded_and_the_latest_stay(world: World) -> None:
    world.check(command="'make test'")
    repository = GitRepository.discover(world.repo.path, world.repo.env)
    trust = Trusted(world.invocation)
    for number in range(KEPT_TABLES):
        if number == 1:
            trust.give(repository, digest(world.repo), seals_of(repository, world.repo.env))
        trust.give(repository, f"{number:064x}", seals_of(repository, world.repo.env))
    assert (
        trusted(world)
        and trust.find(repository, f"{0:064x}", seals_of(repository, world.repo.env))
        is None
    )
    trust.give(repository, "f" * 64, seals_of(repository, world.repo.env))
    assert not trusted(world)


def test_without_a_place_nothing_is_trusted(world: World) -> None:
    world.check(command="'make test'", trusted=False)
    invocation = Invocation(
        world.repo.path,
        {k: v for k, v in world.repo.env.items() if k != "HOME"},
        world.invocation.now,
    )
    assert not trusted(world, invocation)
    repository = GitRepository.discover(invocation.cwd, invocation.env)
    with pytest.raises(UsageError, match="XDG_STATE_HOME"):
        Trusted(invocation).give(repository, "x", seals_of(repository, world.repo.env))


@table(
    ("env", "folder"),
    [
        ({"HOME": "/h"}, "/h/.local/state/cli-guard"),
        ({"HOME": "/h", "XDG_STATE_HOME": "/s"}, "/s/cli-guard"),
        ({"HOME": "/h", "XDG_STATE_HOME": "relative"}, "/h/.local/state/cli-guard"),
        ({"HOME": "", "XDG_STATE_HOME": ""}, None),
    ],
)
def test_where_it_is_kept(env: dict[str, str], folder: str | None) -> None:
    found = user_state(env)
    assert (str(found) if found else None) == folder
