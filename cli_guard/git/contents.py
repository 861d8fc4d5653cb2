"""Read whole files by blob id, through one `git cat-file --batch` (git-cat-file(1), "BATCH OUTPUT")."""

import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from cli_guard.errors import MissingObject
from cli_guard.git.call import Process
from cli_guard.git.prefetch import OBJECTS
from cli_guard.git.process import Git, missing
from cli_guard.git.search import Search
from cli_guard.model import FileChange, Hits, Kind
from cli_guard.repository.entries import decode_path
from cli_guard.repository.protocol import as_lines
from cli_guard.repository.texts import read_worktree_file, text_of

CHUNK_BYTES = 1 << 20
# So few names fit into any pipe: Git, which waits until its answers are read, does not block the next question.
ASKED_AT_ONCE = 50
# A path that Git takes from the current folder, and that leads up from it.
RELATIVE = re.compile(r"[^:]*:(?:[0-3]:)?(?:\./(?:.*/)?)?\.\./", re.DOTALL)
# A file in a tree object (gitformat-pack(5)); an id may hold the same bytes, as for `find_names`.
FILE_ENTRY = re.compile(rb"100(?:644|755) ([^\0/]{1,255})\0")
# Each reviewer reads the files in turn, so beyond this every one of them reads all from Git again: both sides of a
# change of 1,000 files (14 million characters in NodeBB and in ansible) are kept.
KEPT_CHARS = 16_000_000


class BlobReader:
    """Reads blobs while it is open; all readers of a repository share a git process.

    That of an index ends with the reader, because Git reads the index once.
    """

    def __init__(self, git: Git, *, blob_limit: int) -> None:
        self.git = git
        self._sizes: dict[str, int] = {}
        self._has_read_index = False
        self.limit = blob_limit

    def __enter__(self) -> "BlobReader":
        return self

    def __exit__(self, *_: object) -> None:
        if self._has_read_index:
            self.close()

    def close(self) -> None:
        """End the git process, if one was needed; the next question starts another one."""
        self.git.end_dialogue(*OBJECTS)

    def begin(self) -> None:
        """Start the git process before it is needed. Raises GitError."""
        self.git.dialogue(*OBJECTS)

    def read(self, blob: str, *, limit: int | None = None) -> bytes | None:
        """Return the bytes of an object, None if it is over the limit. Raises MissingObject."""
        return self.read_all([blob], limit=limit)[0]

    def read_all(
        self, blobs: Sequence[str], *, limit: int | None = None
    ) -> list[bytes | None]:
        """Return the bytes of objects as `read` does: to wait for each by itself takes longer than to read them."""
        read = self.read_present(blobs, limit=limit)
        for blob in blobs:
            if blob not in read:
                raise missing(blob)
        return [read[blob] for blob in blobs]

    def read_present(
        self, blobs: Sequence[str], *, limit: int | None = None
    ) -> dict[str, bytes | None]:
        """Return the same for those that are not missing."""
        read: dict[str, bytes | None] = {}
        most = self.limit if limit is None else limit
        # Git would read a path with a line break as two questions, and give each its answer. At a path that leads
        # out of the repository its process ends, and would answer nothing that comes after.
        blobs = [b for b in blobs if "\n" not in b and not RELATIVE.match(b)]
        self._has_read_index |= any(b.startswith(":") for b in blobs)
        try:
            for start in range(0, len(blobs), ASKED_AT_ONCE):
                asked = blobs[start : start + ASKED_AT_ONCE]
                process = self._ask(asked)
                for blob in asked:
                    # Each answer is read, also after one that is missing: the next question would get the rest.
                    with suppress(MissingObject):
                        read[blob] = read_answer(process, blob, most)
        except BaseException:
            self.close()
            raise
        return read

    def _ask(self, blobs: Sequence[str]) -> Process:
        process = self.git.dialogue(*OBJECTS)
        assert process.stdin  # noqa: S101 - opened as a pipe
        try:
            process.stdin.write(as_lines(blobs))
            process.stdin.flush()
        except BrokenPipeError as error:
            raise missing(blobs[0]) from error
        return process

    def contents(self, revision: str = "", root: Path | None = None) -> "BlobContents":
        """Return the contents of changes to a revision ("": the index); with `root`, in the work tree there."""
        return BlobContents(self, revision, root)

    def sizes(self, blobs: Iterable[str]) -> dict[str, int]:
        """Return the sizes of blobs in bytes. Raises MissingObject."""
        wanted = list(dict.fromkeys(blobs))
        asked = [blob for blob in wanted if blob not in self._sizes]
        answers = self.git.ask("cat-file", "--batch-check", questions=asked)
        self._sizes |= {
            blob: size_in(line, blob) for blob, line in zip(asked, answers, strict=True)
        }
        return {blob: self._sizes[blob] for blob in wanted}


