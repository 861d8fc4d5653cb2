"""Starts a command in the background, and watches it until it is ready or has failed."""

import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cli_guard.errors import CliGuardError
from cli_guard.execution.ports import (
    find_process_on_port,
    is_port_available,
    wait_until_answers,
)
from cli_guard.execution.processes.launcher import ENDS, Launcher, Run, request_of
from cli_guard.execution.processes.model import Started, State
from cli_guard.execution.processes.preparing import Prepared
from cli_guard.execution.processes.registry import Registry
from cli_guard.execution.processes.results import (
    describe_command,
    describe_failure,
    errors_before_start,
    errors_in,
    no_log,
    what_went_wrong,
)
from cli_guard.execution.processes.servers import find_expected_port
from cli_guard.secrets.redact import redact

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
    return Started(
        prepared.command,
        prepared.folder,
        errors=errors_before_start(error, details or {}),
        error=error,
        details=details or {},
    )


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
