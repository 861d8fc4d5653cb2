"""Runs the checks that were planned and allowed, beside each other by cores, and tells what came of them."""

import os
import shutil
import signal
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import replace
from typing import TextIO

from cli_guard.execution.checks.outcome import Outcome, told_safely
from cli_guard.execution.checks.passes import Passes
from cli_guard.execution.checks.planning import context_of_checks, plan_checks
from cli_guard.execution.checks.runner import Runner
from cli_guard.execution.processes.manager import ProcessManager
from cli_guard.git.checkout import sweep
from cli_guard.git.repository import Repository
from cli_guard.graph.context import Context
from cli_guard.graph.tools.effects import checking_tool
from cli_guard.graph.tools.tool import ToolOutput
from cli_guard.model import ChangeSet, Decision, PushedRef, Skipped, Verdict
from cli_guard.policy.checks import PlannedCheck
from cli_guard.policy.decisions import Policy
from cli_guard.policy.gate import CHECKS_TRUSTED, RUN_CHECKS
from cli_guard.review.request import Request, Staged
from cli_guard.runtime import Invocation
from cli_guard.secrets.printable import clip, printable

TICK_SECONDS = 0.2
QUIET_SECONDS = 1.0
# Between two lines where a line cannot be written anew.
PLAIN_SECONDS = 60.0
WIDTH = 79
ERASE = "\r\x1b[K"


def prepare_checks(
    request: Request,
    repository: Repository,
    policy: Policy,
    changes: ChangeSet,
    pushed: tuple[PushedRef, ...],
    invocation: Invocation,
    *,
    progress: TextIO,
) -> "tuple[tuple[PlannedCheck, ...], Checks | None]":
    """Plan the checks of a commit or push; the second value runs those that may, and reports on `progress`.

    A `CheckPlanner` once `progress` is bound. Raises CliGuardError, GitError.
    """
    planned = plan_checks(request, repository, policy, changes, pushed, invocation)
    if not planned:
        return (), None
    return planned, Checks(repository, planned, invocation, progress, staged=isinstance(request, Staged))


class Checks:
    """The checks of one commit or push, ready to run; what is told meanwhile goes to `out`."""

    def __init__(
        self,
        repository: Repository,
        planned: Collection[PlannedCheck],
        invocation: Invocation,
        out: TextIO,
        *,
        staged: bool,
    ) -> None:
        self._planned = {check.id: check for check in planned if check.may_run}
        self._runner = Runner(repository, invocation, Passes(repository.state_folder), staged)
        self._repository = repository
        self._invocation = invocation
        self._out = out
        self._active: dict[str, ProcessManager] = {}
        self._lock = threading.Lock()
        self._stopped = False

    def allowed_in(self, context: Context) -> Context:
        """The context of a review in which these may run, where the gate lets them."""
        who = dict.fromkeys(check.trusted for check in self._planned.values())
        verdict = Verdict(Decision.ALLOW, "; ".join(who), CHECKS_TRUSTED)
        commands = context_of_checks(self._repository, context.policy, self._invocation)
        tools = {**context.tools, RUN_CHECKS: checking_tool(verdict)} if self._planned else context.tools
        return replace(context, tools=tools, commands=commands, checker=self)

    def run(self, wanted: Mapping[str, Collection[str]]) -> ToolOutput:
        """Runs checks by their ids, each with exactly the commands that were judged; what is not planned is not run."""
        chosen = [
            check for key, check in self._planned.items() if set(wanted.get(key, ())) == set(check.commands)
        ]
        sweep(self._repository)
        with asked_to_end() as asked:
            outcomes = self._run(chosen, asked)
        findings = tuple(finding for each in outcomes if (finding := each.finding))
        missing = dict.fromkeys(
            Skipped(left_out.path, f"{left_out.reason}; the checks ran without it")
            for each in outcomes
            for left_out in each.missing
        )
        data: dict[str, object] = {
            "checks": [
                {
                    "id": each.check.id,
                    "outcome": each.state,
                    "reason": told_safely(each.reason),
                    "seconds": round(each.seconds, 3),
                    "cached": each.cached,
                }
                for each in outcomes
            ],
            "told": f"checks: {', '.join(each.told for each in outcomes)}" if outcomes else "",
        }
        return ToolOutput(data, findings, tuple(missing))

    def _run(self, chosen: list[PlannedCheck], asked: Sequence[int]) -> list[Outcome]:
        """Runs checks. Raises KeyboardInterrupt once somebody has asked for an end, and nothing is left of them."""
        workers = max(1, min(len(chosen), cores()))
        progress = Progress(self._out, len(chosen), dumb=self._invocation.env.get("TERM") == "dumb")
        pool = ThreadPoolExecutor(workers, thread_name_prefix="check")
        futures = [pool.submit(self._one, check) for check in chosen]
        try:
            pending: set[Future[Outcome]] = set(futures)
            while pending:
                _, pending = wait(pending, TICK_SECONDS, FIRST_COMPLETED)
                with self._lock:
                    running = [key.partition("@")[0] for key in self._active]
                progress.tick(running, len(futures) - len(pending))
                if asked:
                    raise KeyboardInterrupt
            return [each.result() for each in futures]
        except BaseException:
            self._stop()
            raise
        finally:
            # Until then each removes what it made.
            pool.shutdown(wait=True, cancel_futures=True)
            progress.end()

    def _one(self, check: PlannedCheck) -> Outcome:
        try:
            return self._alone(check)
        except OSError as error:  # a full disk, no more processes
            return Outcome(check, "not run", f"this machine has no room for it: {error.strerror}")

    def _alone(self, check: PlannedCheck) -> Outcome:
        """A check with a manager of its own, which ends all that it started."""
        with ProcessManager() as manager:
            with self._lock:
                if self._stopped:
                    return Outcome(check, "not run", "interrupted")
                self._active[check.id] = manager
            try:
                return self._runner.run(check, manager, lambda: self._stopped)
            finally:
                with self._lock:
                    del self._active[check.id]
                manager.close()
                # One that was closed from without a moment before a command has made its folder anew.
                shutil.rmtree(manager.folder, ignore_errors=True)

    def _stop(self) -> None:
        """Ends every family, all at once; the threads then find their commands ended."""
        with self._lock:
            self._stopped = True
            closing = [threading.Thread(target=each.close) for each in self._active.values()]
        for thread in closing:
            thread.start()
        for thread in closing:
            thread.join()


