"""Checks that are still made, and whose answer nobody asks for any more.

`if (verify(token) != 0) return -1;` has become `verify(token);`, `check(token)?;` is `let _ = check(token);`.
"""

import re
from collections.abc import Iterator

from cli_guard.code.changes.comparisons import is_whole
from cli_guard.code.changes.difference import ChangeDifference, FileDifference
from cli_guard.code.changes.facts import (
    VALUES,
    CodeFact,
    FactKind,
    Looser,
    short_name,
)
from cli_guard.code.changes.naming import write_dotted
from cli_guard.model import Hunk
from cli_guard.reviewers.protections.families import asks_error, is_check
from cli_guard.reviewers.protections.loss import Loss, is_all_that_went
from cli_guard.reviewers.protections.weakenings import Weakening

UNASKED = "unasked"
# A call as a statement, its answer bound to nothing, or its error left out.
BARE = re.compile(
    r"(?:\(void\) ?|(?:let )?_ :?= ?|\w+, _ :?= ?|await )?(?P<name>[\w$.:>-]*\w)\((?P<inside>[^=]*)\)(?:\.ok\(\))?;?"
)
# Before a call, in one expression with it; behind it, in Rust.
ASKS = r"(?:\b(?:if|unless|assert|return|while|guard|elif|require)\b[^;{]*|[!&|]\s*|\berr :?= )"
HANDED_UP = r"\([^;]*\)(?:\.await)?\?;"
# What a call says is bound to a name.
BOUND = re.compile(r"([\w, ]+) :?= " + BARE.pattern)
# What the line before a statement ends with.
ENDS = (";", "{", "}", ":", ")", "then", "do")


def find_unasked(difference: ChangeDifference) -> Iterator[Weakening]:
    """Yield the checks that a line of a hunk still makes, and no longer asks."""
    # One that the change touches may refuse by itself now.
    touched = {
        short_name(unit.name) for file in difference.files for unit in file.new.units
    }
    for file in difference.files:
        for hunk in file.change.hunks if file.language else ():
            for looser in unasked_in(hunk, file, touched):
                yield Weakening(looser, file)
        for looser in dropped_errors(file):
            yield Weakening(looser, file)


def unasked_in(hunk: Hunk, file: FileDifference, touched: set[str]) -> Iterator[Looser]:
    before = ";"
    for line in map(str.strip, hunk.added):
        match = BARE.fullmatch(line) if before.endswith(ENDS) else None
        before = line or before
        name = short_name(write_dotted(match["name"])) if match else ""
        if match is None or not is_whole(match["inside"]) or name in touched:
            continue
        call = re.compile(rf"(?<![\w$]){re.escape(name)}\(")
        is_once = sum(call.search(each) is not None for each in hunk.added) == 1
        if not is_once or not is_check(CodeFact(FactKind.CALL, name), file.language):
            continue
        asking = re.compile(
            rf"{ASKS}[\w$.:> -]*{call.pattern}|{call.pattern[:-2]}{HANDED_UP}"
        )
        for number, old in enumerate(hunk.removed, hunk.old_start):
            if asking.search(old):
                fact = CodeFact(
                    FactKind.CALL, name, "", number, number, unit_at(number, file)
                )
                why = f"nobody asks any more what `{name}` says"
                yield Looser(fact, fact, UNASKED, why)
                break


def dropped_errors(file: FileDifference) -> Iterator[Looser]:
    """Yield the guards that asked about the error of a check on the line above, and that nothing came for."""
    for guard in file.went:
        unit = file.old.unit_named(guard.unit)
        if unit is None or not (guard.is_guard and asks_error(guard.name)):
            continue
        above = unit.text.split("\n")[: guard.line - unit.line]
        call = BOUND.search(above[-1]) if above else None
        if call is None or not set(VALUES.findall(call[1])) & set(
            VALUES.findall(guard.name)
        ):
            continue
        fact = CodeFact(FactKind.CALL, short_name(write_dotted(call["name"])))
        loss = Loss("", guard, file)
        if is_check(fact, file.language) and is_all_that_went(loss):
            why = f"nobody asks any more what `{fact.name}` says"
            yield Looser(guard, guard, UNASKED, why)


def unit_at(line: int, file: FileDifference) -> str:
    """Return the name of the innermost unit that a line before the change is in."""
    around = (unit.name for unit in file.old.units if unit.line <= line <= unit.end_line)
    return max(around, key=len, default="")
