"""Read whole files by blob id, through one `git cat-file --batch` (git-cat-file(1), "BATCH OUTPUT")."""

import os
import re
import sys
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Protocol, runtime_checkable

from cli_guard.git.call import Process
from cli_guard.git.process import Git
from cli_guard.git.repository import Repository, as_lines, missing
from cli_guard.git.search import search
from cli_guard.model import FileChange, Hits, Hunk, Kind
from cli_guard.runtime import open_plain

# Byte order marks; that of UTF-32 LE begins like that of UTF-16 LE.
MARKS = (
    (b"\xff\xfe\0\0", "utf-32"),
    (b"\0\0\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
CHUNK_BYTES = 1 << 20
KEPT_CHARS = 8_000_000
SNIFFED_BYTES = 8_000  # as many as Git itself looks at (buffer_is_binary)


# Text may hold a few bytes that are not text; with more of them, or of NUL, it is binary.
PRINTABLE = bytes((*b"\t\n\r\f\x1b", *range(0x20, 0x7F)))
CONTROLS = bytes(byte for byte in range(0x80) if byte not in PRINTABLE)
CONTROL = re.compile(rb"[" + re.escape(CONTROLS) + rb"]")
ODD_SHARE = 10
NUL_SHARE = 50
FEW_NULS = 4
BINARY = "binary: searched only for keys"
NUL_SHOWN = "\ufffd"
FILE_MODES = ("100644", "100755", "120000")
# Two trees, or one entry of what the second has beyond the first.
ROOT_ENTRY = re.compile(
    r"[0-9a-f]{40,64} ([0-9a-f]{40,64})\n|:000000 (\d{6}) 0+ ([0-9a-f]+) A\0([^\0]+)\0"
)
# Between runs that are not adjacent: no rule about secrets matches across a NUL.
RUN_GAP = "\n\0"
RUN = rb"[\t\n\r\x20-\x7e]{8,}"
# UTF-16 in either byte order: a printable byte, then NUL and a printable byte in turn.
WIDE_RUN = rb"[\t\n\r\x20-\x7e](?:\0[\t\n\r\x20-\x7e]){7,}+"


def decode(raw: bytes) -> str | None:
    """Decode a file, None if it is binary: UTF-16 or -32 by its mark, else UTF-8, replaced where invalid.

    A few NULs do not make text binary (they are replaced), nor does UTF-16 without a mark.
    """
    for mark, encoding in MARKS:
        if raw.startswith(mark):
            return raw.decode(encoding, "replace")
    if b"\0" not in raw[:SNIFFED_BYTES] or _nearly_text(raw):
        return raw.decode("utf-8-sig", "replace").replace("\0", NUL_SHOWN)
    for encoding, high in (("utf-16-le", 1), ("utf-16-be", 0)):
        # ASCII has a NUL for every other byte, and it is the higher one.
        if not text_before(raw) and raw[high::2].count(0) * 5 >= len(raw):
            text = raw.decode(encoding, "replace")
            return (
                text.replace("\0", NUL_SHOWN)
                if _nearly_text(text.encode("utf-8", "replace"))
                else None
            )
    return None


def text_before(raw: bytes) -> bytes:
    """Return the lines before the first that holds a control character.

    An interpreter runs the lines of a binary file up to the place where it is told to end.
    """
    found = CONTROL.search(raw)
    return raw[: raw.rfind(b"\n", 0, found.start()) + 1] if found else raw


def text_of(raw: bytes) -> tuple[str | None, bytes]:
    """Return the text of a file, of a binary one the lines that it begins with, and the bytes behind its text.

    The text is None if there is none at all.
    """
    text = decode(raw)
    if text is not None:
        return text, b""
    head = text_before(raw)
    return (head.decode("utf-8-sig", "replace"), raw[len(head) :]) if head else (None, raw)


def _nearly_text(raw: bytes) -> bool:
    """Return whether there are few NULs, and at most a tenth of control characters and invalid UTF-8."""
    if raw.count(0) > max(FEW_NULS, len(raw) // NUL_SHARE):
        return False
    rest = raw.translate(None, PRINTABLE)
    high = rest.translate(None, CONTROLS)
    controls = len(rest) - len(high)
    broken = raw.decode("utf-8", "replace").count("\ufffd") if high else 0
    return (controls + broken) * ODD_SHARE <= len(raw)


def printable_runs(raw: bytes) -> list[str]:
    """Return the runs of eight printable ASCII characters or more, line ends included, as bytes and as UTF-16."""
    return [run.decode("ascii") for run in re.findall(RUN, raw)] + wide_runs(raw)


def wide_runs(raw: bytes) -> list[str]:
    """Return the runs of eight printable ASCII characters or more as UTF-16 in either byte order."""
    return [match[::2].decode("ascii") for match in re.findall(WIDE_RUN, raw)]


def runs_between(old: bytes, new: bytes) -> tuple[Hunk, ...]:
    """Return the runs of text that were added to and removed from a binary file, as one hunk.

    A line that begins a run begins with NUL; the line numbers mean nothing.
    """
    before = printable_runs(old)
    after = printable_runs(new)
    known = set(before)
    kept = set(after)
    gone = [run for run in dict.fromkeys(before) if run not in kept]
    fresh = [run for run in dict.fromkeys(after) if run not in known]
    if not fresh:
        return ()
    return (Hunk(1 if gone else 0, 1, _lines(gone), _lines(fresh)),)


def _lines(runs: list[str]) -> tuple[str, ...]:
    return tuple(RUN_GAP.join(runs).split("\n")) if runs else ()


@runtime_checkable
class RawContents(Protocol):
    """Contents that have the bytes of binary files as well."""

    def raw(self, change: FileChange, *, old: bool = False) -> bytes | None:
        """Return the bytes of one side, None if there are none or they are over the limit."""


class NoContents:
    """The contents of a bare patch: only its hunks are known."""

    def new(self, change: FileChange) -> str | None:
        """Return None."""
        return None

    old = new


class BlobReader:
    """Reads blobs while it is open; a context manager, because it keeps a git process."""

    def __init__(self, git: Git, *, blob_limit: int) -> None:
        self.git = git
        self._process: Process | None = None
        self._sizes: dict[str, int] = {}
        self.limit = blob_limit

    def apart(self) -> "BlobReader":
        """Return another reader of the same objects, with a git process of its own."""
        return BlobReader(self.git, blob_limit=self.limit)

    def __enter__(self) -> "BlobReader":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the git process, if one was needed."""
        if self._process is None:
            return
        process = self._process
        self._process = None
        for pipe in filter(None, (process.stdin, process.stdout)):
            # The process may have ended before it read a question.
            with suppress(BrokenPipeError):
                pipe.close()
        process.wait()

    def begin(self) -> None:
        """Start the git process before it is needed. Raises GitError."""
        self._process = self._process or self.git.begin_dialogue("cat-file", "--batch")

    def read(self, blob: str, *, limit: int | None = None) -> bytes | None:
        """Return the bytes of an object, None if it is over the limit. Raises MissingObject."""
        limit = self.limit if limit is None else limit
        self.begin()
        process = self._process
        assert process and process.stdin and process.stdout  # noqa: S101 - opened as pipes
        try:
            process.stdin.write(f"{blob}\n".encode("utf-8", "surrogateescape"))
            process.stdin.flush()
        except BrokenPipeError as error:
            raise missing(blob) from error
        size = size_in(process.stdout.readline(), blob)
        if size <= limit:
            return process.stdout.read(size + 1)[:-1]
        for start in range(0, size + 1, CHUNK_BYTES):
            process.stdout.read(min(CHUNK_BYTES, size + 1 - start))
        return None

    def sizes(self, blobs: Iterable[str]) -> dict[str, int]:
        """Return the sizes of blobs in bytes. Raises MissingObject."""
        wanted = list(dict.fromkeys(blobs))
        if asked := [blob for blob in wanted if blob not in self._sizes]:
            answers = self.git.run(
                "cat-file", "--batch-check", stdin=as_lines(asked)
            ).splitlines()
            self._sizes |= {
                blob: size_in(line, blob) for blob, line in zip(asked, answers, strict=True)
            }
        return {blob: self._sizes[blob] for blob in wanted}


def size_in(answer: bytes, blob: str) -> int:
    """Parse the size in a line `<id> <type> <size>`. Raises MissingObject for any other line."""
    words = answer.split()
    if len(words) != 3 or not words[2].isdigit():
        raise missing(blob)
    return int(words[2])


def read_roots(
    repository: Repository, revisions: Iterable[str], names: tuple[str, ...]
) -> None:
    """Read files at the root of many revisions, for `holds` and `show` of the repository. Raises GitError."""
    trees = repository.trees(dict.fromkeys(revisions))
    empty = repository.empty_tree
    asked = as_lines(f"{empty} {tree}" for tree in dict.fromkeys(trees.values()))
    options = ("--stdin", "--raw", "-z", "--no-abbrev", "--", *names)
    listed = repository.git.run("diff-tree", *options, stdin=asked).decode("ascii")
    found: dict[str, dict[str, bytes | None]] = {}
    with BlobReader(repository.git, blob_limit=sys.maxsize) as reader:
        read = cache(reader.read)
        for tree, mode, blob, name in ROOT_ENTRY.findall(listed):
            if tree:
                files = found.setdefault(tree, dict.fromkeys(names))
            elif mode in FILE_MODES:
                files[name] = read(blob)
            else:  # a folder or a submodule: `show` asks Git
                del files[name]
    repository.roots.update(
        ((each, name), raw) for each in trees for name, raw in found[trees[each]].items()
    )


class BlobContents:
    """`Contents` of changes between blobs, in a `revision` ("": the index)."""

    def __init__(self, reader: BlobReader, revision: str = "") -> None:
        self._reader = reader
        self.revision = revision
        self._texts: dict[str, str | None] = {}
        self._chars = 0

    def apart(self) -> "BlobContents":
        """Return the same for a copy of this process: two readers of one pipe would take each other's answers."""
        return BlobContents(self._reader.apart(), self.revision)

    def object_name(self, path: str) -> str:
        """Return what names a file after the change, whether it changes or not (gitrevisions(7)), for `new_blob`."""
        return f"{self.revision}:{path}"

    def search(
        self, words: Iterable[str], patterns: tuple[str, ...], *, alone: bool = False
    ) -> Hits:
        """Return the lines after the change that contain one of the words, see `cli_guard.git.search`."""
        return search(self._reader.git, self.revision, words, patterns, alone=alone)

    def new(self, change: FileChange) -> str | None:
        return self._text(change.new_blob, change)

    def old(self, change: FileChange) -> str | None:
        return self._text(change.old_blob, change)

    def raw(self, change: FileChange, *, old: bool = False) -> bytes | None:
        """Return the bytes of one side, None if there are none or they are over the limit."""
        blob = change.old_blob if old else change.new_blob
        return self._reader.read(blob) if blob else None

    def _text(self, blob: str | None, change: FileChange) -> str | None:
        if blob is None or change.kind in (Kind.BINARY, Kind.SUBMODULE):
            return None
        if blob not in self._texts:
            raw = self._reader.read(blob)
            self._keep(blob, None if raw is None else text_of(raw)[0])
        return self._texts[blob]

    def _keep(self, blob: str, text: str | None) -> None:
        """Cache a text, and evict the oldest ones."""
        self._texts[blob] = text
        self._chars += len(text or "")
        while self._chars > KEPT_CHARS and len(self._texts) > 1:
            oldest = next(iter(self._texts))
            self._chars -= len(self._texts.pop(oldest) or "")


class WorktreeContents(BlobContents):
    """`Contents` of changes whose new side is in the work tree."""

    def __init__(self, reader: BlobReader, root: Path) -> None:
        super().__init__(reader)
        self._root = root

    def apart(self) -> "WorktreeContents":
        """Return the same for a copy of this process."""
        return WorktreeContents(self._reader.apart(), self._root)

    def new(self, change: FileChange) -> str | None:
        """Return the text of the file in the work tree; links are not followed."""
        if change.new_blob is not None:
            return super().new(change)
        raw = self.raw(change)
        return None if raw is None else text_of(raw)[0]

    def raw(self, change: FileChange, *, old: bool = False) -> bytes | None:
        """Return the bytes of one side, the new one from the work tree if it is no object yet."""
        if old or change.new_blob is not None:
            return super().raw(change, old=old)
        return read_worktree_file(self._root, change.path, self._reader.limit)


def read_worktree_file(root: Path, path: str, limit: int) -> bytes | None:
    """Read a regular file below `root`, None if there is none or it is over `limit` bytes."""
    full = os.fsencode(root) + b"/" + path.encode("utf-8", "surrogateescape")
    try:
        descriptor = open_plain(full, os.O_RDONLY)
    except OSError:
        return None
    with open(descriptor, "rb") as file:  # noqa: PTH123 - a descriptor, not a path
        try:
            data = file.read(limit + 1)
        except OSError:
            return None
    return None if len(data) > limit else data
