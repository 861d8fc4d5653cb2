"""Scan one slice of a plan: read its changes, find secrets, judge them by the policy of the tip."""

import datetime
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from cli_guard.errors import GitError, InternalError, MissingObject
from cli_guard.git.changes import Bounds, ChangeReader
from cli_guard.git.contents import BlobContents, BlobReader, decode, runs_between
from cli_guard.git.lines import PushedRef
from cli_guard.git.plumbing import decode_path
from cli_guard.git.repository import Repository
from cli_guard.model import (
    ChangeSet,
    Decision,
    FileChange,
    Finding,
    Hunk,
    JudgedFinding,
    Kind,
    RefUpdate,
    Skipped,
    Status,
    Suppressed,
    TagMessage,
    split_lines,
)
from cli_guard.policy.decisions import Policy
from cli_guard.policy.gate import FindAnswer, judge_findings
from cli_guard.policy.suppressions import Answer
from cli_guard.review.render.review import Review
from cli_guard.review.scan.plan import LISTED, Slice
from cli_guard.review.scan.plan import Kind as Items
from cli_guard.reviewers import secrets
from cli_guard.reviewers.inline import InlineAnswers
from cli_guard.reviewers.review_input import Limits, ReviewInput

EVENT = "scan"
MOST_CLEAN = 50_000
MOST_FAILURES = 20
UNREADABLE = (GitError, InternalError)
MISSING = "objects are missing (a partial or damaged clone): scan a complete one"
BINARY = "binary: searched only for keys"
LFS = "Git LFS: its content is not in the repository"
LFS_FILE = re.compile(r"version https://git-lfs\.github\.com/spec/[^\n]+\n(?:ext-[^\n]+\n)*oid sha256:")
IN_HISTORY = " It is in the history, so whoever has a clone has it: rotate the credential first."


@dataclass
class Scanner:
    """Scans slices of one repository; `open_scanner` makes one."""

    repository: Repository
    policy: Policy
    today: datetime.date
    blobs: BlobReader
    # Hashes of what held nothing: the same change of a file in several commits, the same people.
    clean: set[int] = field(default_factory=set)

    def scan(self, piece: Slice) -> Review:
        """Return the findings of a slice, with those that the policy or the text itself answers."""
        standing: list[JudgedFinding] = []
        suppressed: list[Suppressed] = []
        skipped: list[Skipped] = []
        for subject in self._subjects(piece):
            report = secrets.review(subject)
            skipped += (*subject.changes.skipped, *report.skipped)
            if not report.findings and not skipped:
                self.clean |= marks_of(subject.changes)
            if len(self.clean) > MOST_CLEAN:
                self.clean.clear()
            if report.findings:
                answer = InlineAnswers(subject)
                found = judge_findings(
                    report.findings,
                    self.policy,
                    recorded(answer) if piece.kind is Items.FILES else answer,
                    self.today,
                    {},
                )
                commit = subject.changes.commit
                standing += (
                    replace(each, finding=at_commit(each.finding, commit)) for each in found.standing
                )
                suppressed += (
                    replace(each, finding=at_commit(each.finding, commit), new=False)
                    for each in found.suppressed
                )
        return Review(
            EVENT,
            "ok",
            Decision.ALLOW,
            tuple(standing),
            tuple(suppressed),
            files=piece.count,
            reviewed=piece.count,
            skipped=tuple(dict.fromkeys(skipped)),
            part=str(piece.number),
            binding=piece.key,
        )

    def _subjects(self, piece: Slice) -> Iterator[ReviewInput]:
        limits = Limits.of(self.policy)
        reader = ChangeReader(
            self.repository, self.blobs, Bounds(sys.maxsize, limits.file_chars, limits.total_chars)
        )
        items = piece.items.split(b"\0")
        pushed: tuple[PushedRef, ...] = ()
        tags: tuple[TagMessage, ...] = ()
        if piece.kind is Items.COMMITS:
            found = self._commits(reader, [item.decode("ascii") for item in items])
        elif piece.kind is Items.FILES:
            found = self._files(items)
        else:
            named = (decode_path(item).partition(" ") for item in items)
            refs = {name: oid for oid, _, name in named}
            pushed = tuple(PushedRef(RefUpdate("", oid, name, "0")) for name, oid in refs.items())
            texts = reader.tag_messages(
                oid for oid, (_, kind) in self.repository.identify(refs.values()).items() if kind == "tag"
            )
            tags = tuple(TagMessage(oid, text) for oid, text in texts.items())
            found = self._objects(refs)
        for changes in found:
            files = tuple(each for each in changes if hash(file_mark(each)) not in self.clean)
            people = tuple(each for each in changes.people if hash(person_mark(each)) not in self.clean)
            yield ReviewInput(
                EVENT,
                replace(changes, files=files, people=people),
                BlobContents(self.blobs, changes.commit or ""),
                limits=limits,
                pushed=pushed,
                tags=tags,
            )
            pushed = tags = ()

    def _commits(self, reader: ChangeReader, commits: list[str]) -> Iterator[ChangeSet]:
        """Yield commits; one that cannot be read is skipped, after a few of them the rest of the slice."""
        done = 0
        try:
            for changes in reader.commits(commits):
                done += 1
                yield with_lfs(changes)
        except UNREADABLE:
            self.blobs.close()  # git may have ended
        else:
            return
        failures = 0
        for at in range(done, len(commits)):
            try:
                for changes in reader.commits(commits[at : at + 1]):
                    yield with_lfs(changes)
            except UNREADABLE as error:
                self.blobs.close()
                failures += 1
                last = at if failures < MOST_FAILURES else len(commits) - 1
                yield unread(
                    f"commits {commits[at][:10]} to {commits[last][:10]}"
                    if last > at
                    else f"commit {commits[at][:10]}",
                    error,
                )
                if last > at:
                    return

    def _files(self, entries: Sequence[bytes]) -> Iterator[ChangeSet]:
        """Yield the files of `ls-tree -l`, each by itself."""
        failures = 0
        for entry in entries:
            about, _, name = entry.partition(b"\t")
            mode, _, blob, *_ = about.decode("ascii").split()
            if failures < MOST_FAILURES:
                try:
                    yield self._file(decode_path(name), mode, blob)
                except UNREADABLE as error:
                    self.blobs.close()
                    failures += 1
                    yield unread(decode_path(name), error)
            else:
                yield ChangeSet((), (Skipped(decode_path(name), MISSING, by_limit=True),))

    def _objects(self, refs: Mapping[str, str]) -> Iterator[ChangeSet]:
        """Yield the files that refs or tags name directly, and those in the trees that they name; at least one set."""
        yield ChangeSet(())
        named = {f"{oid}^{{}}": name for name, oid in refs.items()}
        for each, (oid, kind) in self.repository.identify(named).items():
            if kind == "blob":
                yield from self._files(
                    [f"100644 blob {oid}\t{named[each]}".encode("utf-8", "surrogateescape")]
                )
            elif kind == "tree":
                yield from self._files(self.repository.git.run(*LISTED, oid).split(b"\0")[:-1])

    def _file(self, path: str, mode: str, blob: str) -> ChangeSet:
        """Return a whole file as added."""
        if mode == "160000":
            return ChangeSet((), (Skipped(path, "a submodule: scan it in its own repository"),))
        raw = self.blobs.read(blob)
        if raw is None:
            reason = f"over the limit of {self.blobs.limit:,} bytes (limits.file_chars)"
            return ChangeSet((), (Skipped(path, reason, by_limit=True),))
        text = decode(raw, path)
        change = FileChange(path, Status.ADDED, new_mode=mode, new_blob=blob, size=len(raw))
        if text is None:
            return ChangeSet(
                (replace(change, kind=Kind.BINARY, hunks=runs_between(b"", raw)),), (Skipped(path, BINARY),)
            )
        hunks = (Hunk(0, 1, (), tuple(split_lines(text))),) if text else ()
        kind = Kind.SYMLINK if mode == "120000" else Kind.LFS if LFS_FILE.match(text) else Kind.TEXT
        return with_lfs(ChangeSet((replace(change, kind=kind, hunks=hunks),)))


