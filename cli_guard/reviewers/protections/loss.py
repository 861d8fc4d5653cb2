"""A protection that went from a file, and how losses are counted: by kind and name, net over the change."""

import re
from collections.abc import Iterator, Mapping, Sequence

from cli_guard.code.changes.asked import plain_tokens
from cli_guard.code.changes.conditions import is_saying
from cli_guard.code.changes.difference import FileDifference
from cli_guard.code.changes.facts import (
    IDENTIFIER,
    CodeFact,
    CodeUnit,
    FactKind,
    words_of_name,
)
from cli_guard.lazy import frozen
from cli_guard.model import FileChange, Hunk, unmatched
from cli_guard.reviewers.protections.families import NAMED, families_of

# What a call is given, if that is what another call has under a name.
CALLED = re.compile(r"[\w.:>$-]*?(\w+)\(\s*['\"]")
# Whether a feature is there yet says nothing of who may use it.
FEATURE_FLAG = re.compile(
    r"(?i)feature_?(?:flag|toggle|gate|service|manager)|features?\.(?:is_?)?(?:enabled|active)"
)
# Of one hunk.
MOST_LINES = 200
LONGEST_LINE = 1_000
# Families of checks that every program is full of: one that is written anew is no loss.
ORDINARY = ("validation", "bounds")
# Families whose calls return a value that is fit for its use.
FITTING = ("escape", "newline", "secrecy")
# What an expression names, but for what it calls.
DOTTED = re.compile(r"(?<![\w$.])[A-Za-z_$][\w$]*(?:(?:\.|->)[\w$]+)*(?![\w$(])")
# Words of a condition that say nothing of what is guarded.
COMMON = frozenset(
    """and or not is none null nil true false None True False undefined self this $this err error length len
    size typeof instanceof isinstance isset empty string str int bool list dict return raise throw throws
    new void const let var""".split()
)


@frozen
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


def names_gone(loss: Loss) -> frozenset[str]:
    """Return the names that lines of the same hunk bound: what they stood for went with the check.

    The keys of what its answer says are none.
    """
    fact = loss.fact
    unit = fact.unit
    hunk = loss.hunk
    bound = {each.name for each in loss.file.came if each.is_option and each.unit == unit}
    return frozenset(
        each.name
        for each in loss.file.went
        if each.is_option
        and each.unit == unit
        and each.name not in bound
        and not (fact.is_guard and fact.line < each.line <= fact.end_line)
        and loss.file.hunk_of(each) is hunk
    )


def is_all_that_went(loss: Loss) -> bool:
    """Return whether nothing but guards went from a place, or a member alone, with comments, and nothing came."""
    hunk = loss.hunk
    if hunk is None or any(line.strip() for line in hunk.added):
        return False
    fact = loss.fact
    # The bracket that ends an `else if` stays, where it ends the `if` before.
    last = hunk.old_start + len(hunk.removed) - 1 + fact.is_guard
    if not hunk.old_start <= fact.line <= fact.end_line <= last:
        return False
    beside = {
        number
        for each in loss.file.went
        if each.kind is FactKind.COMMENT or each.is_guard
        for number in range(each.line, each.end_line + 1)
    }
    return all(
        fact.line <= number <= fact.end_line or number in beside
        for number, line in enumerate(hunk.removed, hunk.old_start)
        if line.strip()
    )


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


def is_of_flag(loss: Loss) -> bool:
    """Return whether a condition asked whether a feature is there yet, also by a variable."""
    asked = IDENTIFIER.findall(loss.fact.name) if loss.fact.is_judged else ()
    bound = (e.detail for e in loss.file.went if e.is_option and e.last_name in asked)
    return bool(asked) and any(map(FEATURE_FLAG.search, (loss.fact.name, *bound)))


def is_form_gone(loss: Loss) -> bool:
    """Return whether the form around a token that is printed went, and what it asked for belongs to another one."""
    hunk = loss.hunk
    if hunk is None or loss.family != "csrf":
        return False
    removed = sum("<form" in line for line in hunk.removed)
    return removed > sum("<form" in line for line in hunk.added)


def is_opened_no_more(loss: Loss, pair: CodeUnit) -> bool:
    """Return whether nothing is called any longer that was given the path which a call made or a guard judged."""
    fact = loss.fact
    held = {
        each.name
        for each in loss.file.old.facts
        if each.is_option and each.line == fact.line and fact.name in each.detail
    }
    if fact.is_guard:
        held = set(names_gone(loss).intersection(IDENTIFIER.findall(fact.name)))
    used = rf"(?<![\w.])(?:{'|'.join(map(re.escape, held))})(?=\s*[,)\]=;]|\.\w)"
    if not held or re.search(used, pair.text):
        return False
    users = {
        each.last_name
        for each in loss.file.old.facts
        if each.is_call
        and each.unit == fact.unit
        and each.line > fact.line
        and not is_saying(each.name)
        and not held.isdisjoint(IDENTIFIER.findall(each.detail))
    }
    now = {
        each.last_name
        for each in loss.file.new.facts
        if each.is_call and each.unit == pair.name
    }
    return bool(users) and users.isdisjoint(now)


def body_is_gone(loss: Loss) -> bool:
    """Return whether the calls in the branch of a condition went with it."""
    fact = loss.fact
    if fact.end_line == fact.line:
        return False
    inside = [each.key for each in calls_inside(loss) if each.name not in fact.name]
    return bool(inside) and {each.key for each in loss.file.went}.issuperset(inside)


def calls_inside(loss: Loss) -> Iterator[CodeFact]:
    """Yield the calls in the block of what was lost, on lines of their own."""
    fact = loss.fact
    for each in loss.file.old.facts:
        if each.is_call and fact.line < each.line <= fact.end_line:
            yield each
