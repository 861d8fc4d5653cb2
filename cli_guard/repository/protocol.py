"""What the other rooms need of a repository and its states; `cli_guard.git` has it from Git.

States in memory are a `Snapshot`, and the contents and changes of `cli_guard.repository.between`.
"""

import re
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, Self, runtime_checkable

from cli_guard.lazy import frozen
from cli_guard.model import ChangeSet, Contents, FileChange, Hits, Skipped, TagMessage

if TYPE_CHECKING:
    from cli_guard.repository.pushes import Graph
    from cli_guard.repository.snapshot import Snapshot

# The form of an id of a commit or tree.
OID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


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


@runtime_checkable
class WholeTree(Protocol):
    """Contents that can also read the files that do not change."""

    def object_name(self, path: str) -> str:
        """Return what names a file after the change, for `new_blob`."""


@runtime_checkable
class Prefetching(Protocol):
    """Contents that are read faster many at once."""

    def prefetch(self, blobs: Iterable[str]) -> None:
        """Read what will be asked for; what is missing is so when it is asked for."""


@runtime_checkable
class Searchable(Protocol):
    """Contents that can search all files of the state after the change."""

    def search(
        self, words: Iterable[str], patterns: tuple[str, ...], *, alone: bool = False
    ) -> Hits:
        """Return the lines that contain one of the words."""


@runtime_checkable
class WithFolders(Protocol):
    """Contents that know the folders of the state after the change."""

    def has_files_in(self, folder: str) -> bool:
        """Return whether any file is in a folder, or below. Raises GitError."""

    def find_names(
        self, names: Collection[str], folders: Iterable[str], parents: Sequence[str]
    ) -> Iterator[str]:
        """Yield where some names may stand in some folders ("" is the top). Raises GitError.

        What the index holds and no change touches stands in one of its `parents`.
        """


@runtime_checkable
class WithListing(Protocol):
    """Contents that can list a folder."""

    def list_files(self, folder: str, parents: Sequence[str]) -> Iterator[str]:
        """Yield the files that may be in a folder, but for what a change adds; see `find_names`. Raises GitError."""


@runtime_checkable
class TreeContents(
    Contents, RawContents, WholeTree, Searchable, WithFolders, WithListing, Protocol
):
    """The contents of a change in a repository; `revision` is the state after it ("": the index)."""

    revision: str


