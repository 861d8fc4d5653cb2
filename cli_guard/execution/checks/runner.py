"""Runs one check in a checkout of its own, with its server, and cleans up after it."""

import os
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from cli_guard.errors import CliGuardError
from cli_guard.execution.checks.outcome import Outcome, State
from cli_guard.execution.checks.passes import Pass, Passes, key_of
from cli_guard.execution.checks.reports import changed_files, findings_in, read_report
from cli_guard.execution.processes.environment import clean_environment
from cli_guard.execution.processes.manager import ProcessManager
from cli_guard.execution.processes.model import Process, Result, Started
from cli_guard.execution.processes.ports import find_process_on_port, is_port_available
from cli_guard.execution.processes.results import name_of
from cli_guard.execution.processes.supervisor.process_tree import identity
from cli_guard.git.checkout import Checkout, checked_out
from cli_guard.model import ChangeSet, Skipped
from cli_guard.policy.checks import LEADING_OUT, PlannedCheck
from cli_guard.repository.protocol import Repository
from cli_guard.runtime import Invocation

TAIL_BYTES = 256_000
SERVER_LINES = 200
RECORD_SECONDS = 1.0
# Programs read one or the other (POSIX, and Python's tempfile).
TEMPORARY = ("TMPDIR", "TMP", "TEMP")
# POSIX shell, "Exit Status for Commands": found but not executable, and not found.
NO_COMMAND = {126: "cannot be executed", 127: "names a command that was not found"}


class Tail:
    """The end of a command's output, both streams in the order in which they came."""

    def __init__(self) -> None:
        self._kept = bytearray()
        self._cut = False

    def __call__(self, stream: str, data: bytes) -> None:
        self._kept += data
        if len(self._kept) > 2 * TAIL_BYTES:
            del self._kept[:-TAIL_BYTES]
            self._cut = True

    @property
    def text(self) -> str:
        """The output as text, without a line that is cut at its beginning."""
        raw = bytes(self._kept)
        return ((raw.partition(b"\n")[2] if self._cut else b"") or raw).decode(
            "utf-8", "replace"
        )


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


@dataclass(frozen=True)
class Runner:
    """What all checks of one run share; `staged` if they check the index, `changes` are under review."""

    repository: Repository
    invocation: Invocation
    passes: Passes
    staged: bool
    changes: ChangeSet
    ports: Ports = field(default_factory=Ports)

    def run(
        self, check: PlannedCheck, manager: ProcessManager, stopped: Callable[[], bool]
    ) -> Outcome:
        """Run a check unless its tree has passed before; start nothing once `stopped`. Errors become the outcome."""
        env, secrets = environment_of(check, self.invocation.env)
        # Findings of a report are about the change, not about the tree alone.
        key = key_of(check, env) if check.config.cache and not check.config.report else None
        known = self.passes.find(key) if key else None
        if known:
            return Outcome(check, "passed", seconds=known.seconds, cached=True)
        try:
            outcome = self._run(check, manager, env, stopped)
            outcome = replace(outcome, missing=(*outcome.missing, *secrets))
        except CliGuardError as error:
            return Outcome(check, "not run", str(error))
        if key and outcome.state == "passed":
            # The pass counts even if it cannot be kept.
            with suppress(OSError, CliGuardError):
                at = self.invocation.now.isoformat(timespec="seconds")
                self.passes.keep(key, Pass(outcome.seconds, at))
        return outcome

    def _run(
        self,
        check: PlannedCheck,
        manager: ProcessManager,
        env: dict[str, str],
        stopped: Callable[[], bool],
    ) -> Outcome:
        config = check.config
        with ExitStack() as stack:
            port = stack.enter_context(self.ports.reserve(config.needs_port))
            checkout = stack.enter_context(
                checked_out(self.repository, check.tree, check.commit, staged=self.staged)
            )
            folder = folder_in(checkout, config.working_dir)
            temporary = checkout.folder.parent / "tmp"
            temporary.mkdir()
            env = (
                env
                | dict.fromkeys(TEMPORARY, str(temporary))
                | ({"PORT": str(port)} if port else {})
            )
            report = temporary / "report"
            changed = changed_files(config, self.changes)
            if config.report and not changed:
                return Outcome(check, "passed", missing=checkout.missing)
            if config.report:
                listed = temporary / "changed"
                listed.write_bytes(b"".join(os.fsencode(path) + b"\0" for path in changed))
                env |= {"REPORT": str(report), "CHANGED_FILES": str(listed)}
            server: int | None = None
            if config.server and not stopped():
                started = manager.start(
                    config.server,
                    cwd=folder,
                    env=env,
                    startup_timeout=config.ready_seconds,
                    port=port,
                    respond=None,
                )
                problem = describe_start_failure(check, started, checkout)
                if problem:
                    return problem
                if started.pid is not None:
                    stack.callback(manager.stop, started.pid)
                    server = started.pid
            if stopped():
                return Outcome(check, "not run", "interrupted")
            tail = Tail()
            result = manager.run(
                config.command,
                cwd=folder,
                env=env,
                timeout=config.timeout_seconds,
                respond=None,
                on_output=tail,
            )
            outcome = outcome_of(check, result, tail.text, checkout)
            if (
                config.report
                and not result.timed_out
                and result.return_code not in (None, *NO_COMMAND)
            ):
                outcome = self._with_report(outcome, report, folder, checkout)
            if server is None or outcome.state == "passed":
                return outcome
            return add_server_output(outcome, manager, server)

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


