"""Words of attack in what a change removes: they say that somebody put the code there to hold something off."""

import re
from collections.abc import Iterator, Sequence
from functools import cache

from cli_guard.code.changes.difference import FileDifference
from cli_guard.code.changes.facts import CodeFact, FactKind
from cli_guard.model import Hunk
from cli_guard.reviewers.protections.families import GROUP
from cli_guard.reviewers.protections.losses import covers, hunk_of
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


@cache
def patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return what warns, and what is no warning for all that."""
    table = data.read(FILE)["warnings"]
    return re.compile(table["pattern"]), re.compile(table["unless"])


def warns(fact: CodeFact) -> bool:
    """Return whether a comment or text speaks of an attack."""
    warning, unless = patterns()
    if fact.kind not in WRITTEN or unless.search(fact.name):
        return False
    return warning.search(fact.name) is not None


def warned_in(file: FileDifference, hunk: Hunk) -> bool:
    """Return whether the lines that a hunk removed speak of an attack, and those that it added do not."""
    removed = any(warns(fact) and hunk_of(file.change, fact) is hunk for fact in file.went)
    return removed and not any(warns(fact) and covers(hunk, fact) for fact in file.came)


def warned_losses(
    files: Sequence[FileDifference],
) -> Iterator[tuple[CodeFact, FileDifference]]:
    """Yield the comments that went with the code below them, if no such comment came in the whole change."""
    if any(warns(fact) for file in files for fact in file.came):
        return
    for file in files:
        for fact in file.went:
            if fact.kind is FactKind.COMMENT and warns(fact) and code_went_with(file, fact):
                yield fact, file


def code_went_with(file: FileDifference, comment: CodeFact) -> bool:
    """Return whether code right below a comment went in the same hunk and the same unit."""
    hunk = hunk_of(file.change, comment)
    return hunk is not None and any(
        fact.kind in ACTING
        and fact.unit == comment.unit
        and 0 <= fact.line - comment.line <= NEAR_LINES
        and hunk_of(file.change, fact) is hunk
        for fact in file.went
    )
