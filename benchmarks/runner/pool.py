"""Run several tasks at once in worker processes; kill those whose time is up; keep the order of the results."""

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
# The time in which a worker imports everything before its first task; it does not count for the task.
START_SECONDS = 60

Done = Callable[[Result], None]


@dataclass
class Worker:
    """A worker process and its task; it is `ready` once it has imported everything.

    `unread` is an incomplete line of its output; `answers` are those to its task.
    """

    process: "subprocess.Popen[bytes]"
    task: Task | None = None
    started: float = 0.0
    ready: bool = False
    unread: bytes = b""
    answers: list[dict[str, object]] = field(default_factory=list)

    @property
    def deadline(self) -> float:
        """Return when the time of its task is up, by the monotonic clock; infinity without a task."""
        if self.task is None:
            return float("inf")
        return self.started + (self.task.time_limit if self.ready else START_SECONDS)

    def give_task(self, path: Path, task: Task, folder: Path) -> None:
        """Send it a task. Raises OSError if the process has ended."""
        assert self.process.stdin
        self.task = task
        self.started = time.monotonic()
        self.answers = []
        order = {"path": str(path.absolute()), "folder": str(folder)}
        self.process.stdin.write(json.dumps(order).encode() + b"\n")
        self.process.stdin.flush()

    def read_answers(self) -> bool:
        """Read its output; return whether its task has ended."""
        assert self.process.stdout
        more = os.read(self.process.stdout.fileno(), READ_BYTES)
        *lines, self.unread = (self.unread + more).split(b"\n")
        self.answers += map(json.loads, lines)
        if not self.ready and self.answers:
            # Its first message: from here on the time of the task counts.
            self.ready = True
            self.started = time.monotonic()
        return not more or any("ended" in answer for answer in self.answers)

    def result(self) -> Result:
        """Return the result of its task from its answers."""
        assert self.task
        seconds = time.monotonic() - self.started
        for answer in self.answers:
            data = answer.get("result")
            if isinstance(data, dict):
                failures = tuple(Failure(**failure) for failure in data["failures"])
                return replace(Result(**{**data, "failures": failures}), seconds=seconds)
        code = next(
            (answer["ended"] for answer in self.answers if "ended" in answer), "unknown"
        )
        return replace(result_of_crash(self.task, f"exit code {code}"), seconds=seconds)

    def end(self) -> None:
        """Kill it and every process that it started."""
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
    on_done: Done = lambda result: None,
    module: str = WORKER,
    arguments: Sequence[str] = (),
) -> tuple[Result, ...]:
    """Run tasks, `jobs` at once, by workers of a module; return the results in the order of the tasks.

    `arguments` are passed to each worker.
    `on_done` is called with each result. Raises OSError if no scratch folder or process can be made. No process and no
    folder is left, even after an error.
    """
    waiting = list(reversed(tasks))
    workers: list[Worker] = []
    results: dict[str, Result] = {}

    def settle(worker: Worker, result: Result) -> None:
        results[result.id] = result
        worker.task = None
        on_done(result)

    with (
        interrupt_on_sigterm(),
        tempfile.TemporaryDirectory(prefix="cli-guard-bench-") as scratch,
    ):
        try:
            while waiting or any(worker.task for worker in workers):
                while len(workers) < min(jobs, len(waiting)):
                    workers.append(start_worker(module, outer, arguments))
                for worker in [each for each in workers if each.task is None][
                    : len(waiting)
                ]:
                    path, task = waiting.pop()
                    worker.give_task(path, task, Path(scratch) / f"{len(waiting)}")
                for worker, ended in wait_for_workers(
                    [each for each in workers if each.task]
                ):
                    if ended:
                        settle(worker, worker.result())
                    if (
                        worker.deadline <= time.monotonic()
                        or worker.process.poll() is not None
                    ):
                        workers.remove(worker)
                        worker.end()
                        if worker.task:
                            settle(worker, result_of_timeout(worker.task))
        finally:
            for worker in workers:
                worker.end()
    return tuple(results[task.id] for _, task in tasks)


@contextmanager
def interrupt_on_sigterm() -> Iterator[None]:
    """Raise KeyboardInterrupt on SIGTERM, so that it is cleaned up after as after Ctrl-C."""
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


def start_worker(
    module: str, outer: Mapping[str, str], arguments: Sequence[str] = ()
) -> Worker:
    """Start a worker in its own process group, so that its git processes can be ended too. Raises OSError."""
    # -P: a module in the current folder must not replace one of ours. Ours are found by our own module path.
    command = (sys.executable, "-P", "-m", module, *arguments)
    env = {**outer, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    process = subprocess.Popen(
        command,
        env=env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    return Worker(process)


def wait_for_workers(workers: Sequence[Worker]) -> list[tuple[Worker, bool]]:
    """Wait until a worker answers or its time is up; return these workers, each with whether its task has ended."""
    with selectors.DefaultSelector() as selector:
        for worker in workers:
            assert worker.process.stdout
            selector.register(worker.process.stdout, selectors.EVENT_READ, worker)
        soonest = min(worker.deadline for worker in workers)
        ready = [
            key.data for key, _ in selector.select(max(0.0, soonest - time.monotonic()))
        ]
    now = time.monotonic()
    late = [worker for worker in workers if worker.deadline <= now and worker not in ready]
    return [
        *((worker, worker.read_answers()) for worker in ready),
        *((worker, False) for worker in late),
    ]


def result_of_timeout(task: Task) -> Result:
    """Build the result of a task that gave no answer in time."""
    failure = Failure("time_limit", f"an answer within {task.time_limit:g} s", "none")
    return Result(task.id, task.type, "", "timeout", (failure,), task.time_limit)


def result_of_crash(task: Task, how: str) -> Result:
    """Build the result of a task whose process crashed."""
    return Result(
        task.id, task.type, "", "crashed", (Failure("process", "an answer", how),)
    )
