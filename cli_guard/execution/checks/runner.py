"""Runs one check in a checkout of its own, with its server, and cleans up after it."""

import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import field, replace
from pathlib import Path

from cli_guard.errors import CliGuardError
from cli_guard.execution.checks.outcome import Outcome, State
from cli_guard.execution.checks.passes import key_of
from cli_guard.execution.checks.process import CheckProcess
from cli_guard.execution.checks.reports import changed_files, findings_in, read_report
from cli_guard.execution.environment import clean_environment
from cli_guard.execution.ports import (
    find_process_on_port,
    is_port_available,
    wait_until_answers,
)
from cli_guard.execution.shell import NOT_EXECUTABLE, NOT_FOUND, TEMPORARY, ended_words
from cli_guard.git.checkout import Checkout, checked_out
from cli_guard.lazy import dataclass, frozen
from cli_guard.model import ChangeSet, Skipped
from cli_guard.policy.checks import LEADING_OUT, PlannedCheck
from cli_guard.repository.protocol import Repository
from cli_guard.reviewers.cache import Cache
from cli_guard.runtime import Invocation

SERVER_LINES = 200
NO_COMMAND = {
    NOT_EXECUTABLE: "its command cannot be executed",
    NOT_FOUND: "its command names a command that was not found",
}


@dataclass
class Ports:
    """The ports of parallel checks: checks that name the same number take turns."""

    _lock: threading.Lock = field(default_factory=threading.Lock)
    _named: dict[int, threading.Lock] = field(default_factory=dict)
    _found: set[int] = field(default_factory=set)

    @contextmanager
    def reserve(self, wanted: int | str | None) -> Iterator[int | None]:
        """Reserve the port that a check needs while it runs. Raises CliGuardError if another process has it."""
        if not isinstance(wanted, int):
            yield self._free() if wanted == "auto" else None
            return
        with self._lock:
            one_at_a_time = self._named.setdefault(wanted, threading.Lock())
        with one_at_a_time:
            if not is_port_available(wanted):
                by = find_process_on_port(wanted)
                whose = f" by process {by}" if by else ""
                raise CliGuardError(
                    f"port {wanted} is in use{whose}: free it and try again"
                )
            yield wanted

    def _free(self) -> int:
        with self._lock:
            while True:
                # The system picks a free port (ip(7), port 0); it must be free on the other addresses too.
                with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
                    probe.bind(("127.0.0.1", 0))
                    port = int(probe.getsockname()[1])
                if port not in self._found and is_port_available(port):
                    self._found.add(port)
                    return port


