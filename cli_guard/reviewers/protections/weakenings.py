"""Which protections a change makes weaker: a condition, a match, a value or a member of a family, in the same unit."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice, product

from cli_guard.code.changes.difference import ChangeDifference, FileDifference
from cli_guard.code.changes.facts import CodeFact, FactKind, words_of_name
from cli_guard.code.changes.handlers import looser_handlers
from cli_guard.code.changes.loosening import MOST_PAIRS, Looser, looser_facts, weaker_member
from cli_guard.code.changes.swaps import weaker_functions
from cli_guard.code.changes.values import read_strength_words
from cli_guard.code.languages import language_for
from cli_guard.lazy import dataclass
from cli_guard.reviewers.protections.families import families_of
from cli_guard.reviewers.protections.losses import members, net

COMPARISONS = ("comparison", "bound")
MEMBERS = (FactKind.CALL, FactKind.ARGUMENT, FactKind.DECORATOR)


@dataclass(frozen=True, slots=True)
class Weakening:
    """A fact that became looser, and the file that it is in."""

    looser: Looser
    file: FileDifference


def find_weakenings(difference: ChangeDifference) -> Iterator[Weakening]:
    """Yield what became looser in each unit that is there before and after the change."""
    for file in difference.files:
        yield from find_looser_handlers(file)
        came = by_unit(file.came)
        for unit, went in by_unit(file.went).items():
            pair = difference.pair_of(file, unit) if unit else None
            name = pair.name if pair else unit
            now = came.get(name, ())
            for looser in looser_facts(went, now):
                if protects(looser, file):
                    yield Weakening(looser, file)
            for looser in weaker_functions(went, now):
                yield Weakening(looser, file)
            for looser in weaker_members(file, went, now):
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


def by_unit(facts: Sequence[CodeFact]) -> dict[str, list[CodeFact]]:
    found: defaultdict[str, list[CodeFact]] = defaultdict(list)
    for fact in facts:
        found[fact.unit].append(fact)
    return found


def protects(looser: Looser, file: FileDifference) -> bool:
    """Return whether what became looser is a protection: the words of a family say so, or the sort alone does."""
    language = language_for(file.change.path) or ""
    if looser.sort == "condition":
        was = set(looser.old.operands)
        now = set(looser.new.operands)
        # What no longer counts, or what now has an exception.
        concerned = was - now or was
        return any(
            families_of(CodeFact(FactKind.GUARD, each), language) for each in concerned
        )
    if looser.sort == "handler":
        calls = (CodeFact(FactKind.CALL, name) for name in looser.old.operands)
        return any(families_of(each, language) for each in (looser.old, *calls))
    if looser.sort in COMPARISONS:
        return is_check(looser.old, language)
    if looser.sort == "member" and "no longer asks" not in looser.why:
        is_known = families_of(looser.old, language) or is_named_check(looser.old)
        return bool(is_known) or looser.old.kind is FactKind.DECORATOR
    return True


def is_check(fact: CodeFact, language: str) -> bool:
    """Return whether a condition, or the function that gives it back, is a protection by its words."""
    name = fact.unit.rpartition(".")[2]
    unit = CodeFact(FactKind.DEFINITION, name)
    judges = not read_strength_words()["judges"].isdisjoint(words_of_name(name))
    return bool(judges or families_of(fact, language) or families_of(unit, language))


def is_named_check(fact: CodeFact) -> bool:
    """Return whether a function is a check by the first word of its name: `ensure_owner`, `requireInside`."""
    words = words_of_name(fact.name.rpartition(".")[2])
    is_named = len(words) > 1 and words[0] in read_strength_words()["checks"]
    return fact.kind in MEMBERS and is_named
