"""Which protections a change makes weaker: a condition, a match, a value or a member of a family, in the same unit.

So is a check that the change moves behind what it guards, in a unit where it touches a check or an act.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice, product

from cli_guard.code.changes.calls import (
    answers_with_errors,
    changed_argument,
    quoting_texts,
    searches_of_everybody,
)
from cli_guard.code.changes.comparisons import read_comparison
from cli_guard.code.changes.difference import ChangeDifference, FileDifference, Side
from cli_guard.code.changes.facts import (
    IDENTIFIER,
    LONGEST_DETAIL,
    ONLY_SAYS,
    VALUES,
    CodeFact,
    CodeUnit,
    FactKind,
    Looser,
    short_name,
    words_of_name,
)
from cli_guard.code.changes.handlers import looser_handlers
from cli_guard.code.changes.lists import LISTED, looser_lists
from cli_guard.code.changes.loosening import (
    looser_facts,
    names_of_sides,
    plain_comparisons,
)
from cli_guard.code.changes.order import (
    PLACED,
    conditional_checks,
    facts_of_unit,
    late_checks,
    raw_checks,
)
from cli_guard.code.changes.ranks import (
    MOST_PAIRS,
    weaker_functions,
    weaker_member,
)
from cli_guard.code.changes.values import read_strength_words
from cli_guard.code.languages import language_for
from cli_guard.lazy import frozen
from cli_guard.model import group_by
from cli_guard.reviewers.protections.families import PRESENCE, families_of, is_check
from cli_guard.reviewers.protections.loss import FITTING, members, net
from cli_guard.reviewers.protections.memory import (
    MEMORY,
    SIZE_ASKED,
    lost_endings,
)
from cli_guard.reviewers.protections.replacements import covers
from cli_guard.reviewers.review_input import ReviewInput

COMPARISONS = ("comparison", "bound", "asked")
# The sort of a branch that came: see exceptions.py.
EXCEPTION = "exception"
MEMBERS = (FactKind.CALL, FactKind.ARGUMENT, FactKind.DECORATOR)
MOST_UNITS = 100
# Families of checks of whoever asks.
WHO = ("access", "csrf", "signature")
OTHER_SAFETY = frozenset(("null", "thread", "type"))
JOINING = re.compile(r"&&|\|\||\band\b|\bor\b")
# A value alone, or a place in one, that is there or not.
ONE_NAME = re.compile(r"(?:!|not )?\(?[\w$@.?>:\[\]-]+\)?")
CALLED = re.compile(r"([\w.]+)\(")
LEAVING = re.compile(r"\b(?:return|throw|raise|exit|die)\b ?")
PATH = re.compile(r"[A-Za-z_$@][\w$.>-]*[\w$]")


@frozen
class Weakening:
    """A fact that became looser, and the file that it is in."""

    looser: Looser
    file: FileDifference

    @property
    def is_new(self) -> bool:
        """Return whether its fact came, and took the place of none."""
        looser = self.looser
        return looser.sort in (EXCEPTION, LISTED) and looser.old is looser.new


def find_weakenings(difference: ChangeDifference) -> Iterator[Weakening]:
    """Yield what became looser in each unit that is there before and after the change."""
    for file in difference.files:
        yield from find_looser_handlers(file)
        states = (file.went, file.came)
        for looser in looser_lists(*states):
            yield Weakening(looser, file)
        came = by_unit(file.came)
        for unit, went in by_unit(file.went).items():
            pair = difference.pair_of(file, unit) if unit else None
            name = pair.name if pair else unit
            now = came.get(name, ())
            for looser in looser_facts(went, now):
                if protects(looser, file):
                    yield Weakening(looser, file)
            surely = chain(
                weaker_functions(went, now),
                unsafe_twins(file, went, now),
                quoting_texts(went, now),
                searches_of_everybody(went, now),
                answers_with_errors(went, now),
                weaker_members(file, went, now),
                lost_endings(file, went),
                plain_comparisons(went, now, calls_in_constant_time(file, went)),
            )
            for looser in surely:
                yield Weakening(looser, file)


def find_looser_handlers(file: FileDifference) -> Iterator[Weakening]:
    """Yield the checks of a file whose errors are caught now, where the program went no further before."""
    before = by_unit(file.old.facts)
    went = by_unit(file.went)
    for unit, came in by_unit(file.came).items():
        known = before.get(unit, ())
        for old, new, why in looser_handlers(known, went.get(unit, ()), came):
            looser = Looser(old, new, "handler", why)
            if protects(looser, file):
                yield Weakening(looser, file)


def weaker_members(
    file: FileDifference, went: Sequence[CodeFact], came: Sequence[CodeFact]
) -> Iterator[Looser]:
    """Yield the members of a family in whose place a weaker one of the same family came."""
    all_lost = list(members(file, went))
    all_gained = list(members(file, came)) if all_lost else []
    lost = net(all_lost, all_gained)
    gained = net(all_gained, all_lost)
    for old, new in islice(product(lost, gained), MOST_PAIRS):
        same = old.family == new.family and old.fact.kind is new.fact.kind
        if same and old.fact.kind in MEMBERS and (why := weaker_member(old.fact, new.fact)):
            yield Looser(old.fact, new.fact, "member", why)


def unsafe_twins(
    file: FileDifference, went: Sequence[CodeFact], came: Sequence[CodeFact]
) -> Iterator[Looser]:
    """Yield what its name calls the safe one of two, with the other one that came for it: `safe_load`, `load`."""
    for old in went:
        name = words_named(old)
        hunk = file.hunk_of(old) if is_safe(name) else None
        if hunk is None or families_of(old, file.language):
            continue
        for new in came:
            other = words_named(new)
            if (
                new.kind is old.kind
                and covers(hunk, new)
                and not name.isdisjoint(other)
                and not is_safe(other)
                and speak_of_one_value(old, new)
            ):
                one, two = (e.name if e.is_call else e.detail for e in (old, new))
                yield Looser(old, new, "function", f"`{two}` takes the place of `{one}`")
                break


def words_named(fact: CodeFact) -> frozenset[str]:
    """Return the words in the name of the function or type that a fact uses."""
    if fact.is_call:
        return frozenset(words_of_name(fact.last_name))
    return frozenset(words_of_name(fact.detail if fact.kind is FactKind.TYPE else ""))


def is_safe(words: frozenset[str]) -> bool:
    """Return whether a name says that it is safer than another one; what is safe of nulls or threads does not."""
    return bool(words & read_strength_words()["safer"]) and not words & OTHER_SAFETY


def speak_of_one_value(one: CodeFact, other: CodeFact) -> bool:
    if not one.is_call:
        return one.name == other.name
    return not set(VALUES.findall(one.detail)).isdisjoint(VALUES.findall(other.detail))


def calls_in_constant_time(
    file: FileDifference, facts: Sequence[CodeFact]
) -> frozenset[CodeFact]:
    return frozenset(
        fact
        for fact in facts
        if fact.is_call and "timing" in families_of(fact, file.language)
    )


def by_unit(facts: Sequence[CodeFact]) -> dict[str, list[CodeFact]]:
    return group_by(facts, lambda fact: fact.unit)


def protects(looser: Looser, file: FileDifference) -> bool:
    """Return whether what became looser is a protection: the words of a family say so, or the sort alone does."""
    language = file.language
    if looser.sort == "condition":
        was = set(looser.old.operands)
        now = set(looser.new.operands)
        # What no longer counts, or what now has an exception.
        concerned = was - now or was
        if language in MEMORY and any(map(SIZE_ASKED.search, concerned)):
            return True
        if any(map(is_prefix_check, was - now)):
            return True
        if drops_refusal(looser, concerned, language):
            return True
        if was == now:
            asking = asked_by(looser, file)
            return is_cut_short(looser, file) and any(
                families_of(each, language) or is_named_check(each) for each in asking
            )
        return is_check_itself(looser.old, language) or any(
            families_of(CodeFact(FactKind.GUARD, each), language) for each in concerned
        )
    if looser.sort == "handler":
        calls = (CodeFact(FactKind.CALL, name) for name in looser.old.operands)
        facts = (looser.old, *calls)
        if any(families_of(each, language) for each in facts):
            return True
        return is_check_itself(looser.old, language)
    if looser.sort == "filter":
        first = IDENTIFIER.search(looser.old.detail)
        given = CodeFact(FactKind.ARGUMENT, first[0] if first else "", looser.old.name)
        return bool(families_of(given, language)) or is_named_check(given)
    if looser.sort in COMPARISONS:
        is_sized = looser.sort == "bound" and language in MEMORY
        return not asks_presence_less(looser) and (
            is_check(looser.old, language)
            or compares_types_no_more(looser)
            or (
                is_sized
                and SIZE_ASKED.search(looser.old.name.replace("->", ".")) is not None
            )
        )
    if looser.sort == "match" and looser.why.startswith("`replace`"):
        # Where it replaces every occurrence, it is no weaker than `replaceAll`.
        return language not in read_strength_words()["replaces_every"]
    if looser.sort == "member" and is_bound_anew(looser, file):
        return False
    if looser.sort == "member" and "no longer asks" not in looser.why:
        facts = (looser.old, *names_given(looser))
        return any(families_of(e, language) or is_named_check(e) for e in facts)
    return looser.sort != "type" or not is_narrowed(looser.new, file)


def is_bound_anew(looser: Looser, file: FileDifference) -> bool:
    """Return whether the argument that a call has now is bound to what that before was bound to: it is renamed."""
    changed = changed_argument(looser.old, looser.new)
    if changed is None:
        return False
    was, now = changed
    bound = {bound_to(each) for each in file.went if each.last_name == was}
    return any(
        each.is_option and each.last_name == now and bound_to(each) in bound
        for each in file.came
    )


def bound_to(fact: CodeFact) -> str:
    """Return what a name stands for, also as a property that is calculated, "" for another fact."""
    return fact.detail.removeprefix("=> ") if fact.is_option else ""


def names_given(looser: Looser) -> Iterator[CodeFact]:
    """Yield the names that a call, decorator or list had, and the weaker one has not, as its arguments."""
    old = looser.old
    left = IDENTIFIER.findall(looser.new.detail)
    for name in IDENTIFIER.findall(old.detail):
        if name not in left:
            yield CodeFact(FactKind.ARGUMENT, name, old.name)


def is_cut_short(looser: Looser, file: FileDifference) -> bool:
    """Return whether what left there went, and nothing came in its place, or what it answered goes on."""
    hunk = file.hunk_of(looser.old)
    if looser.new.detail == ONLY_SAYS:
        return True
    if hunk is None:
        return False
    answers = {LEAVING.sub("", line).strip() for line in hunk.removed}
    return all(line.strip() in answers for line in hunk.added)


def compares_types_no_more(looser: Looser) -> bool:
    """Return whether two values, neither of them a constant, were the same and of one type, and are only alike now."""
    was = set(looser.old.operands) - set(looser.new.operands)
    now = set(looser.new.operands) - set(looser.old.operands)
    was_strict = any("===" in each or "!==" in each for each in was)
    return (
        was_strict
        and not any("===" in e or "!==" in e for e in now)
        and any(map(names_of_sides, now))
    )


def asked_by(looser: Looser, file: FileDifference) -> Iterator[CodeFact]:
    """Yield a condition, and the calls on its line: Go asks about what one gave back."""
    yield looser.old
    yield CodeFact(FactKind.DEFINITION, short_name(looser.old.unit))
    unit = file.old.unit_named(looser.old.unit)
    lines = unit.text.split("\n") if unit else []
    at = looser.old.line - unit.line if unit else 0
    for name in CALLED.findall("".join(lines[at : at + 1])[:LONGEST_DETAIL]):
        yield CodeFact(FactKind.CALL, name)


def is_narrowed(declared: CodeFact, file: FileDifference) -> bool:
    """Return whether what has a wide type now is turned into a narrow one where it is used: `Guid.Parse(id)`."""
    narrow = read_strength_words()["narrow"]
    return any(
        not narrow.isdisjoint(call.name.lower().split("."))
        and declared.name in IDENTIFIER.findall(call.detail)
        for call in file.came
        if call.is_call and call.unit == declared.unit
    )


def is_prefix_check(operand: str) -> bool:
    """Return whether an operand asks whether one value begins with another one, neither of which is a constant."""
    found = read_comparison(operand)
    if found is None or found.relation != "begins":
        return False
    return not any(side[:1] in "'\"/" for side in (found.left, found.right))


def asks_presence_less(looser: Looser) -> bool:
    """Return whether all that a condition no longer asks is whether there is a value."""
    was, now = (set(JOINING.split(each.name)) for each in (looser.old, looser.new))
    gone = [each.strip(" ()") for each in was - now]
    left = {each.strip(" ()") for each in now}
    return bool(gone) and all(each in left or PRESENCE.fullmatch(each) for each in gone)


def drops_refusal(looser: Looser, concerned: Iterable[str], language: str) -> bool:
    """Return whether a guard that is a protection by how it refuses no longer asks for some of what it asked."""
    old = looser.old
    is_narrower = len(looser.new.operands) < len(old.operands)
    return (
        old.is_guard
        and is_narrower
        and bool(families_of(old, language))
        and not all(PRESENCE.fullmatch(each) for each in concerned)
    )


def is_check_itself(fact: CodeFact, language: str) -> bool:
    """Return whether the function that a condition stands in is a protection by its name."""
    unit = CodeFact(FactKind.DEFINITION, short_name(fact.unit))
    return bool(families_of(unit, language))


def is_named_check(fact: CodeFact) -> bool:
    """Return whether a function is a check by the first word of its name: `ensure_owner`, `requireInside`."""
    words = words_of_name(fact.last_name)
    is_named = len(words) > 1 and words[0] in read_strength_words()["checks"]
    return fact.kind in MEMBERS and is_named


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
    language = file.language
    if any(is_placed_check(fact, language) for fact in moved):
        return True
    known = read_strength_words()
    words = {word for name in unit.words for word in (*words_of_name(name), name.lower())}
    # Nothing there that is called moves: the condition may now ask about another name.
    if not words.isdisjoint(known["decodes"]):
        return True
    return not words.isdisjoint(known["acts"]) and any(map(is_act, moved))


def placed_in(side: Side, unit: CodeUnit) -> Iterator[CodeFact]:
    return (fact for fact in side.facts if fact.kind in PLACED and fact.unit == unit.name)


def is_act(fact: CodeFact) -> bool:
    """Return whether a call is an act that a check may have to come before, by the words of its name."""
    words = words_of_name(fact.last_name)
    is_call = fact.is_call
    return is_call and not read_strength_words()["acts"].isdisjoint(words)


def is_placed_check(fact: CodeFact, language: str) -> bool:
    families = families_of(fact, language).difference(FITTING, ("lock",))
    return is_named_check(fact) or (bool(families) and not is_act(fact))


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
    checks = {fact.name for fact in placed if is_placed_check(fact, language)}
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
    for found in conditional_checks(before, after, checks):
        families = families_of(found.check, language)
        is_own = is_named_check(found.check) or not families.isdisjoint(WHO)
        if is_own and file.hunk_of(found.check) and not is_presence(found.act, found.check):
            yield Weakening(Looser(found.check, found.act, "condition", found.why), file)


def is_presence(condition: CodeFact, check: CodeFact) -> bool:
    """Return whether a condition asks only whether there is the value that a check is given, or called on."""
    return all(
        (PRESENCE.fullmatch(each) or ONE_NAME.fullmatch(each))
        and any(value in check.text for value in PATH.findall(each))
        for each in condition.operands
    )
