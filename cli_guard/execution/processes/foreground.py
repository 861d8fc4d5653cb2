"""Runs a command in the foreground, from its start to its result."""

import os
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
    decode_output,
    describe_command,
    describe_failure,
    errors_in,
    masked_errors,
    no_log,
    what_went_wrong,
)

# From the first signal at a time-out to the last.
GRACE = 2.0

EventData = Mapping[str, Any]


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
        folder = registry.place()
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
        return failure(prepared, str(error))
    try:
        name, data = wait_for_end(run, on_output, stdin if prepared.terminal else None)
    finally:
        run.close()
    result = describe_end(name, data, prepared, folder / "log", timeout)
    if result.log_file is not None:
        registry.prune()
    elif data.get("held") is None:
        shutil.rmtree(folder, ignore_errors=True)
    return result


def failure(
    prepared: Prepared, error: str, details: Mapping[str, Any] | None = None
) -> Result:
    return Result(
        prepared.command,
        prepared.folder,
        error=error,
        sandbox=prepared.sandbox,
        details=details or {},
    )


def wait_for_end(
    run: Run, on_output: Callable[[str, bytes], None] | None, keyboard: int | None
) -> tuple[str, EventData]:
    """Wait for the last event of a command. An exception meanwhile, Ctrl-C included, ends its process tree first."""
    try:
        for event in run.events(also=keyboard):
            if event is None:
                assert keyboard is not None  # noqa: S101 - nothing else wakes us
                # The end of our input is a Ctrl-D of the terminal (termios(3), VEOF).
                run.send(
                    do="input", text=(os.read(keyboard, 4_096) or b"\x04").decode("latin-1")
                )
                continue
            name, data = event
            if isinstance(data, bytes):
                if on_output is not None:
                    on_output(name, data)
            elif name in ("ended", "failed"):
                return name, data
    except BaseException:
        run.send(do="stop")
        for event in run.events():
            if event is not None and event[0] in ("ended", "failed"):
                break
        raise
    return "lost", {}


def describe_end(
    name: str, data: EventData, prepared: Prepared, log: Path, timeout: float | None
) -> Result:
    """Build the result of a command from its last event."""
    if name != "ended":
        return failure(
            prepared, *(describe_failure(data, prepared) if name == "failed" else (LOST,))
        )
    kept = None if data["log_problem"] else str(log)
    held = data["held"]
    errors = (
        errors_in(log)
        if held is None
        else masked_errors(decode_output(held.encode("latin-1")))
    )
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
