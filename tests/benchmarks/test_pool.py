"""Several tasks at once: a hanging, dying or talking one takes no other along, and nothing is left behind."""

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.runner.model import Result, Task
from benchmarks.runner.pool import WORKER, run_all
from benchmarks.runner.reading import read_task

STAND_IN = "benchmark_workers"


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where the scratch folders are made; nothing may be left there."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


def tasks(folder: Path, **instructions: str) -> list[tuple[Path, Task]]:
    """Task files by id: what each does, or `seconds what`."""
    found = []
    for name, words in instructions.items():
        seconds, _, what = words.rpartition(" ")
        path = folder / f"{name}.toml"
        path.write_text(
            f'instruction = "{what}"\ndifficulty = "easy"\ntime_limit = {seconds or 60}\nworld = "memory"\n'
            'kind = "ask"\nexpect = { status = "ok" }\nrepository = { files = { a = "x" } }\n'
        )
        found.append((path, read_task(path)))
    return found


def run(given: list[tuple[Path, Task]], jobs: int = 2) -> dict[str, Result]:
    results = run_all(given, jobs, dict(os.environ), module=STAND_IN)
    assert [result.id for result in results] == [task.id for _, task in given]
    return {result.id: result for result in results}


def processes_of(module: str) -> list[str]:
    listed = subprocess.run(
        ["ps", "-eo", "pid,ppid,args"], capture_output=True, text=True, check=True
    ).stdout
    mine = [line for line in listed.splitlines() if f"-m {module}" in line]
    return [line for line in mine if line.split()[1] in (str(os.getpid()), "1")]


@pytest.mark.parametrize("jobs", [1, 2])
def test_each_ends_in_its_own_way(tmp_path: Path, scratch: Path, jobs: int) -> None:
    heard: list[str] = []
    given = tasks(
        tmp_path, d="die", c="pass", b="raise", a="print", h="1 hang", g="1 child", z="pass"
    )
    results = run_all(
        given, jobs, dict(os.environ), lambda result: heard.append(result.id), STAND_IN
    )
    assert [(result.id, result.result) for result in results] == [
        ("d", "crashed"), ("c", "passed"), ("b", "crashed"), ("a", "passed"),
        ("h", "timeout"), ("g", "timeout"), ("z", "passed"),
    ]  # fmt: skip
    assert sorted(heard) == sorted(result.id for result in results)
    said = {result.id: [each.got for each in result.failures] for result in results}
    assert said["d"] == ["exit code -9"]
    [error] = said["b"]
    assert re.fullmatch(r"KeyError at benchmark_workers\.py:\d+", error), (
        "no words that may hold a path"
    )
    assert said["h"] == ["none"]
    assert processes_of(STAND_IN) == []


def test_they_run_at_once(tmp_path: Path, scratch: Path) -> None:
    met = run(tasks(tmp_path, a="30 meet", b="30 meet"), jobs=2)
    assert {result.result for result in met.values()} == {"passed"}
    alone = run(tasks(tmp_path, a="1 meet", b="pass"), jobs=1)
    assert alone["a"].result == "timeout"


def test_a_task_has_its_own_folder_and_environment(
    tmp_path: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "x")
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    result = run(tasks(tmp_path, a="pass"))["a"]
    assert result.type == "GIT_CEILING_DIRECTORIES,GIT_CONFIG_GLOBAL,GIT_CONFIG_NOSYSTEM"
    assert result.status == "True", "it runs in its folder"


def test_an_interrupt_leaves_nothing(tmp_path: Path, scratch: Path) -> None:
    def stop(result: Result) -> None:
        assert len(list(scratch.iterdir())) == 1
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_all(
            tasks(tmp_path, a="pass", b="hang", c="child"),
            2,
            dict(os.environ),
            stop,
            STAND_IN,
        )
    assert processes_of(STAND_IN) == []


def test_a_module_in_the_current_folder_is_not_imported(
    tmp_path: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("json", "cli_guard", "selectors"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit(7)\n")
    monkeypatch.chdir(tmp_path)
    given = tasks(tmp_path, a="Where")
    [result] = run_all(given, 1, dict(os.environ), module=WORKER)
    assert result.result == "passed", result
