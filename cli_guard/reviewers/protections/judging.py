"""Compare the two states of a change, and judge what went."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from cli_guard.code.changes.difference import (
    ChangeDifference,
    FileDifference,
    compare_file,
)
from cli_guard.code.changes.facts import FactKind
from cli_guard.code.classify import unreadable
from cli_guard.lazy import frozen
from cli_guard.model import FileChange, Skipped, split_lines
from cli_guard.reviewers.protections.covers import find_misplaced, is_covered, is_in_caller
from cli_guard.reviewers.protections.elsewhere import (
    is_in_callee,
    is_in_query,
    is_in_type,
)
from cli_guard.reviewers.protections.exceptions import find_exceptions
from cli_guard.reviewers.protections.findings import Found, Warned, findings_of
from cli_guard.reviewers.protections.loss import Loss
from cli_guard.reviewers.protections.losses import Losses
from cli_guard.reviewers.protections.marks import MOVED, NAME, OTHER, Marks
from cli_guard.reviewers.protections.plain_guards import find_plain_guards
from cli_guard.reviewers.protections.unasked import find_unasked
from cli_guard.reviewers.protections.warnings import warned_losses, warns
from cli_guard.reviewers.protections.weakenings import (
    Weakening,
    find_late_checks,
    find_weakenings,
)
from cli_guard.reviewers.review_input import ReviewInput

Excuses = Mapping[str, Sequence[FileChange]]


@frozen
class Judged:
    """The findings of one step, each with the fact that went and its file; and what was not compared."""

    found: tuple[Found, ...] = ()
    skipped: tuple[Skipped, ...] = ()


def judge(
    subject: ReviewInput,
    losing: Sequence[FileChange],
    gaining: Sequence[FileChange],
    excuses: Excuses,
) -> Judged:
    """Judge the files that lose lines; those that only gain are read if any of them lost a protection.

    `excuses` are by path the changes of the other parents of a merge: what they took away was judged as theirs.
    """
    lost = [LosingFile.of(subject, each, excuses) for each in losing]
    # A lone file that was read anyway is judged at once: marks say which other files have to be read.
    if len(lost) > 1 or gaining or lost[0].is_complete:
        lost = files_that_matter(subject, lost)
    if not lost:
        return Judged()
    files = [each.difference(subject, excuses) for each in lost]
    files += [compare(subject, change) for change in gaining]
    difference = ChangeDifference.of(files)
    losses, weakenings, warned = losses_of(subject, difference)
    found = (
        with_last_line(subject, each)
        for each in findings_of(subject, difference, losses, weakenings, warned)
    )
    skipped = (
        Skipped(file.change.path, f"protections: {side.unread}")
        for file in files
        for side in (file.old, file.new)
        if side.unread
    )
    return Judged(tuple(found), tuple(dict.fromkeys(skipped)))


def with_last_line(subject: ReviewInput, found: Found) -> Found:
    """Return a finding at a line that is there: what went from the end of a file leaves none behind it."""
    last = len(split_lines(subject.contents.new(found.file.change) or "")) or 1
    finding = found.finding
    return replace(found, finding=replace(finding, line=min(finding.line or 1, last)))


def losses_of(
    subject: ReviewInput, difference: ChangeDifference
) -> tuple[list[Loss], list[Weakening], list[Warned]]:
    """Return what a comparison of files says: what went, what became weaker, and the warnings that went."""
    losses = Losses(difference, subject.contents, subject.own_guards).find()
    losses += find_plain_guards(subject, difference)
    left = [each for each in losses if not stands_elsewhere(each, subject, difference)]
    return (
        [*left, *find_misplaced(subject, difference)],
        [
            *find_weakenings(difference),
            *find_late_checks(subject, difference),
            *find_exceptions(difference),
            *find_unasked(difference),
        ],
        list(warned_losses(difference)),
    )


def stands_elsewhere(
    loss: Loss, subject: ReviewInput, difference: ChangeDifference
) -> bool:
    """Return whether another thing of the change asks now what a lost check asked."""
    return (
        is_in_query(loss, difference)
        or is_in_type(loss, difference)
        or is_covered(loss, subject, difference)
        or is_in_caller(loss)
        or is_in_callee(loss, difference)
    )


@frozen
class LosingFile:
    """A file that loses lines, with its marks; those that were known before are complete.

    `compared` is None if the file was compared in another process or run.
    """

    change: FileChange
    marks: Marks
    compared: FileDifference | None
    is_complete: bool = False

    @classmethod
    def of(cls, subject: ReviewInput, change: FileChange, excuses: Excuses) -> "LosingFile":
        known = subject.file_result(NAME, change) if not excuses else None
        if known is not None:
            made = known.made if isinstance(known.made, FileDifference) else None
            return cls(change, Marks.of_numbers(known.weights), made, is_complete=True)
        file = excuse(subject, compare(subject, change), excuses)
        return cls(change, marks_of_families(subject, file), file)

    def complete(self, subject: ReviewInput) -> "LosingFile":
        if self.is_complete or self.compared is None:
            return self
        return replace(self, marks=complete_marks(subject, self.compared, self.marks))

    def matters(self, at_stake: frozenset[str]) -> bool:
        """Return whether the file has lost what is at stake, or may have won what another has lost."""
        return bool(self.marks.lost) or not self.marks.touched.isdisjoint(
            at_stake.union((MOVED,))
        )

    def difference(self, subject: ReviewInput, excuses: Excuses) -> FileDifference:
        return self.compared or excuse(subject, compare(subject, self.change), excuses)


def files_that_matter(
    subject: ReviewInput, files: Sequence[LosingFile]
) -> list[LosingFile]:
    """Return the files that are compared together, none if no file has lost anything.

    What else became weaker is looked for only in files that nothing else brings in: the comparison will look again.
    """
    at_stake = families_lost(files)
    files = [
        each if at_stake and each.matters(at_stake) else each.complete(subject)
        for each in files
    ]
    at_stake = families_lost(files)
    return [each for each in files if each.matters(at_stake)] if at_stake else []


def families_lost(files: Sequence[LosingFile]) -> frozenset[str]:
    return frozenset[str]().union(*(each.marks.lost for each in files))


def marks_of(subject: ReviewInput, file: FileDifference) -> Marks:
    """Return what one file says of what it lost and won, compared alone."""
    return complete_marks(subject, file, marks_of_families(subject, file))


def marks_of_families(subject: ReviewInput, file: FileDifference) -> Marks:
    """Return the families of which one file has lost a member, or touched one."""
    losses = Losses(ChangeDifference((file,)), subject.contents, subject.own_guards)
    lost = {each.family for each in losses.members(file, file.went)}
    came = losses.members(file, file.came, came=True)
    touched = {each.family for each in came} | lost
    if any(fact.kind is FactKind.DEFINITION or warns(fact) for fact in file.came):
        touched.add(MOVED)
    return Marks(frozenset(lost), frozenset(touched))


def complete_marks(subject: ReviewInput, file: FileDifference, marks: Marks) -> Marks:
    """Return marks that also say whether anything else became weaker, or was not read."""
    # A family says already that something is lost.
    if marks.lost:
        return marks
    if not file.old.unread and not any(losses_of(subject, ChangeDifference((file,)))):
        return marks
    return Marks(marks.lost.union((OTHER,)), marks.touched.union((OTHER,)))


def excuse(subject: ReviewInput, file: FileDifference, excuses: Excuses) -> FileDifference:
    """Return a comparison in which that may go which other parents had taken away."""
    others = excuses.get(file.change.path, ()) if file.went else ()
    gone = tuple(fact for other in others for fact in compare(subject, other).went)
    return replace(file, excused=gone) if gone else file


def compare(subject: ReviewInput, change: FileChange) -> FileDifference:
    """Compare the two states of a file; one that a program wrote has no facts."""
    old = subject.contents.old(change)
    new = subject.contents.new(change)
    if new is not None and unreadable(change.path, new, subject.limits.file_chars):
        old = new = None
    return compare_file(subject.trees, change, old, new)
