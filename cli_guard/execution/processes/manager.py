"""Runs commands in the foreground and the background, and manages those that it has started."""

import os
import secrets
import shutil
import tempfile
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from cli_guard.errors import CliGuardError
from cli_guard.execution.ports import (
    find_process_on_port,
    is_port_available,
    wait_until_answers,
)
from cli_guard.execution.processes import preparing
from cli_guard.execution.processes.launcher import ENDS, Launcher, Run, request_of
from cli_guard.execution.processes.model import (
    RESPONSE,
    STARTUP_TIMEOUT,
    TIMEOUT,
    Process,
    ProcessLimits,
    Result,
    Started,
    State,
    StopMethod,
    Stopped,
)
from cli_guard.execution.processes.preparing import Prepared
from cli_guard.execution.processes.registry import (
    ProcessRecord,
    Registry,
    follow_log,
    last_lines,
)
from cli_guard.execution.processes.results import (
    LOST,
    decode_output,
    describe_command,
    describe_failure,
    describe_refusal,
    errors_in,
    no_log,
    what_went_wrong,
)
from cli_guard.execution.processes.sandbox import Sandbox
from cli_guard.execution.processes.servers import find_expected_port
from cli_guard.execution.processes.stopping import GRACE, stop_entries
from cli_guard.secrets.redact import redact

Command = str | Sequence[str]
# Seconds from the first signal to the last at a time-out in the foreground.
GRACE_AT_TIMEOUT = 2.0
# A monitor answers at once, even on a busy machine.
START_SECONDS = 20.0
UNREACHABLE = (
    "a sandbox without network cannot be reached from outside: its port was not checked"
)
NO_OUTPUT: dict[str, object] = {"total": 0, "head": "", "tail": ""}
EMPTY: dict[str, Any] = {
    "stdout": NO_OUTPUT,
    "stderr": NO_OUTPUT,
    "log_problem": None,
    "log_rotated": False,
}
# Pruning reads all records, so not at every start.
STARTS_PER_PRUNE = 20
NOT_OURS = "{pid} was not started by cli-guard here: see `cli-guard exec ps`"


