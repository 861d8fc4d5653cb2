"""A command in the foreground: from its start to its result."""

import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from cli_guard.errors import CliGuardError
from cli_guard.execution.processes.launcher import Door, Request, Run
from cli_guard.execution.processes.model import Result
from cli_guard.execution.processes.preparing import Prepared
from cli_guard.execution.processes.registry import Registry
from cli_guard.execution.processes.results import (
    LOST,
    clip_stream,
    decode_output,
    errors_in,
    masked_errors,
    not_started,
    notes_of,
    what_went_wrong,
)

# From the first signal at a time-out to the last.
GRACE = 2.0

Told = Mapping[str, Any]


def run_to_end(
    door: Door,
    registry: Registry,
    prepared: Prepared,
    timeout: float | None,
    respond: str | None,
    stdin: int | None,
    on_output: Callable[[str, bytes], None] | None,
) -> Result:
    """Runs a command to its end."""
    try:
        folder = registry.place()
    except OSError as error:
        words = f"no log can be written in {registry.folder}: {error.strerror}"
        return Result(prepared.command, prepared.folder, error=words, sandbox=prepared.sandbox)
    request = Request(
        words=prepared.words,
        folder=prepared.folder,
        env=prepared.env,
        run=str(folder),
        timeout=timeout,
        grace=GRACE,
        respond=respond,
        stdin=None if prepared.terminal else stdin,
        terminal=prepared.terminal,
        limits=prepared.limits,
        forward=on_output is not None,
    )
    try:
        run = door.open(request)
    except CliGuardError as error:
        return Result(prepared.command, prepared.folder, error=str(error))
    try:
        name, told = wait_for_end(run, on_output, stdin if prepared.terminal else None)
    finally:
        run.close()
    result = result_of(name, told, prepared, folder / "log", timeout)
    if result.log_file is not None:
        registry.prune()
    elif told.get("held") is None:
        shutil.rmtree(folder, ignore_errors=True)
    return result


def wait_for_end(
    run: Run, on_output: Callable[[str, bytes], None] | None, keyboard: int | None
) -> tuple[str, Told]:
    """How a command ended. Whatever is raised meanwhile, Ctrl-C included, ends its family first."""
    try:
        for event in run.events(also=keyboard):
            if event is None:
                assert keyboard is not None  # noqa: S101 - nothing else wakes us
                # The end of our input is a Ctrl-D of the terminal (termios(3), VEOF).
                run.tell(do="input", text=(os.read(keyboard, 4_096) or b"\x04").decode("latin-1"))
                continue
            name, told = event
            if isinstance(told, bytes):
                if on_output is not None:
                    on_output(name, told)
            elif name in ("ended", "failed"):
                return name, told
    except BaseException:
        run.tell(do="stop")
        for event in run.events():
            if event is not None and event[0] in ("ended", "failed"):
                break
        raise
    return "lost", {}


def result_of(name: str, told: Told, prepared: Prepared, log: Path, timeout: float | None) -> Result:
    """The result of a command, from what its guardian told."""
    if name != "ended":
        failed = name == "failed"
        why = not_started(told["step"], told["errno"], prepared.words[0], prepared.folder) if failed else LOST
        details = {"errno": told["errno"]} if failed and told["step"] == "program" else {}
        return Result(prepared.command, prepared.folder, error=why, sandbox=prepared.sandbox, details=details)
    kept = None if told["log_problem"] else str(log)
    stdout, cut_out = clip_stream(told["stdout"], kept, "stdout")
    stderr, cut_err = clip_stream(told["stderr"], kept, "stderr")
    held = told["held"]
    errors = errors_in(log) if held is None else masked_errors(decode_output(held.encode("latin-1")))
    late = f"timed out after {timeout or 0:g} s and was ended with its whole family: allow more time"
    return Result(
        command=prepared.command,
        working_dir=prepared.folder,
        return_code=told["return_code"],
        stdout=stdout,
        stderr=stderr,
        errors=errors,
        output_truncated=cut_out or cut_err,
        timed_out=told["timed_out"],
        duration=round(told["duration"], 4),
        error=late if told["timed_out"] else what_went_wrong(told["return_code"], errors, stderr),
        log_file=kept if cut_out or cut_err else None,
        left_behind=told["left_behind"],
        sandbox=prepared.sandbox,
        notes=(*prepared.notes, *notes_of(told)),
    )
