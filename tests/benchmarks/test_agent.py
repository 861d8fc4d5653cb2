"""Who does the tasks, and where: another program, another planner, a real package as the world."""

import io
import os
import subprocess
import sys
import tarfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from repositories import Done, isolated_environment

Run = Callable[..., Done]
TASK = """
instruction = "Where is the lamp defined?"
difficulty = "easy"
time_limit = 60
world = "{world}"
kind = "ask"

[repository]
{package}
[repository.files]
"coast.py" = "LAMP = 'white'\\n"

[expect]
status = "ok"
task_type = "repo_qna"
tools_include = ["search_repository"]
says = ["coast.py:1"]
"""
APPROVED = "\n[[after]]\ndo = 'approve'\n"
# What reads the work tree or the files that it is given, and answers in JSON.
AGENT = """
import json, pathlib, sys
asked = json.load(sys.stdin)
files = asked.get("files") or {p.name: p.read_text() for p in pathlib.Path().glob("*.py")}
found = [f"{name}:1" for name, text in files.items() if "LAMP" in text]
print(json.dumps({"status": "ok", "answer": ", ".join(found)}))
"""
PLANNER = """
from cli_guard.graph.context import Planned

def plan_nothing(state, context):
    return Planned((), failed="this planner knows no answer")
"""


def write_tasks(folder: Path, **tasks: str) -> Path:
    made = folder / "tasks"
    made.mkdir()
    for name, text in tasks.items():
        (made / f"{name}.toml").write_text(text)
    return made


@pytest.fixture
def run(preloaded: Path) -> Run:
    """Runs the tasks; no process loads anything anew."""
    return partial(run_tasks, preloaded / "python")


def run_tasks(python: Path, folder: Path, *options: str) -> Done:
    env = isolated_environment(folder) | {"TMPDIR": str(folder), "PYTHONPATH": str(folder)}
    done = subprocess.run(
        [python, "-m", "benchmarks.runner", *options],
        cwd=Path(__file__).parents[2], env=env, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    return Done(done.returncode, done.stdout, done.stderr)


def test_another_program_does_the_tasks(tmp_path: Path, run: Run) -> None:
    tasks = write_tasks(
        tmp_path,
        memory=TASK.format(world="memory", package=""),
        repository=TASK.format(world="repository", package=""),
        approved=TASK.format(world="repository", package="") + APPROVED,
    )
    (tmp_path / "agent.py").write_text(AGENT)
    done = run(tmp_path, str(tasks), "--agent", f"{sys.executable} {tmp_path}/agent.py")
    assert done.code == 0, done.all
    assert "repo_qna  2/3\n3 tasks: 2 passed, 1 skipped\n" in done.out
    assert "approve is a command of cli-guard" in done.out


@pytest.mark.parametrize(
    ("program", "says"),
    [
        ("print('hello')", "its output is no JSON"),
        ("print('[1]')", "must be an object with status"),
        ('print(\'{"status": "ok", "answr": ""}\')', "'answr' is not as described"),
        ('print(\'{"status": "ok", "answer": "at sea"}\')', "says: expected 'coast.py:1'"),
        (
            "open('coast.py', 'a').write('#'); print('{\"status\": \"ok\"}')",
            "coast.py was changed",
        ),
    ],
)
def test_a_wrong_answer_fails_the_task(
    tmp_path: Path, run: Run, program: str, says: str
) -> None:
    tasks = write_tasks(tmp_path, one=TASK.format(world="repository", package=""))
    (tmp_path / "agent.py").write_text(program)
    done = run(tmp_path, str(tasks), "--agent", f"{sys.executable} {tmp_path}/agent.py")
    assert done.code == 1 and says in done.out, done.all


def test_another_planner_plans_what_the_gate_lets_through(tmp_path: Path, run: Run) -> None:
    tasks = write_tasks(tmp_path, one=TASK.format(world="repository", package=""))
    (tmp_path / "own_planner.py").write_text(PLANNER)
    done = run(tmp_path, str(tasks), "--planner", "own_planner:plan_nothing")
    assert done.code == 1 and "this planner knows no answer" in done.out, done.all


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--planner", "nothing"), "there is no planner nothing: give MODULE:NAME"),
        (("--agent", "no-such-program"), "there is no program no-such-program for --agent"),
        (("--agent", "'x"), "--agent: No closing quotation"),
        (("--agent", "true", "--planner", "os:getcwd"), "exclude each other"),
    ],
)
def test_options_that_mean_nothing(
    tmp_path: Path, run: Run, options: tuple[str, ...], says: str
) -> None:
    tasks = write_tasks(tmp_path, one=TASK.format(world="memory", package=""))
    done = run(tmp_path, str(tasks), *options)
    assert done.code == 2 and says in done.err, done.all


def test_a_real_package_is_the_world(tmp_path: Path, run: Run) -> None:
    tasks = write_tasks(
        tmp_path, one=TASK.format(world="repository", package='package = "pypi:shop==1.0"')
    )
    missing = run(tmp_path, str(tasks))
    assert (
        missing.code == 1
        and "pypi:shop==1.0 is not here: fetch it with --fetch" in missing.out
    )
    kept = tmp_path / "cli-guard-packages"
    kept.mkdir()
    with tarfile.open(kept / "pypi--shop--1.0.tar.gz", "w:gz") as archive:
        for name, text in (
            ("till.py", "TILL = 1\n"),
            (".git/config", "[core]\n"),
            ("../out.py", "OUT = 1\n"),
        ):
            about = tarfile.TarInfo(f"shop-1.0/{name}")
            about.size = len(text)
            archive.addfile(about, io.BytesIO(text.encode()))
    found = TASK.format(world="repository", package='package = "pypi:shop==1.0"')
    (tasks / "one.toml").write_text(
        found.replace("lamp", "till").replace("coast.py:1", "till.py:1")
    )
    done = run(tmp_path, str(tasks))
    assert done.code == 0, done.all
    assert not (tmp_path / "out.py").exists() and "out.py" not in os.listdir(
        tmp_path.parent
    )
