"""A state of a repository as files by path, for the assistant and the run tool.

As a mapping a `Snapshot` is path -> text; anything else (a picture, a link, a submodule) is in `entries` alone.
"""

import hashlib
import os
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from cli_guard.errors import UsageError
from cli_guard.git.contents import BlobReader, decode, read_worktree_file
from cli_guard.git.plumbing import decode_path
from cli_guard.git.repository import Repository
from cli_guard.model import Kind, Skipped

LINK = "120000"
SUBMODULE = "160000"


@dataclass(frozen=True, slots=True)
class Entry:
    """One path of a snapshot: `mode` as Git writes it, `size` in bytes, `identity` of the content.

    `identity` is a blob id, or a hash of the bytes where Git has no blob; two files of one snapshot that have the same
    one are equal.
    """

    path: str
    mode: str
    size: int
    identity: str

    @property
    def kind(self) -> Kind:
        """Return whether it is a file, a link or a submodule."""
        return {LINK: Kind.SYMLINK, SUBMODULE: Kind.SUBMODULE}.get(self.mode, Kind.TEXT)


@dataclass(frozen=True, slots=True)
class SnapshotBounds:
    """The most that is read of a repository: the number of files, the bytes of one file, and of all of them."""

    files: int = 50_000
    file_bytes: int = 2_000_000
    total_bytes: int = 200_000_000


class Snapshot(Mapping[str, str]):
    """Files by path, read completely when it is made, and never again.

    `name` is the state for people ("the index", "the work tree", a revision, "memory"). `skipped` are the paths that
    were left out, and why; `entries` has them all the same. `of_blobs`: every identity is a blob id.
    """

    def __init__(
        self,
        name: str,
        entries: Iterable[Entry],
        contents: Mapping[str, bytes],
        skipped: Iterable[Skipped] = (),
        *,
        of_blobs: bool = False,
    ) -> None:
        self.name = name
        self.of_blobs = of_blobs
        self.entries = {entry.path: entry for entry in entries}
        self.skipped = tuple(skipped)
        self._contents = contents

    @classmethod
    def of(cls, texts: Mapping[str, str]) -> "Snapshot":
        contents = {
            path: text.encode("utf-8", "surrogateescape")
            for path, text in sorted(texts.items())
        }
        return cls(
            "memory", (entry_of(path, raw) for path, raw in contents.items()), contents
        )

    @cached_property
    def _texts(self) -> dict[str, str]:
        plain = (path for path, entry in self.entries.items() if entry.kind is Kind.TEXT)
        found = (
            (path, decode(self._contents[path])) for path in plain if path in self._contents
        )
        return {path: text for path, text in found if text is not None}

    def raw(self, path: str) -> bytes | None:
        """Return the bytes of a file, or the target of a link; None for a skipped file and a submodule."""
        return self._contents.get(path)

    @cached_property
    def identity(self) -> str:
        """Hash all paths, modes and contents."""
        lines = sorted(
            f"{each.mode} {each.identity} {each.path}" for each in self.entries.values()
        )
        return hashlib.sha256(
            "\0".join(lines).encode("utf-8", "surrogateescape")
        ).hexdigest()

    def only(self, paths: Collection[str]) -> "Snapshot":
        """Return the same state with these paths alone."""
        entries = [entry for path, entry in self.entries.items() if path in paths]
        contents = {path: raw for path, raw in self._contents.items() if path in paths}
        skipped = (each for each in self.skipped if each.path in paths)
        return Snapshot(self.name, entries, contents, skipped, of_blobs=self.of_blobs)

    def __getitem__(self, path: str) -> str:
        return self._texts[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)


def entry_of(path: str, raw: bytes, mode: str = "100644") -> Entry:
    """Return the entry of a file that Git has no blob of."""
    return Entry(path, mode, len(raw), hashlib.sha256(raw).hexdigest())


def read_state(repository: Repository, revision: str | None, *, worktree: bool) -> Snapshot:
    """Read the index, unless a revision or the work tree is given. Raises GitError, UsageError for both at once."""
    if revision is not None and worktree:
        raise UsageError("--rev and --worktree exclude each other: give one of them")
    if worktree:
        return read_worktree(repository)
    return read_commit(repository, revision) if revision else read_index(repository)


def read_index(repository: Repository, bounds: SnapshotBounds | None = None) -> Snapshot:
    """Read all that is staged. Raises GitError."""
    return read_blobs(
        repository, "the index", list_index(repository), bounds or SnapshotBounds()
    )


def read_commit(
    repository: Repository, revision: str, bounds: SnapshotBounds | None = None
) -> Snapshot:
    """Read the files of a commit. Raises GitError, UsageError for no such revision."""
    listed = list_tree(repository, repository.resolve(revision))
    return read_blobs(repository, revision, listed, bounds or SnapshotBounds())


