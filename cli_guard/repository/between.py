"""Two states: changes made of texts in memory, for what Git cannot compare, and which lines are the same in both."""

import difflib
import hashlib
from bisect import bisect_right
from collections.abc import Mapping

from cli_guard.model import ChangeSet, FileChange, Hunk, Status, split_lines

COMPARED_LINES = 5_000


def hunks_between(old: str, new: str) -> tuple[Hunk, ...]:
    """Return the changed lines between two texts; texts too long to compare count as rewritten."""
    before = split_lines(old)
    after = split_lines(new)
    if before == after:
        return ()
    if not before or len(before) + len(after) > COMPARED_LINES:
        return (Hunk(1 if before else 0, 1, tuple(before), tuple(after)),)
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    return tuple(
        Hunk(a + 1, b + 1, tuple(before[a:a_end]), tuple(after[b:b_end]))
        for tag, a, a_end, b, b_end in matcher.get_opcodes()
        if tag != "equal"
    )


class LinesBefore:
    """The numbers that lines of the new side had before the change, for lines that it did not add."""

    def __init__(self, change: FileChange) -> None:
        self._starts: list[int] = []
        self._shifts = [0]
        for hunk in change.hunks:
            shift = self._shifts[-1]
            # Git numbers a hunk that only removes by the line before it, a comparison of ours by the line after.
            self._starts.append(hunk.new_start if hunk.added else hunk.old_start + shift)
            self._shifts.append(shift + len(hunk.added) - len(hunk.removed))

    def __call__(self, line: int) -> int:
        """Return the number before the change of an unchanged line."""
        return line - self._shifts[bisect_right(self._starts, line)]


def line_now(before: str, now: str, line: int) -> int:
    """Return the number in a later text of a line of an earlier one, about where it was if it is gone."""
    back = FileChange("", Status.MODIFIED, hunks=hunks_between(now, before))
    return min(max(LinesBefore(back)(line), 1), len(split_lines(now)) or 1)


class SnapshotContents:
    """`Contents` of a change between two snapshots, path -> text."""

    def __init__(self, old: Mapping[str, str], new: Mapping[str, str]) -> None:
        self._old = old
        self._new = new

    def new(self, change: FileChange) -> str | None:
        return self._new.get(change.path)

    def old(self, change: FileChange) -> str | None:
        return self._old.get(change.old_path or change.path)


def changes_between(old: Mapping[str, str], new: Mapping[str, str]) -> ChangeSet:
    files = []
    for path in sorted({*old, *new}):
        before = old.get(path)
        after = new.get(path)
        if before == after:
            continue
        status = Status.MODIFIED
        if before is None:
            status = Status.ADDED
        elif after is None:
            status = Status.DELETED
        files.append(
            FileChange(
                path=path,
                status=status,
                old_mode="000000" if before is None else "100644",
                new_mode="000000" if after is None else "100644",
                hunks=hunks_between(before or "", after or ""),
            )
        )
    digest = hashlib.sha256(
        repr((sorted(old.items()), sorted(new.items()))).encode("utf-8", "surrogatepass")
    )
    return ChangeSet(tuple(files), identity=digest.hexdigest())
