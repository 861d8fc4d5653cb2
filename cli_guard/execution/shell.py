"""What commands of exec and of checks have in common: their shell, their exit codes, and how many run at once."""

import os
import shutil
import signal
from collections.abc import Iterable, Mapping
from contextlib import suppress

# Programs read one or the other (POSIX, and Python's tempfile).
TEMPORARY = ("TMPDIR", "TMP", "TEMP")
# POSIX shell, "Exit Status for Commands": found but not executable, and not found.
NOT_EXECUTABLE = 126
NOT_FOUND = 127


def shell_words(command: str, env: Mapping[str, str]) -> tuple[str, ...]:
    """Return the words that run a text in bash, whose syntax the command engine reads, else in /bin/sh."""
    shell = shutil.which("bash", path=env.get("PATH")) or "/bin/sh"
    return (shell, "-c", "--", command)


def send_signal(pids: Iterable[int], number: int) -> None:
    """Signal processes, except those that are gone or belong to another user."""
    for pid in pids:
        with suppress(OSError):
            os.kill(pid, number)


def signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def ended_words(code: int | None) -> str:
    """Return `ended with exit code 1`, or `was ended by SIGKILL`."""
    if code is None:
        return "ended"
    if code < 0:
        return f"was ended by {signal_name(-code)}"
    return f"ended with exit code {code}"


def cores() -> int:
    """Return how many processes can run at once."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS
        return os.cpu_count() or 1
