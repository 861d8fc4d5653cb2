"""Find checks that a change moves behind what they guard, in the units where the change touches a check or an act."""

from collections.abc import Iterator
from itertools import chain, islice

from cli_guard.code.changes.difference import ChangeDifference, FileDifference, Side
from cli_guard.code.changes.facts import CodeFact, CodeUnit, words_of_name
from cli_guard.code.changes.loosening import Looser
from cli_guard.code.changes.order import PLACED, facts_of_unit, late_checks, raw_checks
from cli_guard.code.changes.values import read_strength_words
from cli_guard.code.languages import language_for
from cli_guard.reviewers.protections.families import families_of
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
        if may_be_late(file, unit)
        and (pair := difference.pair_of(file, unit.name)) is not None
        and pair.path == file.change.path
    )
    for file, unit, pair in islice(moved, MOST_UNITS):
        yield from late_in_unit(subject, file, unit, pair)


def may_be_late(file: FileDifference, unit: CodeUnit) -> bool:
    """Return whether a check or an act of a unit may have moved: reading the whole unit takes longer than all else.

    What moved is on lines that the change removed, and on such that it added.
    """
    after = {fact.name for fact in placed_in(file.new, unit)}
    moved = [fact for fact in placed_in(file.old, unit) if fact.name in after]
    if all(not fact.is_call for fact in moved):
        return False
    known = read_strength_words()
    words = {word for name in unit.words for word in (*words_of_name(name), name.lower())}
    # Nothing there that is called moves: the condition may now ask about another name.
    if not words.isdisjoint(known["decodes"]):
        return True
    language = file.language
    return not words.isdisjoint(known["acts"]) and any(
        is_act(fact) or is_check(fact, language) for fact in moved
    )


def placed_in(side: Side, unit: CodeUnit) -> Iterator[CodeFact]:
    return (fact for fact in side.facts if fact.kind in PLACED and fact.unit == unit.name)


def is_act(fact: CodeFact) -> bool:
    """Return whether a call is an act that a check may have to come before, by the words of its name."""
    words = words_of_name(fact.last_name)
    is_call = fact.is_call
    return is_call and not read_strength_words()["acts"].isdisjoint(words)


def is_check(fact: CodeFact, language: str) -> bool:
    return bool(families_of(fact, language)) or is_named_check(fact)


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
    placed = (fact for fact in before if fact.kind in PLACED)
    checks = {fact.name for fact in placed if is_check(fact, language)}
    if not checks:
        return
    after = facts_of_unit(subject.trees, language, new, pair)
    seen = set()
    late_ones = chain(late_checks(before, after, checks), raw_checks(before, after, checks))
    for late in late_ones:
        moved = late.check if file.hunk_of(late.check) else late.act
        if late.act.line not in seen and file.hunk_of(moved):
            seen.add(late.act.line)
            yield Weakening(Looser(moved, late.act, "order", late.why), file)
