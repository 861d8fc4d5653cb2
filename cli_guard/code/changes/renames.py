"""Functions and classes that a change renames and leaves as they were: under either name they do the same."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from cli_guard.code.changes.facts import CodeFact, CodeUnit, short_name
from cli_guard.model import group_by

PLACEHOLDER = "\0"
LONGEST_UNIT = 20_000
MOST_RENAMES = 100


def find_renames(old: Iterable[CodeUnit], new: Iterable[CodeUnit]) -> Mapping[str, str]:
    """Return by old name the new one of each unit that went and came again with the same text but for its name.

    Both names are the last parts; one of which there are several on a side says nothing.
    """
    went = units_by_name(old)
    came = units_by_name(new)
    by_text: defaultdict[str, list[str]] = defaultdict(list)
    for name, units in came.items():
        if name not in went and len(units) == 1:
            by_text[text_without_name(units[0], name)].append(name)
    found: dict[str, str] = {}
    for name, units in went.items() if by_text else ():
        if name in came or len(units) > 1 or len(found) >= MOST_RENAMES:
            continue
        names = by_text.get(text_without_name(units[0], name), ())
        if len(names) == 1:
            found[name] = names[0]
    return found


def units_by_name(units: Iterable[CodeUnit]) -> Mapping[str, list[CodeUnit]]:
    """Return the units that are not too big by the last part of their names."""
    small = (unit for unit in units if len(unit.text) <= LONGEST_UNIT)
    return group_by(small, lambda unit: short_name(unit.name))


def text_without_name(unit: CodeUnit, name: str) -> str:
    """Return what a unit does, however its lines are broken."""
    return " ".join(whole_word(name).sub(PLACEHOLDER, unit.text).split())


def whole_word(*names: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w$])(?:{'|'.join(map(re.escape, names))})(?![\w$])")


def rename_facts(
    facts: Iterable[CodeFact], renames: Mapping[str, str]
) -> Iterator[CodeFact]:
    """Yield each fact with the new names of what it speaks of."""
    pattern = whole_word(*renames)

    def rename(text: str) -> str:
        return pattern.sub(lambda match: renames[match[0]], text)

    for fact in facts:
        yield replace(
            fact,
            name=rename(fact.name),
            detail=rename(fact.detail),
            operands=tuple(map(rename, fact.operands)),
            asked=tuple(map(rename, fact.asked)),
        )