@frozen
class CheckRunner:
    """What all checks of one run share; `staged` if they check the index, `changes` are under review.

    Once `is_stopped`, running commands are ended, and none is started.
    """

    repository: Repository
    invocation: Invocation
    cache: Cache
    staged: bool
    changes: ChangeSet
    is_stopped: Callable[[], bool]
    ports: Ports = field(default_factory=Ports)
    keeping: threading.Lock = field(default_factory=threading.Lock)

    def run(self, check: PlannedCheck) -> Outcome:
        """Run a check unless its tree has passed before. Errors become the outcome."""
        config = check.config
        passed = clean_environment(self.invocation.env, config.pass_environment)
        # With these a command would change the repository of the hook.
        env = {n: value for n, value in passed.env.items() if n not in LEADING_OUT}
        env |= config.environment
        why = "it holds a secret, which no check gets"
        secrets = [Skipped(f"${name}", why) for name in passed.left_out]
        # Findings of a report are about the change, not about the tree alone.
        key = key_of(check, env) if config.cache and not config.report else None
        if key and self.cache.get([key]):
            return Outcome(check, "passed", cached=True)
        try:
            outcome = self._run_in_checkout(check, env)
            outcome = replace(outcome, missing=(*outcome.missing, *secrets))
        except CliGuardError as error:
            return Outcome(check, "not run", str(error))
        except OSError as error:  # a full disk, no more processes
            reason = f"the machine ran out of a resource: {error.strerror}"
            return Outcome(check, "not run", reason)
        if key and outcome.state == "passed":
            # A cache that another thread has locked keeps nothing.
            with self.keeping:
                self.cache.put({key: b"passed"})
        return outcome

    def _run_in_checkout(self, check: PlannedCheck, env: dict[str, str]) -> Outcome:
        config = check.config
        with ExitStack() as stack:
            port = stack.enter_context(self.ports.reserve(config.needs_port))
            checkout = stack.enter_context(
                checked_out(self.repository, check.tree, check.commit, staged=self.staged)
            )
            folder = folder_in(checkout, config.working_dir)
            temporary = checkout.folder.parent / "tmp"
            temporary.mkdir()
            env = env | dict.fromkeys(TEMPORARY, str(temporary))
            if port:
                env["PORT"] = str(port)
            report = temporary / "report"
            if config.report:
                changed = changed_files(config, self.changes)
                if not changed:
                    return Outcome(check, "passed", missing=checkout.missing)
                listed = temporary / "changed"
                listed.write_bytes(b"".join(os.fsencode(path) + b"\0" for path in changed))
                env |= {"REPORT": str(report), "CHANGED_FILES": str(listed)}
            server = None
            if config.server and port and not self.is_stopped():
                server = stack.enter_context(CheckProcess(config.server, folder, env))
                if not wait_until_answers(
                    port, config.ready_seconds, lambda: self._is_running(server)
                ):
                    outcome = describe_silent_server(check, server, port)
                    return replace(outcome, missing=checkout.missing)
            if self.is_stopped():
                return Outcome(check, "not run", "interrupted")
            with CheckProcess(config.command, folder, env) as process:
                process.wait(config.timeout_seconds, self.is_stopped)
                code = process.code
                seconds = process.seconds
            outcome = outcome_of(check, code, seconds, process.output)
            outcome = replace(outcome, missing=checkout.missing)
            if config.report and code is not None and code not in NO_COMMAND:
                outcome = self._with_report(outcome, report, folder, checkout)
            if server is None or outcome.state == "passed":
                return outcome
            return add_server_output(outcome, server)

    def _is_running(self, process: CheckProcess) -> bool:
        return process.code is None and not self.is_stopped()

    def _with_report(
        self, outcome: Outcome, report: Path, folder: Path, checkout: Checkout
    ) -> Outcome:
        """Add the findings of a report. A tool that reports may end with any exit code, but not one that does not."""
        kind = outcome.check.config.report or ""
        try:
            spots = read_report(kind, report)
        except (OSError, ValueError) as error:
            if outcome.state == "failed":
                return outcome
            return replace(
                outcome,
                state="not run",
                reason=f"its report in $REPORT is not {kind}: {error}",
            )
        if outcome.state == "failed" and kind == "gcc" and not spots:
            return outcome
        found = findings_in(outcome.check, spots, folder, checkout.folder, self.changes)
        return replace(outcome, state="passed", reason="", findings=found)


def folder_in(checkout: Checkout, name: str) -> Path:
    """Return the folder that a check runs in. Raises CliGuardError if the tree does not have it."""
    folder = (checkout.folder / name).resolve()
    # A symbolic link may lead out of the tree.
    if not folder.is_dir() or not folder.is_relative_to(checkout.folder.resolve()):
        raise CliGuardError(f"working_dir {name!r} is not a folder of this tree")
    return folder


def describe_silent_server(check: PlannedCheck, server: CheckProcess, port: int) -> Outcome:
    """Return the outcome of a check whose server does not answer."""
    seconds = check.config.ready_seconds
    reason = f"did not answer on port {port} within {seconds:g} s (ready_seconds)"
    if server.code is not None:
        server.end()
        reason = f"{ended_words(server.code)} before it answered on port {port}"
    return Outcome(check, "failed", f"its server {reason}", server.seconds, server.output)


def outcome_of(
    check: PlannedCheck, code: int | None, seconds: float, output: str
) -> Outcome:
    """Return the outcome of a check by its exit code, None at its limit."""
    if code == 0:
        return Outcome(check, "passed", seconds=seconds)
    state: State = "failed"
    if code is None:
        reason = f"timed out after {check.config.timeout_seconds:g} s (timeout_seconds)"
    elif code in NO_COMMAND:
        state = "not run"
        reason = NO_COMMAND[code]
    else:
        reason = ended_words(code)
    return Outcome(check, state, reason, seconds, output)


def add_server_output(outcome: Outcome, server: CheckProcess) -> Outcome:
    """Add to a failure what its server printed: the cause may be there."""
    ended = ""
    if server.code is not None:
        # What it printed last may not have been read yet.
        server.end()
        ended = f"; its server {ended_words(server.code)}"
    lines = server.output.splitlines(keepends=True)
    output = f"{''.join(lines[-SERVER_LINES:])}\n{outcome.output}"
    return replace(outcome, reason=outcome.reason + ended, output=output)
