"""May it run: what the engine says, what a person says, and for how long that counts."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from examples import table

from cli_guard.commands import Context
from cli_guard.commands.model import Pattern, Verdict
from cli_guard.execution.permission import (
    Allowances,
    PermissionBasis,
    Reply,
    Session,
    digest_of,
    permission,
)
from cli_guard.execution.processes.supervisor.process_tree import identity
from cli_guard.model import Decision

ALLOW = Pattern("make *", Decision.ALLOW)
DENY = Pattern("make *", Decision.DENY)


def saying(reply: Reply, asked: list[str]) -> Callable[[Verdict], Reply]:
    def ask(verdict: Verdict) -> Reply:
        asked.append(verdict.command)
        return reply

    return ask


@pytest.fixture
def session() -> Iterator[Session]:
    """A session whose leader lives: the leader of the one that the tests run in may be gone (a CI job)."""
    with subprocess.Popen(("sleep", "60"), start_new_session=True) as leader:
        yield Session(leader.pid, known(leader.pid))
        leader.kill()


def known(pid: int) -> str:
    found = identity(pid)
    assert found
    return found


def decided(
    command: str,
    folder: Path,
    reply: Reply | None = None,
    patterns: tuple[Pattern, ...] = (),
    session: Session | None = None,
) -> tuple[PermissionBasis, int]:
    """The answer, and how often somebody was asked."""
    asked: list[str] = []
    ask = saying(reply, asked) if reply else None
    allowances = Allowances(folder, session)
    given = permission(
        command, Context(patterns=patterns), ask, allowances, digest_of(command, folder)
    )
    assert given.granted == (given.answer in {"allowed", "by config", "yes", "session"})
    return given.answer, len(asked)


@table(
    ("command", "reply", "patterns", "answer", "asked"),
    [
        ("ls", None, (), "allowed", 0),
        ("ls", None, (ALLOW,), "allowed", 0),
        ("make test", None, (), "needs review", 0),
        ("make test", "yes", (), "yes", 1),
        ("make test", "no", (), "no", 1),
        ("make test", None, (ALLOW,), "by config", 0),
        ("make test; rm x", None, (ALLOW,), "needs review", 0),
        ("rm -rf /", "yes", (), "denied", 0),
        ("make test", "yes", (DENY,), "denied", 0),
        ("make test", "yes", (ALLOW, DENY), "denied", 0),
        ("", "no", (), "no", 1),
    ],
)
def test_who_decides(
    tmp_path: Path,
    command: str,
    reply: Reply | None,
    patterns: tuple[Pattern, ...],
    answer: str,
    asked: int,
) -> None:
    assert decided(command, tmp_path, reply, patterns) == (answer, asked)


def test_an_answer_for_the_session_is_asked_for_once(
    tmp_path: Path, session: Session
) -> None:
    assert decided("make test", tmp_path, "session", session=session) == ("session", 1)
    assert decided("make test", tmp_path, "no", session=session) == ("session", 0)
    assert decided("make tests", tmp_path, "no", session=session) == ("no", 1)
    assert decided("make test", tmp_path, "no", (DENY,), session=session) == ("denied", 0)
    assert decided("make test", tmp_path, session=session) == ("needs review", 0), (
        "nobody could be asked"
    )
    assert (tmp_path / "allowances.json").stat().st_mode & 0o077 == 0


def test_it_counts_in_its_own_session_alone_and_ends_with_it(
    tmp_path: Path, session: Session
) -> None:
    with subprocess.Popen(("sleep", "60"), start_new_session=True) as leader:
        ended = Session(leader.pid, "another start")
        other = replace(ended, identity=known(leader.pid))
        Allowances(tmp_path, other).keep("one")
        assert Allowances(tmp_path, other).holds("one")
        assert not Allowances(tmp_path, session).holds("one")
        # A later process of the same number is not that session.
        assert not Allowances(tmp_path, ended).holds("one")
        assert not ended.alive and other.alive
        leader.kill()
    assert not other.alive
    Allowances(tmp_path, session).keep("two")
    kept = json.loads((tmp_path / "allowances.json").read_text())
    assert [entry["digest"] for entry in kept] == ["two"]


CURRENT = """
import os, sys
from cli_guard.execution.permission import Session
if sys.argv[1] == "orphan":
    leader = os.getpid()
    if os.fork():
        os._exit(0)
    while os.getppid() == leader:
        pass
print(Session.current(), os.getsid(0), flush=True)
"""


def test_the_current_session_is_known_by_its_leader_while_that_lives() -> None:
    def current(who: str) -> str:
        words = (sys.executable, "-c", CURRENT, who)
        return subprocess.run(
            words, start_new_session=True, check=True, capture_output=True, text=True
        ).stdout

    printed = current("leader")
    leader = int(printed.split()[-1])
    assert printed.startswith(f"Session(leader={leader}, identity=")
    assert current("orphan").startswith("None ")


def test_without_a_session_nothing_is_kept(tmp_path: Path) -> None:
    Allowances(tmp_path, None).keep("one")
    assert not Allowances(tmp_path, None).holds("one")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{}",
        "[1]",
        '[{"leader": 1}]',
        '[{"leader": "x", "identity": 1, "digest": 2}]',
        "[" * 9999,
        "\0",
    ],
)
def test_a_broken_file_allows_nothing_and_is_written_anew(
    tmp_path: Path, session: Session, content: str
) -> None:
    (tmp_path / "allowances.json").write_text(content)
    assert not Allowances(tmp_path, session).holds("one")
    Allowances(tmp_path, session).keep("one")
    assert Allowances(tmp_path, session).holds("one")


def test_what_cannot_be_kept_counts_once_and_is_said(
    tmp_path: Path, session: Session
) -> None:
    (tmp_path / "state").write_text("a file")
    allowances = Allowances(tmp_path / "state", session)
    given = permission("make test", Context(), saying("session", []), allowances, "digest")
    assert given.answer == "yes" and given.granted
    assert given.note and "allowed once: it cannot be stored in" in given.note


def test_a_digest_is_of_the_exact_text_the_folder_and_the_rest() -> None:
    folder = Path("/r")
    digests = {
        digest_of("make", folder),
        digest_of("make ", folder),
        digest_of("make", Path("/r/s")),
        digest_of("make", folder, "sandbox"),
        digest_of("make\udcff", folder),
        digest_of("", Path("make/r")),
    }
    assert len(digests) == 6
