"""Find checks that a change moves behind what they guard, in the units where the change touches a check or an act."""

from collections.abc import Iterator, Sequence
from itertools import chain, islice

from cli_guard.code.changes.difference import ChangeDifference, FileDifference
from cli_guard.code.changes.facts import CodeFact, CodeUnit, FactKind
from cli_guard.code.changes.loosening import Looser
from cli_guard.code.changes.order import PLACED, facts_of_unit, late_checks, raw_checks
from cli_guard.code.languages import language_for
from cli_guard.reviewers.protections.families import families_of
from cli_guard.reviewers.protections.losses import hunk_of
from cli_guard.reviewers.protections.weakenings import Weakening, is_named_check
from cli_guard.reviewers.review_input import ReviewInput

MOST_UNITS = 100


def find_late_checks(
    subject: ReviewInput, difference: ChangeDifference
) -> Iterator[Weakening]:
    """Yield the checks that now come behind what they guarded, each with what runs before it."""
    moved = (
        (file, unit, pair)
        for file in difference.files
        for unit in file.old.units
        if has_moved_call(file, unit)
        and (pair := difference.pair_of(file, unit.name)) is not None
        and pair.path == file.change.path
    )
    for file, unit, pair in islice(moved, MOST_UNITS):
        yield from late_in_unit(subject, file, unit, pair)


def has_moved_call(file: FileDifference, unit: CodeUnit) -> bool:
    """Return whether a call of a unit is on lines that the change removed, and on such that it added."""
    names = [names_in(side.facts, unit.name) for side in (file.old, file.new)]
    return not names[0].isdisjoint(names[1])


def names_in(facts: Sequence[CodeFact], unit: str) -> set[str]:
    return {fact.name for fact in facts if fact.kind is FactKind.CALL and fact.unit == unit}


def late_in_unit(
    subject: ReviewInput, file: FileDifference, unit: CodeUnit, pair: CodeUnit
) -> Iterator[Weakening]:
    """Yield the checks of one unit that come late now."""
    language = language_for(file.change.path)
    old = subject.contents.old(file.change)
    new = subject.contents.new(file.change)
    if language is None or old is None or new is None:
        return
    before = facts_of_unit(subject.trees, language, old, unit)
    after = facts_of_unit(subject.trees, language, new, pair)
    checks = {
        fact.name
        for fact in before
        if fact.kind in PLACED and (families_of(fact, language) or is_named_check(fact))
    }
    seen = set()
    late_ones = chain(late_checks(before, after, checks), raw_checks(before, after, checks))
    for late in late_ones:
        moved = late.check if hunk_of(file.change, late.check) else late.act
        if late.act.line not in seen and hunk_of(file.change, moved):
            seen.add(late.act.line)
            yield Weakening(Looser(moved, late.act, "order", late.why), file)
