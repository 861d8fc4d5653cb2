"""In what order a unit does things before and after a change: a check that comes late now, or in a branch alone.

The order of lines stands for the order of acts: what stands further down runs later. Only what is once in the unit on
each side has a place that can be compared.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import product

from cli_guard.code.changes.asked import plain_tokens
from cli_guard.code.changes.facts import (
    IDENTIFIER,
    JUDGED,
    CodeFact,
    CodeUnit,
    FactKind,
    has_word,
    words_of_name,
)
from cli_guard.code.changes.reading import FactReader
from cli_guard.code.changes.touched import TouchedLines
from cli_guard.code.changes.values import read_strength_words
from cli_guard.code.syntax import Trees
from cli_guard.lazy import frozen

PLACED = (FactKind.CALL, *JUDGED)
MOST_PLACED = 200


def facts_of_unit(trees: Trees, language: str, text: str, unit: CodeUnit) -> list[CodeFact]:
    """Return all facts of a unit, also of the lines that the change does not touch."""
    lines = TouchedLines([(unit.line, unit.end_line)])
    reader = FactReader(language, text, unit.path, lines)
    reader.read(trees)
    return [fact for fact in reader.facts if fact.unit == unit.name]


@frozen
class LateCheck:
    """A check before the change, and what now runs before it, with why."""

    check: CodeFact
    act: CodeFact
    why: str


def late_checks(
    before: Sequence[CodeFact], after: Sequence[CodeFact], checks: Collection[str]
) -> Iterator[LateCheck]:
    """Yield the checks that came before an act on the same value and come behind it now.

    `before` and `after` have all facts of the unit; `checks` the names of the calls and conditions that are checks.
    """
    was = placed_facts(before)
    now = placed_facts(after)
    both = [name for name in was if name in now][:MOST_PLACED]
    acts = [name for name in both if name not in checks and was[name].is_call]
    for name, other in product((each for each in both if each in checks), acts):
        if values_of(was[name]).isdisjoint(values_of(was[other])):
            continue
        why = reason(was[name], was[other], now[name], now[other], before)
        if why:
            yield LateCheck(was[name], was[other], why)


def raw_checks(
    before: Sequence[CodeFact], after: Sequence[CodeFact], checks: Collection[str]
) -> Iterator[LateCheck]:
    """Yield the conditions that asked about a decoded value and ask now about that from which it is decoded."""
    known = {fact.key for fact in before if fact.is_option}
    decoded = [fact for fact in after if fact.key in known and is_decoded(fact)]
    if not decoded:
        return
    asked = [fact for fact in after if fact.is_judged]
    for check in before:
        if not check.is_judged or check.name not in checks:
            continue
        for made in decoded:
            raw = [each for each in asked if is_renamed(check.name, each.name, made)]
            if raw and has_word(check.name, made.name):
                why = (
                    f"`{raw[0].name}` sees the value before it is decoded to `{made.name}`"
                )
                yield LateCheck(check, raw[0], why)


def conditional_checks(
    before: Sequence[CodeFact], after: Sequence[CodeFact], checks: Collection[str]
) -> Iterator[LateCheck]:
    """Yield the checks that ran always, and stand in a branch now, each with the condition of that branch."""
    was = placed_facts(before)
    now = placed_facts(after)
    for name in [each for each in was if each in now and each in checks][:MOST_PLACED]:
        known = {plain_tokens(each.asked) for each in conditions_around(was[name], before)}
        around = conditions_around(now[name], after)
        joined = operands_beside(was[name], before)
        fresh = [
            each
            for each in around
            if plain_tokens(each.asked) not in known and each.name not in joined
        ]
        if len(around) == len(known) + 1 and len(fresh) == 1:
            why = f"`{name}` is asked only where `{fresh[0].name}` now"
            yield LateCheck(was[name], fresh[0], why)


def operands_beside(check: CodeFact, facts: Sequence[CodeFact]) -> frozenset[str]:
    """Return what was asked in one condition with a check: `known(row) && check(row)`."""
    return frozenset(
        operand
        for fact in facts
        if fact.is_judged and check.last_name in IDENTIFIER.findall(fact.name)
        for operand in fact.operands
    )


def conditions_around(check: CodeFact, facts: Sequence[CodeFact]) -> list[CodeFact]:
    """Return the conditions in whose branches a check stands, but for those that it is part of."""
    return [
        fact
        for fact in facts
        if fact.is_judged
        and fact.line <= check.line <= check.end_line <= fact.end_line
        and fact is not check
        and check.last_name not in IDENTIFIER.findall(fact.name)
    ]


def is_decoded(option: CodeFact) -> bool:
    """Return whether a name is bound to a decoded value."""
    function = option.detail.partition("(")[0].rpartition(".")[2]
    return not read_strength_words()["decodes"].isdisjoint(
        (*words_of_name(function), function.lower())
    )


def is_renamed(old: str, new: str, made: CodeFact) -> bool:
    """Return whether a condition asks the same of a value from which a name is made as it did of the name."""
    names = set(IDENTIFIER.findall(made.detail)) & set(IDENTIFIER.findall(new))
    names.discard(made.name)
    return any(re.sub(rf"\b{re.escape(name)}\b", made.name, new) == old for name in names)


def reason(
    check: CodeFact,
    act: CodeFact,
    new_check: CodeFact,
    new_act: CodeFact,
    before: Sequence[CodeFact],
) -> str:
    """Return what the new order of a check and an act leaves open, "" for nothing."""
    known = read_strength_words()
    words = frozenset(words_of_name(act.last_name))
    came_first = check.end_line < act.line and act.line > check.line
    comes_first = new_act.end_line < new_check.line
    if (
        came_first
        and comes_first
        and words & known["acts"]
        and not makes_checked(act, check, before)
    ):
        return f"`{act.name}` runs before `{check.name}` now"
    was_decoded = act.end_line < check.line
    is_decoded_late = new_check.end_line < new_act.line
    if was_decoded and is_decoded_late and words & known["decodes"]:
        return f"`{act.name}` runs only behind `{check.name}` now, which sees the value as it was written"
    return ""


def placed_facts(facts: Sequence[CodeFact]) -> Mapping[str, CodeFact]:
    """Return the calls and conditions that are once in a unit, by their names."""
    placed = [fact for fact in facts if fact.kind in PLACED]
    count = Counter(fact.name for fact in placed)
    return {fact.name: fact for fact in placed if count[fact.name] == 1}


def values_of(fact: CodeFact) -> frozenset[str]:
    """Return the names of what a call has as its arguments and is called on, or a condition speaks of."""
    owner, dot, _ = fact.name.partition(".")
    said = f"{owner if dot else ''} {fact.detail}"
    text = said if fact.is_call else fact.name
    return frozenset(IDENTIFIER.findall(text)) - read_strength_words()["selves"]


def makes_checked(act: CodeFact, check: CodeFact, facts: Sequence[CodeFact]) -> bool:
    """Return whether an act makes the value that the check is about."""
    values = values_of(check)
    return any(
        fact.is_option and fact.line == act.line and fact.name in values for fact in facts
    )
