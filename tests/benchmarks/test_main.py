"""`python -m benchmarks.runner`: our own tasks pass, and what is shown is the same every time."""

import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import time
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from examples import table
from repositories import Done, isolated_environment
from sampling import choose_rows

import cli_guard
from benchmarks.runner import pool
from benchmarks.runner.__main__ import main
from benchmarks.runner.contents import SECRETS
from benchmarks.runner.model import Task
from benchmarks.runner.reading import read_task, tasks_in
from cli_guard.cli.io import Io

ROOT = Path(cli_guard.__file__).parent.parent
OWN = ROOT / "fixtures" / "tasks"
TASKS = [read_task(path) for path in tasks_in(OWN)]
# They run tests with the interpreter of the worker, which must be a real one.
WITH_TESTS = "tests-approved"


def kinds_of(task: Task) -> list[object]:
    """What is asked for, with what comes of it; the kind of world; what is done afterwards."""
    expected = task.expected
    request = (task.kind, expected.task_type)
    after = [step.do for step in task.after]
    tools = expected.tools or expected.tools_include
    runs_tests = task.id.startswith(WITH_TESTS)
    return [(*request, expected.status), task.world, runs_tests, *after, *tools]


CHOSEN = [task.id for task in choose_rows(TASKS, kinds_of, lambda task: task.id)]
RUNNER = (sys.executable, "-m", "benchmarks.runner")

QUESTION = """
instruction = "Where is the lamp defined?"
difficulty = "easy"
time_limit = 60
world = "memory"
kind = "ask"

[repository.files]
"coast.py" = "LAMP = 'white'\\n"

[expect]
status = "ok"
"""