class Blobs(Protocol):
    """Reads objects while it is open."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    @property
    def limit(self) -> int: ...

    def begin(self) -> None:
        """Start reading before it is needed. Raises GitError."""

    def close(self) -> None:
        """End reading; it begins again when it is needed."""

    def read(self, blob: str, *, limit: int | None = None) -> bytes | None:
        """Return the bytes of an object, None if it is over the limit. Raises MissingObject."""

    def read_all(
        self, blobs: Sequence[str], *, limit: int | None = None
    ) -> list[bytes | None]:
        """Return the bytes of objects as `read` does, all with one wait. Raises MissingObject."""

    def sizes(self, blobs: Iterable[str]) -> dict[str, int]:
        """Return the sizes of blobs in bytes. Raises MissingObject."""

    def contents(self, revision: str = "", root: Path | None = None) -> TreeContents:
        """Return the contents of changes to a revision ("": the index); with `root`, in the work tree there."""


# Of the commits of a push or a range, most often all.
KEPT_CHARS = 4_000_000


@frozen
class Bounds:
    """The most that a review reads: files, bytes of one file, bytes of the whole diff."""

    files: int
    file_bytes: int
    total_bytes: int


@frozen
class MergeSide:
    """What a merge changes of one parent, and what each other parent had changed since the two parted."""

    changes: ChangeSet
    others: tuple[ChangeSet, ...] = ()


# A commit or tree, and what it is compared with; None is the empty tree.
End = tuple[str, tuple[str | None, ...]]


class Changes(Protocol):
    """Reads change sets within bounds."""

    def index(self, *, merging: bool = False) -> ChangeSet:
        """Return what a commit would record now."""

    def outline(self) -> ChangeSet | None:
        """Return the same without any line, with the same identity; None if that would not be quicker."""

    def worktree(self) -> ChangeSet:
        """Return what the work tree holds beyond HEAD."""

    def nets(
        self,
        ends: Iterable[End],
        paths: tuple[str, ...] = (),
    ) -> Iterator[ChangeSet]:
        """Yield what each tip holds, in some paths or in all, that none of its bases held; None is the empty tree."""

    def commits(
        self, commits: Iterable[str], *, identified: bool = True
    ) -> Iterator[ChangeSet]:
        """Yield each commit against its parents, in the order given; unless `identified`, some merges without id."""

    def merge_sides(self, merge: ChangeSet) -> tuple[MergeSide, ...]:
        """Return the sides of a merge, recorded or in the index; none for any other change."""

    def tag_texts(
        self, oids: Iterable[str]
    ) -> tuple[tuple[TagMessage, ...], tuple[Skipped, ...]]:
        """Return the messages of annotated tags, and what of them was not read."""


class OnProgress(Protocol):
    """Gets how many files, or other things, are done, and how many there are."""

    def __call__(self, done: int, of: int, unit: str = "files") -> None: ...


class History(Collection[ChangeSet]):
    """The commits of a range, each read when iteration reaches it; may be iterated more than once.

    A short one is kept, as each reviewer goes through it.
    """

    def __init__(
        self,
        reader: Changes,
        commits: tuple[str, ...],
        on_progress: OnProgress | None = None,
    ) -> None:
        self._reader = reader
        self._on_progress = on_progress
        self._kept: list[ChangeSet] | None = None
        self.ids = commits

    def __iter__(self) -> Iterator[ChangeSet]:
        known = self._kept
        read: list[ChangeSet] = []
        left = KEPT_CHARS
        changes = self._reader.commits(self.ids, identified=False)
        for done, each in enumerate(changes if known is None else known, 1):
            if known is None and left > 0:
                left -= count_chars(each)
                read.append(each)
            yield each
            if self._on_progress:
                self._on_progress(done, len(self.ids), "commits")
        if known is None and left > 0:
            self._kept = read

    def reporting(self, on_progress: OnProgress) -> "History":
        """Return the same commits, whose iteration reports how far it is."""
        return History(self._reader, self.ids, on_progress)

    def one(self, commit: str) -> ChangeSet:
        """Return one of the commits without reading the others; an empty change set for any other."""
        return next(
            self._reader.commits([commit]) if commit in self.ids else iter(()),
            ChangeSet(()),
        )

    def __len__(self) -> int:
        return len(self.ids)

    def __contains__(self, changes: object) -> bool:
        return isinstance(changes, ChangeSet) and changes.commit in self.ids


def count_chars(changes: ChangeSet) -> int:
    """Return about how many characters a commit holds in memory; a line or a file has more than its text."""
    hunks = [hunk for each in changes for hunk in (*each.hunks, *(each.tail or ()))]
    lines = [line for hunk in hunks for line in (*hunk.added, *hunk.removed)]
    texts = len(changes.message or "") + len(changes.other_text) + sum(map(len, lines))
    return texts + 50 * len(lines) + 500 * (1 + len(changes.files))


@frozen
class CommitFile:
    """A file of a commit, and the letter of its status (git-diff(1), `--diff-filter`)."""

    path: str
    status: str


@frozen
class LoggedCommit:
    """A commit: `date` is the author's ISO day, `body` the message without its subject. A merge has no `files`."""

    oid: str
    date: str
    author: str
    parents: tuple[str, ...]
    subject: str
    body: str
    files: list[CommitFile] = field(default_factory=list)


class Commands(Protocol):
    """Git in a folder, under an environment: for what has no method of `Repository`."""

    @property
    def cwd(self) -> Path: ...

    @property
    def env(self) -> Mapping[str, str]: ...

    def at(self, cwd: Path, env: Mapping[str, str]) -> "Commands":
        """Return the same for another folder and environment."""

    def run(self, *arguments: str, stdin: bytes = b"") -> bytes:
        """Return the output of a call that must succeed. Raises GitError."""

    def text(self, *arguments: str) -> str:
        """Return the output as text without its last newline. Raises GitError."""

    def optional(self, *arguments: str) -> str | None:
        """Return the output as `text` does, None if Git fails."""

    def attempt(self, *arguments: str, stdin: bytes = b"") -> tuple[int, bytes, bytes]:
        """Return exit code, standard output and standard error."""

    def run_bounded(
        self, *arguments: str, limit: int, stdin: bytes = b"", seconds: float = ...
    ) -> tuple[bytes, bool]:
        """Return at most `limit` bytes of output, and whether there was more. Raises GitError."""

    def pieces(
        self,
        *arguments: str,
        limit: int,
        stdin: bytes = b"",
        seconds: float = ...,
        codes: tuple[int, ...] = ...,
    ) -> Generator[bytes, None, None]:
        """Yield the output as it arrives, see `run_bounded`."""

    def forget(self) -> None:
        """End the calls that were begun ahead and not used."""


