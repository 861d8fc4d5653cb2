"""An answer that names the place a check has moved to: the place is looked at, in the state after the change.

`moved to app/gateway.py:41` names a line, `asked in app/gateway.py:Gateway.enter` a function. The answer counts if a
check of the same family is there; a person need not agree with it then.
"""

import re

from cli_guard.code.changes.difference import read_side
from cli_guard.code.changes.facts import CodeFact
from cli_guard.code.changes.touched import TouchedLines
from cli_guard.code.languages import language_for
from cli_guard.code.test_files import has_test_words, is_test_or_example
from cli_guard.lazy import frozen
from cli_guard.reviewers.protections.families import PREFIX, families_of
from cli_guard.reviewers.protections.loss import is_own_guard
from cli_guard.reviewers.review_input import ReviewInput

PLACE = re.compile(
    r"(?<![\w/.@-])(?P<path>\w[\w./-]{0,200}\.\w{1,10}):(?P<where>\w[\w.]{0,100}\w|\w)",
    re.ASCII,
)
# Rules that are no family: what they found is not one check that may stand elsewhere.
NO_FAMILIES = ("weaker-", "warned", "refused")


@frozen
class CheckPlace:
    """A line or a function of a file."""

    path: str
    where: str

    def __str__(self) -> str:
        return f"{self.path}:{self.where}"


def place_in(rule: str, reason: str) -> CheckPlace | None:
    """Return the place that the reason of an answer names, None if it names none or the rule is of no family."""
    family = rule.removeprefix(PREFIX)
    match = PLACE.search(reason)
    if match is None or family.startswith(NO_FAMILIES):
        return None
    return CheckPlace(match["path"], match["where"])


def has_check(subject: ReviewInput, rule: str, place: CheckPlace) -> bool:
    """Return whether a check of the family of a rule stands at a place after the change. Raises GitError."""
    path = place.path
    if ".." in path.split("/") or is_test_or_example(path) or has_test_words(path):
        return False
    text = subject.text_at(path)
    if text is None or len(text) > subject.limits.file_chars:
        return False
    count = text.count("\n") + 1
    line = int(place.where) if place.where.isdigit() else None
    if line is not None and not 1 <= line <= count:
        return False
    span = (1, count) if line is None else (line, line)
    side = read_side(subject.trees, path, text, TouchedLines([span]))
    language = language_for(path, text) or ""
    return any(
        stands_at(fact, place.where, line) and is_member(fact, subject, rule, language)
        for fact in side.facts
    )


def stands_at(fact: CodeFact, where: str, line: int | None) -> bool:
    """Return whether a fact begins on a line, or is inside a function."""
    if line is None:
        return f".{fact.unit}".endswith(f".{where}")
    return fact.line == line or (fact.is_judged and fact.line <= line <= fact.end_line)


def is_member(fact: CodeFact, subject: ReviewInput, rule: str, language: str) -> bool:
    """Return whether a fact is a check of the family, or one of the repository's own guards."""
    family = rule.removeprefix(PREFIX)
    if family != "own":
        return family in families_of(fact, language)
    return is_own_guard(fact, subject.own_guards)
