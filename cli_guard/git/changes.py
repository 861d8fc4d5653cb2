"""Change sets out of a repository: what is staged, what lies in the work tree, one commit, a range of them.

A merge is compared with each of its parents: a line that came unchanged from one of them was recorded before
and is not new.
"""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from cli_guard.git.contents import BlobReader, decode, read_worktree_file
from cli_guard.git.plumbing import DIFF_OPTIONS, decode_path, parse, parse_commits
from cli_guard.git.repository import Repository
from cli_guard.git.snapshot import hunks_between
from cli_guard.git.worktree import untracked, without_filters
from cli_guard.model import ChangeSet, FileChange, Hunk, Kind, Skipped, Status

COMMITS_A_BATCH = 100
REREAD_FILES = 200


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a review reads at the most: files, bytes of one file, bytes of all of the diff."""

    files: int
    file_bytes: int
    total_bytes: int


class ChangeReader:
    """Reads change sets of one repository within bounds."""

    def __init__(self, repository: Repository, reader: BlobReader, bounds: Bounds) -> None:
        self._repository = repository
        self._git = repository.git
        self._reader = reader
        self._bounds = bounds

    def staged(self) -> ChangeSet:
        """What `git commit` would record now, by the index that Git named."""
        base = self._repository.tree_of(self._repository.head)
        command = ("diff-index", "--cached", "--ita-invisible-in-index")
        whole, files, skipped = self._diff(*command, tree=base)
        if not files and not skipped:
            return whole
        for other in self._repository.merge_heads:
            _, against, _ = self._diff(*command, tree=self._repository.tree_of(other))
            files = only_in_both(files, against)
        return self._finish(whole, files, skipped)

    def differs_from_head(self) -> bool:
        """Is anything staged?"""
        base = self._repository.tree_of(self._repository.head)
        code, _, _ = self._git.attempt("diff-index", "--cached", "--quiet", "--ita-invisible-in-index", base)
        return code != 0

    def worktree(self) -> ChangeSet:
        """What differs from HEAD in the work tree, untracked files that are not ignored included."""
        root = self._repository.root
        whole, files, skipped = self._diff(
            "diff-index",
            tree=self._repository.tree_of(self._repository.head),
            configuration=without_filters(self._git),
        )
        # A file whose time stamp alone differs is in the raw part, without a patch of its own.
        files = [c for c in files if c.hunks or c.old_mode != c.new_mode or c.kind is Kind.BINARY]
        listed = self._git.run("ls-files", "--others", "--exclude-standard", "-z", "--full-name", str(root))
        limit = self._bounds.file_bytes
        files += [untracked(root, decode_path(raw), limit) for raw in listed.split(b"\0") if raw]
        return self._finish(whole, files, skipped)

    def net(self, tip: str, bases: Iterable[str | None]) -> ChangeSet:
        """What `tip` holds that none of the bases held; None is the empty tree."""
        first, *others = [self._repository.tree_of(base) for base in bases]
        command = ("diff-tree", "-r")
        whole, files, skipped = self._diff(*command, tree=first, other=tip)
        for other in others:
            files = only_in_both(files, self._diff(*command, tree=other, other=tip)[1])
        return self._finish(whole, files, skipped)

    def commits(self, commits: Iterable[str]) -> Iterator[ChangeSet]:
        """Each commit against its parents, in the order given."""
        batch: list[str] = []
        for commit in commits:
            batch.append(commit)
            if len(batch) == COMMITS_A_BATCH:
                yield from self._commit_batch(batch)
                batch = []
        yield from self._commit_batch(batch)

    def _commit_batch(self, commits: list[str]) -> Iterator[ChangeSet]:
        if not commits:
            return
        described = {commit: self._describe(commit) for commit in commits}
        lines = [
            f"{commit} {parent}" if parent else commit
            for commit in commits
            for parent in (described[commit].parents or ("",))
        ]
        output = self._git.run(
            *("-c", f"core.bigFileThreshold={self._bounds.file_bytes}"),
            *("diff-tree", "--stdin", "--always", "--root", "-r", *DIFF_OPTIONS),
            stdin="".join(f"{line}\n" for line in lines).encode("ascii"),
        )
        diffs = parse_commits(output)
        for commit in commits:
            about = described[commit]
            _, files = next(diffs)
            base = self._repository.tree_of(about.parents[0] if about.parents else None)
            whole = ChangeSet((), identity=identity_of(base, files), commit=commit, message=about.message)
            for _ in about.parents[1:]:
                files = only_in_both(files, next(diffs)[1])
            yield self._finish(whole, files, [])

    def _describe(self, commit: str) -> "CommitHeader":
        raw = self._reader.read(commit)
        return CommitHeader.parse(raw if raw is not None else b"")

    def _diff(
        self, *command: str, tree: str, other: str | None = None, configuration: Iterable[str] = ()
    ) -> tuple[ChangeSet, list[FileChange], list[Skipped]]:
        """One diff: the bare change set with its identity, its files, and what a bound left out."""
        output, cut = self._git.bounded(
            *("-c", f"core.bigFileThreshold={self._bounds.file_bytes}"),
            *configuration,
            *command,
            *DIFF_OPTIONS,
            tree,
            *([other] if other else []),
            "--",
            limit=self._bounds.total_bytes,
        )
        files, left_out = parse(output, cut=cut)
        reason = f"over the limit of {self._bounds.total_bytes:,} characters in all (limits.total_chars)"
        skipped = [Skipped(path, reason, by_limit=True) for path in left_out]
        return ChangeSet((), identity=identity_of(tree, files)), files, skipped

    def _finish(self, whole: ChangeSet, files: list[FileChange], skipped: list[Skipped]) -> ChangeSet:
        """The change set with bounds applied, binary files told from hidden text, and the rest named."""
        reason = f"over the limit of {self._bounds.files:,} files (limits.files)"
        skipped += [Skipped(change.path, reason, by_limit=True) for change in files[self._bounds.files :]]
        kept = self._look_into_binaries(files[: self._bounds.files], skipped)
        return replace(whole, files=tuple(kept), skipped=tuple(skipped))

    def _look_into_binaries(self, files: list[FileChange], skipped: list[Skipped]) -> list[FileChange]:
        blobs = [c.new_blob for c in files if c.kind is Kind.BINARY and c.new_blob]
        sizes = self._reader.sizes(blobs)
        result = []
        reread = 0
        for change in files:
            if change.kind is Kind.SUBMODULE:
                skipped.append(Skipped(change.path, "a submodule: its own repository reviews its commits"))
            elif change.status is Status.UNMERGED:
                skipped.append(Skipped(change.path, "unmerged: resolve the conflict and stage it"))
            elif change.kind is Kind.BINARY and change.status is not Status.DELETED:
                change = replace(change, size=sizes.get(change.new_blob or "", change.size))
                if change.size is not None and change.size > self._bounds.file_bytes:
                    reason = f"{change.size:,} bytes, over the limit of {self._bounds.file_bytes:,} (limits.file_chars)"
                    skipped.append(Skipped(change.path, reason, by_limit=True))
                else:
                    reread += 1
                    change = self._as_text(change, exact=reread <= REREAD_FILES)
                    if change.kind is Kind.BINARY:
                        skipped.append(Skipped(change.path, "binary"))
            result.append(change)
        return result

    def _new_bytes(self, change: FileChange) -> bytes | None:
        if change.new_blob:
            return self._reader.read(change.new_blob)
        return read_worktree_file(self._repository.root, change.path, self._bounds.file_bytes)

    def _as_text(self, change: FileChange, *, exact: bool) -> FileChange:
        """A file that Git called binary, as text if it is: UTF-16, or text that an attribute hides.

        `-diff` in a .gitattributes file, which a change can bring along, must not hide lines from review.
        """
        raw = self._new_bytes(change)
        new = None if raw is None else decode(raw)
        if new is None:
            return change
        before = self._reader.read(change.old_blob) if change.old_blob and exact else None
        old = decode(before) if before else None
        kind = Kind.SYMLINK if change.new_mode == "120000" else Kind.TEXT
        return replace(change, kind=kind, hunks=hunks_between(old or "", new))


@dataclass(frozen=True, slots=True)
class CommitHeader:
    """What a commit object says of itself."""

    parents: tuple[str, ...]
    message: str

    @classmethod
    def parse(cls, raw: bytes) -> "CommitHeader":
        """Reads a commit object (gitformat-commit: header lines, a blank line, the message)."""
        head, _, message = raw.partition(b"\n\n")
        fields = [line.split(b" ", 1) for line in head.split(b"\n") if b" " in line]
        encoding = next(
            (value.decode("ascii", "replace") for key, value in fields if key == b"encoding"), "utf-8"
        )
        try:
            text = message.decode(encoding, "replace")
        except LookupError:
            text = message.decode("utf-8", "replace")
        return cls(tuple(value.decode("ascii") for key, value in fields if key == b"parent"), text)


class History:
    """The commits of a range, each read when it is its turn; can be gone through more than once."""

    def __init__(self, reader: ChangeReader, commits: tuple[str, ...]) -> None:
        self._reader = reader
        self._commits = commits

    def __iter__(self) -> Iterator[ChangeSet]:
        return self._reader.commits(self._commits)

    def __len__(self) -> int:
        return len(self._commits)


def only_in_both(files: list[FileChange], others: list[FileChange]) -> list[FileChange]:
    """The changes that are in both diffs to one new side, with the added lines that both call added."""
    by_path = {change.path: change for change in others}
    result = []
    for change in files:
        other = by_path.get(change.path)
        if other is None:
            continue
        hunks = tuple(part for hunk in change.hunks for part in keep_lines(hunk, other.added))
        if hunks or not change.hunks:
            result.append(replace(change, hunks=hunks))
    return result


def keep_lines(hunk: Hunk, wanted: dict[int, str]) -> Iterator[Hunk]:
    """The runs of a hunk's added lines whose numbers are wanted; its removed lines stay with the first run."""
    if not hunk.added:
        yield hunk
        return
    removed = hunk.removed
    run: list[str] = []
    for number, text in enumerate((*hunk.added, ""), hunk.new_start):
        if number in wanted and number < hunk.new_start + len(hunk.added):
            run.append(text)
        elif run:
            yield Hunk(hunk.old_start, number - len(run), removed, tuple(run))
            run, removed = [], ()


def identity_of(base: str, files: Iterable[FileChange]) -> str:
    """A hash of all that a change records, and of the tree that it starts from."""
    digest = hashlib.sha256(base.encode("ascii"))
    for c in files:
        record = (c.status, c.old_mode, c.new_mode, c.old_blob, c.new_blob, c.old_path, c.path)
        digest.update(repr(record).encode("utf-8", "surrogateescape") + b"\n")
    return digest.hexdigest()
