"""The types of the room: what is run, and what came of it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

State = Literal["ready", "exited", "failed", "starting"]

# What is shown of one stream (seed 004, "Output Truncation").
SHOWN_CHARS = 10_000
TIMEOUT = 120.0
STARTUP_TIMEOUT = 5.0
RESPONSE = "y\n"


def plain(value: Any) -> Any:
    """Data as JSON has it: the tuples in it are lists."""
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, (tuple, list)) else value


@dataclass(frozen=True, slots=True)
class Limits:
    """What one process may use; None is no limit. `memory_bytes` is of address space (setrlimit(2))."""

    cpu_seconds: int | None = None
    memory_bytes: int | None = None
    file_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class ProcessError:
    """An error that was found in output. `line` counts from 1; `context` are the lines around it, its own included."""

    type: str
    message: str
    line: int
    text: str
    context: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a command in the foreground.

    `stdout` and `stderr` are at most `SHOWN_CHARS` characters each, head and tail; `log_file` holds both whole, up to
    its limit. `return_code` is that of the command, minus the signal that ended it, None if it did not start.
    `error` says what is wrong and what to do, None where all went well. `left_behind` are the processes that the
    command left and that were ended with it.
    """

    command: str
    working_dir: str
    return_code: int | None = None
    stdout: str = ""
    stderr: str = ""
    errors: tuple[ProcessError, ...] = ()
    output_truncated: bool = False
    timed_out: bool = False
    duration: float = 0.0
    error: str | None = None
    log_file: str | None = None
    left_behind: int = 0
    sandbox: str | None = None
    notes: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def success(self) -> bool:
        """Did it end well?"""
        return self.return_code == 0 and not self.timed_out and self.error is None

    def as_dict(self) -> dict[str, Any]:
        """Plain data, under the names of seed 004."""
        data = plain(asdict(self))
        details = data.pop("details")
        return {
            "status": "success" if self.success else "error",
            "success": self.success,
            **data,
            "has_errors": bool(self.errors) or not self.success,
            **details,
        }


@dataclass(frozen=True, slots=True)
class Started:
    """What came of a command in the background.

    `state` is ready (it answers on its port, or has run through the start-up time), starting (its port does not answer
    yet), exited (it ended, with its `return_code`) or failed (the errors say why); only the first two go on running.
    """

    command: str
    working_dir: str
    state: State
    pid: int | None = None
    port: int | None = None
    log_file: str | None = None
    return_code: int | None = None
    stdout: str = ""
    stderr: str = ""
    errors: tuple[ProcessError, ...] = ()
    output_truncated: bool = False
    duration: float = 0.0
    error: str | None = None
    notes: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def success(self) -> bool:
        """Does it run? Of one whose port does not answer yet that is not known."""
        return self.error is None

    def as_dict(self) -> dict[str, Any]:
        """Plain data, under the names of seed 004."""
        data = plain(asdict(self))
        details = data.pop("details")
        words = {
            "ready": "runs",
            "starting": "still starting",
            "exited": "has exited",
            "failed": "has failed",
        }
        return {
            "status": "success" if self.success else "error",
            "success": self.success,
            **data,
            "background": True,
            "has_errors": bool(self.errors) or not self.success,
            "output": self.stdout + self.stderr,
            "message": f"process {self.pid} {words[self.state]}" if self.pid else self.error,
            **details,
        }


@dataclass(frozen=True, slots=True)
class Process:
    """A background process of the registry; `return_code` is None while it runs, or where nobody saw it end."""

    pid: int
    command: str
    working_dir: str
    port: int | None
    running: bool
    runtime_seconds: float
    log_file: str
    return_code: int | None = None
    started_at: str = ""


@dataclass(frozen=True, slots=True)
class Stopped:
    """What came of stopping a process; `error` says why it could not be stopped."""

    pid: int
    method: Literal["graceful", "forced"]
    message: str
    error: str | None = None
    return_code: int | None = None

    @property
    def success(self) -> bool:
        """Is the whole family gone?"""
        return self.error is None

    def as_dict(self) -> dict[str, Any]:
        """Plain data, under the names of seed 004."""
        status = "success" if self.success else "error"
        return {"status": status, "success": self.success, **asdict(self)}
