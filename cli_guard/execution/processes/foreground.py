"""Runs a command in the foreground, from its start to its result."""

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from cli_guard.errors import CliGuardError
from cli_guard.execution.processes.launcher import Launcher, Run, request_of
from cli_guard.execution.processes.model import Result
from cli_guard.execution.processes.preparing import Prepared
from cli_guard.execution.processes.registry import Registry
from cli_guard.execution.processes.results import (
    LOST,
    describe_command,
    describe_failure,
    errors_before_start,
    errors_in,
    no_log,
    what_went_wrong,
)

# From the first signal at a time-out to the last.
GRACE = 2.0


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
        grace=GRACE,
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
    return Result(
        prepared.command,
        prepared.folder,
        errors=errors_before_start(error, details or {}),
        error=error,
        sandbox=prepared.sandbox,
        details=details or {},
    )


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