def read_blobs(
    repository: Repository,
    name: str,
    listed: list[tuple[str, str, str]],
    bounds: SnapshotBounds,
) -> Snapshot:
    """Read listed blobs: (mode, object id, path)."""
    chosen = Selection(bounds)
    with BlobReader(repository.git, blob_limit=bounds.file_bytes) as reader:
        # A submodule names a commit of another repository, whose contents are not here.
        sizes = reader.sizes(blob for mode, blob, _ in listed if mode != SUBMODULE)
        for mode, blob, path in listed:
            entry = Entry(path, mode, sizes.get(blob, 0), blob)
            if chosen.takes(entry):
                chosen.contents[path] = reader.read(blob) or b""
    return Snapshot(name, chosen.entries, chosen.contents, chosen.skipped, of_blobs=True)


def list_index(repository: Repository) -> list[tuple[str, str, str]]:
    """List (mode, blob id, path) of the index; of a path in conflict our side (git-ls-files(1), "--stage")."""
    listed: dict[str, tuple[str, str, str]] = {}
    for record in filter(None, list_files(repository, "--stage")):
        head, _, raw_path = record.partition(b"\t")
        mode, blob, stage = head.decode("ascii").split(" ")
        path = decode_path(raw_path)
        if path not in listed or stage == "2":
            listed[path] = (mode, blob, path)
    return list(listed.values())


def list_files(repository: Repository, *options: str) -> list[bytes]:
    """Return the output of `git ls-files` for the whole work tree."""
    top = [] if repository.bare else [str(repository.root)]
    return repository.git.run("ls-files", "-z", "--full-name", *options, "--", *top).split(
        b"\0"
    )


def list_tree(repository: Repository, commit: str) -> list[tuple[str, str, str]]:
    """List (mode, object id, path) of a commit (git-ls-tree(1))."""
    listed = []
    for record in filter(
        None, repository.git.run("ls-tree", "-r", "-z", "--full-tree", commit).split(b"\0")
    ):
        head, _, raw_path = record.partition(b"\t")
        mode, _, oid = head.decode("ascii").split(" ")
        listed.append((mode, oid, decode_path(raw_path)))
    return listed


def read_worktree(repository: Repository, bounds: SnapshotBounds | None = None) -> Snapshot:
    """Read the files of the work tree: those Git tracks, and those it would add. Links are not followed."""
    if repository.bare:
        raise UsageError("a bare repository has no work tree: name a revision with --rev")
    listed = list_files(
        repository, "--cached", "--others", "--exclude-standard", "--deduplicate"
    )
    bounds = bounds or SnapshotBounds()
    root = repository.root
    chosen = Selection(bounds)
    for path in map(decode_path, filter(None, listed)):
        full = os.fsencode(root) + b"/" + path.encode("utf-8", "surrogateescape")
        try:
            about = os.lstat(full)
        except OSError:
            continue  # deleted, and that is not staged
        if stat.S_ISLNK(about.st_mode):
            target = os.readlink(full)  # noqa: PTH115 - the name may not be UTF-8
            chosen.entries.append(entry_of(path, target, LINK))
            chosen.contents[path] = target
        elif stat.S_ISDIR(about.st_mode):
            chosen.takes(Entry(path.removesuffix("/"), SUBMODULE, 0, ""))
        elif chosen.has_room(path, about.st_size):
            raw = read_worktree_file(root, path, bounds.file_bytes)
            if raw is None:
                chosen.skipped.append(Skipped(path, "cannot be read"))
                continue
            chosen.contents[path] = raw
            chosen.entries.append(
                entry_of(path, raw, "100755" if about.st_mode & stat.S_IXUSR else "100644")
            )
    return Snapshot("the work tree", chosen.entries, chosen.contents, chosen.skipped)


class Selection:
    """What is read within the bounds; the rest is recorded as skipped."""

    def __init__(self, bounds: SnapshotBounds) -> None:
        self.entries: list[Entry] = []
        self.contents: dict[str, bytes] = {}
        self.skipped: list[Skipped] = []
        self._bounds = bounds
        self._total = 0

    def takes(self, entry: Entry) -> bool:
        """List an entry; return whether its content is to be read."""
        self.entries.append(entry)
        return entry.mode != SUBMODULE and self.has_room(entry.path, entry.size)

    def has_room(self, path: str, size: int) -> bool:
        """Return whether there is room for a file of `size` bytes, and record it as skipped if not."""
        if len(self.contents) >= self._bounds.files:
            limit = f"{self._bounds.files:,} files"
        elif size > self._bounds.file_bytes:
            limit = f"{self._bounds.file_bytes:,} bytes"
        elif self._total + size > self._bounds.total_bytes:
            limit = f"{self._bounds.total_bytes:,} bytes in all"
        else:
            self._total += size
            return True
        self.skipped.append(Skipped(path, f"over the limit of {limit}", asks=True))
        return False
