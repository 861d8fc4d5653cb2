"""Commands, background processes and their results."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, field
from typing import Any, Literal

from cli_guard.execution.errors import ProcessError
from cli_guard.lazy import frozen

State = Literal["ready", "exited", "failed", "starting"]
STATE_WORDS = {
    "ready": "is running",
    "starting": "is still starting",
    "exited": "has exited",
    "failed": "has failed",
}

# What is shown of one stream (seed 004, "Output Truncation").
SHOWN_CHARS = 10_000
TIMEOUT = 120.0
STARTUP_TIMEOUT = 5.0
RESPONSE = "y\n"


def _as_json(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _as_json(each) for name, each in value.items()}
    return [_as_json(each) for each in value] if isinstance(value, (tuple, list)) else value


@frozen
class ProcessLimits:
    """The limits of one process, None for no limit; `memory_bytes` is address space (setrlimit(2))."""

    cpu_seconds: int | None = None
    memory_bytes: int | None = None
    file_bytes: int | None = None


StopMethod = Literal["graceful", "forced"]


@frozen
class CommandResult:
    """What a command and its start have in common.

    `stdout` and `stderr` are at most `SHOWN_CHARS` characters each, head and tail; `log_file` holds all output, up to
    its limit. `return_code` is that of the command, or minus the signal that ended it. `error` says what is wrong and
    what to do, None for success; `details` are more keys of the plain data.
    """

    command: str
    working_dir: str
    return_code: int | None = None
    stdout: str = ""
    stderr: str = ""
    errors: tuple[ProcessError, ...] = ()
    output_truncated: bool = False
    duration: float = 0.0
    error: str | None = None
    log_file: str | None = None
    notes: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def success(self) -> bool:
        return self.error is None

    def as_dict(self) -> dict[str, Any]:
        """Return plain data, under the names of seed 004."""
        data = _as_json(asdict(self))
        details = data.pop("details")
        status = "success" if self.success else "error"
        has_errors = bool(self.errors) or not self.success
        return {
            "status": status,
            "success": self.success,
            **data,
            "has_errors": has_errors,
            **details,
        }


@frozen
class Result(CommandResult):
    """The result of a foreground command; `left_behind` counts the processes that it left running, ended with it.

    `return_code` is None if it did not start.
    """

    timed_out: bool = False
    left_behind: int = 0
    sandbox: str | None = None

    @property
    def success(self) -> bool:
        return self.return_code == 0 and not self.timed_out and self.error is None


@frozen
class Started(CommandResult):
    """The result of starting a background command.

    `state` is ready (it answers on its port, or has run through the start-up time), starting (its port does not answer
    yet), exited (it ended, with its `return_code`) or failed (see `error`); only the first two go on running.
    """

    state: State = "failed"
    pid: int | None = None
    port: int | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return plain data, under the names of seed 004."""
        data = CommandResult.as_dict(self)
        message = (
            f"process {self.pid} {STATE_WORDS[self.state]}" if self.pid else self.error
        )
        added = {
            "background": True,
            "output": self.stdout + self.stderr,
            "message": message,
        }
        return {**added, **data}


@frozen
class Process:
    """A background process; `return_code` is None while it runs, and if it is unknown."""

    pid: int
    command: str
    working_dir: str
    port: int | None
    running: bool
    runtime_seconds: float
    log_file: str
    return_code: int | None = None
    started_at: str = ""


@frozen
class Stopped:
    """The result of stopping a process; `error` says why it could not be stopped."""

    pid: int
    method: StopMethod
    message: str
    error: str | None = None
    return_code: int | None = None

    @property
    def success(self) -> bool:
        return self.error is None

    def as_dict(self) -> dict[str, Any]:
        """Return plain data, under the names of seed 004."""
        status = "success" if self.success else "error"
        return {"status": status, "success": self.success, **asdict(self)}


def list_as_dict(processes: Sequence[Process]) -> dict[str, Any]:
    """Return a list of processes as plain data, under the names of seed 004."""
    listed = [asdict(each) for each in processes]
    return {
        "status": "success",
        "success": True,
        "count": len(listed),
        "processes": listed,
    }


def stopped_as_dict(results: Sequence[Stopped]) -> dict[str, Any]:
    """Return the result of stopping all as plain data, under the names of seed 004; `error` only if one failed."""
    stopped = [each.pid for each in results if each.success]
    failed = [each for each in results if not each.success]
    data: dict[str, Any] = {
        "status": "error" if failed else "success",
        "success": not failed,
        "stopped": stopped,
        "failed": [each.pid for each in failed],
        "message": f"{len(stopped)} stopped",
    }
    if failed:
        data["message"] += f", {len(failed)} not"
        data["error"] = failed[0].error
    return data
