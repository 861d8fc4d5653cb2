"""Applies edits to texts, and holds that every changed file still parses as well as before."""

import bisect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from cli_guard.assistant.editing.sources import Sources
from cli_guard.git.unified import unified_diff

MOST_FILES = 500


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """Puts `text` in the place of characters `start` to `end` of a file."""

    path: str
    start: int
    end: int
    text: str


class Ranges:
    """Parts of one text, none of which overlaps another: which of them hold a position, in logarithmic time."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []

    def add(self, start: int, end: int) -> bool:
        """Takes a part in, unless it overlaps one that is there; was it taken?"""
        at = bisect.bisect_left(self._starts, start)
        if (at and self._ends[at - 1] > start) or (at < len(self._starts) and self._starts[at] < end):
            return False
        self._starts.insert(at, start)
        self._ends.insert(at, end)
        return True

    def has(self, start: int, end: int) -> bool:
        """Is this very part there?"""
        at = bisect.bisect_left(self._starts, start)
        return at < len(self._starts) and (self._starts[at], self._ends[at]) == (start, end)

    def hold(self, position: int) -> bool:
        """Is a position in one of them?"""
        at = bisect.bisect_right(self._starts, position)
        return at > 0 and position < self._ends[at - 1]


@dataclass(frozen=True, slots=True)
class Result:
    """New texts by path, files that go, their patch, and the files that would no longer parse."""

    changes: Mapping[str, str]
    removed: tuple[str, ...] = ()
    patch: str = ""
    broken: tuple[str, ...] = ()
    too_many: int = 0


def applied(sources: Sources, edits: Iterable[Edit]) -> dict[str, str]:
    """The new text of each edited file. Edits that overlap an earlier one are left out; equal ones count once."""
    by_path: dict[str, list[Edit]] = {}
    for edit in sorted(set(edits)):
        by_path.setdefault(edit.path, []).append(edit)
    changes = {}
    for path, found in by_path.items():
        text, pieces, at = sources.texts.get(path, ""), [], 0
        for edit in found:
            if edit.start < at:
                continue
            pieces += [text[at : edit.start], edit.text]
            at = edit.end
        new = "".join((*pieces, text[at:]))
        if new != text:
            changes[path] = new
    return changes


def result(
    sources: Sources,
    changes: Mapping[str, str],
    *,
    moved: Mapping[str, str] | None = None,
    removed: Iterable[str] = (),
) -> Result:
    """The result of new texts; nothing is changed when one file would break or too many would change.

    `moved` is new path -> the path whose syntax it is measured against.
    """
    gone = tuple(sorted(removed))
    if len(changes) > MOST_FILES:
        return Result({}, too_many=len(changes))
    moved = moved or {}
    broken = tuple(p for p in sorted(changes) if breaks(sources, p, moved.get(p, p), changes[p]))
    if broken:
        return Result({}, broken=broken)
    old = {path: sources.texts[path] for path in (*changes, *gone) if path in sources.texts}
    new = dict(sorted(changes.items()))
    return Result(new, gone, unified_diff(old, new))


def breaks(sources: Sources, path: str, before: str, text: str) -> bool:
    """Has the new text more errors of syntax than the old one?"""
    language = sources.language(path)
    if language is None:
        return False
    return faults(sources, language, text) > faults(sources, language, sources.texts.get(before, ""))


def faults(sources: Sources, language: str, text: str) -> int:
    """The ERROR and MISSING nodes of a text; a MISSING one is of no length. Text without a tree counts none."""
    if not text.strip():
        return 0
    try:
        root = sources.trees.root(language, text)
    except ValueError:
        return 0
    return len(root.find_all(any=[{"kind": "ERROR"}, {"regex": "^$"}]))