class Repository(Protocol):
    """One repository: its places, and what its commits and trees hold. See `cli_guard.git.repository`."""

    @property
    def git(self) -> Commands: ...

    @property
    def git_dir(self) -> Path: ...

    @property
    def common_dir(self) -> Path: ...

    @property
    def object_format(self) -> str: ...

    @property
    def bare(self) -> bool: ...

    @property
    def root(self) -> Path: ...

    @property
    def root_name(self) -> str: ...

    @property
    def state_folder(self) -> Path: ...

    @property
    def head(self) -> str | None: ...

    @property
    def commit_at_head(self) -> str: ...

    @property
    def is_shallow(self) -> bool: ...

    @property
    def at_top(self) -> Commands:
        """A Git for which paths are those from the top of the repository."""

    @property
    def heads_being_merged(self) -> tuple[str, ...]:
        """The other parents of a merge that is about to be recorded."""

    def has_staged(self) -> bool:
        """Return whether anything is staged; before the first commit, whether the index has any file."""

    def through_gitpython(self) -> "Repository":
        """Return the same repository, whose Git is started by GitPython."""

    def config(self, key: str) -> str | None:
        """Return one value of Git's configuration, None if it is not set."""

    def resolve(self, revision: str, kind: str = "commit") -> str:
        """Return the id of a revision. Raises UsageError if it does not exist."""

    def identify(self, revisions: Iterable[str]) -> dict[str, tuple[str, str]]:
        """Return the id and the type of what each revision names, without those that name nothing."""

    def tree_of(self, revision: str | None) -> str:
        """Return the tree of a commit or tree; the empty one for None. Raises MissingObject."""

    def show(self, revision: str, path: str) -> bytes | None:
        """Return a file of a commit or tree ("" is the index), None if there is none. Raises GitError."""

    def read_roots(self, revisions: Iterable[str], names: tuple[str, ...]) -> None:
        """Read files at the root of commits or trees at once, for `show`. Raises GitError."""

    def trees(self, commits: Iterable[str]) -> dict[str, str]:
        """Return the trees of commits. Raises MissingObject."""

    def commits(self, *include: str, exclude: Iterable[str] = ()) -> tuple[str, ...]:
        """Return the commits that some reach and others do not, oldest first."""

    def parents(self, commits: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """Return the parents of commits, without those that a shallow clone cut off."""

    def graph(self, tips: Iterable[str], known: Iterable[str] = ()) -> "Graph":
        """Return the commits that some tips reach and the known ones do not. Raises GitError."""

    def find_commits(self, oids: Iterable[str]) -> list[str]:
        """Return the ids that are commits here. Raises GitError."""

    def root_commits(self, tip: str = "HEAD") -> list[str]:
        """Return the root commits of a tip, sorted: they name a history wherever it lies. Raises GitError."""

    def has_roots(self, roots: Collection[str]) -> bool:
        """Return whether it has these root commits, as no other one has at the same path. Raises GitError."""

    def is_ancestor(self, older: str, newer: str) -> bool:
        """Return whether `newer` descends from `older`."""

    def merge_bases(self, one: str, other: str) -> tuple[str | None, ...]:
        """Return the best common ancestors of two commits, (None,) if they have none."""

    def log(
        self,
        *options: str,
        tips: Sequence[str],
        count: int,
        paths: Iterable[str] = (),
        files: bool = True,
    ) -> list[LoggedCommit]:
        """Return commits, the newest first, at most `count`. Raises GitError."""

    def blame(self, commit: str, path: str, start: int, end: int) -> list[str]:
        """Return the commit that last changed each line from `start` to `end`. Raises GitError."""

    def reflog_of_head(self) -> Iterator[tuple[str, str, str]]:
        """Yield the old id, the new id and the words of each entry of HEAD's reflog, oldest first."""

    def without_filters(self) -> list[str]:
        """Return options that keep Git from running the clean filters of its configuration. Raises GitError."""

    def blobs(self, limit: int) -> Blobs:
        """Return a reader of objects of up to `limit` bytes, to be opened with `with`."""

    def changes(self, blobs: Blobs, bounds: Bounds) -> Changes:
        """Return a reader of change sets."""

    def snapshot(
        self, revision: str | None = None, *, worktree: bool = False
    ) -> "Snapshot":
        """Return the files of the index, of a revision, or of the work tree. Raises GitError, UsageError."""


def as_lines(words: Iterable[str]) -> bytes:
    """Join words, one a line, for a command that reads them on standard input."""
    return "".join(f"{word}\n" for word in words).encode("utf-8", "surrogateescape")
