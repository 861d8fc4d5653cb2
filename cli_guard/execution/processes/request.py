"""What is asked of the keeper: one command, with all that was decided about it."""

from dataclasses import asdict, dataclass, field

from cli_guard.execution.processes.model import Limits
from cli_guard.execution.processes.supervisor.output import LOG_BYTES
from cli_guard.execution.processes.supervisor.wire import Message


@dataclass(frozen=True, slots=True)
class Request:
    """One command, with all that was decided about it; `record` is what other processes find of it, None for nothing.

    `timeout` and `grace` are seconds: until the command is ended, and from the first signal to the last. `keep` lets
    it outlive its owner, `keep_family` lets those whom it leaves behind go on. `terminal` is rows and columns.
    """

    words: tuple[str, ...]
    folder: str
    env: dict[str, str]
    run: str
    timeout: float | None = None
    grace: float = 5.0
    respond: str | None = None
    stdin: int | None = None
    terminal: tuple[int, int] | None = None
    limits: Limits = field(default_factory=Limits)
    forward: bool = False
    keep: bool = False
    keep_family: bool = False
    record: dict[str, object] | None = None
    log_bytes: int = LOG_BYTES

    def as_message(self) -> Message:
        """What the guardian is told."""
        data = {each: getattr(self, each) for each in self.__dataclass_fields__ if each != "stdin"}
        return {**data, "limits": asdict(self.limits), "log": f"{self.run}/log"}