@contextmanager
def open_scanner(repository: Repository, policy: Policy, today: datetime.date) -> Iterator[Scanner]:
    """Open a repository for scanning, with a Git process of its own."""
    with BlobReader(repository.git, blob_limit=Limits.of(policy).file_chars) as blobs:
        yield Scanner(repository, policy, today, blobs)


def with_lfs(changes: ChangeSet) -> ChangeSet:
    """Say which files are pointers to content that is elsewhere (git-lfs(1))."""
    skipped = (Skipped(each.path, LFS) for each in changes if each.kind is Kind.LFS and each.new_blob)
    return replace(changes, skipped=(*changes.skipped, *skipped))


def unread(what: str, error: Exception) -> ChangeSet:
    reason = MISSING if isinstance(error, MissingObject) else str(error)
    return ChangeSet((), (Skipped(what, reason, by_limit=True),))


def recorded(answer: FindAnswer) -> FindAnswer:
    """Return the same answers as those that were recorded before: what the tip holds is not new."""

    def find(finding: Finding) -> tuple[Answer, bool] | None:
        found = answer(finding)
        return (found[0], False) if found else None

    return find


def at_commit(found: Finding, commit: str | None) -> Finding:
    """Place a finding in the commit that was scanned, None for the tip."""
    commit = found.commit or commit
    remedy = found.remedy.removesuffix(secrets.IN_HISTORY) + (IN_HISTORY if commit else "")
    return replace(found, commit=commit, remedy=remedy)


def file_mark(change: FileChange) -> object:
    """Return what makes the same change of a file in another commit; of a merge only some lines are new."""
    lines = sum(len(hunk.added) for hunk in change.hunks)
    return (change.path, change.status, change.old_blob, change.new_blob, change.new_mode, lines)


def person_mark(line: str) -> str:
    """Return author or committer without the time."""
    return line.rsplit(" ", 2)[0]


def marks_of(changes: ChangeSet) -> set[int]:
    return {hash(file_mark(each)) for each in changes} | {hash(person_mark(each)) for each in changes.people}
