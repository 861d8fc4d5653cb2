"""Read change sets from a repository: the index, the work tree, one commit, a range.

A merge is compared with each of its parents: a line that came unchanged from one of them was recorded before and is not
new.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import field, replace
from itertools import islice
from typing import TYPE_CHECKING

from cli_guard.git.merges import keep_lines, own_changes, own_files
from cli_guard.git.objects import RecordedText, read_object
from cli_guard.git.plumbing import END_OF_RAW, parse_pairs, parse_pieces, parse_raw
from cli_guard.git.prefetch import DIFF_OPTIONS, INDEX, RAW_OPTIONS, difference
from cli_guard.git.worktree import touched_only, untracked_change, without_filters
from cli_guard.lazy import frozen
from cli_guard.model import (
    ChangeSet,
    FileChange,
    Kind,
    Skipped,
    Status,
    TagMessage,
    split_lines,
)
from cli_guard.repository.between import hunks_between
from cli_guard.repository.entries import Touched, decode_path
from cli_guard.repository.protocol import Blobs, Bounds, End, MergeSide, as_lines
from cli_guard.repository.texts import (
    BINARY,
    read_worktree_file,
    runs_between,
    text_of,
)

if TYPE_CHECKING:
    from cli_guard.git.repository import GitRepository

COMMITS_A_BATCH = 400
DIFFS_A_BATCH = 512
BATCH_BYTES = 10_000_000
REREAD_FILES = 200
MESSAGE_BYTES = 1_000_000
# Each side of a merge is compared with each other one.
MOST_PARENTS = 8


class ChangeReader:
    """Reads change sets of one repository within bounds."""

    def __init__(self, repository: "GitRepository", reader: Blobs, bounds: Bounds) -> None:
        self._repository = repository
        self._git = repository.git
        self._reader = reader
        self._bounds = bounds

    def index(self, *, merging: bool = False) -> ChangeSet:
        """Return what `git commit` would record now, by the index that Git named; `merging`: `git merge` calls."""
        others = (
            self._repository.heads_being_merged if merging else self._repository.merge_heads
        )
        heads = (self._repository.head, *others)
        changes = self._new_in_all(
            *(self._diff(*INDEX, tree=self._repository.tree_of(head)) for head in heads)
        )
        return replace(changes, parents=tuple(filter(None, heads)))

    def outline(self) -> ChangeSet | None:
        """Return what `git commit` would record, without any line: no file is known to be binary.

        None for a merge, before the first commit, or if the usual diff was not prefetched.
        """
        head = self._repository.head
        if not head or self._repository.heads_being_merged:
            return None
        asked = difference(*INDEX, file_bytes=self._bounds.file_bytes, compared=("HEAD",))
        # Git prints it before it compares any text. If nobody reads on, it is ended.
        raw = self._git.head(*asked, end=END_OF_RAW)
        if raw is None:
            return None
        files = parse_raw(raw)
        identity = identity_of(self._repository.tree_of(head), files)
        return ChangeSet(tuple(files), identity=identity, parents=(head,))

    def worktree(self) -> ChangeSet:
        """Return what differs from HEAD in the work tree, including untracked files that are not ignored."""
        root = self._repository.root
        diff = self._diff(
            *without_filters(self._git),
            "diff-index",
            tree=self._repository.tree_of(self._repository.head),
            touched=touched_only(self._git, root),
        )
        # A file whose time stamp alone differs is in the raw part, without a patch of its own.
        files = [
            c
            for c in diff.files
            if c.hunks or c.old_mode != c.new_mode or c.kind is Kind.BINARY
        ]
        listed = self._git.run(
            "ls-files", "--others", "--exclude-standard", "-z", "--full-name", str(root)
        )
        limit = self._bounds.file_bytes
        files += [
            untracked_change(root, decode_path(raw), limit)
            for raw in listed.split(b"\0")
            if raw
        ]
        return self._new_in_all(replace(diff, files=files))

    def merge_sides(self, merge: ChangeSet) -> tuple[MergeSide, ...]:
        """Return the sides of a merge, recorded or in the index; none for any other change."""
        if not merge.is_merge:
            return ()
        if len(merge.parents) > MOST_PARENTS:
            name = f"merge {(merge.commit or '')[:10]}"
            reason = f"protections: a merge of more than {MOST_PARENTS} commits"
            return (MergeSide(ChangeSet((), (Skipped(name, reason, asks=True),))),)
        return tuple(self._merge_side(merge, parent) for parent in merge.parents)

    def _merge_side(self, merge: ChangeSet, parent: str) -> MergeSide:
        if merge.commit:
            changes = next(self.nets([(merge.commit, (parent,))]))
        else:
            tree = self._repository.tree_of(parent)
            changes = self._new_in_all(self._diff(*INDEX, tree=tree))
        ends: list[End] = [
            (other, (base,))
            for other in merge.parents
            if other != parent
            for base in self._repository.merge_bases(parent, other)
        ]
        return MergeSide(changes, tuple(self.nets(ends)))

    def nets(
        self,
        ends: Iterable[End],
        paths: tuple[str, ...] = (),
    ) -> Iterator[ChangeSet]:
        """Yield what each tip holds, in some paths or in all, that none of its bases held; None is the empty tree."""
        ends = list(ends)
        trees = self._repository.trees(
            {each for tip, bases in ends for each in (tip, *bases) if each}
        )
        yield from self._nets(ends, trees, paths)

    def _nets(
        self,
        ends: Iterable[End],
        trees: Mapping[str, str],
        paths: tuple[str, ...] = (),
    ) -> Iterator[ChangeSet]:
        ends = list(ends)
        olds = [
            (trees[base] if base else self._repository.empty_tree, tip)
            for tip, bases in ends
            for base in bases
        ]
        diffs = self._diffs([(old, trees[tip]) for old, tip in olds], paths)
        for _, bases in ends:
            yield self._new_in_all(*islice(diffs, len(bases)))

    def commits(
        self, commits: Iterable[str], *, identified: bool = True
    ) -> Iterator[ChangeSet]:
        """Yield each commit against its parents, in the order given.

        Unless they are to be `identified`, no merge has an identity, as most are not read in full.
        """
        every = iter(commits)
        while batch := list(islice(every, COMMITS_A_BATCH)):
            yield from self._commit_batch(batch, identified=identified)

    def _commit_batch(self, commits: list[str], *, identified: bool) -> Iterator[ChangeSet]:
        raws = self._reader.read_all(commits, limit=MESSAGE_BYTES)
        parents, trees = self._repository.links(commits, raws)
        own = {} if identified else self._own_changes(parents)
        others = [each for each in commits if each not in own]
        whole = self._nets(((each, parents[each] or (None,)) for each in others), trees)
        for commit, raw in zip(commits, raws, strict=True):
            recorded, unread = self._text_of(raw, f"message of {commit[:10]}")
            changes = ChangeSet(own[commit]) if commit in own else next(whole)
            yield replace(
                changes,
                commit=commit,
                parents=parents[commit],
                message=recorded.message,
                people=recorded.people,
                other_text=recorded.others,
                skipped=(*changes.skipped, *unread),
            )

    def _own_changes(
        self, parents: Mapping[str, tuple[str, ...]]
    ) -> dict[str, tuple[FileChange, ...]]:
        """Return what is new in merges, as far as one combined diff shows it."""
        own = own_files(self._git, parents)
        sizes = self._reader.sizes(
            entry.new_blob for entries in own.values() for entry in entries
        )
        most = self._bounds.file_bytes
        read = {
            commit: entries
            for commit, entries in own.items()
            if len(entries) <= self._bounds.files
            and all(sizes[entry.new_blob] <= most for entry in entries)
        }
        limit = min(self._bounds.total_bytes, BATCH_BYTES)
        return own_changes(self._git, read, parents, limit)

    def _text_of(self, raw: bytes | None, name: str) -> tuple[RecordedText, list[Skipped]]:
        recorded = read_object(raw or b"")
        if raw is None:
            return recorded, [
                Skipped(name, f"over the limit of {MESSAGE_BYTES:,} bytes", asks=True)
            ]
        reason = "its header names an encoding that is not read here"
        return recorded, [Skipped(name, reason, asks=True)] if recorded.unread else []

    def tag_texts(
        self, oids: Iterable[str]
    ) -> tuple[tuple[TagMessage, ...], tuple[Skipped, ...]]:
        """Return the messages and headers of annotated tags and of the tags they point to, and what was not read."""
        tags: list[TagMessage] = []
        skipped: list[Skipped] = []
        for oid in oids:
            messages: list[str] = []
            others: list[str] = []
            end: str | None = oid
            # Each step is an object of its own, which somebody made and pushed.
            while end:
                raw = self._reader.read(end, limit=MESSAGE_BYTES)
                recorded, unread = self._text_of(raw, f"tag {end[:10]}")
                messages.append(recorded.message)
                others.append(recorded.others)
                skipped += unread
                end = recorded.tagged
            tags.append(TagMessage(oid, "\n".join((*messages, *others))))
        return tuple(tags), tuple(skipped)

    def _diffs(
        self, pairs: list[tuple[str, str]], paths: tuple[str, ...]
    ) -> Iterator["Diff"]:
        """Yield the diff of each two trees, many with one call of Git."""
        if len(pairs) <= 1:
            yield from (
                self._diff("diff-tree", "-r", tree=old, other=new, paths=paths)
                for old, new in pairs
            )
            return
        output = b""
        cut = True
        if len(pairs) <= DIFFS_A_BATCH:
            output, cut = self._git.run_bounded(
                *("-c", f"core.bigFileThreshold={self._bounds.file_bytes}"),
                *("diff-tree", "--stdin", "-r", *DIFF_OPTIONS, "--", *paths),
                stdin=as_lines(" ".join(pair) for pair in pairs),
                limit=min(self._bounds.total_bytes, BATCH_BYTES),
            )
        if cut:
            middle = len(pairs) // 2
            yield from self._diffs(pairs[:middle], paths)
            yield from self._diffs(pairs[middle:], paths)
            return
        diffs = [
            Diff(old, files)
            for (old, _), files in zip(pairs, parse_pairs(output), strict=True)
        ]
        self._reader.sizes(
            c.new_blob
            for diff in diffs
            for c in diff.files
            if c.kind is Kind.BINARY and c.new_blob
        )
        yield from diffs

    def _diff(
        self,
        *command: str,
        tree: str,
        other: str | None = None,
        paths: tuple[str, ...] = (),
        touched: Touched | None = None,
    ) -> "Diff":
        def question(base: str, options: tuple[str, ...] = DIFF_OPTIONS) -> tuple[str, ...]:
            compared = (base, other) if other else (base,)
            asked = difference(
                *command,
                file_bytes=self._bounds.file_bytes,
                compared=compared,
                options=options,
            )
            return (*asked, *paths)

        most = self._bounds.total_bytes
        asked = self._repository.prefer_prefetched(question, tree)
        with closing(self._git.pieces(*asked, limit=most)) as pieces:
            read = parse_pieces(pieces, most, touched=touched)
        if read is None:
            raw = self._git.run(*question(tree, RAW_OPTIONS))
            return Diff(tree, [], parse_raw(raw, touched=touched))
        return Diff(tree, *read)

    def _new_in_all(self, first: "Diff", *others: "Diff") -> ChangeSet:
        """Return what is new in all of some diffs to one new side, within bounds; the rest is skipped."""
        everywhere = set.intersection(
            *({c.path for c in (*d.files, *d.left_out)} for d in (first, *others))
        )
        files = [change for change in first.files if change.path in everywhere]
        left_out = [change for change in first.left_out if change.path in everywhere]
        limits = (
            (
                left_out,
                f"over the limit of {self._bounds.total_bytes:,} characters in all (limits.total_chars)",
            ),
            (
                files[self._bounds.files :],
                f"over the limit of {self._bounds.files:,} files (limits.files)",
            ),
        )
        skipped = [
            Skipped(c.path, reason, asks=True)
            for changes, reason in limits
            for c in changes
        ]
        files = self._look_into_binaries(files[: self._bounds.files], skipped)
        for diff in others:
            wanted = {change.path for change in files}
            files = only_in_both(
                files,
                self._look_into_binaries([c for c in diff.files if c.path in wanted], []),
                diff.left_out,
            )
        trees = " ".join((first.tree, *sorted(diff.tree for diff in others)))
        identity = identity_of(trees, [*first.files, *first.left_out])
        return ChangeSet(tuple(files), tuple(skipped), identity)

    def _look_into_binaries(
        self, files: list[FileChange], skipped: list[Skipped]
    ) -> list[FileChange]:
        blobs = [c.new_blob for c in files if c.kind is Kind.BINARY and c.new_blob]
        sizes = self._reader.sizes(blobs)
        result = []
        reread = 0
        held = 0
        for change in files:
            if change.kind is Kind.SUBMODULE:
                skipped.append(
                    Skipped(change.path, "a submodule: review it in its own repository")
                )
            elif change.status is Status.UNMERGED:
                skipped.append(
                    Skipped(change.path, "unmerged: resolve the conflict and stage it")
                )
            elif change.kind is Kind.BINARY and change.status is not Status.DELETED:
                change = replace(change, size=sizes.get(change.new_blob or "", change.size))
                if change.size is not None and change.size > self._bounds.file_bytes:
                    reason = f"{change.size:,} bytes, over the limit of {self._bounds.file_bytes:,} (limits.file_chars)"
                    skipped.append(Skipped(change.path, reason, asks=True))
                elif held > self._bounds.total_bytes:
                    reason = f"over the limit of {self._bounds.total_bytes:,} characters in all (limits.total_chars)"
                    skipped.append(Skipped(change.path, reason, asks=True))
                else:
                    reread += 1
                    change, reason = self._as_text(change, exact=reread <= REREAD_FILES)
                    held += sum(len(line) for hunk in change.hunks for line in hunk.added)
                    if reason:
                        skipped.append(Skipped(change.path, reason))
            result.append(change)
        return result

    def _new_bytes(self, change: FileChange) -> bytes | None:
        if change.new_blob:
            return self._reader.read(change.new_blob)
        return read_worktree_file(
            self._repository.root, change.path, self._bounds.file_bytes
        )

    def _as_text(self, change: FileChange, *, exact: bool) -> tuple[FileChange, str]:
        """Return a file that Git called binary as text, if it is: UTF-16, or text hidden by an attribute.

        `-diff` in a .gitattributes file, which a change can add, must not hide lines from review. A binary file that
        begins with lines of text is text up to their end; any other stays binary, with its new runs of text as lines.
        The second value says what was not read, "" if all was.
        """
        raw = self._new_bytes(change)
        if raw is None:
            return change, "binary"
        before = self._reader.read(change.old_blob) if change.old_blob and exact else None
        new, rest = text_of(raw)
        if new is None:
            return replace(change, hunks=runs_between(before or b"", raw)), BINARY
        old, old_rest = text_of(before or b"")
        kind = Kind.SYMLINK if change.new_mode == "120000" else Kind.TEXT
        change = replace(change, kind=kind, hunks=hunks_between(old or "", new))
        if not rest:
            return change, ""
        reason = f"from line {len(split_lines(new)) + 1} on {BINARY}"
        return replace(change, tail=runs_between(old_rest, rest)), reason


@frozen
class Diff:
    """A diff from a tree: its files, and those whose lines a limit left out."""

    tree: str
    files: list[FileChange]
    left_out: list[FileChange] = field(default_factory=list)


def only_in_both(
    files: list[FileChange], others: list[FileChange], unread: Iterable[FileChange] = ()
) -> list[FileChange]:
    """Return the changes in both diffs to one new side, with the added lines that both call added.

    `unread` are changes of the second diff whose lines are unknown: they count as new.
    """
    by_path = {change.path: change for change in others}
    whole = {change.path for change in unread}
    result = []
    for change in files:
        other = by_path.get(change.path)
        if change.path in whole:
            result.append(change)
        elif other is not None:
            result += in_both(change, other)
    return result


def in_both(change: FileChange, other: FileChange) -> Iterator[FileChange]:
    """Intersect two changes to one new side; the second counts where the first knew no earlier file."""
    if Kind.BINARY in (change.kind, other.kind):
        yield change
        return
    if change.status is Status.ADDED and other.status is not Status.ADDED:
        change, other = other, change
    hunks = tuple(part for hunk in change.hunks for part in keep_lines(hunk, other.added))
    old_mode = other.old_mode if other.old_mode == change.new_mode else change.old_mode
    if hunks or not change.hunks:
        yield replace(change, hunks=hunks, old_mode=old_mode)


def identity_of(base: str, files: Iterable[FileChange]) -> str:
    """Hash everything that a change records, and the trees that it starts from."""
    digest = hashlib.sha256(base.encode("ascii"))
    for c in files:
        record = (
            c.status,
            c.old_mode,
            c.new_mode,
            c.old_blob,
            c.new_blob,
            c.old_path,
            c.path,
        )
        digest.update(repr(record).encode("utf-8", "surrogateescape") + b"\n")
    return digest.hexdigest()
