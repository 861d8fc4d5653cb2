"""Runs several tasks at once: hands them to worker processes, ends those whose time is up, keeps the order."""

import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FrameType

from benchmarks.runner.model import Failure, Result, Task

WORKER = "benchmarks.runner.worker"
READ_BYTES = 1 << 16
WAIT_SECONDS = 5
# What a worker may take to import everything before its first task: not the task's time.
START_SECONDS = 60

Done = Callable[[Result], None]


@dataclass
class Worker:
    """A worker process and the task it does; it is `ready` once it has imported everything.

    `heard` is the beginning of a line that it has not ended yet; `answers` are those to its task.
    """

    process: "subprocess.Popen[bytes]"
    task: Task | None = None
    started: float = 0.0
    ready: bool = False
    heard: bytes = b""
    answers: list[dict[str, object]] = field(default_factory=list)

    @property
    def deadline(self) -> float:
        """When the time of its task is up, by the monotonic clock; never without one."""
        if self.task is None:
            return float("inf")
        return self.started + (self.task.time_limit if self.ready else START_SECONDS)

    def order(self, path: Path, task: Task, folder: Path) -> None:
        """Gives it a task. Raises OSError if it is gone."""
        assert self.process.stdin
        self.task, self.started, self.answers = task, time.monotonic(), []
        order = {"path": str(path.absolute()), "folder": str(folder)}
        self.process.stdin.write(json.dumps(order).encode() + b"\n")
        self.process.stdin.flush()

    def listen(self) -> bool:
        """Takes in what it says; has its task ended?"""
        assert self.process.stdout
        more = os.read(self.process.stdout.fileno(), READ_BYTES)
        *lines, self.heard = (self.heard + more).split(b"\n")
        self.answers += map(json.loads, lines)
        if not self.ready and self.answers:
            # The first thing it says. Its task begins here.
            self.ready, self.started = True, time.monotonic()
        return not more or any("ended" in answer for answer in self.answers)

    def result(self) -> Result:
        """How its task ended, by what it said."""
        assert self.task
        seconds = time.monotonic() - self.started
        for answer in self.answers:
            told = answer.get("result")
            if isinstance(told, dict):
                failures = tuple(Failure(**failure) for failure in told["failures"])
                return replace(Result(**{**told, "failures": failures}), seconds=seconds)
        code = next((answer["ended"] for answer in self.answers if "ended" in answer), "unknown")
        return replace(crashed(self.task, f"exit code {code}"), seconds=seconds)

    def end(self) -> None:
        """Ends it and all that it started."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()
        self.process.wait(WAIT_SECONDS)
        for pipe in (self.process.stdin, self.process.stdout):
            with suppress(OSError):
                assert pipe
                pipe.close()


def run_all(
    tasks: Sequence[tuple[Path, Task]],
    jobs: int,
    outer: Mapping[str, str],
    done: Done = lambda result: None,
    module: str = WORKER,
) -> tuple[Result, ...]:
    """Runs tasks, `jobs` at once, by workers of a module; gives the results in the order of the tasks.

    `done` hears of each as it ends. Raises OSError where no scratch folder or process can be had. However it ends, no
    process and no folder is left.
    """
    waiting = list(reversed(tasks))
    workers: list[Worker] = []
    results: dict[str, Result] = {}

    def settle(worker: Worker, result: Result) -> None:
        results[result.id] = result
        worker.task = None
        done(result)

    with ended_by_signals(), tempfile.TemporaryDirectory(prefix="cli-guard-bench-") as scratch:
        try:
            while waiting or any(worker.task for worker in workers):
                while len(workers) < min(jobs, len(waiting)):
                    workers.append(started(module, outer))
                for worker in [each for each in workers if each.task is None][: len(waiting)]:
                    path, task = waiting.pop()
                    worker.order(path, task, Path(scratch) / f"{len(waiting)}")
                for worker, ended in heard([each for each in workers if each.task]):
                    if ended:
                        settle(worker, worker.result())
                    if worker.deadline <= time.monotonic() or worker.process.poll() is not None:
                        workers.remove(worker)
                        worker.end()
                        if worker.task:
                            settle(worker, timed_out(worker.task))
        finally:
            for worker in workers:
                worker.end()
    return tuple(results[task.id] for _, task in tasks)


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Lets a polite request to end clean up as Ctrl-C does."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def started(module: str, outer: Mapping[str, str]) -> Worker:
    """A new worker, in a process group of its own, so that Git goes with it. Raises OSError."""
    # -P: a module that lies in the current folder is not ours. What is ours is found where we were.
    command = (sys.executable, "-P", "-m", module)
    env = {**outer, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    process = subprocess.Popen(
        command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    )
    return Worker(process)


def heard(workers: Sequence[Worker]) -> list[tuple[Worker, bool]]:
    """Waits until a worker says something or has no time left; gives those, and whether their task has ended."""
    with selectors.DefaultSelector() as selector:
        for worker in workers:
            assert worker.process.stdout
            selector.register(worker.process.stdout, selectors.EVENT_READ, worker)
        soonest = min(worker.deadline for worker in workers)
        ready = [key.data for key, _ in selector.select(max(0.0, soonest - time.monotonic()))]
    now = time.monotonic()
    late = [worker for worker in workers if worker.deadline <= now and worker not in ready]
    return [*((worker, worker.listen()) for worker in ready), *((worker, False) for worker in late)]


def timed_out(task: Task) -> Result:
    """The result of a task that gave no answer in time."""
    failure = Failure("time_limit", f"an answer within {task.time_limit:g} s", "none")
    return Result(task.id, task.kind, "", "timeout", (failure,), task.time_limit)


def crashed(task: Task, how: str) -> Result:
    """The result of a task whose process came to a bad end."""
    return Result(task.id, task.kind, "", "crashed", (Failure("process", "an answer", how),))
