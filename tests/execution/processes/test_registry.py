"""The records of background processes: what is kept, and for how long."""

import json
import os
import time
from pathlib import Path

import pytest

from cli_guard.execution.processes import registry
from cli_guard.execution.processes.registry import (
    KEPT,
    LISTED_SECONDS,
    ProcessRecord,
    Registry,
)


def record(folder: Path, pid: int, *, started: float, ended: bool) -> Path:
    made = folder / f"run{pid}"
    made.mkdir(parents=True)
    run = {
        "pid": pid,
        "identity": None,
        "monitor": pid,
        "monitor_identity": None,
        "command": "x",
        "working_dir": "/",
        "port": None,
        "started": started,
    }
    (made / "run.json").write_text(json.dumps(run))
    (made / "log").write_text("")
    if ended:
        (made / "ended.json").write_text(
            json.dumps({"return_code": 0, "ended": started + 1})
        )
    return made


def test_the_oldest_that_have_ended_are_let_go_of(tmp_path: Path) -> None:
    made = [
        record(tmp_path, number + 1, started=float(number), ended=True)
        for number in range(KEPT + 5)
    ]
    Registry(tmp_path).prune()
    assert [each.exists() for each in made] == [False] * 5 + [True] * KEPT


def test_what_ended_long_ago_is_not_listed_and_no_port_of_an_ended_process_is(
    tmp_path: Path,
) -> None:
    now = time.time()
    record(tmp_path, 1, started=now - LISTED_SECONDS - 10, ended=True)
    late = record(tmp_path, 2, started=now - 10, ended=True)
    run = json.loads((late / "run.json").read_text())
    (late / "run.json").write_text(json.dumps({**run, "port": 8000}))
    listed = [each.as_process() for each in Registry(tmp_path).list_recent()]
    assert [(each.pid, each.running, each.port) for each in listed] == [(2, False, None)]
    # Its log can still be read.
    assert Registry(tmp_path).find(1) is not None


def test_logs_of_the_foreground_are_kept_while_they_are_new(tmp_path: Path) -> None:
    kept = Registry(tmp_path)
    made = [kept.new() for _ in range(KEPT + 5)]
    kept.prune()
    assert all(each.exists() for each in made)
    for number, each in enumerate(made):
        old = time.time() - 10_000 + number
        os.utime(each, (old, old))
    kept.prune()
    assert [each.exists() for each in made] == [False] * 5 + [True] * KEPT


def test_a_number_that_was_given_twice_is_the_later_process(tmp_path: Path) -> None:
    first = record(tmp_path / "a", 7, started=1.0, ended=True)
    second = record(tmp_path / "b", 7, started=2.0, ended=True)
    for each in (first, second):
        each.rename(tmp_path / each.parent.name / "moved")
    kept = Registry(tmp_path)
    assert kept.entries() == ()
    (tmp_path / "a" / "moved").rename(tmp_path / "first")
    (tmp_path / "b" / "moved").rename(tmp_path / "second")
    found = kept.find(7)
    assert found is not None
    assert found.folder.name == "second"


def test_an_end_that_comes_while_it_is_read_is_known_with_its_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = record(tmp_path, 1, started=1.0, ended=False)
    look = registry.read_run

    def just_before_the_end(folder: Path) -> ProcessRecord:
        found = look(folder)
        (folder / "ended.json").write_text(json.dumps({"return_code": -2, "ended": 2.0}))
        return found

    monkeypatch.setattr(registry, "read_run", just_before_the_end)
    found = registry.read(folder)
    assert (found.running, found.return_code) == (False, -2)