@contextmanager
def asked_to_end() -> Iterator[list[int]]:
    """The signals that ask for an end, as they come: Ctrl-C, a polite request, the end of the terminal.

    An exception out of a signal comes between any two instructions, and leaves a lock broken that is just being taken.
    So they are noted, for the loop to look at, and do not cut the tidying up short. What is ignored stays ignored
    (nohup(1)).
    """
    noted: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield noted
        return
    usual = (signal.SIG_DFL, signal.default_int_handler)
    asking = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {each: found for each in asking if (found := signal.getsignal(each)) in usual}
    try:
        for each in before:
            signal.signal(each, lambda number, frame: noted.append(number))
        yield noted
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def cores() -> int:
    """The cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS
        return os.cpu_count() or 1


class Progress:
    """Tells a stream how far the checks are. `clock` gives seconds; a `dumb` terminal writes no line anew."""

    def __init__(
        self, out: TextIO, total: int, *, clock: Callable[[], float] = time.monotonic, dumb: bool = False
    ) -> None:
        self._out = out
        self._total = total
        self._clock = clock
        self._begun = clock()
        self._terminal = out.isatty() and not dumb
        self._said_at: float | None = None
        self._shown = ""

    def tick(self, running: Collection[str], done: int) -> None:
        """Is called often, with the names of what runs and the number of what has ended."""
        now = self._clock()
        seconds = now - self._begun
        if seconds < QUIET_SECONDS or not running:
            return
        names = ", ".join(sorted(running))
        line = f"cli-guard: {done} of {self._total} checks done, running {names} ({seconds:.0f} s)"
        if self._terminal:
            self._replace(clip(printable(line), WIDTH))
        elif self._said_at is None or now - self._said_at >= PLAIN_SECONDS:
            self._said_at = now
            self._write(f"{printable(line)}\n")

    def end(self) -> None:
        """Leaves the line empty for what comes after."""
        if self._shown:
            self._replace("")

    def _replace(self, line: str) -> None:
        if line != self._shown:
            self._write(ERASE + line)
            self._shown = line

    def _write(self, text: str) -> None:
        encoding = getattr(self._out, "encoding", None) or "utf-8"
        try:
            self._out.write(text.encode(encoding, "backslashreplace").decode(encoding))
            self._out.flush()
        except (OSError, ValueError):
            # Whoever read it has gone: the checks count, not what is told of them.
            self._terminal, self._said_at = False, float("inf")
