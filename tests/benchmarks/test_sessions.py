"""Recorded sessions of fixtures/sessions against the real chat: one task for each kind of slip, and their form."""

from pathlib import Path

import pytest
from chat_desk import write_one_certificate
from sampling import choose_rows

from benchmarks.sessions import (
    FOLDER,
    find_faults,
    has_words,
    make_answer,
    play,
    read_tasks,
)

TASKS = {task.id: task for task in read_tasks()}
SLIPS = {"stale", "path", "test", "malformed"}


ENDS = [
    ("header-case", True),
    ("gone-view", True),
    ("history-file", True),
    ("readme-of-count", True),
    ("dotted-dates", True),
    ("one-slash", True),
    # The recorded model does not repeat its first call, which was no JSON.
    ("retry-cap", False),
]


@pytest.mark.parametrize(
    ("name", "is_right"),
    choose_rows(ENDS, lambda row: [TASKS[row[0]].slip, row[1]], lambda row: row[0]),
)
def test_how_a_sloppy_session_ends(
    name: str, is_right: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", write_one_certificate(tmp_path))
    task = TASKS[name]
    good = play(task, "good", tmp_path / "good")
    assert not list(find_faults(task, good))
    sloppy = play(task, "sloppy", tmp_path / "sloppy")
    assert sloppy.is_like(good, task) == is_right, sloppy.shown
    assert good.sent > 10_000


def test_every_task_has_its_form() -> None:
    assert len(TASKS) == 30
    assert {task.slip for task in TASKS.values()} == SLIPS
    for task in TASKS.values():
        for answers in task.recordings.values():
            assert all(map(make_answer, answers))
            turns = sum(bool(each.get("next")) for each in answers)
            assert turns == len(task.asks) - 1, task.id
            assert "needs" not in answers[-1], task.id
    assert sum(path.stat().st_size for path in FOLDER.glob("*.toml")) < 60_000


@pytest.mark.parametrize(
    ("text", "words", "has"),
    [
        ("there is: lib/a.py", "lib/a.py", True),
        ("there is: xlib/a.py", "lib/a.py", False),
        ("it takes edit(path, old)", "old", True),
        ("the folder", "old", False),
    ],
)
def test_words_are_whole(text: str, words: str, has: bool) -> None:
    assert has_words(text, words) == has
