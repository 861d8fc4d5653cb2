"""What a lost check says of itself: what it looked for, how it answered, what a helper that went with it speaks of."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache

from cli_guard.code.changes.difference import ChangeDifference, FileDifference, short_name
from cli_guard.code.changes.facts import IDENTIFIER, JUDGED, CodeFact, FactKind
from cli_guard.code.changes.touched import Span
from cli_guard.reviewers.protections.families import GROUP
from cli_guard.reviewers.protections.losses import Loss, hunk_of, is_asked_anew
from cli_guard.reviewers.protections.warnings import speaking
from cli_guard.rules import data

TABLE = f"{GROUP}/warnings.toml"


@dataclass(frozen=True, slots=True)
class Refusals:
    """How a guard answers, and what it looks for: what only an attack has, and what in a guard alone is one."""

    answers: re.Pattern[str]
    attacks: re.Pattern[str]
    controls: re.Pattern[str]


@cache
def _refusals() -> Refusals:
    table = data.read(TABLE)["refusals"]
    return Refusals(**{name: re.compile(text) for name, text in table.items()})


def attack_refused(loss: Loss, difference: ChangeDifference) -> str | None:
    """Return that a check looked for what only an attack has, or answered that it was not allowed."""
    hunk = hunk_of(loss.file.change, loss.fact)
    if hunk is None or is_asked_anew(loss, hunk):
        return None
    for fact in (loss.fact, *checks_with(loss), *facts_of_helper(loss, difference)):
        if reason := refusal_of(fact):
            return reason
    return None


def refusal_of(fact: CodeFact) -> str | None:
    known = _refusals()
    if fact.kind is FactKind.CALL:
        found = known.attacks.search(fact.detail)
    elif fact.kind in JUDGED:
        found = known.attacks.search(fact.name) or known.controls.search(fact.name)
    else:
        return None
    if found:
        return f"it refused `{found[0]}`"
    is_refusing = fact.kind is FactKind.GUARD and known.answers.search(fact.detail)
    return "it refused who was not allowed" if is_refusing else None


def checks_with(loss: Loss) -> Iterator[CodeFact]:
    """Yield the guards that went and asked what a lost call said, in their conditions or right before."""
    fact = loss.fact
    name = short_name(fact.name)
    for each in loss.file.went if fact.kind is FactKind.CALL else ():
        is_around = each.line <= fact.line <= each.end_line
        if each.kind is FactKind.GUARD and is_around and asks_by(each, name, fact.line):
            yield each


def asks_by(guard: CodeFact, name: str, line: int) -> bool:
    """Return whether a guard asks by a call, also by one that Go has before its condition: `if ok := f(x); !ok`."""
    if name in IDENTIFIER.findall(guard.name):
        return True
    return guard.line == line and name not in IDENTIFIER.findall(guard.detail)


def warned_by_helper(loss: Loss, difference: ChangeDifference) -> str | None:
    """Return that a helper which went with its call speaks of an attack."""
    if any(True for file in difference.files for _ in speaking(file.came)):
        return None
    facts = list(facts_of_helper(loss, difference))
    warning = next(speaking(facts), None)
    return "the function that went with it speaks of an attack" if warning else None


def facts_of_helper(loss: Loss, difference: ChangeDifference) -> Iterator[CodeFact]:
    """Yield what stood in the functions that a lost check called and that went with it."""
    fact = loss.fact
    called = {short_name(fact.name)} if fact.kind is FactKind.CALL else set()
    if fact.kind in JUDGED:
        called.update(IDENTIFIER.findall(fact.name))
    for file in difference.files:
        if called.isdisjoint(file.names_before):
            continue
        spans = list(spans_of_gone(called, file, difference))
        for each in file.went if spans else ():
            if any(first <= each.line <= last for first, last in spans):
                yield each


def spans_of_gone(
    names: Collection[str], file: FileDifference, difference: ChangeDifference
) -> Iterator[Span]:
    """Yield the lines of the functions with some names that went: declared, or bound to the name."""
    for unit in file.old.units:
        if short_name(unit.name) in names and not difference.pair_of(file, unit.name):
            yield unit.line, unit.end_line
    came = {short_name(each.name) for each in file.came if each.kind is FactKind.OPTION}
    for fact in file.went:
        name = short_name(fact.name)
        is_bound = fact.kind is FactKind.OPTION and fact.end_line > fact.line
        if is_bound and name in names and name not in came:
            yield fact.line, fact.end_line