def environment_of(
    check: PlannedCheck, env: Mapping[str, str]
) -> tuple[dict[str, str], tuple[Skipped, ...]]:
    """Return the environment of a check, and the secrets that were left out of it."""
    passed = clean_environment(env, check.config.pass_environment)
    # With these a command would change the repository of the hook.
    own = {name: value for name, value in passed.env.items() if name not in LEADING_OUT}
    secrets = (
        Skipped(f"${name}", "it holds a secret, which no check gets")
        for name in passed.left_out
    )
    return own | check.config.environment, tuple(secrets)


def describe_start_failure(
    check: PlannedCheck, started: Started, checkout: Checkout
) -> Outcome | None:
    """Return the outcome if the server does not answer, None if it does."""
    if started.state == "ready":
        return None
    if started.pid is None:
        reason = f"its server did not start: {started.error}"
        return Outcome(check, "not run", reason, missing=checkout.missing)
    if started.state == "starting":
        seconds = check.config.ready_seconds
        reason = f"its server did not answer on port {started.port} within {seconds:g} s (ready_seconds)"
    else:
        reason = f"its server {ended_words(started.return_code)} before it answered on port {started.port}"
    output = f"{started.stdout}\n{started.stderr}"
    return Outcome(check, "failed", reason, started.duration, output, checkout.missing)


def outcome_of(
    check: PlannedCheck, result: Result, output: str, checkout: Checkout
) -> Outcome:
    state: State = "failed"
    reason = ""
    if result.timed_out:
        reason = f"timed out after {check.config.timeout_seconds:g} s (timeout_seconds)"
    elif result.return_code is None:
        state = "not run"
        reason = result.error or "it did not start"
    elif result.return_code in NO_COMMAND:
        state = "not run"
        reason = f"its command {NO_COMMAND[result.return_code]}"
    elif result.return_code != 0:
        reason = ended_words(result.return_code)
    else:
        state = "passed"
        output = ""
    return Outcome(check, state, reason, result.duration, output, checkout.missing)


def add_server_output(outcome: Outcome, manager: ProcessManager, server: int) -> Outcome:
    """Add to a failure what its server printed: the cause may be there."""
    until = time.monotonic() + RECORD_SECONDS
    # A server that has just gone is recorded as ended a moment later.
    while (
        (found := find_process(manager, server))
        and found.running
        and identity(server) is None
    ):
        if time.monotonic() > until:
            break
        time.sleep(0.01)
    if found is None:
        return outcome
    ended = "" if found.running else f"; its server {ended_words(found.return_code)}"
    output = f"{manager.logs(server, SERVER_LINES)}\n{outcome.output}"
    return replace(outcome, reason=outcome.reason + ended, output=output)


def find_process(manager: ProcessManager, pid: int) -> Process | None:
    return next((each for each in manager.processes() if each.pid == pid), None)


def ended_words(code: int | None) -> str:
    """Return `ended with exit code 1`, or `was ended by SIGKILL`."""
    if code is None:
        return "ended"
    return f"ended with exit code {code}" if code >= 0 else f"was ended by {name_of(-code)}"
