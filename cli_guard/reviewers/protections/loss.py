"""A protection that went from a file, and how losses are counted: by kind and name, net over the change."""

import re
from collections.abc import Iterator, Mapping, Sequence

from cli_guard.code.changes.asked import plain_tokens
from cli_guard.code.changes.difference import FileDifference
from cli_guard.code.changes.facts import IDENTIFIER, CodeFact, FactKind, words_of_name
from cli_guard.lazy import dataclass
from cli_guard.model import FileChange, Hunk, unmatched
from cli_guard.reviewers.protections.families import NAMED, families_of

# What a call is given, if that is what another call has under a name.
CALLED = re.compile(r"[\w.:>$-]*?(\w+)\(\s*['\"]")
# Calls that calculate, and say it if the result does not fit.
SUMS = re.compile(r"(?i)checked_|saturating_|overflow|exact$")
# Families of checks that every program is full of: one that is written anew is no loss.
ORDINARY = ("validation", "bounds")
# Of one hunk.
MOST_LINES = 200


@dataclass(frozen=True, slots=True)
class Loss:
    """A member of a family that went, in a file where what it guarded still stands.

    Of a helper's `check` that went, `fact` is the call of the helper.
    """

    family: str
    fact: CodeFact
    file: FileDifference
    check: CodeFact | None = None

    @property
    def change(self) -> FileChange:
        return self.file.change

    @property
    def language(self) -> str:
        """Return the language of its file, "" for none."""
        return self.file.language

    @property
    def hunk(self) -> Hunk | None:
        """Return the first hunk that removed lines of it."""
        return self.file.hunk_of(self.fact)


def is_own_guard(fact: CodeFact, own_guards: Sequence[str]) -> bool:
    """Return whether a fact names one of the repository's own guards."""
    name = f".{fact.name}"
    return fact.kind in NAMED and any(name.endswith(f".{own}") for own in own_guards)


def members(
    file: FileDifference, facts: Sequence[CodeFact], *, came: bool = False
) -> Iterator[Loss]:
    """Yield the members of each family among some facts of a file."""
    for fact in facts:
        for family in families_of(fact, file.language, came=came):
            yield Loss(family, fact, file)


def net(losses: Sequence[Loss], others: Sequence[Loss]) -> list[Loss]:
    """Return the losses whose kind and name are not among the others, one for one."""
    return unmatched(losses, others, lambda each: net_key(each.fact))


def net_key(fact: CodeFact) -> tuple[str, str]:
    """Return what counts as the same member; a guard may become a plain condition and still ask the same."""
    if fact.is_judged:
        return FactKind.GUARD, plain_tokens(fact.asked)
    if fact.kind is FactKind.ENTRY:
        return fact.kind, fact.detail
    if fact.kind is FactKind.TEXT:
        return fact.kind, fact.name
    if fact.kind in (FactKind.OPTION, FactKind.OUTPUT):
        return fact.kind, f"{fact.name}={fact.detail}"
    return fact.kind, plain_name(fact)


def list_name(fact: CodeFact) -> str:
    """Return what the list of an entry is bound to, or handed to."""
    return fact.name.partition(".")[0].strip("$@")


def plain_name(fact: CodeFact) -> str:
    """Return the words of a name, whatever it is called on: `_is_within` may move and become `isWithin`."""
    return " ".join(words_of_name(fact.last_name))


def every(losses: Mapping[str, Sequence[Loss]]) -> list[Loss]:
    return [each for found in losses.values() for each in found]


def lines_of(losses: Sequence[Loss]) -> int:
    """Return on how many lines members stand: a guard and the call in its condition are one."""
    return len({(each.file.change.path, each.fact.line) for each in losses})


def is_made_anew(loss: Loss) -> bool:
    """Return whether the name of a result is bound again, and no longer to what the call was given another call for."""
    fact = loss.fact
    source = CALLED.match(fact.detail)
    if source is None:
        return False
    held = {
        each.name
        for each in loss.file.old.facts
        if each.is_option and each.line == fact.line and fact.detail in each.detail
    }
    again = [
        each
        for each in loss.file.came
        if each.is_option and each.unit == fact.unit and each.name in held
    ]
    return bool(again) and not any(source[1] in each.detail for each in again)


def is_calculated_no_more(loss: Loss) -> bool:
    """Return whether a sum that could not overflow went, and no line came there that names its values."""
    added = "\n".join(loss.hunk.added[:MOST_LINES]) if loss.hunk else ""
    values = IDENTIFIER.findall(f"{loss.fact.name} {loss.fact.detail}")
    is_sum = SUMS.search(loss.fact.last_name) is not None
    return is_sum and set(values).isdisjoint(IDENTIFIER.findall(added))
