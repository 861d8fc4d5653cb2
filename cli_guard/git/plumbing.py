"""Reads what `git diff-index`, `diff-tree` and `diff-files` print with `--raw -z -p`.

The raw part gives paths byte for byte, modes and blob ids; the patch part gives the lines. Both list the same
entries in the same order (git-diff(1), "RAW OUTPUT FORMAT"), so they are joined by position and no path is
ever read out of a patch header, where a hostile name could say anything. A type change is one raw entry and
two patches, a deletion and a creation.
"""

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cli_guard.errors import InternalError
from cli_guard.model import FileChange, Hunk, Kind, Status

if TYPE_CHECKING:
    from unidiff.patch import Hunk as UnifiedHunk

DIFF_OPTIONS = (
    *("--raw", "-z", "-p", "-U0", "-M", "--no-abbrev", "--full-index"),
    *("--no-ext-diff", "--no-textconv", "--no-color", "--no-relative"),
    *("--inter-hunk-context=0", "--ignore-submodules=none", "--submodule=short"),
    *("--src-prefix=a/", "--dst-prefix=b/", "-O/dev/null"),
)

LFS_LINE = re.compile(
    r"(version https://git-lfs\.github\.com/spec/|oid sha256:[0-9a-f]{64}$|size \d+$|ext-\d)"
)
PATCH_START = b"diff --git "
COMMIT_HEADER = re.compile(rb"([0-9a-f]{40,64})\0")
NEXT_HEADER = re.compile(rb"\n(?=[0-9a-f]{40,64}\0)")


@dataclass(frozen=True, slots=True)
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
    def sections(self) -> int:
        """How many patches the entry has: an unmerged path has none."""
        return {Status.TYPE_CHANGED: 2, Status.UNMERGED: 0}.get(self.status, 1)


@dataclass(frozen=True, slots=True)
class Section:
    """One patch: its hunks, or the note that Git held the file for binary."""

    hunks: tuple[Hunk, ...]
    binary: bool


def decode_path(raw: bytes) -> str:
    """A path as `str`; any byte Git holds survives."""
    return raw.decode("utf-8", "surrogateescape")


def read_raw(output: bytes, position: int = 0) -> tuple[list[RawEntry], int]:
    """The raw records from `position` on, and the place after them, where the patch text begins."""
    entries: list[RawEntry] = []
    while output.startswith(b":", position):
        end = output.index(b"\0", position)
        old_mode, new_mode, old_blob, new_blob, status = output[position + 1 : end].decode("ascii").split(" ")
        two_paths = status[0] in "RC"
        first_end = output.index(b"\0", end + 1)
        first = decode_path(output[end + 1 : first_end])
        position = first_end + 1
        second = None
        if two_paths:
            second_end = output.index(b"\0", position)
            second = decode_path(output[position:second_end])
            position = second_end + 1
        entries.append(
            RawEntry(
                old_mode,
                new_mode,
                old_blob,
                new_blob,
                Status(status[0]),
                second if second is not None else first,
                first if second is not None else None,
            )
        )
    return entries, position + output.startswith(b"\0", position)


def read_sections(patch: bytes) -> Iterator[Section]:
    """The patches of a patch text, in order."""
    from unidiff.patch import PatchSet

    # Lines end at LF alone: a form feed or a lone CR inside a line is text.
    text = io.StringIO(patch.decode("utf-8", "replace"), newline="\n")
    for file in PatchSet(text):
        hunks = tuple(part for hunk in file for part in without_context(hunk))
        yield Section(hunks, bool(file.is_binary_file))


def without_context(hunk: "UnifiedHunk") -> Iterator[Hunk]:
    """A hunk as runs of changed lines; Git's own diffs are asked for without context, other patches have it."""
    old, new = hunk.source_start, hunk.target_start
    removed: list[str] = []
    added: list[str] = []
    for line in (*hunk, None):
        if line is not None and line.is_removed:
            removed.append(line.value.removesuffix("\n"))
        elif line is not None and line.is_added:
            added.append(line.value.removesuffix("\n"))
        elif line is None or line.is_context:
            if removed or added:
                yield Hunk(old, new, tuple(removed), tuple(added))
            old += len(removed) + 1
            new += len(added) + 1
            removed, added = [], []


def kind_of(entry: RawEntry, sections: list[Section]) -> Kind:
    """What the changed thing is, by its mode and by what Git said of its content."""
    mode = entry.old_mode if entry.status is Status.DELETED else entry.new_mode
    if mode == "160000":
        return Kind.SUBMODULE
    if mode == "120000":
        return Kind.SYMLINK
    if any(section.binary for section in sections):
        return Kind.BINARY
    lines = [line for s in sections for h in s.hunks for line in (h.added or h.removed)]
    if lines and any(line.startswith("oid sha256:") for line in lines) and all(map(LFS_LINE.match, lines)):
        return Kind.LFS
    return Kind.TEXT


def parse(output: bytes, *, cut: bool = False) -> tuple[list[FileChange], list[str]]:
    """The changes of one diff, binary ones without lines, and the paths that a `cut` output left out."""
    entries, start = read_raw(output)
    changes = join(entries, output[start:], cut=cut)
    return changes, [entry.path for entry in entries[len(changes) :]]


def parse_commits(output: bytes) -> Iterator[tuple[str, list[FileChange]]]:
    """The changes of `diff-tree --stdin --always`, one diff after another, each under its commit id."""
    position = 0
    while header := COMMIT_HEADER.match(output, position):
        entries, start = read_raw(output, header.end())
        position = start
        if not COMMIT_HEADER.match(output, start):
            # In a patch every line has a mark of its own in front, so an id at the start of one is a header.
            following = NEXT_HEADER.search(output, start)
            position = following.end() if following else len(output)
        yield header.group(1).decode("ascii"), join(entries, output[start:position])


def join(entries: list[RawEntry], patch: bytes, *, cut: bool = False) -> list[FileChange]:
    """Raw records and their patches as changes; where the patch text was cut, only the first of them.

    Raises InternalError when the two do not fit.
    """
    sections = list(read_sections(patch)) if patch else []
    expected = sum(entry.sections for entry in entries)
    if expected != len(sections) and not cut:
        raise InternalError(f"git named {expected} patches and printed {len(sections)}: please report this")
    changes = []
    position = 0
    for entry in entries:
        own = sections[position : position + entry.sections]
        if len(own) < entry.sections:
            break
        position += entry.sections
        kind = kind_of(entry, own)
        changes.append(
            FileChange(
                path=entry.path,
                status=entry.status,
                kind=kind,
                old_path=entry.old_path,
                old_mode=entry.old_mode,
                new_mode=entry.new_mode,
                old_blob=entry.old_blob if entry.old_blob.strip("0") else None,
                new_blob=entry.new_blob if entry.new_blob.strip("0") else None,
                hunks=() if kind is Kind.SUBMODULE else tuple(h for section in own for h in section.hunks),
            )
        )
    return changes


def cut_at_limit(output: bytes, limit: int) -> tuple[bytes, bool]:
    """At most `limit` bytes of an output, cut between two patches; was anything cut?"""
    if len(output) <= limit:
        return output, False
    # Inside a patch every line starts with one of "+- \\@", so this can only be a real header.
    end = output.rfind(b"\n" + PATCH_START, 0, limit)
    return output[: end + 1] if end >= 0 else b"", True
