"""The process that does tasks, as `python -m benchmarks.runner.worker`: an order a line comes in, answers go out.

It imports once what every task needs and forks for each: a task costs no start-up, shares nothing with the one before
it, and may crash without taking anything along. It says `{"ready": true}` once. Orders are `{"path", "folder"}`;
answers are `{"result": ...}`, then `{"ended": exit code}`, or the second alone for a task that came to a bad end.
"""

import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path

from benchmarks.runner.model import Result, Task
from benchmarks.runner.pool import crashed
from benchmarks.runner.reading import read_task
from benchmarks.runner.scratch import environment

# Beyond its time limit a task ends by itself, should nobody be left to end it.
GRACE_SECONDS = 10

Do = Callable[[Task, Path, Mapping[str, str]], Result]


def serve(do: Do) -> None:
    """Answers orders until there are no more."""
    answers = os.dup(1)
    # What a library prints must not stand between the answers.
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 1)
    # A Ctrl-C is for whoever gave the orders.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    say(answers, {"ready": True})
    for line in sys.stdin.buffer:
        order = json.loads(line)
        child = os.fork()
        if child == 0:
            os.dup2(nowhere, 0)
            # Nothing of this process may run twice: no handler, no buffer, no clean-up.
            os._exit(carry_out(do, order, answers))
        _, status = os.waitpid(child, 0)
        say(answers, {"ended": os.waitstatus_to_exitcode(status)})


def carry_out(do: Do, order: Mapping[str, str], answers: int) -> int:
    """Does one task, in its own folder and environment alone."""
    try:
        task = read_task(Path(order["path"]))
        signal.setitimer(signal.ITIMER_REAL, task.time_limit + GRACE_SECONDS)
        folder, outer = Path(order["folder"]), dict(os.environ)
        folder.mkdir()
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment(folder, outer))
        time.tzset()
        tempfile.tempdir = os.environ["TMPDIR"]
        try:
            result = do(task, folder, outer)
        except Exception as error:
            result = crashed(task, f"{type(error).__name__} at {where(error)}")
        say(answers, {"result": asdict(result)})
    except BaseException:
        return 1
    return 0


def say(answers: int, data: Mapping[str, object]) -> None:
    """Writes one answer, whole."""
    left = memoryview(json.dumps(data).encode() + b"\n")
    while left:
        left = left[os.write(answers, left) :]


def where(error: BaseException) -> str:
    """`acting.py:85`: the line that raised an error."""
    trace = error.__traceback__
    while trace and trace.tb_next:
        trace = trace.tb_next
    return (
        f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}" if trace else "an unknown place"
    )


def load() -> None:
    """Imports what is imported inside functions, so that no task has to."""
    from importlib import import_module

    for room in (
        "assistant.documenting",
        "assistant.editing",
        "graph.run",
        "review.load",
        "assistant.projects",
        "review.store",
        "assistant.retrieval",
        "assistant.sandbox",
    ):
        import_module(f"cli_guard.{room}")


if __name__ == "__main__":
    # Here, so that a stand-in for `run_task` loads only what hands tasks out: the rest takes a second.
    from benchmarks.runner.running import run_task

    load()
    serve(run_task)
