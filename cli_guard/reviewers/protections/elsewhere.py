"""Checks that a change moves into something else: the query that fetches the value, or its type.

`covers` has those that moved to what stands around many functions.
"""

import re
from collections.abc import Iterator

from cli_guard.code.changes.comparisons import (
    Comparison,
    is_amount,
    read_comparison,
    split_arguments,
)
from cli_guard.code.changes.difference import ChangeDifference, FileDifference
from cli_guard.code.changes.facts import (
    IDENTIFIER,
    CodeFact,
    CodeUnit,
    FactKind,
    short_name,
    words_of_name,
)
from cli_guard.code.changes.naming import write_dotted
from cli_guard.code.changes.values import read_strength_words
from cli_guard.reviewers.protections.families import PRESENCE, families_of
from cli_guard.reviewers.protections.loss import FITTING, ORDINARY, Loss, net_key

# Of a value these are no names: `len(name)`, `name.length`.
MEASURES = frozenset("len length size count strlen sizeof mb_strlen".split())
DECLARING = (FactKind.OPTION, FactKind.TYPE, FactKind.DECORATOR, FactKind.CALL)
# A call that declares which values a field may have: `validates :quantity, …`.
VALIDATING = frozenset(("validates", "validate", "validator", "check"))
ONE_NAME = re.compile(r"!?(?:not )?\(?[\w$@.>-]+\)?")
# An annotation stands on the lines above its field.
LINES_BELOW = 2


def is_in_query(loss: Loss, difference: ChangeDifference) -> bool:
    """Return whether what a value was compared with is now part of how the value is fetched.

    A guard that refused who is not the owner has become a search among what the owner has.
    """
    fact = loss.fact
    if not fact.is_judged or loss.family != "access":
        return False
    asked = [
        each
        for each in fact.operands
        if not PRESENCE.fullmatch(each) and not ONE_NAME.fullmatch(each)
    ]
    pair = difference.pair_of(loss.file, fact.unit)
    unit = pair.name if pair else fact.unit
    scoped = [is_scoped(each, loss.file, unit) for each in asked]
    # Who fails one of several that are joined by "and" was let in.
    return any(scoped) if fact.joiner == "and" else bool(scoped) and all(scoped)


def is_in_callee(loss: Loss, difference: ChangeDifference) -> bool:
    """Return whether a function does now what a member did that went where it is called or, as a component, named.

    It has the same member: since this change, or the call is new. Or it makes values fit since this change.
    """
    unit = loss.fact.unit
    called = {new.last_name for new in loss.file.came if new.is_call and new.unit == unit}
    reached = called | names_reached(loss, difference)
    asked = net_key(loss.fact)
    for file in difference.files:
        for new in file.new.facts:
            name = short_name(new.unit)
            if name not in reached or not (name in called or new in file.came):
                continue
            fits = loss.family in FITTING and name in called and new in file.came
            is_same = net_key(new) == asked or fits
            if is_same and loss.family in families_of(new, file.language):
                return True
    return False


def names_reached(loss: Loss, difference: ChangeDifference) -> frozenset[str]:
    """Return the names in what the unit of a loss became, and in the changed units that it names."""
    pair = difference.pair_of(loss.file, loss.fact.unit)
    named = pair.words if pair else frozenset[str]()
    units = (unit for file in difference.files for unit in file.new.units)
    return named.union(*(unit.words for unit in units if short_name(unit.name) in named))


def is_scoped(operand: str, file: FileDifference, unit: str) -> bool:
    """Return whether the one side of a comparison is fetched by the other one."""
    found = read_comparison(operand)
    if found is None or found.relation not in ("exact", "identical"):
        return False
    return any(
        is_fetched_by(value, scope, file, unit)
        for value, scope in ((found.left, found.right), (found.right, found.left))
    )


def is_fetched_by(value: str, scope: str, file: FileDifference, unit: str) -> bool:
    """Return whether the variable of `value` is bound now to what is found by `scope`, and was not before."""
    variable, _, attribute = plain_path(value).partition(".")
    asked = plain_path(scope)
    owner = asked.rpartition(".")[0] or asked
    bound = (
        fact
        for fact in file.came
        if fact.is_option and fact.unit == unit and plain_path(fact.name) == variable
    )
    return any(
        is_search(each, made, {asked, owner}, attribute)
        for made in bound
        for each in file.came
        if made.line <= each.line <= made.end_line and each is not made
    )


