"""What is remembered of a repository: found by its words, bounded, without secrets, and never in the way."""

import sqlite3
import threading
from pathlib import Path

import pytest
from examples import table
from hypothesis import given, settings
from hypothesis import strategies as st
from repositories import key

from cli_guard.errors import CliGuardError
from cli_guard.state.audit import AuditLog
from cli_guard.state.files import make_folder
from cli_guard.state.memory import MOST_CHARACTERS, Memory
from cli_guard.state.records import Records


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    """An empty memory."""
    return Memory(tmp_path / "cli-guard")


def texts(memory: Memory, words: str) -> list[str]:
    return [row.text for row in memory.search(words)]


def test_what_is_stored_is_found_by_its_words(memory: Memory) -> None:
    memory.store("The deployment waits for the migration", "decision")
    memory.store("Database settings live in config/database.py")
    memory.store("deployment of docs is by hand; deployment twice")
    assert texts(memory, "database settings") == [
        "Database settings live in config/database.py"
    ]
    assert len(texts(memory, "deployment")) == 2
    assert texts(memory, "deploy migr") == ["The deployment waits for the migration"]
    assert texts(memory, "migration nowhere") == ["The deployment waits for the migration"]
    assert texts(memory, "nothing") == []
    assert [row.text for row in memory.recent(1)] == [
        "deployment of docs is by hand; deployment twice"
    ]
    assert [row.kind for row in memory.recent(9, "decision")] == ["decision"]


def test_what_is_forgotten_is_gone_from_the_index_too(memory: Memory) -> None:
    number = memory.store("unwanted")
    assert memory.forget(number) and not memory.forget(number)
    assert texts(memory, "unwanted") == [] and memory.recent() == ()


@settings(max_examples=20, deadline=None)
@given(words=st.text(max_size=60), stored=st.text(max_size=60))
def test_no_words_break_the_search(
    words: str, stored: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    memory = Memory(tmp_path_factory.mktemp("memory"))
    memory.store(stored)
    memory.search(words)


@table(
    "words",
    ['"', "a OR", "NEAR(", "text:", "*", "-x", "a AND NOT b", "x" * 5_000, "(" * 500],
)
def test_the_query_language_is_not_reachable(memory: Memory, words: str) -> None:
    memory.store("plain text")
    memory.search(words)


def test_no_secret_is_kept_and_texts_are_bounded(memory: Memory, tmp_path: Path) -> None:
    secret = key("github")
    memory.store(f"the token is '{secret}'")
    memory.store("word " * 5_000)
    assert secret.encode() not in b"".join(
        path.read_bytes() for path in (tmp_path / "cli-guard").iterdir()
    )
    assert all(len(row.text) <= MOST_CHARACTERS for row in memory.recent(10))
    with pytest.raises(CliGuardError, match="unknown kind wish: use one of decision"):
        memory.store("x", "wish")


def test_the_oldest_rows_go_beyond_the_bound(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cli_guard.state.memory.MOST_ROWS", 3)
    for number in range(6):
        memory.store(f"row {number}")
    assert [row.text for row in memory.recent(9)] == ["row 5", "row 4", "row 3"]
    assert texts(memory, "row") and len(texts(memory, "row")) == 3


def test_reasons_of_approvals_are_taken_over_once(memory: Memory, tmp_path: Path) -> None:
    log = AuditLog(tmp_path / "cli-guard")
    approved = {
        "event": "approve",
        "review_id": "abc",
        "content": "c",
        "user": "Ada",
        "at": "2026-05-04T10:00:00+00:00",
        "reason": "the key is a sample",
    }
    make_folder(tmp_path / "cli-guard")
    log.append(approved)
    for _ in range(3):
        found = texts(memory, "sample")
        assert found.count("approved by Ada: the key is a sample") == 1
    assert [row.kind for row in memory.recent()] == ["decision", "reason"]
    assert memory.recent()[-1].at == "2026-05-04T10:00:00+00:00"


def test_a_broken_database_is_one_clear_line(memory: Memory) -> None:
    memory.path.parent.mkdir(parents=True)
    memory.path.write_bytes(b"this is no database at all, " * 100)
    for use in (
        lambda: memory.search("x"),
        lambda: memory.store("x"),
        memory.recent,
        lambda: memory.forget(1),
    ):
        with pytest.raises(CliGuardError, match=r"is broken .* delete the file") as raised:
            use()
        assert "\n" not in str(raised.value)


def test_a_locked_database_is_one_clear_line(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.store("x")
    monkeypatch.setattr("cli_guard.state.memory.LOCK_SECONDS", 0.1)
    holder = sqlite3.connect(memory.path, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    with pytest.raises(CliGuardError, match="locked by another process"):
        memory.store("y")
    holder.close()
    assert memory.store("y")


def test_a_folder_that_cannot_be_made_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(CliGuardError, match="cannot be opened"):
        Memory(tmp_path / "file" / "deep").store("x")


def test_several_may_store_at_once(memory: Memory) -> None:
    memory.store("first")
    threads = [
        threading.Thread(target=memory.store, args=(f"number {n}",)) for n in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(memory.recent(50)) == 9


def test_decisions_of_the_trail_are_known_and_stay_forgotten(memory: Memory) -> None:
    records = Records(memory.path.parent)
    records.audit.append(
        {
            "at": "2026-05-04T10:00:00+00:00",
            "user": "Ada",
            "event": "reject",
            "review_id": "a1",
            "reason": "too wide",
        }
    )
    records.audit.append(
        {"at": "2026-05-04T10:00:01+00:00", "user": "Ada", "event": "pre-commit"}
    )
    assert texts(memory, "wide") == ["rejected a1 by Ada: too wide"]
    [row] = memory.recent()
    assert row.kind == "decision"
    assert memory.forget(row.id)
    assert memory.recent() == ()
    records.audit.append(
        {
            "at": "2026-05-04T11:00:00+00:00",
            "user": "Ada",
            "event": "undo",
            "review_id": "a1",
        }
    )
    assert [each.text for each in memory.recent()] == ["reverted a1 by Ada"]


def test_what_a_source_says_now_stands_in_place_of_what_it_said(memory: Memory) -> None:
    memory.keep("Where is it? In a.py", "answer", "ask where")
    memory.keep("Where is it? In b.py", "answer", "ask where")
    assert texts(memory, "where") == ["Where is it? In b.py"]
