"""Compare the reference of seed 004 with ours; `python benchmarks/processes.py --reference` runs it.

As a program it runs one row (`python processes_reference.py gaia|ours ROW`) and prints one line of JSON: the seconds,
whether the result is the wanted one, and the details. It then imports nothing of ours, as it also runs where only the
reference is installed. The caller ends the processes that a row leaves running.
"""

import json
import os
import signal
import subprocess
import sys
import time
import venv
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

REFERENCE = "amd-gaia==0.19.0"
NEEDS = "psutil requests pydantic openai aiohttp beautifulsoup4 watchdog pillow python-dotenv rich".split()
# No row of ours takes longer; the reference is stopped after that time.
ROW_SECONDS = 45

Call = Callable[..., dict[str, Any]]
Answer = tuple[bool, str]


def reference() -> Call:
    """Return the tools of the reference, which are closures in a registry."""
    from gaia.agents.base.tools import _TOOL_REGISTRY
    from gaia.agents.code.tools.cli_tools import CLIToolsMixin

    mixin = CLIToolsMixin()
    mixin.register_cli_tools()
    return lambda name, **arguments: dict(
        _TOOL_REGISTRY[name]["function"](**arguments), _=mixin
    )


def ours() -> Call:
    """Return the same methods of ours."""
    from cli_guard.api import CLIToolsMixin

    mixin = CLIToolsMixin()
    return lambda name, **arguments: dict(getattr(mixin, name)(**arguments), _=mixin)


def count_living(mark: str) -> int:
    """Count the processes that have this word on their command line."""
    import psutil

    found = 0
    for each in psutil.process_iter(["cmdline", "status"]):
        alive = each.info["status"] != psutil.STATUS_ZOMBIE
        found += alive and any(word == mark for word in each.info["cmdline"] or ())
    return found


def begin(call: Call, command: str) -> int:
    """Start a background process and return its id."""
    data = call("run_cli_command", command=command, background=True, startup_timeout=1)
    assert data["success"], data
    return int(data["pid"])


def cut_off(call: Call, command: str, timeout: int, within: float) -> Answer:
    begun = time.perf_counter()
    data = call("run_cli_command", command=command, timeout=timeout)
    said = f"timed_out {data.get('timed_out', '-')}, left_behind {data.get('left_behind', '-')}"
    return time.perf_counter() - begun < within, said


def no_errors(call: Call) -> Answer:
    data = call("run_cli_command", command='echo "0 errors, 0 warnings"')
    return not data["has_errors"], f"has_errors {data['has_errors']}"


def exits_at_once(call: Call) -> Answer:
    data = call("run_cli_command", command="echo done", background=True)
    return "error" in data and data.get(
        "return_code"
    ) == 0, f"error {data.get('error', '(no such key)')}"


def killed_by_others(call: Call) -> Answer:
    pid = begin(call, "exec sleep 600")
    os.kill(pid, signal.SIGKILL)
    time.sleep(0.5)
    running = [each["running"] for each in call("list_processes")["processes"]]
    return running == [False], f"running {running}"


def family_of_killed(call: Call) -> Answer:
    mark = f"600.{os.getpid()}"
    pid = begin(call, f"sleep {mark} & sleep {mark}")
    os.kill(pid, signal.SIGKILL)
    call("stop_process", pid=pid)
    time.sleep(0.2)
    return count_living(mark) == 0, f"{count_living(mark)} of 2 left"


def stop_family(call: Call, command: str, force: bool, within: float) -> Answer:
    mark = f"600.{os.getpid()}"
    pid = begin(call, command.format(mark=mark))
    begun = time.perf_counter()
    call("stop_process", pid=pid, force=force)
    took = time.perf_counter() - begun
    time.sleep(0.2)
    return took < within and not count_living(
        mark
    ), f"stop took {took:.2f} s, {count_living(mark)} left"


def clean_up(call: Call) -> Answer:
    for _ in range(4):
        begin(call, "trap '' INT TERM; while :; do sleep 0.1; done")
    begun = time.perf_counter()
    result = call("cleanup_all_processes")
    took = time.perf_counter() - begun
    return took < 9 and len(
        result["stopped"]
    ) == 4, f"cleanup of 4 that ignore signals took {took:.2f} s"


