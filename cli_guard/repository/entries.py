"""One entry of a diff: what Git records of it, its patches, and the change that they make together."""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import chain

from cli_guard.lazy import frozen
from cli_guard.model import FileChange, Hunk, Kind, Status

LFS_LINE = re.compile(
    r"(version https://git-lfs\.github\.com/spec/|oid sha256:[0-9a-f]{64}$|size \d+$|ext-\d)"
)
NAMED = 3


@frozen
class RawEntry:
    """One record of `--raw -z`."""

    old_mode: str
    new_mode: str
    old_blob: str
    new_blob: str
    status: Status
    path: str
    old_path: str | None

    @property
    def may_be_touched(self) -> bool:
        """Return whether perhaps only a time stamp differs: then Git gives no id for the new content."""
        return (
            self.status is Status.MODIFIED
            and self.old_mode == self.new_mode
            and not self.new_blob.strip("0")
        )

    @property
    def sections(self) -> int:
        """Return how many patches the entry has: an unmerged path has none."""
        return {Status.TYPE_CHANGED: 2, Status.UNMERGED: 0}.get(self.status, 1)


Touched = Callable[[RawEntry], bool]


@frozen
class DiffSection:
    """One patch: its hunks, or Git's note that the file is binary."""

    hunks: tuple[Hunk, ...]
    binary: bool


def decode_path(raw: bytes) -> str:
    """Decode a path so that it can be encoded to the same bytes again."""
    return raw.decode("utf-8", "surrogateescape")


def list_entries(output: bytes) -> Iterator[tuple[list[str], str]]:
    """Yield the fields and the path of each record of `ls-files --stage -z` or `ls-tree -z`."""
    for record in filter(None, output.split(b"\0")):
        head, _, path = record.partition(b"\t")
        yield head.decode("ascii").split(" "), decode_path(path)


def name_some(names: Sequence[str], most: int = NAMED) -> str:
    """Format the first few names for a message."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def kind_of(entry: RawEntry, sections: list[DiffSection]) -> Kind:
    """Return the kind of the changed object, by its mode and by what Git said of its content."""
    mode = entry.old_mode if entry.status is Status.DELETED else entry.new_mode
    if mode == "160000":
        return Kind.SUBMODULE
    if mode == "120000":
        return Kind.SYMLINK
    if any(section.binary for section in sections):
        return Kind.BINARY
    lines = chain.from_iterable(h.added or h.removed for s in sections for h in s.hunks)
    first = next(lines, "")
    # The first line decides for nearly every file.
    if LFS_LINE.match(first):
        rest = [first, *lines]
        if any(line.startswith("oid sha256:") for line in rest) and all(
            map(LFS_LINE.match, rest)
        ):
            return Kind.LFS
    return Kind.TEXT


def change_of(entry: RawEntry, sections: list[DiffSection]) -> FileChange:
    """Join one raw record and its patches."""
    kind = kind_of(entry, sections)
    return FileChange(
        path=entry.path,
        status=entry.status,
        kind=kind,
        old_path=entry.old_path,
        old_mode=entry.old_mode,
        new_mode=entry.new_mode,
        old_blob=entry.old_blob if entry.old_blob.strip("0") else None,
        new_blob=entry.new_blob if entry.new_blob.strip("0") else None,
        hunks=()
        if kind is Kind.SUBMODULE
        else tuple(h for section in sections for h in section.hunks),
    )
