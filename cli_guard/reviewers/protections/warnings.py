"""Words of attack in what a change removes: they say that somebody put the code there to hold something off."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import islice

from cli_guard.code.changes.difference import FileDifference
from cli_guard.code.changes.facts import CodeFact, FactKind
from cli_guard.lazy import dataclass
from cli_guard.model import Hunk
from cli_guard.reviewers.protections.families import GROUP
from cli_guard.reviewers.protections.losses import covers
from cli_guard.rules import data

FILE = f"{GROUP}/warnings.toml"
WRITTEN = (FactKind.COMMENT, FactKind.TEXT)
ACTING = (
    FactKind.CALL,
    FactKind.GUARD,
    FactKind.CONDITION,
    FactKind.OPTION,
    FactKind.DECORATOR,
)
# Around a comment, the code that it speaks of.
NEAR_LINES = 8
MOST_WARNINGS = 50


@dataclass(frozen=True, slots=True)
class WarningWords:
    """What warns, what a text says that refuses, and what is no warning for all that."""

    pattern: re.Pattern[str]
    refusal: re.Pattern[str]
    unless: re.Pattern[str]


@cache
def warning_words() -> WarningWords:
    table = data.read(FILE)["warnings"]
    return WarningWords(**{name: re.compile(text) for name, text in table.items()})


def warns(fact: CodeFact) -> bool:
    """Return whether a comment or text speaks of an attack, or a text refuses somebody."""
    words = warning_words()
    if fact.kind not in WRITTEN or words.unless.search(fact.name):
        return False
    refuses = fact.kind is FactKind.TEXT and words.refusal.search(fact.name)
    return bool(refuses or words.pattern.search(fact.name))


def speaking(facts: Sequence[CodeFact]) -> Iterator[CodeFact]:
    """Yield the facts that warn; a sentence of a comment may go on in its next line."""
    before: CodeFact | None = None
    for fact in facts:
        if warns(fact):
            yield fact
        elif before and goes_on(before, fact) and warns(with_next(before, fact)):
            yield before
        before = fact if fact.kind is FactKind.COMMENT and not warns(fact) else None


def goes_on(comment: CodeFact, fact: CodeFact) -> bool:
    return fact.kind is FactKind.COMMENT and fact.line == comment.line + 1


def with_next(comment: CodeFact, line: CodeFact) -> CodeFact:
    return replace(comment, name=f"{comment.name} {line.name}")


def warned_in(file: FileDifference, hunk: Hunk) -> bool:
    """Return whether the lines that a hunk removed speak of an attack more often than those that it added."""
    removed = sum(removes(hunk, fact) for fact in speaking(file.went))
    return removed > sum(covers(hunk, fact) for fact in speaking(file.came))


def removes(hunk: Hunk, fact: CodeFact) -> bool:
    """Return whether a hunk removed the line that a fact of the old side begins on."""
    return hunk.old_start <= fact.line < hunk.old_start + len(hunk.removed)


def warned_losses(
    files: Sequence[FileDifference],
) -> Iterator[tuple[CodeFact, FileDifference]]:
    """Yield the comments that went with the code below them, if no such comment came in the whole change."""
    if any(True for file in files for _ in speaking(file.came)):
        return
    for file in files:
        comments = (f for f in speaking(file.went) if f.kind is FactKind.COMMENT)
        for fact in islice(comments, MOST_WARNINGS):
            if code_went_with(file, fact):
                yield fact, file


def code_went_with(file: FileDifference, comment: CodeFact) -> bool:
    """Return whether code right below a comment went in the same hunk and the same unit."""
    hunk = file.hunk_of(comment)
    return hunk is not None and any(
        fact.kind in ACTING
        and fact.unit == comment.unit
        and 0 <= fact.line - comment.line <= NEAR_LINES
        and removes(hunk, fact)
        for fact in file.went
    )
