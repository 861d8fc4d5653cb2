"""Who is let by now before a middleware, filter or decorator has asked: a branch that came and hands the request on.

Or a filter that a class skips by now, as `skip_before_action :require_login` does.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from cli_guard.code.changes.difference import ChangeDifference, FileDifference
from cli_guard.code.changes.facts import (
    CONTINUING,
    CodeFact,
    FactKind,
    Looser,
    short_name,
)
from cli_guard.reviewers.protections.families import families_of
from cli_guard.reviewers.protections.warnings import refuses
from cli_guard.reviewers.protections.weakenings import EXCEPTION, Weakening, is_named_check

# Whoever sends a request says the first; the rest is so wherever somebody forgot to set it.
CHOSEN = re.compile(
    r"(?i)header|query|param|cookie|\bget\(|debug|\benv\b|environ|getenv|is_?(?:test|dev|local)|\bdev(?:elopment)?\b"
)


def find_exceptions(difference: ChangeDifference) -> Iterator[Weakening]:
    """Yield the branches that came above a refusal which stood in the same function before, and hand on."""
    for file in difference.files:
        for fact in file.came:
            if hands_on(fact) and comes_before_refusal(fact, file):
                why = f"`{fact.name}` now lets by before anything is asked"
                yield Weakening(Looser(fact, fact, EXCEPTION, why), file)
            elif skips_check(fact, file):
                why = f"`{fact.name}` no longer runs before all that it ran before"
                yield Weakening(Looser(fact, fact, EXCEPTION, why), file)


def skips_check(fact: CodeFact, file: FileDifference) -> bool:
    """Return whether a class that was there before skips a filter which is a check by its name."""
    call = short_name(fact.detail)
    if fact.kind is not FactKind.ARGUMENT or not call.startswith("skip_"):
        return False
    given = replace(fact, detail=call.removeprefix("skip_"))
    is_check = families_of(given, file.language) or is_named_check(given)
    return (
        bool(is_check)
        and file.old.unit_named(fact.unit) is not None
        and not any(
            old.kind is FactKind.ARGUMENT and old.name == fact.name for old in file.went
        )
    )


def hands_on(fact: CodeFact) -> bool:
    return fact.is_guard and CONTINUING.match(fact.detail) is not None


def comes_before_refusal(fact: CodeFact, file: FileDifference) -> bool:
    """Return whether a new branch leaves a function above what refuses, where none such left it before."""
    was = file.old.unit_named(fact.unit)
    now = file.new.unit_named(fact.unit)
    if was is None or now is None:
        return False
    below = now.text.split("\n")[fact.end_line - now.line + 1 :]
    is_edited = any(is_as_open(old, fact) for old in file.went)
    return not is_edited and refuses(was.text) and refuses("\n".join(below))


def is_as_open(old: CodeFact, new: CodeFact) -> bool:
    """Return whether a branch that went handed on as well, and for no fewer than the new one."""
    is_same_place = hands_on(old) and old.unit == new.unit
    return is_same_place and is_chosen(old.name) >= is_chosen(new.name)


def is_chosen(condition: str) -> bool:
    """Return whether a condition may hold for everyone who wants it to."""
    return CHOSEN.search(condition) is not None
