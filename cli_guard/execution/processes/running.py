"""Runs a command to its end in the foreground, or starts it in the background and watches it until it is ready."""

import shutil
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from cli_guard.errors import CliGuardError
from cli_guard.execution.ports import (
    find_process_on_port,
    is_port_available,
    wait_until_answers,
)
from cli_guard.execution.processes.launcher import ENDS, Launcher, Run, request_of
from cli_guard.execution.processes.model import Result, Started, State
from cli_guard.execution.processes.preparing import Prepared
from cli_guard.execution.processes.registry import Registry
from cli_guard.execution.processes.results import (
    LOST,
    describe_command,
    describe_failure,
    describe_refusal,
    errors_in,
    no_log,
    what_went_wrong,
)
from cli_guard.execution.processes.servers import find_expected_port
from cli_guard.secrets.redact import redact

# Seconds from the first signal to the last: at a time-out in the foreground, and in the background.
GRACE_AT_TIMEOUT = 2.0
GRACE = 5.0
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


def run_to_end(
    launcher: Launcher,
    registry: Registry,
    prepared: Prepared,
    timeout: float | None,
    respond: str | None,
    stdin: int | None,
    on_output: Callable[[str, bytes], None] | None,
) -> Result:
    try:
        folder = registry.new()
    except OSError as error:
        return failure(prepared, no_log(registry, error))
    request = request_of(
        prepared,
        str(folder),
        grace=GRACE_AT_TIMEOUT,
        timeout=timeout,
        respond=respond,
        forward=on_output is not None,
    )
    try:
        run = launcher.open(request, None if prepared.terminal else stdin)
    except CliGuardError as error:
        shutil.rmtree(folder, ignore_errors=True)
        return failure(prepared, str(error))
    keyboard = stdin if prepared.terminal else None
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
        registry.prune()
    else:
        shutil.rmtree(folder, ignore_errors=True)
    return result


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


def start(
    launcher: Launcher,
    registry: Registry,
    prepared: Prepared,
    startup_timeout: float,
    port: int | None,
    respond: str | None,
    *,
    keep: bool,
) -> tuple[Started, Run | None]:
    """Start a command, and watch it; the run is None unless the command goes on and is bound to its owner."""
    begun = time.monotonic()
    try:
        expected = find_expected_port(prepared.command) if port is None else None
        port = expected.port if expected else port
        if port is not None and not is_port_available(port):
            if not (expected and expected.moves):
                details = {"port": port, "blocking_pid": find_process_on_port(port)}
                return refuse(prepared, f"Port {port} is already in use", details), None
            # The server takes another port, which only it knows.
            port = None
        if prepared.sandbox is not None:
            port = None
        folder = registry.new()
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
            keep=keep,
            record=record,
        )
        run = launcher.open(request)
    except CliGuardError as error:
        return refuse(prepared, str(error)), None
    except OSError as error:
        return refuse(prepared, no_log(registry, error)), None
    run.wait(("started", "failed"), START_SECONDS)
    if "started" not in run.seen:
        run.close()
        shutil.rmtree(folder, ignore_errors=True)
        failed = run.seen.get("failed", {"step": "start", "errno": 0})
        return refuse(prepared, *describe_failure(failed, prepared)), None
    answers = wait_until_ready(run, startup_timeout, port)
    result = describe_start(
        run, prepared, folder / "log", port, answers, time.monotonic() - begun
    )
    if keep or result.state not in ("ready", "starting"):
        run.close()
        return result, None
    return result, run


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
