"""All uses of a name for a reader, in every language, and the history files, which stay as they are."""

import re
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Literal

from cli_guard.assistant.editing.sources import (
    Sources,
    TextEdit,
    is_configuration,
    is_documentation,
)
from cli_guard.assistant.retrieval import find_references
from cli_guard.lazy import frozen
from cli_guard.secrets.redact import redact

UsageKind = Literal[
    "definition", "import", "call", "use", "mention", "configuration", "documentation"
]
# (path, line counted from 1, the line's text without secrets, or a reason)
Place = tuple[str, int, str]
IN_CODE: tuple[UsageKind, ...] = ("definition", "import", "call", "use")
# In the order a reader wants them.
KINDS: tuple[UsageKind, ...] = (*IN_CODE, "mention", "configuration", "documentation")
SHOWN_PLACES = 200
SHOWN_CHARS = 160
# A name that one file holds more often is not looked up there: the way to the root is long for each.
MOST_IN_FILE = 2_000
HISTORY = re.compile(
    r"(?:change[-_]?logs?|changes|history|news|releases?|release[-_]notes)$", re.IGNORECASE
)


@frozen
class UsageGroup:
    """Uses of one kind: (path, line counted from 1, the line's text without secrets, clipped)."""

    kind: UsageKind
    places: tuple[Place, ...]


def word(name: str) -> re.Pattern[str]:
    """Return a pattern that finds a name which is no part of a longer one."""
    return re.compile(rf"(?<![\w$]){re.escape(name)}(?![\w$])")


def usages_of(
    sources: Sources, name: str, only: Iterable[tuple[str, int]] = ()
) -> tuple[UsageGroup, ...]:
    """Return all places of a name by kind; `only` limits those in code to these positions."""
    chosen = {(path, sources.line(path, start)) for path, start in only}
    texts = {}
    for path in sources.mentioning(name) if name else ():
        if sources.texts[path].count(name) > MOST_IN_FILE:
            sources.skip(
                path, f"more than {MOST_IN_FILE:,} places in it were to be looked at"
            )
        else:
            texts[path] = sources.texts[path]
    if re.fullmatch(r"[^\W\d][\w$]*", name):
        looked = find_references(name, texts)
        for skipped in looked.skipped:
            sources.skip(skipped.path, skipped.reason)
        every = [
            (each.path, each.line, kind_in(sources, each.path, each.kind))
            for each in looked.references
        ]
    else:
        every = [
            (path, sources.line(path, match.start()), kind_in(sources, path, "mention"))
            for path, text in texts.items()
            for match in word(name).finditer(text)
        ]
    found: dict[UsageKind, list[Place]] = {kind: [] for kind in KINDS}
    for path, line, kind in sorted(set(every)):
        is_chosen = not chosen or kind not in IN_CODE or (path, line) in chosen
        if is_chosen and len(found[kind]) < SHOWN_PLACES:
            found[kind].append(show_line(sources, path, line))
    return tuple(
        UsageGroup(kind, tuple(places)) for kind, places in found.items() if places
    )


def kind_in(sources: Sources, path: str, kind: UsageKind) -> UsageKind:
    """Return the kind of a use in a file: what configuration and prose say is neither code nor a comment."""
    if is_configuration(path):
        return "configuration"
    return (
        "documentation"
        if is_documentation(path) and sources.language(path) is None
        else kind
    )


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
