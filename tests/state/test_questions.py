"""The questions that agents were asked: the last twenty, for their owner alone, no secret among them."""

import datetime
import json
from pathlib import Path

import pytest
from repositories import Repo, key

from cli_guard.runtime import Invocation
from cli_guard.state.questions import (
    KEPT,
    LONGEST,
    MOST,
    KeptQuestion,
    last_questions,
    remember_question,
)

NOW = datetime.datetime(2026, 5, 4, tzinfo=datetime.UTC)


@pytest.fixture
def invocation(committed: Repo, tmp_path: Path) -> Invocation:
    return Invocation(
        committed.path, committed.env | {"XDG_STATE_HOME": str(tmp_path / "state")}, NOW
    )


def list_of(invocation: Invocation) -> Path:
    return Path(invocation.env["XDG_STATE_HOME"]) / "cli-guard" / "questions.jsonl"


def test_the_latest_comes_first_and_the_oldest_go(invocation: Invocation) -> None:
    assert last_questions(invocation) == []
    for number in range(MOST + 3):
        remember_question(invocation, "codex", "/work", f"make target{number}")
    found = last_questions(invocation)
    assert len(found) == MOST
    assert found[0] == KeptQuestion(
        NOW.isoformat(), "codex", "/work", f"make target{MOST + 2}"
    )
    assert list_of(invocation).stat().st_mode & 0o777 == 0o600


def test_a_secret_is_not_kept(invocation: Invocation) -> None:
    remember_question(
        invocation, "codex", "/work", f"curl -u ada:{key()} https://example.org"
    )
    assert key() not in list_of(invocation).read_text()
    (question,) = last_questions(invocation)
    assert question.masked and question.command.startswith("curl -u ada:")


def test_of_a_command_that_is_too_long_the_beginning_is_kept(
    invocation: Invocation,
) -> None:
    for number, length in enumerate((LONGEST - 5, 1_000_000)):
        remember_question(invocation, "codex", "/work", f"echo {'a' * length}")
        latest = last_questions(invocation)[0]
        assert latest.masked is bool(number)
        assert len(latest.command) == (KEPT if number else LONGEST)


def test_what_cannot_be_read_is_left_out(invocation: Invocation) -> None:
    remember_question(invocation, "codex", "/work", "make")
    kept = list_of(invocation).read_text()
    list_of(invocation).write_text(
        '{\n[]\n{"at": 1}\n' + json.dumps({"x": 1}) + "\n" + kept
    )
    assert [question.command for question in last_questions(invocation)] == ["make"]


def test_without_a_home_nothing_is_kept(committed: Repo) -> None:
    invocation = Invocation(committed.path, {}, NOW)
    remember_question(invocation, "codex", "/work", "make")
    assert last_questions(invocation) == []
