"""Patches from anywhere: a file, standard input, a mail. Nothing is known of them beyond their text."""

import hashlib
import io
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from cli_guard.errors import UsageError
from cli_guard.model import ChangeSet, FileChange, Hunk, Kind, Skipped, Status

if TYPE_CHECKING:
    from unidiff.patch import Hunk as UnifiedHunk

NULL = "/dev/null"
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", '"': '"', "\\": "\\"}


def read_patch(raw: bytes, name: str) -> ChangeSet:
    """The changes of a unified diff. Raises UsageError for a text that holds none."""
    from unidiff.errors import UnidiffParseError
    from unidiff.patch import PatchSet

    try:
        patches = PatchSet(io.StringIO(raw.decode("utf-8", "replace"), newline="\n"))
    except UnidiffParseError as error:
        raise UsageError(f"{name} is not a patch: {' '.join(str(error).split())[:200]}") from error
    if raw.strip() and not patches:
        raise UsageError(f"{name} is not a patch: there is no diff in it (`git diff` makes one)")
    files = []
    skipped = []
    for patch in patches:
        path = side(patch.target_file)
        old_path = side(patch.source_file)
        added, deleted = old_path is None, path is None
        status = Status.ADDED if added else Status.DELETED if deleted else Status.MODIFIED
        renamed = not added and not deleted and old_path != path
        change = FileChange(
            path=path or old_path or "",
            status=Status.RENAMED if renamed else status,
            kind=Kind.BINARY if patch.is_binary_file else Kind.TEXT,
            old_path=old_path if renamed else None,
            old_mode="000000" if added else "100644",
            new_mode="000000" if deleted else "100644",
            hunks=tuple(part for hunk in patch for part in without_context(hunk)),
        )
        files.append(change)
        if patch.is_binary_file:
            skipped.append(Skipped(change.path, "binary"))
    return ChangeSet(tuple(files), tuple(skipped), identity=hashlib.sha256(raw).hexdigest())


def without_context(hunk: "UnifiedHunk") -> Iterator[Hunk]:
    """A hunk as runs of changed lines."""
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


def side(name: str) -> str | None:
    """A path out of a patch header, None for /dev/null; quoted names are read as Git quotes them."""
    name = unquoted(name.rstrip("\n").split("\t")[0])
    if name == NULL:
        return None
    return name[2:] if name[:2] in ("a/", "b/", "i/", "w/", "c/", "o/") else name


def unquoted(name: str) -> str:
    """A name without Git's C-style quotes (git-config(1), core.quotePath)."""
    if len(name) < 2 or name[0] != '"' or name[-1] != '"':
        return name
    out = bytearray()
    inner = name[1:-1]
    position = 0
    while position < len(inner):
        char = inner[position]
        if char != "\\":
            out += char.encode("utf-8", "surrogateescape")
            position += 1
        elif re.fullmatch("[0-7]{3}", inner[position + 1 : position + 4]):
            out.append(int(inner[position + 1 : position + 4], 8) & 0xFF)
            position += 4
        else:
            out += ESCAPES.get(inner[position + 1 : position + 2], "").encode()
            position += 2
    return out.decode("utf-8", "surrogateescape")


class PatchContents:
    """`Contents` of a patch: an added file is there as a whole, of the others only the hunks are known."""

    def new(self, change: FileChange) -> str | None:
        """The text of an added file."""
        if change.status is not Status.ADDED or change.kind is not Kind.TEXT:
            return None
        return "".join(f"{line}\n" for line in change.added.values())

    def old(self, change: FileChange) -> str | None:
        """Nothing is known."""
        return None
