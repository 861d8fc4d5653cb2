"""May it run: what the engine says, what a person says, and for how long that counts."""

import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from cli_guard.model import Decision
from cli_guard.permission import Allowances, Answer, Reply, Session, digest_of, permission
from cli_guard.policy.commands import Context
from cli_guard.policy.commands.model import Pattern, Verdict

ALLOW = Pattern("make *", Decision.ALLOW)
DENY = Pattern("make *", Decision.DENY)


def saying(reply: Reply, asked: list[str]) -> Callable[[Verdict], Reply]:
    def ask(verdict: Verdict) -> Reply:
        asked.append(verdict.command)
        return reply

    return ask


def decided(
    command: str, folder: Path, reply: Reply | None = None, patterns: tuple[Pattern, ...] = ()
) -> tuple[Answer, int]:
    """The answer, and how often somebody was asked."""
    asked: list[str] = []
    ask = saying(reply, asked) if reply else None
    allowances = Allowances(folder, Session.current())
    given = permission(command, Context(patterns=patterns), ask, allowances, digest_of(command, folder))
    assert given.granted == (given.answer in {"allowed", "by config", "yes", "session"})
    return given.answer, len(asked)


@pytest.mark.parametrize(
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
    tmp_path: Path, command: str, reply: Reply | None, patterns: tuple[Pattern, ...], answer: str, asked: int
) -> None:
    assert decided(command, tmp_path, reply, patterns) == (answer, asked)


def test_an_answer_for_the_session_is_asked_for_once(tmp_path: Path) -> None:
    assert decided("make test", tmp_path, "session") == ("session", 1)
    assert decided("make test", tmp_path, "no") == ("session", 0)
    assert decided("make tests", tmp_path, "no") == ("no", 1)
    assert decided("make test", tmp_path, "no", (DENY,)) == ("denied", 0)
    assert decided("make test", tmp_path) == ("needs review", 0), "nobody could be asked"
    assert (tmp_path / "allowances.json").stat().st_mode & 0o077 == 0


def test_it_counts_in_its_own_session_alone_and_ends_with_it(tmp_path: Path) -> None:
    with subprocess.Popen(("sleep", "60"), start_new_session=True) as leader:
        identity = Session.current()
        assert identity
        ended = Session(leader.pid, identity.identity)
        other = replace(ended, identity=known(leader.pid))
        Allowances(tmp_path, other).keep("one")
        assert Allowances(tmp_path, other).holds("one")
        assert not Allowances(tmp_path, identity).holds("one")
        # A later process of the same number is not that session.
        assert not Allowances(tmp_path, ended).holds("one")
        assert not ended.alive and other.alive
        leader.kill()
    assert not other.alive
    Allowances(tmp_path, identity).keep("two")
    kept = json.loads((tmp_path / "allowances.json").read_text())
    assert [entry["digest"] for entry in kept] == ["two"]


def known(pid: int) -> str:
    from cli_guard.processes.keeper.family import identity

    found = identity(pid)
    assert found
    return found


def test_without_a_session_nothing_is_kept(tmp_path: Path) -> None:
    Allowances(tmp_path, None).keep("one")
    assert not Allowances(tmp_path, None).holds("one")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    "content",
    ["", "{}", "[1]", '[{"leader": 1}]', '[{"leader": "x", "identity": 1, "digest": 2}]', "[" * 9999, "\0"],
)
def test_a_broken_file_allows_nothing_and_is_written_anew(tmp_path: Path, content: str) -> None:
    session = Session.current()
    (tmp_path / "allowances.json").write_text(content)
    assert not Allowances(tmp_path, session).holds("one")
    Allowances(tmp_path, session).keep("one")
    assert Allowances(tmp_path, session).holds("one")


def test_what_cannot_be_kept_counts_once_and_is_said(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file")
    allowances = Allowances(tmp_path / "state", Session.current())
    given = permission("make test", Context(), saying("session", []), allowances, "digest")
    assert given.answer == "yes" and given.granted
    assert given.note and "allowed this once: it cannot be kept in" in given.note


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
