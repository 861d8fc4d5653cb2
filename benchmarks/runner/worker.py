"""The process that does tasks, as `python -m benchmarks.runner.worker`: reads one order a line, writes answers.

It imports once what every task needs and forks for each: a task costs no start-up, shares nothing with the one
before it, and may crash without harm to others. `--agent WORDS` (a JSON list) and `--planner MODULE:NAME` choose who
does the tasks. It writes `{"ready": true}` once. Orders are `{"path", "folder"}`; answers are `{"result": ...}`, then
`{"ended": exit code}`, or the second alone for a task that came to a bad end.
"""

import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks.runner.model import Result, Task
from benchmarks.runner.pool import result_of_crash
from benchmarks.runner.reading import read_task
from benchmarks.runner.scratch import environment

# A task ends by itself so long after its time limit, in case the process that would end it is gone.
GRACE_SECONDS = 10

Do = Callable[[Task, Path, Mapping[str, str]], Result]


def serve(do: Do) -> None:
    """Answer orders until there are no more."""
    answers = os.dup(1)
    # The output of a library must not come between the answers.
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 1)
    # Ctrl-C is handled by the process that sends the orders.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    say(answers, {"ready": True})
    for line in sys.stdin.buffer:
        order = json.loads(line)
        child = os.fork()
        if child == 0:
            os.dup2(nowhere, 0)
            # `_exit`, so that no exit handler or buffer of this process runs a second time.
            os._exit(carry_out(do, order, answers))
        _, status = os.waitpid(child, 0)
        say(answers, {"ended": os.waitstatus_to_exitcode(status)})


def carry_out(do: Do, order: Mapping[str, str], answers: int) -> int:
    """Do one task in its own folder and environment; return the exit code."""
    try:
        task = read_task(Path(order["path"]))
        signal.setitimer(signal.ITIMER_REAL, task.time_limit + GRACE_SECONDS)
        folder = Path(order["folder"])
        outer = dict(os.environ)
        folder.mkdir()
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment(folder, outer))
        time.tzset()
        tempfile.tempdir = os.environ["TMPDIR"]
        try:
            result = do(task, folder, outer)
        except Exception as error:
            result = result_of_crash(task, f"{type(error).__name__} at {where(error)}")
        say(answers, {"result": asdict(result)})
    except BaseException:
        return 1
    return 0


def say(answers: int, data: Mapping[str, object]) -> None:
    """Write one whole answer."""
    left = memoryview(json.dumps(data).encode() + b"\n")
    while left:
        left = left[os.write(answers, left) :]


def where(error: BaseException) -> str:
    """Return the line that raised an error: `acting.py:85`."""
    trace = error.__traceback__
    while trace and trace.tb_next:
        trace = trace.tb_next
    return (
        f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}"
        if trace
        else "an unknown place"
    )


def doer_from(arguments: Sequence[str]) -> Do:
    """Return what does the tasks: our own assistant, the one with another planner, or another program."""
    from functools import partial
    from importlib import import_module

    from benchmarks.runner.agent import ask_agent, comparable
    from benchmarks.runner.answering import answer
    from benchmarks.runner.running import run_task

    if not arguments:
        return run_task
    option, value = arguments
    if option == "--agent":
        ask = partial(ask_agent, json.loads(value))
        return lambda task, folder, outer: run_task(comparable(task), folder, outer, ask)
    module, _, name = value.partition(":")
    return partial(
        run_task, act_on=partial(answer, planner=getattr(import_module(module), name))
    )


def load() -> None:
    """Import what is imported inside functions, so that no task has to."""
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
    load()
    serve(doer_from(sys.argv[1:]))
