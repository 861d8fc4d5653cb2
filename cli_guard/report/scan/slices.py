"""Scan one slice of a plan: read its changes, find secrets, judge them by the policy of the tip."""

import sys
from collections.abc import Iterator
from dataclasses import field, replace

from cli_guard.errors import GitError, InternalError, MissingObject
from cli_guard.lazy import dataclass
from cli_guard.model import (
    ChangeSet,
    Decision,
    FileChange,
    Hunk,
    JudgedFinding,
    Kind,
    RefUpdate,
    Skipped,
    Status,
    Suppressed,
    split_lines,
)
from cli_guard.policy.gate import FindAnswer, judge_findings
from cli_guard.report.scan.plan import ScanItems, ScanPlan, Slice
from cli_guard.repository.entries import (
    DiffSection,
    RawEntry,
    change_of,
    decode_path,
)
from cli_guard.repository.protocol import Blobs, Bounds, Changes
from cli_guard.repository.pushes import PushedRef
from cli_guard.repository.texts import BINARY, runs_between, text_of
from cli_guard.review.render.review import Review
from cli_guard.reviewers import secrets
from cli_guard.reviewers.inline import InlineAnswers
from cli_guard.reviewers.review_input import Limits, ReviewInput

EVENT = "scan"
MOST_FAILURES = 20
MOST_CLEAN = 50_000
MISSING = "objects are missing (a partial or damaged clone): scan a complete one"
SUBMODULE = "a submodule: scan it in its own repository"
LFS = "Git LFS: its content is not in the repository"


@dataclass
class Scanner:
    """Scans slices of one repository."""

    plan: ScanPlan
    blobs: Blobs
    # Hashes of what held nothing: the same change of a file in several commits, the same people.
    clean: set[int] = field(default_factory=set)
    failures: int = 0

    def scan(self, piece: Slice) -> Review:
        """Return the findings of a slice, and those that the policy or the text itself answers."""
        standing: list[JudgedFinding] = []
        suppressed: list[Suppressed] = []
        skipped: dict[Skipped, None] = {}
        for subject in self._subjects(piece):
            report = secrets.review(subject)
            changes = subject.changes
            unread = (*changes.skipped, *report.skipped)
            skipped |= dict.fromkeys(unread)
            if not (report.findings or unread):
                self.clean.update(map(mark_of, (*changes, *changes.people)))
            if len(self.clean) > MOST_CLEAN:
                self.clean.clear()
            found = [
                replace(each, commit=each.commit or changes.commit)
                for each in report.findings
            ]
            judged = judge_findings(
                found, self.plan.policy, answers(subject), self.plan.today, {}
            )
            standing += judged.standing
            suppressed += judged.suppressed
        part = Review(
            EVENT,
            "ok",
            Decision.ALLOW,
            tuple(standing),
            tuple(suppressed),
            binding=piece.key,
        )
        return replace(part, skipped=tuple(skipped))

    def _subjects(self, piece: Slice) -> Iterator[ReviewInput]:
        limits = Limits.of(self.plan.policy)
        bounds = Bounds(sys.maxsize, limits.file_chars, limits.total_chars)
        reader = self.plan.repository.changes(self.blobs, bounds)
        items = [decode_path(item) for item in piece.items.split(b"\0")]
        if piece.kind is ScanItems.REFS:
            refs = [item.split(" ") for item in items]
            tags, unread = reader.tag_texts(oid for oid, kind, _ in refs if kind == "tag")
            pushed = tuple(
                PushedRef(RefUpdate("", oid, name, "0")) for oid, _, name in refs
            )
            yield ReviewInput(
                EVENT, ChangeSet((), unread), limits=limits, pushed=pushed, tags=tags
            )
        read = {
            ScanItems.FILES: map(self._file, items),
            ScanItems.COMMITS: self._commits(reader, items),
        }
        for changes in read.get(piece.kind, ()):
            files = tuple(each for each in changes if mark_of(each) not in self.clean)
            people = tuple(
                each for each in changes.people if mark_of(each) not in self.clean
            )
            lfs = (
                Skipped(each.path, LFS)
                for each in files
                if each.kind is Kind.LFS and each.new_blob
            )
            own = replace(
                changes, files=files, people=people, skipped=(*changes.skipped, *lfs)
            )
            yield ReviewInput(
                EVENT, own, self.blobs.contents(own.commit or ""), limits=limits
            )

    def _commits(self, reader: Changes, commits: list[str]) -> Iterator[ChangeSet]:
        """Yield commits; what cannot be read is skipped, alone unless there is too much of it."""
        done = 0
        try:
            for changes in reader.commits(commits, identified=False):
                done += 1
                yield changes
        except (GitError, InternalError) as error:
            left = commits[done:]
            if len(left) > 1 and self.failures < MOST_FAILURES:
                for each in left:
                    yield from self._commits(reader, [each])
            else:
                more = f" and {len(left) - 1} more" if len(left) > 1 else ""
                yield self._unreadable(f"commit {left[0][:10]}{more}", error)

    def _file(self, entry: str) -> ChangeSet:
        """Return a whole file as added."""
        about, _, path = entry.partition("\t")
        mode, _, blob = about.split(" ")
        if mode == "160000":
            return ChangeSet((), (Skipped(path, SUBMODULE),))
        try:
            raw = self.blobs.read(blob)
        except MissingObject as error:
            return self._unreadable(path, error)
        if raw is None:
            reason = f"over the limit of {self.blobs.limit:,} bytes (limits.file_chars)"
            return ChangeSet((), (Skipped(path, reason, asks=True),))
        text, rest = text_of(raw)
        hunks = (
            runs_between(b"", raw)
            if text is None
            else (Hunk(0, 1, (), tuple(split_lines(text))),)
        )
        added = RawEntry("000000", mode, "0", blob, Status.ADDED, path, None)
        change = change_of(added, [DiffSection(hunks, text is None)])
        if text is not None and rest:
            change = replace(change, tail=runs_between(b"", rest))
        return ChangeSet((change,), (Skipped(path, BINARY),) if rest else ())

    def _unreadable(self, what: str, error: Exception) -> ChangeSet:
        self.blobs.close()  # its process may have ended
        self.failures += 1
        reason = MISSING if isinstance(error, MissingObject) else str(error)
        return ChangeSet((), (Skipped(what, reason, asks=True),))


def answers(subject: ReviewInput) -> FindAnswer:
    """Return the answers in the scanned text. They were recorded, so none is new."""
    inline = InlineAnswers(subject)
    return lambda found: (
        (answer[0], False) if (answer := inline(replace(found, commit=None))) else None
    )


def mark_of(each: FileChange | str) -> int:
    """Hash what makes the same change of a file in another commit, or a person without the time."""
    if isinstance(each, str):
        return hash(each.rsplit(" ", 2)[0])
    lines = sum(len(hunk.added) for hunk in each.hunks)  # of a merge only some are new
    return hash(
        (each.path, each.status, each.old_blob, each.new_blob, each.new_mode, lines)
    )
