"""What readers of justfiles and Taskfiles share: tasks, and other files that are included under a name."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from cli_guard.runtime import read_plain

# Bytes.
MOST_MANIFEST = 1_000_000
MOST_INCLUDED = 30


def read_text(path: Path) -> str | None:
    """Return the text of a file, None if it is too long. Raises OSError."""
    raw = read_plain(path, follow=True)
    return raw.decode("utf-8", "replace") if len(raw) <= MOST_MANIFEST else None


class TaskReader:
    """The tasks of a file and of those that it includes; `given` are variables, `dry`: commands are only shown.

    `call` is how another task of the same file is run.
    """

    def __init__(self, given: Mapping[str, str], call: str, *, dry: bool) -> None:
        self.given = given
        self.call = call
        self.dry = dry
        self.tasks: dict[str, list[str]] = {}
        self.always: list[str] = []
        self.unread: list[str] = []
        self.included: list[Path] = []

    def read(self, path: Path, text: str, start: str) -> None:
        """Read the text of a file, whose tasks have `start` in front of their names."""
        raise NotImplementedError

    def include(self, path: Path, names: Sequence[str], start: str) -> bool:
        """Read another file, or the first of some names in a folder; return whether there is one."""
        for each in [path / name for name in names] if path.is_dir() else [path]:
            try:
                text = read_text(each)
            except (OSError, ValueError):
                continue
            if text is None or len(self.included) > MOST_INCLUDED:
                return False
            if each not in self.included:
                self.included.append(each)
                self.read(each, text, start)
            return True
        return False
