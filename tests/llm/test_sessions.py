"""Sessions are stored, listed and resumed; whatever is wrong with one is a clear line, and nothing is lost."""

import datetime
import os
import sqlite3
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest

from cli_guard.errors import CliGuardError, UsageError
from cli_guard.graph.run import load_values, save_values
from cli_guard.llm import session as module
from cli_guard.llm.prompts import user
from cli_guard.llm.session import ChatSession, Sessions

NOW = datetime.datetime(2026, 11, 23, 12, tzinfo=datetime.UTC)
LATER = NOW + datetime.timedelta(hours=1)
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"[:36]


@pytest.fixture
def sessions(tmp_path: Path) -> Sessions:
    return Sessions(tmp_path / "cli-guard" / "sessions")


def store(
    sessions: Sessions, task: str = "Port the parser", now: datetime.datetime = NOW
) -> ChatSession:
    with sessions.open("/repository", now) as session:
        session.task = task
        session.turn = 3
        session.tier = "heavy"
        session.messages = [
            user("Go on"),
            {"role": "assistant", "content": None, "tool_calls": [{"id": "a"}]},
        ]
        session.add("task", task)
        session.add("command", "make test", exit_code=2)
        sessions.save(session, now)
    os.utime(sessions.folder / f"{session.id}.sqlite", (now.timestamp(),) * 2)
    return session


def test_a_session_is_resumed_as_it_was(sessions: Sessions) -> None:
    stored = store(sessions)
    with sessions.open("/elsewhere", LATER, stored.id[:4]) as resumed:
        assert resumed == stored
        assert resumed.artefacts[1].exit_code == 2
        resumed.turn += 1
        sessions.save(resumed, LATER)
    assert sessions.load(stored.id).turn == 4
    assert sessions.load(stored.id).at == "2026-11-23T13:00:00+00:00"
    assert (sessions.folder / f"{stored.id}.sqlite").stat().st_mode & 0o077 == 0


def test_sessions_are_listed_last_saved_first(sessions: Sessions) -> None:
    first = store(sessions, "first", NOW)
    second = store(sessions, "second", LATER)
    broken = sessions.folder / "0000beef.sqlite"
    broken.write_bytes(b"no database" * 100)
    found, problems = sessions.list_all()
    assert [each.id for each in found] == [second.id, first.id]
    assert len(problems) == 1 and "0000beef" in problems[0]
    assert Sessions(sessions.folder / "none").list_all() == ([], [])


def test_no_secret_is_stored(sessions: Sessions) -> None:
    with sessions.open("/repository", NOW) as session:
        session.messages = [user(f"my token is {SECRET}"), user("a name with \udc80 in it")]
        session.add("patch", f"+++ b/a.py\n+TOKEN = '{SECRET}'")
        sessions.save(session, NOW)
    assert SECRET.encode() not in (sessions.folder / f"{session.id}.sqlite").read_bytes()
    loaded = sessions.load(session.id)
    assert "my token is" in loaded.messages[0]["content"]
    assert loaded.messages[1]["content"] == "a name with ? in it"


def test_two_chats_cannot_have_one_session(
    sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cli_guard.state.files.LOCK_SECONDS", 0.05)
    stored = store(sessions)
    with sessions.open("/repository", LATER, stored.id):
        with (
            pytest.raises(UsageError, match="is open in another chat"),
            sessions.open("/repository", LATER, stored.id),
        ):
            pytest.fail("the second chat got the session")
        with sessions.open("/repository", LATER) as other:
            assert other.id != stored.id
    with sessions.open("/repository", LATER, stored.id) as again:
        assert again == stored


def change(**values: object) -> Callable[[Path, ChatSession], None]:
    return lambda path, session: save_values(path, asdict(session) | values)


@pytest.mark.parametrize(
    ("spoil", "line"),
    [
        (change(version=2), "another version of cli-guard"),
        (change(messages=[{"role": "user"}]), "its content is broken"),
        (change(artefacts=[{"kind": "spell"}]), "its content is broken"),
        (change(id="feedbeef"), "its content is broken"),
        (lambda path, _: path.write_bytes(b"no database" * 100), "not a database"),
        (lambda path, _: path.write_bytes(b""), "its content is broken"),
        (lambda path, _: (path.unlink(), path.symlink_to("/etc/passwd")), "cannot be read"),
        (lambda path, _: (path.unlink(), os.mkfifo(path)), "cannot be read"),
        (lambda path, _: os.truncate(path, 70_000_000), "cannot be read"),
    ],
    ids=["version", "message", "artefact", "id", "text", "empty", "link", "fifo", "size"],
)
def test_a_session_that_cannot_be_read_is_one_line(
    sessions: Sessions, spoil: Callable[[Path, ChatSession], None], line: str
) -> None:
    stored = store(sessions)
    path = sessions.folder / f"{stored.id}.sqlite"
    spoil(path, stored)
    before = os.lstat(path)
    with (
        pytest.raises(UsageError, match=line) as raised,
        sessions.open("/repository", LATER, stored.id),
    ):
        pytest.fail("it was resumed")
    assert "\n" not in str(raised.value)
    after = os.lstat(path)
    assert (after.st_ino, after.st_size, after.st_mtime) == (
        before.st_ino,
        before.st_size,
        before.st_mtime,
    )


@pytest.mark.parametrize("name", ["ffffffff", "../../x", "*", "a" * 5_000, "."])
def test_an_unknown_name_is_refused(sessions: Sessions, name: str) -> None:
    store(sessions)
    with (
        pytest.raises(UsageError, match="match"),
        sessions.open("/repository", LATER, name),
    ):
        pytest.fail("it was resumed")


def test_old_sessions_are_removed(
    sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_SESSIONS", 3)
    old = store(sessions, "old", NOW - datetime.timedelta(days=91))
    kept = store(sessions, "kept", NOW - datetime.timedelta(days=89))
    with sessions.open("/repository", NOW):
        pass
    assert [each.id for each in sessions.list_all()[0]] == [kept.id]
    assert not (sessions.folder / f"{old.id}.lock").exists()
    newer = [
        store(sessions, str(hour), NOW + datetime.timedelta(hours=hour)).id
        for hour in range(3)
    ]
    sessions.prune(LATER)
    assert [each.id for each in sessions.list_all()[0]] == newer[::-1]


def test_a_failed_save_leaves_the_old_session(
    sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = store(sessions)

    def refuse(self: Path, target: Path) -> None:
        raise OSError(28, "No space left on device", str(target))

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", refuse)
        stored.turn = 9
        with pytest.raises(CliGuardError, match="No space left"):
            sessions.save(stored, LATER)
    assert sessions.load(stored.id).turn == 3
    assert [
        path.name for path in sessions.folder.iterdir() if path.name.startswith(".")
    ] == []


def test_a_folder_that_is_none_is_said(tmp_path: Path) -> None:
    (tmp_path / "sessions").write_text("")
    with (
        pytest.raises(CliGuardError, match="should be a folder"),
        Sessions(tmp_path / "sessions").open("/r", NOW),
    ):
        pytest.fail("it was opened")


def test_only_plain_data_is_stored_or_built(tmp_path: Path) -> None:
    save_values(tmp_path / "one", {"a": [1, None, "b"]})
    assert load_values(tmp_path / "one") == {"a": [1, None, "b"]}
    with pytest.raises(sqlite3.Error):
        load_values(tmp_path / "missing")
