"""Read a snapshot of the index, of a commit, or of the work tree."""

import os
import stat

from cli_guard.errors import UsageError
from cli_guard.model import Skipped
from cli_guard.repository.entries import decode_path, list_entries
from cli_guard.repository.protocol import Repository
from cli_guard.repository.snapshot import (
    LINK,
    SUBMODULE,
    Snapshot,
    SnapshotBounds,
    TreeEntry,
    entry_of,
)
from cli_guard.repository.texts import place_in, read_worktree_file


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
    asked = ("ls-tree", "-r", "-z", "--full-tree", repository.resolve(revision))
    entries = list_entries(repository.git.run(*asked))
    listed = [(mode, oid, path) for (mode, _, oid), path in entries]
    return read_blobs(repository, revision, listed, bounds or SnapshotBounds())


def read_blobs(
    repository: Repository,
    name: str,
    listed: list[tuple[str, str, str]],
    bounds: SnapshotBounds,
) -> Snapshot:
    """Read listed blobs: (mode, object id, path)."""
    chosen = Selection(bounds)
    with repository.blobs(bounds.file_bytes) as reader:
        # A submodule names a commit of another repository, whose contents are not here.
        sizes = reader.sizes(blob for mode, blob, _ in listed if mode != SUBMODULE)
        for mode, blob, path in listed:
            entry = TreeEntry(path, mode, sizes.get(blob, 0), blob)
            if chosen.takes(entry):
                chosen.contents[path] = reader.read(blob) or b""
    return Snapshot(name, chosen.entries, chosen.contents, chosen.skipped, of_blobs=True)


def list_index(repository: Repository) -> list[tuple[str, str, str]]:
    """List (mode, blob id, path) of the index; of a path in conflict our side (git-ls-files(1), "--stage")."""
    listed: dict[str, tuple[str, str, str]] = {}
    for (mode, blob, stage), path in list_entries(list_files(repository, "--stage")):
        if path not in listed or stage == "2":
            listed[path] = (mode, blob, path)
    return list(listed.values())


def list_files(repository: Repository, *options: str) -> bytes:
    """Return the output of `git ls-files` for the whole work tree."""
    top = [] if repository.bare else [str(repository.root)]
    return repository.git.run("ls-files", "-z", "--full-name", *options, "--", *top)


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
    for path in map(decode_path, filter(None, listed.split(b"\0"))):
        full = place_in(root, path)
        try:
            about = os.lstat(full)
        except OSError:
            continue  # deleted, and that is not staged
        if stat.S_ISLNK(about.st_mode):
            target = os.readlink(full)  # noqa: PTH115 - the name may not be UTF-8
            chosen.entries.append(entry_of(path, target, LINK))
            chosen.contents[path] = target
        elif stat.S_ISDIR(about.st_mode):
            chosen.takes(TreeEntry(path.removesuffix("/"), SUBMODULE, 0, ""))
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
        self.entries: list[TreeEntry] = []
        self.contents: dict[str, bytes] = {}
        self.skipped: list[Skipped] = []
        self._bounds = bounds
        self._total = 0

    def takes(self, entry: TreeEntry) -> bool:
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
