"""The small runner of checks: what it ends, what it keeps of the output, and what it never loads."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from checks_world import World
from watching import eventually, marked

from cli_guard.execution.checks.process import TAIL_BYTES, CheckProcess

ENV = {"PATH": "/usr/bin:/bin"}
MARK = "947113.5"
LONG = 60.0

# As a hook would, and tells what it had to load.
LOADED = """
import sys
sys.argv[0] = "cli-guard"
from cli_guard.__main__ import main
import os
from pathlib import Path
code = main(sys.argv[1:], sys.stdin, sys.stderr, sys.stderr, Path.cwd(), dict(os.environ))
print(code, *(name for name in sys.modules if name.startswith("cli_guard.execution")))
"""


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    yield
    assert eventually(lambda: not marked(MARK))


def never() -> bool:
    return False


@pytest.mark.parametrize(
    "script",
    [
        f"sleep {MARK} & sleep 0",
        f"set -m; sleep {MARK} & sleep 0",
        f"trap '' TERM; sleep {MARK} & (trap '' INT TERM HUP; sleep {MARK}; sleep {MARK}) & sleep 0",
        f"nohup sleep {MARK} >/dev/null 2>&1 & disown; sleep 0",
    ],
    ids=["background", "group of its own", "ignores", "nohup"],
)
@pytest.mark.parametrize("ends", [True, False], ids=["ends", "limit"])
def test_nothing_of_the_session_is_left(tmp_path: Path, script: str, ends: bool) -> None:
    text = script if ends else f"{script}; sleep {MARK}"
    with CheckProcess(text, tmp_path, ENV) as process:
        assert process.wait(LONG if ends else 0.3, never) is ends
        assert process.code == (0 if ends else None)
    assert not marked(MARK)


def test_it_ends_once_it_is_stopped(tmp_path: Path) -> None:
    asked = iter((False, False, True))
    with CheckProcess(f"sleep {MARK}", tmp_path, ENV) as process:
        assert not process.wait(LONG, lambda: next(asked, True))
    assert process.code == -15


def test_both_streams_in_their_order_and_the_end_alone(tmp_path: Path) -> None:
    with CheckProcess("echo a; echo b >&2; echo c", tmp_path, ENV) as process:
        process.wait(LONG, never)
    assert process.output == "a\nb\nc\n"
    flood = f"yes line | head -c {4 * TAIL_BYTES}; echo; echo last"
    with CheckProcess(flood, tmp_path, ENV) as process:
        process.wait(LONG, never)
    assert len(process.output) <= 2 * TAIL_BYTES
    assert process.output.startswith("line\n") and process.output.endswith("\nlast\n")


def test_what_has_left_the_session_holds_up_nothing(tmp_path: Path) -> None:
    with CheckProcess(f"setsid sleep {MARK} & echo told", tmp_path, ENV) as process:
        process.wait(LONG, never)
    assert process.output == "told\n"
    for pid in marked(MARK):
        subprocess.run(("kill", str(pid)), check=True)


def test_it_reads_nothing(tmp_path: Path) -> None:
    with CheckProcess("cat; ls /proc/self/fd | wc -l", tmp_path, ENV) as process:
        process.wait(LONG, never)
    assert process.output == "4\n"


def test_a_hook_with_checks_loads_no_supervisor(world: World) -> None:
    world.check(
        command="'echo ran >> \"$HOME/ran\"'", stage="'pre-commit'", needs_port="'auto'"
    )
    world.repo.write("app.py", "x = 2\n")
    world.repo.git("add", "app.py")
    done = world.repo.run(sys.executable, "-c", LOADED, "hook", "pre-commit")
    code, *loaded = done.out.split()
    assert (code, (Path(world.repo.env["HOME"]) / "ran").read_text()) == ("0", "ran\n"), (
        done.all
    )
    assert "cli_guard.execution.checks.process" in loaded
    assert not [name for name in loaded if "processes" in name]
