"""Who is let by now before a middleware, filter or decorator has asked: a branch that came and hands the request on."""

import re
from collections.abc import Iterator

from cli_guard.code.changes.difference import ChangeDifference, FileDifference
from cli_guard.code.changes.facts import CONTINUING, CodeFact, Looser
from cli_guard.reviewers.protections.warnings import refuses
from cli_guard.reviewers.protections.weakenings import EXCEPTION, Weakening

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
