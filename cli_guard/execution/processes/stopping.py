"""Stops background processes through their monitors, all at once."""

import os
import signal
import time
from collections.abc import Sequence
from dataclasses import replace

from cli_guard.execution.processes.model import StopMethod, Stopped
from cli_guard.execution.processes.registry import ProcessRecord
from cli_guard.execution.processes.supervisor.process_tree import GIVE_UP_SECONDS
from cli_guard.execution.shell import signal_name

# Seconds from the first signal to the last.
GRACE = 5.0
WAIT_SECONDS = GRACE + GIVE_UP_SECONDS + 5.0


def stop_entries(entries: Sequence[ProcessRecord], *, force: bool) -> tuple[Stopped, ...]:
    """Stop processes, and return the results in the order given."""
    running = [entry.running for entry in entries]
    problems = [
        request_stop(entry, force) if runs else None
        for entry, runs in zip(entries, running, strict=True)
    ]
    deadline = time.monotonic() + WAIT_SECONDS
    return tuple(
        wait_until_stopped(entry, was_running, problem, deadline, force)
        for entry, was_running, problem in zip(entries, running, problems, strict=True)
    )


def request_stop(entry: ProcessRecord, force: bool) -> str | None:
    """Ask the monitor of a process to end it; return why that failed, None for success."""
    try:
        if entry.watched:
            os.kill(entry.monitor, signal.SIGUSR1 if force else signal.SIGTERM)
        else:
            # Its monitor was killed, and the guard with it. It led a session of its own.
            os.killpg(entry.pid, signal.SIGKILL)
    except ProcessLookupError:
        return None
    except OSError as error:
        return f"{entry.pid} cannot be stopped: {error.strerror}"
    return None


def wait_until_stopped(
    entry: ProcessRecord,
    was_running: bool,
    problem: str | None,
    deadline: float,
    force: bool,
) -> Stopped:
    method: StopMethod = "forced" if force else "graceful"
    result = Stopped(entry.pid, method, "", problem)
    if problem:
        return result
    pause = 0.001
    while (now := entry.refresh()).running and time.monotonic() < deadline:
        time.sleep(pause)
        pause = min(0.02, pause * 1.5)
    if now.running:
        return replace(
            result,
            error=f"{entry.pid} has not ended: it waits in the kernel: try again later",
        )
    code = now.return_code
    how = ""
    if code is not None:
        how = f" ({signal_name(-code)})" if code < 0 else f" (exit code {code})"
    ended = "and its process tree have ended" if was_running else "had already ended"
    message = f"process {entry.pid} {ended}{how}"
    if was_running and now.is_forced:
        method = "forced"
    return replace(result, method=method, message=message, return_code=code)
