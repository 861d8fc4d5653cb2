"""Lines of files that name something, as a reader may see them, and the history files, which stay as they are."""

import re
from collections.abc import Iterable
from pathlib import PurePosixPath

from cli_guard.assistant.editing.sources import (
    Sources,
    TextEdit,
    is_documentation,
    list_first,
)
from cli_guard.secrets.redact import redact

# (path, line counted from 1, the line's text without secrets, or a reason)
Place = tuple[str, int, str]
SHOWN_PLACES = 6
SHOWN_CHARS = 160
HISTORY = re.compile(
    r"(?:change[-_]?logs?|changes|history|news|releases?|release[-_]notes)$", re.IGNORECASE
)


def word(name: str) -> re.Pattern[str]:
    """Return a pattern that finds a name which is no part of a longer one."""
    return re.compile(rf"(?<![\w$]){re.escape(name)}(?![\w$])")


def list_mentions(sources: Sources, edits: Iterable[TextEdit]) -> list[str]:
    """Return the first lines that some edits are on, and how many more there are."""
    at = dict.fromkeys((each.path, sources.line(each.path, each.start)) for each in edits)
    lines = [f"{path}:{line}: {show_line(sources, path, line)[2]}" for path, line in at]
    return list_first(lines, SHOWN_PLACES, "line")


def show_line(sources: Sources, path: str, line: int) -> Place:
    """Return a line as a reader may see it: no secret, not too long."""
    # A secret's name may stand far before it: what is cut off is cut after it was masked.
    text = redact(sources.line_text(path, line)[: 20 * SHOWN_CHARS], path).strip()
    return path, line, text if len(text) <= SHOWN_CHARS else text[: SHOWN_CHARS - 3] + "..."


def is_history(path: str) -> bool:
    """Return whether a document says what releases have brought (CHANGELOG, NEWS, ...)."""
    return is_documentation(path) and HISTORY.match(PurePosixPath(path).stem) is not None


def outside_history(edits: Iterable[TextEdit]) -> list[TextEdit]:
    """Return the edits without those of a history file, which says how it was called then."""
    return [each for each in edits if not is_history(each.path)]