class ProcessManager:
    """The commands of one owner.

        with ProcessManager() as processes:
            print(processes.run("make test", timeout=300).stdout)
            server = processes.start(("python", "-m", "http.server", "8000"))
            processes.stop(server.pid)

    A text is run by bash, words without a shell. `folder` holds records and logs; by default it is a temporary folder
    that is removed with the manager. With `keep` the background processes outlive the manager and its process, and a
    later manager of the same folder finds them; without, they end with it, whatever ends it.
    """

    def __init__(self, folder: Path | None = None, *, keep: bool = False) -> None:
        # Created with the first command; the random name cannot exist yet.
        own = Path(tempfile.gettempdir()) / f"cli-guard-{secrets.token_hex(8)}"
        temporary = str(own) if folder is None else ""
        self.folder = folder or own
        self._keep = keep
        self._registry = Registry(self.folder)
        self._launcher = Launcher(temporary)
        self._bound: dict[int, Run] = {}
        self._starts = 0
        self._close = weakref.finalize(self, close_manager, self._launcher, os.getpid())

    def run(
        self,
        command: Command,
        *,
        cwd: Path | str | None = None,
        env: Mapping[str, str] | None = None,
        timeout: float | None = TIMEOUT,
        respond: str | None = RESPONSE,
        stdin: int | None = None,
        on_output: Callable[[str, bytes], None] | None = None,
        limits: ProcessLimits | None = None,
        terminal: bool | tuple[int, int] = False,
        sandbox: Sandbox | None = None,
    ) -> Result:
        """Run a command to its end, and end its whole process tree with it.

        `env` is passed as it is; by default a clean environment is made of ours. `timeout` is in seconds, None for no
        limit. The command reads `stdin` (a descriptor), or else `respond`, None for no input. `on_output` is called
        with `stdout` or `stderr` and bytes, as they come. `terminal` gives it a terminal of its own (True, or rows and
        columns); then all output is `stdout`, and `stdin` is typed.
        """
        try:
            prepared = preparing.prepare(
                command, cwd, env, limits, terminal, sandbox, timeout
            )
        except CliGuardError as error:
            return Result(*preparing.text_and_folder(command, cwd), error=str(error))
        try:
            folder = self._registry.new()
        except OSError as error:
            return failure(prepared, no_log(self._registry, error))
        request = request_of(
            prepared,
            str(folder),
            grace=GRACE_AT_TIMEOUT,
            timeout=timeout,
            respond=None if stdin is not None else respond,
            forward=on_output is not None,
        )
        keyboard = stdin if prepared.terminal else None
        try:
            run = self._launcher.open(request, None if prepared.terminal else stdin)
        except CliGuardError as error:
            shutil.rmtree(folder, ignore_errors=True)
            return failure(prepared, str(error))
        try:
            run.wait(on_output=on_output, keyboard=keyboard)
        except BaseException:
            # Ctrl-C included: its process tree ends first.
            run.send(do="stop")
            run.wait()
            raise
        finally:
            run.close()
        result = describe_end(run, prepared, folder / "log", timeout)
        if result.log_file is not None:
            self._registry.prune()
        else:
            shutil.rmtree(folder, ignore_errors=True)
        return result

    def start(
        self,
        command: Command,
        *,
        cwd: Path | str | None = None,
        env: Mapping[str, str] | None = None,
        startup_timeout: float = STARTUP_TIMEOUT,
        port: int | None = None,
        respond: str | None = RESPONSE,
        limits: ProcessLimits | None = None,
        terminal: bool | tuple[int, int] = False,
        sandbox: Sandbox | None = None,
    ) -> Started:
        """Start a command, and watch it for `startup_timeout` seconds: it is ready as soon as its port answers.

        The `port` of known servers is read from the command if it is not given.
        """
        try:
            prepared = preparing.prepare(
                command, cwd, env, limits, terminal, sandbox, startup_timeout
            )
        except CliGuardError as error:
            return Started(*preparing.text_and_folder(command, cwd), error=str(error))
        if self._starts % STARTS_PER_PRUNE == 0:
            self._registry.prune()
        self._starts += 1
        begun = time.monotonic()
        try:
            expected = find_expected_port(prepared.command) if port is None else None
            port = expected.port if expected else port
            if port is not None and not is_port_available(port):
                if not (expected and expected.moves):
                    details = {"port": port, "blocking_pid": find_process_on_port(port)}
                    return refuse(prepared, f"Port {port} is already in use", details)
                # The server takes another port, which only it knows.
                port = None
            if prepared.sandbox is not None:
                port = None
            folder = self._registry.new()
            # The record is a file, and `ps` shows it.
            record: dict[str, object] = {
                "command": redact(prepared.command),
                "working_dir": prepared.folder,
                "port": port,
            }
            request = request_of(
                prepared,
                str(folder),
                grace=GRACE,
                respond=respond,
                keep=self._keep,
                record=record,
            )
            run = self._launcher.open(request)
        except CliGuardError as error:
            return refuse(prepared, str(error))
        except OSError as error:
            return refuse(prepared, no_log(self._registry, error))
        run.wait(("started", "failed"), START_SECONDS)
        if "started" not in run.seen:
            run.close()
            shutil.rmtree(folder, ignore_errors=True)
            failed = run.seen.get("failed", {"step": "start", "errno": 0})
            return refuse(prepared, *describe_failure(failed, prepared))
        answers = wait_until_ready(run, startup_timeout, port)
        result = describe_start(
            run, prepared, folder / "log", port, answers, time.monotonic() - begun
        )
        if self._keep or result.state not in ("ready", "starting"):
            run.close()
            return result
        if result.pid is not None:
            self._bound[result.pid] = run
        return result

    def stop(self, pid: int, *, force: bool = False) -> Stopped:
        """End a process tree: SIGINT, SIGTERM, SIGKILL on one deadline; `force` sends SIGKILL at once."""
        entry = self._registry.find(pid)
        if entry is None:
            method: StopMethod = "forced" if force else "graceful"
            return Stopped(pid, method, "", NOT_OURS.format(pid=pid))
        return self._stop([entry], force)[0]

    def stop_all(self, *, force: bool = False) -> tuple[Stopped, ...]:
        """End all running processes at the same time."""
        return self._stop(
            [entry for entry in self._registry.entries() if entry.running], force
        )

    def _stop(self, entries: list[ProcessRecord], force: bool) -> tuple[Stopped, ...]:
        results = stop_entries(entries, force=force)
        for result in results:
            run = self._bound.pop(result.pid, None)
            if run is not None:
                run.close()
        return results

    def processes(self) -> tuple[Process, ...]:
        """Return the running processes and those that ended within the last hour, the oldest first."""
        return tuple(entry.as_process() for entry in self._registry.list_recent())

    def logs(self, pid: int, lines: int = 50) -> str:
        """Return the last lines of a process's output. Raises CliGuardError for one that was not started here."""
        return decode_output(self.log_bytes(pid, lines))

    def log_bytes(self, pid: int, lines: int) -> bytes:
        return last_lines(self._entry(pid).log, lines)

    def follow(self, pid: int, lines: int | None = None) -> Iterator[bytes]:
        """Yield the output of a process (the last `lines` of it, or all) until it has ended. Raises CliGuardError."""
        return follow_log(self._entry(pid), lines)

    def _entry(self, pid: int) -> ProcessRecord:
        entry = self._registry.find(pid)
        if entry is None:
            raise CliGuardError(NOT_OURS.format(pid=pid))
        return entry

    def close(self) -> None:
        """End what is bound to this manager, and remove a temporary folder."""
        self._close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def close_manager(launcher: Launcher, owner: int) -> None:
    """Close a manager; a forked child that inherits one does nothing."""
    if os.getpid() != owner:
        return
    launcher.close()