@pytest.fixture(scope="module")
def results(
    tmp_path_factory: pytest.TempPathFactory, preloaded: Path
) -> dict[str, dict[str, Any]]:
    """The result of each of our own tasks."""
    home = tmp_path_factory.mktemp("home")
    chosen = home / "tasks"
    chosen.mkdir()
    for path in tasks_in(OWN):
        if read_task(path).id in CHOSEN:
            shutil.copy(path, chosen)

    def run(python: str, *options: str) -> dict[str, dict[str, Any]]:
        done = subprocess.run(
            [python, *RUNNER[1:], str(chosen), "--format", "json", *options],
            cwd=home, env=isolated_environment(home), capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
        return {each["id"]: each for each in json.loads(done.stdout)["tasks"]}

    forked = run(str(preloaded / "python"))
    return forked | run(sys.executable, "--only", f"{WITH_TESTS}*")


@table("task", CHOSEN)
def test_every_task_passes(results: dict[str, dict[str, Any]], task: str) -> None:
    result = results[task]
    assert (result["result"], result["failures"]) == ("passed", [])


def test_the_tasks_are_many_and_of_every_kind() -> None:
    assert len(TASKS) >= 36
    assert {task.world for task in TASKS} == {"memory", "repository"}
    assert {task.kind for task in TASKS} == {"ask", "review", "commit-msg", "check-command"}
    assert {task.difficulty for task in TASKS} == {"easy", "medium", "hard"}
    assert {task.expected.status for task in TASKS} == {"ok", "needs_review", "failed"}
    kinds = "repo_qna doc_generation refactor_plan command_help test_workflow code_change unsupported"
    assert {*kinds.split(), "change_review"} <= {task.expected.task_type for task in TASKS}
    assert {step.do for task in TASKS for step in task.after} == {
        *("approve", "reject", "undo", "again", "write", "stage")
    }


@pytest.fixture
def some(tmp_path: Path) -> Path:
    """A folder of a few quick tasks, one of which fails."""
    folder = tmp_path / "tasks"
    folder.mkdir()
    for name in (
        "command-that-wipes",
        "ask-empty-index",
        "rename-only",
        "control-characters",
    ):
        shutil.copy(OWN / f"{name}.toml", folder)
    (folder / "lamp.toml").write_text(QUESTION + 'says = ["coast.py:1"]\n')
    (folder / "no-lamp.toml").write_text(
        QUESTION + 'says = ["coast.py:2 | \\u001b[31m {{aws-key}}"]\n'
    )
    return folder


@pytest.fixture
def preloaded_workers(preloaded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers that load nothing."""
    monkeypatch.setattr(
        pool, "sys", SimpleNamespace(executable=str(preloaded / "python"), path=sys.path)
    )


quick_workers = pytest.mark.usefixtures("preloaded_workers")


def bench(env: dict[str, str], *argv: str, cwd: Path = Path("/")) -> Done:
    out = StringIO()
    err = StringIO()
    return Done(
        main(list(argv), Io(StringIO(), out, err, cwd, env)), out.getvalue(), err.getvalue()
    )


@quick_workers
def test_two_runs_are_the_same_byte_for_byte(some: Path, isolated: dict[str, str]) -> None:
    first = bench(isolated, str(some), "--format", "json", "--jobs", "1")
    second = bench(isolated, str(some), "--format", "json", "--jobs", "3", "--timings")
    assert first.code == second.code == 1
    assert first.out == second.out
    assert first.err == ""
    assert [line.split()[2] for line in second.err.splitlines()] == sorted(
        path.stem for path in some.iterdir()
    )
    for never in (SECRETS["{{aws-key}}"], "\x1b", "\\u001b", "/tmp", str(some)):
        assert never not in first.out


@quick_workers
def test_the_table(some: Path, isolated: dict[str, str]) -> None:
    (some / "control-characters.toml").unlink()
    done = bench(isolated, str(some), "--jobs", "1")
    lines = done.out.splitlines()
    assert lines[0].split() == ["id", "type", "difficulty", "status", "result"]
    assert [line.split()[0] for line in lines if line.endswith(("passed", "failed"))][:5] == [
        "ask-empty-index", "command-that-wipes", "lamp", "no-lamp", "rename-only",
    ]  # fmt: skip
    [wrong] = [line for line in lines if line.startswith("    ")]
    assert (
        wrong.startswith("    says: expected 'coast.py:2 | ")
        and '; came "coast.py:1' in wrong
    )
    assert lines[-1] == "5 tasks: 4 passed, 1 failed"


@quick_workers
def test_some_of_them_by_name(some: Path, isolated: dict[str, str]) -> None:
    done = bench(isolated, str(some), "--only", "l*")
    assert (done.code, done.out.splitlines()[-1]) == (0, "1 task: 1 passed")
    none = bench(isolated, str(some), "--only", "x*")
    assert none.code == 2
    assert "no task is called x*: there are ask-empty-index" in none.err


@quick_workers
def test_other_forms(some: Path, isolated: dict[str, str]) -> None:
    data: Any = bench(isolated, str(some), "--format", "json", "--only", "lamp").json
    assert [(each["id"], each["result"]) for each in data["tasks"]] == [("lamp", "passed")]
    page = bench(isolated, str(some), "--format", "markdown", "--only", "lamp").out
    assert "| lamp | repo_qna | easy | ok | passed |" in page


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (
            QUESTION + "statsu = 1\n",
            "z.toml: unknown key 'expect.statsu'; did you mean 'status'?",
        ),
        ("instruction = ", "z.toml: not valid TOML"),
    ],
)
def test_a_broken_file_is_an_error_before_anything_runs(
    some: Path, isolated: dict[str, str], content: str, says: str
) -> None:
    (some / "z.toml").write_text(content)
    done = bench(isolated, str(some), "--only", "lamp")
    assert (done.code, done.out) == (2, "")
    assert says in done.err


@pytest.mark.parametrize("name", ["nowhere", "tasks/lamp.toml", "empty"])
def test_a_folder_without_tasks_is_an_error(
    some: Path, tmp_path: Path, isolated: dict[str, str], name: str
) -> None:
    (tmp_path / "empty").mkdir()
    done = bench(isolated, name, cwd=tmp_path)
    assert done.code == 2
    assert name in done.err


def test_a_bar_at_a_terminal_alone(
    some: Path, isolated: dict[str, str], preloaded: Path
) -> None:
    terminal, other = pty.openpty()
    done = subprocess.run(
        [preloaded / "python", *RUNNER[1:], str(some), "--only", "*lamp"], cwd=ROOT,
        env={**isolated, "TERM": "xterm"}, stdout=subprocess.PIPE, stderr=other, text=True, check=False,
    )  # fmt: skip
    os.close(other)
    shown = os.read(terminal, 65_536).decode()
    os.close(terminal)
    assert "[..............................] 0/2" in shown and "2/2" in shown
    assert shown.endswith("\r\x1b[K")
    assert "\x1b" not in done.stdout and "1 passed, 1 failed" in done.stdout


@pytest.mark.parametrize(
    "number",
    choose_rows((signal.SIGINT, signal.SIGTERM), lambda number: ["a signal"], str),
)
def test_an_interrupt_leaves_nothing_behind(
    tmp_path: Path, isolated: dict[str, str], number: int
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    process = subprocess.Popen(
        [*RUNNER],
        env={**isolated, "TMPDIR": str(scratch)},
        stderr=subprocess.PIPE,
        text=True,
    )
    while not list(scratch.glob("cli-guard-bench-*/*/repository")):
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(number)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "interrupted" in err and "Traceback" not in err
    assert list(scratch.iterdir()) == []


@quick_workers
def test_nothing_of_the_caller_gets_in_or_is_written(
    some: Path, tmp_path: Path, isolated: dict[str, str]
) -> None:
    (some / "no-lamp.toml").unlink()
    (some / "control-characters.toml").unlink()
    home = tmp_path / "home"
    (home / ".config" / "cli-guard").mkdir(parents=True)
    (home / ".config" / "cli-guard" / "config.toml").write_text(
        '[decisions]\nlow = "deny"\nbroken = [\n'
    )
    (home / ".gitconfig").write_text(
        "[commit]\n gpgsign = true\n[core]\n hooksPath = /nowhere\n"
    )
    before = sorted(home.rglob("*"))
    hostile = {
        **isolated, "HOME": str(home), "XDG_CONFIG_HOME": str(home / ".config"),
        "GIT_CONFIG_GLOBAL": str(home / ".gitconfig"), "GIT_DIR": str(tmp_path / "x"), "LC_ALL": "C",
        "GIT_AUTHOR_NAME": "", "CLI_GUARD": "off", "SKIP": "cli-guard",
    }  # fmt: skip
    done = bench(hostile, str(some), "--jobs", "1", cwd=tmp_path)
    assert (done.code, done.out) == (0, bench(isolated, str(some), "--jobs", "1").out)
    assert sorted(home.rglob("*")) == before
    assert (
        json.dumps(sorted(path.name for path in tmp_path.iterdir())) == '["home", "tasks"]'
    )
