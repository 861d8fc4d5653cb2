"""Runs the planned and permitted checks in parallel, and reports progress and results."""

import signal
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from typing import TextIO

from cli_guard.execution.checks.outcome import Outcome, make_safe
from cli_guard.execution.checks.planning import context_of_checks, plan_checks
from cli_guard.execution.checks.runner import CheckRunner
from cli_guard.execution.shell import cores
from cli_guard.git.call import collect_signals
from cli_guard.git.checkout import sweep
from cli_guard.graph.context import Context
from cli_guard.graph.tools.effects import checking_tool
from cli_guard.graph.tools.tool import ToolOutput
from cli_guard.model import ChangeSet, Decision, Skipped, Verdict
from cli_guard.policy.checks import PlannedCheck
from cli_guard.policy.decisions import Policy
from cli_guard.policy.gate import CHECKS_TRUSTED, RUN_CHECKS
from cli_guard.repository.protocol import Repository
from cli_guard.repository.pushes import PushedRef
from cli_guard.review.request import Request, Staged
from cli_guard.reviewers.cache import Cache
from cli_guard.runtime import Invocation
from cli_guard.secrets.printable import clip, printable

TICK_SECONDS = 0.2
QUIET_SECONDS = 1.0
# Between two lines if a line cannot be overwritten.
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
    is_staged = isinstance(request, Staged)
    return planned, Checks(
        repository, planned, invocation, progress, staged=is_staged, changes=changes
    )


class Checks:
    """The checks of one commit or push, ready to run; progress goes to `out`."""

    def __init__(
        self,
        repository: Repository,
        planned: Collection[PlannedCheck],
        invocation: Invocation,
        out: TextIO,
        *,
        staged: bool,
        changes: ChangeSet,
    ) -> None:
        self._planned = {check.id: check for check in planned if check.may_run}
        self._stopped = threading.Event()
        self._runner = CheckRunner(
            repository,
            invocation,
            Cache(repository.state_folder),
            staged,
            changes,
            self._stopped.is_set,
        )
        self._repository = repository
        self._invocation = invocation
        self._out = out
        self._running: set[str] = set()

    def allowed_in(self, context: Context) -> Context:
        """Return the context of a review with the tool that runs these checks."""
        trusted = dict.fromkeys(check.trusted for check in self._planned.values())
        verdict = Verdict(Decision.ALLOW, "; ".join(trusted), CHECKS_TRUSTED)
        commands = context_of_checks(self._repository, context.policy, self._invocation)
        tools = (
            {**context.tools, RUN_CHECKS: checking_tool(verdict)}
            if self._planned
            else context.tools
        )
        return replace(context, tools=tools, commands=commands, checker=self)

    def run(self, wanted: Mapping[str, Collection[str]]) -> ToolOutput:
        """Run checks by id, each only with exactly the commands that were judged."""
        chosen = [
            check
            for key, check in self._planned.items()
            if set(wanted.get(key, ())) == set(check.commands)
        ]
        sweep(self._repository)
        # An exception out of a signal may come while a lock is being taken, and would cut the cleanup short.
        usual = (signal.SIG_DFL, signal.default_int_handler)
        with collect_signals(usual.__contains__) as signals:
            outcomes = self._run(chosen, signals)
        findings = tuple(finding for each in outcomes if (finding := each.finding))
        findings += tuple(finding for each in outcomes for finding in each.findings)
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
                    "reason": make_safe(each.reason),
                    "seconds": round(each.seconds, 3),
                    "cached": each.cached,
                }
                for each in outcomes
            ],
            "told": f"checks: {', '.join(each.summary for each in outcomes)}"
            if outcomes
            else "",
        }
        return ToolOutput(data, findings, tuple(missing))

    def _run(self, chosen: list[PlannedCheck], signals: Sequence[int]) -> list[Outcome]:
        """Run checks. Raises KeyboardInterrupt for a signal, once nothing of them is left."""
        workers = max(1, min(len(chosen), cores()))
        progress = CheckProgress(
            self._out, len(chosen), dumb=self._invocation.env.get("TERM") == "dumb"
        )
        pool = ThreadPoolExecutor(workers, thread_name_prefix="check")
        futures = [pool.submit(self._run_one, check) for check in chosen]
        try:
            pending: set[Future[Outcome]] = set(futures)
            while pending:
                _, pending = wait(pending, TICK_SECONDS, FIRST_COMPLETED)
                # A copy: the threads go on.
                running = [key.partition("@")[0] for key in self._running.copy()]
                progress.tick(running, len(futures) - len(pending))
                if signals:
                    raise KeyboardInterrupt
            return [each.result() for each in futures]
        except BaseException:
            self._stopped.set()
            raise
        finally:
            # Each removes its checkout first.
            pool.shutdown(wait=True, cancel_futures=True)
            progress.end()

    def _run_one(self, check: PlannedCheck) -> Outcome:
        self._running.add(check.id)
        try:
            return self._runner.run(check)
        finally:
            self._running.discard(check.id)


class CheckProgress:
    """Reports how far the checks are: nothing in the first second, then one line.

    `clock` gives seconds; on a `dumb` terminal the line is repeated now and then instead of overwritten.
    """

    def __init__(
        self,
        out: TextIO,
        total: int,
        *,
        clock: Callable[[], float] = time.monotonic,
        dumb: bool = False,
    ) -> None:
        self._out = out
        self._total = total
        self._clock = clock
        self._begun = clock()
        self._terminal = out.isatty() and not dumb
        self._said_at: float | None = None
        self._shown = ""

    def tick(self, running: Collection[str], done: int) -> None:
        """Update with the names of the running checks and the number of finished ones; call it often."""
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
        """Clear the line."""
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
            # The reader has gone; the checks go on without reports.
            self._terminal = False
            self._said_at = float("inf")