def failure(
    prepared: Prepared, error: str, details: Mapping[str, Any] | None = None
) -> Result:
    described = describe_refusal(prepared, error, details or {})
    return Result(**described, sandbox=prepared.sandbox)


def describe_end(run: Run, prepared: Prepared, log: Path, timeout: float | None) -> Result:
    """Build the result of a command from its last event."""
    if "failed" in run.seen:
        return failure(prepared, *describe_failure(run.seen["failed"], prepared))
    data = run.seen.get("ended")
    if data is None:
        return failure(prepared, LOST)
    kept = None if data["log_problem"] else str(log)
    errors = errors_in(log)
    late = f"timed out after {timeout or 0:g} s and was killed with its process tree: allow more time"
    found = describe_command(prepared, data, data["return_code"], errors, kept)
    return Result(
        **found,
        timed_out=data["timed_out"],
        duration=round(data["duration"], 4),
        error=late
        if data["timed_out"]
        else what_went_wrong(data["return_code"], errors, found["stderr"]),
        log_file=kept if found["output_truncated"] else None,
        left_behind=data["left_behind"],
        sandbox=prepared.sandbox,
    )


def refuse(
    prepared: Prepared, error: str, details: Mapping[str, Any] | None = None
) -> Started:
    return Started(**describe_refusal(prepared, error, details or {}))


def wait_until_ready(run: Run, startup_timeout: float, port: int | None) -> bool:
    """Check that it runs through the start-up time, or answers on its port within it."""
    if port is None:
        return not run.wait(seconds=startup_timeout)

    def runs() -> bool:
        return not run.wait(seconds=0.0)

    return wait_until_answers(port, startup_timeout, runs) and runs()


def describe_start(
    run: Run,
    prepared: Prepared,
    log: Path,
    port: int | None,
    answers: bool,
    duration: float,
) -> Started:
    if not run.wait(seconds=0.0):
        run.send(do="report")
        run.wait(("report", *ENDS), START_SECONDS)
    ended = run.seen.get("ended")
    data = ended or run.seen.get("report") or EMPTY
    errors = errors_in(log)
    code = ended["return_code"] if ended else None
    found = describe_command(prepared, data, code, errors, str(log))
    if prepared.sandbox is not None:
        found["notes"] += (UNREACHABLE,)
    state: State
    error = None
    if ended is not None or run.is_lost:
        state = "exited" if code == 0 else "failed"
        error = (
            what_went_wrong(code, errors, found["stderr"])
            or "ended at once (exit code 0): run it in the foreground"
        )
    elif answers:
        state = "ready"
    else:
        state = "starting"
        error = f"port {port} does not answer yet: wait, or read the log"
    return Started(
        **found,
        state=state,
        pid=run.seen["started"]["pid"],
        port=port,
        log_file=str(log),
        duration=round(duration, 4),
        error=error,
    )
