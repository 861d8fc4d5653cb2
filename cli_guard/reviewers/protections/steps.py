"""Which two states are compared: each commit with its parent, and what it took away with what stands at the tip.

Over a whole range a check that goes in one commit and another one that comes with a feature would cancel out. A merge
is compared with each parent: it may take away what the other side had taken away, and nothing else. A finding whose
fact is back at every tip is dropped.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import field, replace
from functools import cached_property

from cli_guard.code.changes.difference import compare_file
from cli_guard.code.changes.facts import Key
from cli_guard.errors import MissingObject
from cli_guard.lazy import dataclass
from cli_guard.model import ChangeSet, FileChange, Finding, Report, Skipped, Status
from cli_guard.repository.between import hunks_between, line_now
from cli_guard.repository.protocol import MergeSide
from cli_guard.reviewers.protections.findings import Found
from cli_guard.reviewers.protections.judged_files import (
    may_gain,
    may_lose,
    others_by_path,
    own_files,
)
from cli_guard.reviewers.protections.judging import Excuses, Judged, compare, judge
from cli_guard.reviewers.review_input import ReviewInput

# Of a longer range the two ends are compared.
MOST_COMMITS = 500


def review_steps(subject: ReviewInput) -> Report:
    """Judge a change, or a range by its commits."""
    if not subject.history:
        return join(judge_step(subject, subject.changes))
    if len(subject.history) <= MOST_COMMITS:
        return RangeReview(subject).report()
    reason = (
        f"protections: more than {MOST_COMMITS} commits, so only the two ends were compared"
    )
    skipped = Skipped(f"{len(subject.history):,} commits", reason)
    net = join(judge_step(subject, replace(subject.changes, parents=())))
    return Report(net.findings, (*net.skipped, skipped))


def join(parts: Iterable[Judged]) -> Report:
    """Return one report on the parts of a step; the sides of a merge may lose the same."""
    found: dict[str, Finding] = {}
    skipped: dict[Skipped, None] = {}
    for part in parts:
        for each in part.found:
            found.setdefault(each.finding.fingerprint, each.finding)
        skipped |= dict.fromkeys(part.skipped)
    return Report(tuple(found.values()), tuple(skipped))


def judge_step(subject: ReviewInput, step: ChangeSet) -> Iterator[Judged]:
    """Yield what a change takes away of its parent, or a merge of each of them."""
    if not step.is_merge:
        yield judge_files(subject, step.files, {})
        return
    for side in subject.merge_sides(step):
        yield judge_side(subject, side)


def judge_side(subject: ReviewInput, side: MergeSide) -> Judged:
    """Judge what a merge takes away of one parent, and no other parent had taken away."""
    judged = judge_files(subject, own_files(side), others_by_path(side))
    unread = (each for each in side.changes.skipped if each.asks)
    return replace(judged, skipped=(*judged.skipped, *unread))


def judge_files(
    subject: ReviewInput, files: Sequence[FileChange], excuses: Excuses
) -> Judged:
    losing = [change for change in files if may_lose(change)]
    if not losing:
        return Judged()
    gaining = [each for each in files if may_gain(each) and not may_lose(each)]
    return judge(subject, losing, gaining, excuses)


@dataclass
class RangeReview:
    """Judges the commits of a range, the oldest first."""

    subject: ReviewInput
    # By fingerprint, with the commit that took it away the last time.
    lost: dict[str, tuple[Found, ChangeSet]] = field(default_factory=dict)
    # What later commits renamed the files to that a finding is in.
    paths: dict[str, str] = field(default_factory=dict)

    def report(self) -> Report:
        skipped: dict[Skipped, None] = {}
        for step in self.subject.history:
            self._follow_renames(step)
            for part in judge_step(self.subject, step):
                skipped |= dict.fromkeys(part.skipped)
                for each in part.found:
                    self.lost[each.finding.fingerprint] = (each, step)
                    self.paths[each.finding.path] = each.finding.path
        at_tip = (self._at_tip(*each) for each in self.lost.values())
        found = sorted(filter(None, at_tip), key=lambda each: (each.path, each.line or 0))
        return Report(tuple(found), tuple(skipped))

    def _follow_renames(self, step: ChangeSet) -> None:
        renamed = {c.old_path: c.path for c in step if c.status is Status.RENAMED}
        if renamed:
            self.paths = {was: renamed.get(now, now) for was, now in self.paths.items()}

    def _at_tip(self, found: Found, step: ChangeSet) -> Finding | None:
        """Return a finding as it is reported, None if what went is back at every tip.

        One of a file that later commits leave alone is a finding of the whole change, as one of a merge is, which
        shows no lines of its own.
        """
        change = found.file.change
        path = self.paths[found.finding.path]
        texts = [text for tip in self.subject.tips if (text := self._text(tip, path))]
        gone = [text for text in texts if self._is_gone(found, path, text)]
        is_back = not found.is_new and found.fact.key in self._came
        if not gone or is_back:
            return None
        after = self.subject.contents.new(change) or ""
        if path == change.path and all(text == after for text in texts):
            return found.finding
        if not step.is_merge:
            return replace(found.finding, commit=step.commit)
        line = line_now(after, gone[0], found.finding.line or 1)
        return replace(found.finding, path=path, line=line)

    def _text(self, tip: str, path: str) -> str | None:
        file = FileChange(path, Status.MODIFIED, new_blob=f"{tip}:{path}")
        with suppress(MissingObject):
            return self.subject.contents.new(file)
        return None

    def _is_gone(self, found: Found, path: str, text: str) -> bool:
        """Return whether what a commit took away, or brought, is so in the file of a tip as well."""
        change = found.file.change
        old = self.subject.contents.old(change) or ""
        whole = replace(change, path=path, hunks=hunks_between(old, text))
        difference = compare_file(self.subject.trees, whole, old, text)
        facts = difference.came if found.is_new else difference.went
        keys = {fact.key for fact in facts}
        return found.fact.key in keys or bool(difference.old.unread)

    @cached_property
    def _came(self) -> frozenset[Key]:
        """The facts that the whole range adds, wherever."""
        gaining = filter(may_gain, self.subject.changes)
        return frozenset(
            fact.key for each in gaining for fact in compare(self.subject, each).came
        )
