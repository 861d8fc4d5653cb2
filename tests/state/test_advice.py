"""What a model has said about commits: kept by content, and shown as the latest until somebody saw it."""

from dataclasses import replace
from pathlib import Path

import pytest

from cli_guard.state import advice
from cli_guard.state.advice import Advice, AdviceStore, Question

ASKED = (Question("a.py", 1, "Why?"), Question("a.py", 3, "And here?"))
NEW = Advice("c1", "commit", "2026-05-04T00:00:00+00:00", "model", "It grows.", ASKED)


def test_the_latest_has_what_nobody_saw(tmp_path: Path) -> None:
    store = AdviceStore(tmp_path)
    store.keep(NEW)
    assert store.read("c1") == store.read("latest") == NEW
    store.keep(replace(NEW, shown=NEW.at))
    assert store.read("latest") is None
    store.keep(NEW)
    store.keep(replace(NEW, content="c2", questions=()))
    assert store.read("latest") is None
    assert {each.content for each in store.every()} == {"c1", "c2"}


def test_the_oldest_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(advice, "KEPT", 2)
    store = AdviceStore(tmp_path)
    for number in (3, 1, 2):
        store.keep(replace(NEW, content=f"c{number}", at=f"2026-05-0{number}"))
    assert [each.content for each in store.every()] == ["c2", "c3"]


def test_a_question_is_open_while_its_line_is_unchanged() -> None:
    def read_with(now: str | None) -> tuple[Question, ...]:
        return NEW.open_questions(lambda commit, path: "1\n2\n3\n" if commit else now)

    assert read_with("1\n2\n3\n") == ASKED
    assert read_with("1\n2\nthree\n") == ASKED[:1]
    assert read_with("new\n") == read_with(None) == ()