def read_answer(process: Process, blob: str, limit: int) -> bytes | None:
    """Read an object, None if it is over the limit. Raises MissingObject."""
    assert process.stdout  # noqa: S101 - opened as a pipe
    size = size_in(process.stdout.readline(), blob)
    if size <= limit:
        return process.stdout.read(size + 1)[:-1]
    for start in range(0, size + 1, CHUNK_BYTES):
        process.stdout.read(min(CHUNK_BYTES, size + 1 - start))
    return None


def size_in(answer: bytes, blob: str) -> int:
    """Parse the size in a line `<id> <type> <size>`. Raises MissingObject for any other line."""
    words = answer.split()
    if len(words) != 3 or not words[2].isdigit():
        raise missing(blob)
    return int(words[2])


class BlobContents:
    """`Contents` of changes to a `revision` ("": the index); with `root`, to the work tree there.

    There a new side that is no object yet is a file, whose links are not followed.
    """

    def __init__(
        self, reader: BlobReader, revision: str = "", root: Path | None = None
    ) -> None:
        self._reader = reader
        self._root = root
        self.revision = revision
        self._search = Search(reader.git, revision)
        self._texts: dict[str, str | None] = {}
        self._missing: set[str] = set()
        self._chars = 0

    def object_name(self, path: str) -> str:
        """Return what names a file after the change, whether it changes or not (gitrevisions(7)), for `new_blob`."""
        return f"{self.revision}:{path}"

    def search(
        self, words: Iterable[str], patterns: tuple[str, ...], *, alone: bool = False
    ) -> Hits:
        """Return the lines after the change that contain one of the words, see `cli_guard.git.search`."""
        return self._search.find(words, patterns, alone=alone)

    def has_files_in(self, folder: str) -> bool:
        """Return whether any file is in a folder after the change, or below. Raises GitError.

        The name may come from a command: one that leads out of the repository, which Git refuses, is no folder of it.
        """
        inside = posixpath.normpath(folder or ".")
        if "\0" in inside or inside.startswith(("/", "../")) or inside == "..":
            return False
        listed = ("ls-tree", "-z", self.revision) if self.revision else ("ls-files", "-z")
        below = () if inside == "." else ("--", f"{inside}/")
        return bool(self._reader.git.run_bounded(*listed, *below, limit=1)[0])

    def find_names(
        self, names: Collection[str], folders: Iterable[str], parents: Sequence[str]
    ) -> Iterator[str]:
        """Yield where some names may stand in some folders ("" is the top). Raises GitError.

        What the index holds and no change touches stands in one of its `parents`.
        """
        for folder, raw in self._read_trees(folders, parents):
            for name in names:
                # An id in the tree may hold the same bytes: then a name is asked for that is not there.
                if raw is None or f" {name}\0".encode() in raw:
                    yield f"{folder}/{name}".removeprefix("/")

    def list_files(self, folder: str, parents: Sequence[str]) -> Iterator[str]:
        """Yield the files that may be in a folder, but for what a change adds; see `find_names`. Raises GitError."""
        for _, raw in self._read_trees((folder,), parents):
            for name in FILE_ENTRY.findall(raw or b""):
                yield f"{folder}/{decode_path(name)}".removeprefix("/")

    def _read_trees(
        self, folders: Iterable[str], parents: Sequence[str]
    ) -> Iterator[tuple[str, bytes | None]]:
        """Yield each folder that is there with its tree object, None for one over the limit."""
        states = (self.revision,) if self.revision else parents or ("HEAD",)
        trees = {f"{state}:{folder}": folder for folder in folders for state in states}
        for tree, raw in self._reader.read_present(list(trees)).items():
            yield trees[tree], raw

    def prefetch(self, blobs: Iterable[str]) -> None:
        """Read texts that will be asked for one by one: to wait for each by itself takes longer."""
        wanted = [blob for blob in dict.fromkeys(blobs) if blob not in self._texts]
        read = self._reader.read_present(wanted)
        self._missing.update(blob for blob in wanted if blob not in read)
        for blob, raw in read.items():
            self._keep(blob, None if raw is None else text_of(raw)[0])

    def new(self, change: FileChange) -> str | None:
        if self._root is None or change.new_blob:
            return self._text(change.new_blob, change)
        raw = self.raw(change)
        return None if raw is None else text_of(raw)[0]

    def old(self, change: FileChange) -> str | None:
        return self._text(change.old_blob, change)

    def raw(self, change: FileChange, *, old: bool = False) -> bytes | None:
        """Return the bytes of one side, None if there are none or they are over the limit."""
        blob = change.old_blob if old else change.new_blob
        if blob:
            return self._reader.read(blob)
        if old or self._root is None:
            return None
        return read_worktree_file(self._root, change.path, self._reader.limit)

    def _text(self, blob: str | None, change: FileChange) -> str | None:
        if blob is None or change.kind in (Kind.BINARY, Kind.SUBMODULE):
            return None
        if blob in self._missing:
            raise missing(blob)
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