def is_search(fact: CodeFact, made: CodeFact, owners: set[str], attribute: str) -> bool:
    """Return whether a call or argument in a binding looks only among what belongs to an owner."""
    about = set(words_of_name(attribute)) - {"id"}
    if fact.is_option:
        is_owner = plain_path(fact.detail) in owners
        return is_owner and not about.isdisjoint(words_of_name(fact.name))
    if not fact.is_call or not fact.detail:
        return False
    # `current_user.orders.find(id)`
    name = plain_path(fact.name)
    begins = any(name.startswith(f"{each}.") for each in owners)
    if begins and plain_path(made.detail).startswith(name):
        return True
    given = split_arguments(fact.detail)
    is_given = any(plain_path(each) in owners for each in given)
    return is_given and not about.isdisjoint(words_of_name(fact.text))


def plain_path(text: str) -> str:
    return write_dotted(text).replace("$", "").lstrip("@")


def is_in_type(loss: Loss, difference: ChangeDifference) -> bool:
    """Return whether the type of the value refuses now what a guard did: its field has the same bounds, or is narrow.

    The type must be named where the guard stood.
    """
    fact = loss.fact
    if not fact.is_judged or loss.family not in ORDINARY:
        return False
    bounds = [limit_of(each) for each in fact.operands]
    pair = difference.pair_of(loss.file, fact.unit)
    declared = [
        each
        for file in difference.files
        for each in file.came
        if each.kind in DECLARING and is_used_by(each, file, pair, loss)
    ]
    if loss.family == "validation" and any(is_narrow(each, fact) for each in declared):
        return True
    return bool(bounds) and all(
        limit is not None and any(is_limited(each, *limit, difference) for each in declared)
        for limit in bounds
    )


def is_used_by(
    fact: CodeFact, file: FileDifference, pair: CodeUnit | None, loss: Loss
) -> bool:
    """Return whether a declaration is in a class that the unit of a loss names, or in that unit's own heading."""
    if not fact.unit or pair is None:
        return file is loss.file and not fact.unit
    return fact.unit == pair.name or short_name(fact.unit) in pair.words


def limit_of(operand: str) -> tuple[str, str] | None:
    """Return the field that an operand compares with a constant, and the constant."""
    found = read_comparison(operand)
    if found is None:
        return None
    plain: Comparison = found.without_denial
    if not is_amount(plain.right):
        return None
    names = [name for name in IDENTIFIER.findall(plain.left) if name not in MEASURES]
    return (names[-1], plain.right) if names else None


def is_limited(
    fact: CodeFact, field: str, limit: str, difference: ChangeDifference
) -> bool:
    """Return whether a declaration of a field holds a limit."""
    if limit not in re.findall(r"\w+", fact.detail):
        return False
    return any(same_name(field, name) for name in declared_names(fact, difference))


def declared_names(fact: CodeFact, difference: ChangeDifference) -> Iterator[str]:
    """Yield the names of the fields that a fact may declare something of."""
    if fact.kind in (FactKind.OPTION, FactKind.TYPE):
        yield fact.last_name
    elif fact.is_call:
        if fact.last_name.lower() in VALIDATING:
            yield from IDENTIFIER.findall(fact.detail.partition(",")[0])
    else:
        for file in difference.files:
            if fact in file.came:
                yield from names_below(fact, file)


def names_below(fact: CodeFact, file: FileDifference) -> Iterator[str]:
    """Yield the name of the first field that an annotation is part of, or stands right above."""
    for each in sorted(file.new.facts, key=lambda each: each.line):
        is_below = each.line <= fact.end_line + LINES_BELOW and fact.line <= each.end_line
        if is_below and each.kind in (FactKind.TYPE, FactKind.OPTION):
            yield each.last_name
            return


def is_narrow(fact: CodeFact, guard: CodeFact) -> bool:
    """Return whether a declaration gives a name that a guard asks about a type that few texts fit."""
    if fact.kind is not FactKind.TYPE or fact.name not in IDENTIFIER.findall(guard.name):
        return False
    words = {word.lower() for word in IDENTIFIER.findall(fact.detail)}
    known = read_strength_words()
    return bool(words & known["narrow"]) and not words & known["wide"]


def same_name(one: str, other: str) -> bool:
    return words_of_name(one) == words_of_name(other)
