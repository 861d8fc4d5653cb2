"""What a source of commands hands over, before anything is classified, masked or clipped."""

from dataclasses import dataclass

from cli_guard.assistant.projects.model import Origin, Purpose


@dataclass(frozen=True, slots=True)
class Found:
    """A command as a file of the repository gives it.

    `body` is what it runs. `purpose` is given where the file says it by what it is; else name and body tell.
    `rank` orders commands of one purpose and origin: less is better.
    """

    command: str
    path: str
    line: int
    body: str = ""
    name: str = ""
    origin: Origin = "task"
    purpose: Purpose | None = None
    rank: int = 0