def truncate_output(call: Call) -> Answer:
    out = call("run_cli_command", command="seq 100000")["stdout"]
    return len(out) <= 10_000 and out.endswith(
        "100000\n"
    ), f"{len(out)} characters, ends {out[-12:]!r}"


def report_once(call: Call) -> Answer:
    line = "Error: listen EADDRINUSE: address already in use :::3000"
    errors = call("run_cli_command", command=f"echo '{line}' >&2; exit 1")["errors"]
    return len(errors) == 1, f"{len(errors)} errors of one line"


ROWS: dict[int, tuple[str, Callable[[Call], Answer]]] = {
    1: ("time-out 1 s, child of the shell", lambda c: cut_off(c, "sleep 12; echo x", 1, 6)),
    2: (
        "time-out 1 s, behind the shell",
        lambda c: cut_off(c, 'sh -c "sleep 12 & echo started; wait"', 1, 6),
    ),
    3: (
        "time-out 3 s, left behind",
        lambda c: cut_off(c, "sleep 12 & echo parent-done", 3, 6),
    ),
    6: ("0 errors", no_errors),
    8: ("background, ends at once", exits_at_once),
    13: ("killed from outside", killed_by_others),
    14: ("its grandchild", family_of_killed),
    15: (
        "stop, graceful",
        lambda c: stop_family(c, 'sh -c "sleep {mark} & sleep {mark}"', False, 2),
    ),
    16: (
        "stop, force",
        lambda c: stop_family(c, "trap '' INT TERM; sleep {mark}; sleep {mark}", True, 1),
    ),
    17: ("cleanup of 4", clean_up),
    19: ("long output", truncate_output),
    20: ("one line, one error", report_once),
}


def play(which: str, row: int) -> None:
    """Run one row and print its result."""
    stdout = sys.stdout
    with redirect_stdout(sys.stderr):
        call = reference() if which == "gaia" else ours()
        begun = time.perf_counter()
        right, said = ROWS[row][1](call)
    print(json.dumps([time.perf_counter() - begun, right, said]), file=stdout, flush=True)
    # A row of the reference may leave threads that never end.
    os._exit(0)


def install_reference(folder: Path) -> Path | None:
    """Install the reference in a scratch environment; return its Python, None if that fails."""
    python = folder / "bin" / "python"
    venv.create(folder, with_pip=True)
    for words in (("--no-deps", REFERENCE), NEEDS):
        pip = (
            str(python),
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            *words,
        )
        if subprocess.run(pip, capture_output=True, check=False).returncode:
            return None
    return python


def compare(folder: Path) -> None:
    """Print both, row by row."""
    from cli_guard.execution.processes.manager import ProcessManager

    theirs = install_reference(folder / "venv")
    if theirs is None:
        print(f"reference: {REFERENCE} cannot be installed here; its rows are left out")
        return
    print(
        f"{'row':>3}  {'':34}{REFERENCE:>16}{'ours':>10}   (seconds; ! is not what is wanted)"
    )
    for row, (name, _) in ROWS.items():
        answers = []
        for python, which in ((str(theirs), "gaia"), (sys.executable, "ours")):
            with ProcessManager() as processes:
                ran = processes.run(
                    # -P: a file in this folder has the name of a library that the reference needs.
                    (python, "-P", __file__, which, str(row)),
                    cwd=folder,
                    env={**os.environ, "TMPDIR": str(folder)},
                    timeout=ROW_SECONDS,
                )
            found = next(
                (line for line in ran.stdout.splitlines() if line.startswith("[")), None
            )
            answers.append(
                json.loads(found)
                if found
                else [ran.duration, False, ran.error or "no answer"]
            )
        (first, good, theirs_said), (second, well, ours_said) = answers
        print(
            f"{row:>3}  {name:34}{first:>15.2f}{' ' if good else '!'}{second:>9.2f}{' ' if well else '!'}"
        )
        print(f"{'':39}{theirs_said}\n{'':39}{ours_said}")


if __name__ == "__main__":
    play(sys.argv[1], int(sys.argv[2]))
