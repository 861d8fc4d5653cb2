"""Checks that are still made, and whose answer nobody asks for any more.

`if (verify(token) != 0) return -1;` has become `verify(token);`, `check(token)?;` is `let _ = check(token);`.
"""

import re
from collections.abc import Iterator

from cli_guard.code.changes.comparisons import is_whole
from cli_guard.code.changes.difference import ChangeDifference, FileDifference
from cli_guard.code.changes.facts import (
    CodeFact,
    FactKind,
    Looser,
    short_name,
    words_of_name,
)
from cli_guard.code.changes.naming import write_dotted
from cli_guard.code.changes.values import read_strength_words
from cli_guard.model import Hunk
from cli_guard.reviewers.protections.families import families_of
from cli_guard.reviewers.protections.weakenings import Weakening

UNASKED = "unasked"
# A call as a statement, its answer bound to nothing, or its error left out.
BARE = re.compile(
    r"(?:\(void\) ?|(?:let )?_ :?= ?|\w+, _ :?= ?|await )?(?P<name>[\w$.:>-]*\w)\((?P<inside>[^=]*)\)(?:\.ok\(\))?;?"
)
# Before a call, in one expression with it; behind it, in Rust.
ASKS = r"(?:\b(?:if|unless|assert|return|while|guard|elif|require)\b[^;{]*|[!&|]\s*|\berr :?= )"
HANDED_UP = r"\([^;]*\)(?:\.await)?\?;"
# `require("x")` loads a module, `params.require(:x)` takes a part, `confirm("…")` asks whoever sits there.
LOADING = ("require", "req", "confirm")
# What the line before a statement ends with.
ENDS = (";", "{", "}", ":", ")", "then", "do")
# It cannot be told from the outside whether one of these has failed.
RIGHTS = frozenset(
    "setuid setgid seteuid setegid setresuid setresgid setgroups initgroups chroot".split()
)


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
        if not is_once or not is_check(name, file.language):
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


def is_check(name: str, language: str) -> bool:
    """Return whether a function says whether something holds, by its name or as one of a family."""
    words = words_of_name(name)
    known = read_strength_words()
    is_named = not known["judges"].isdisjoint(words) or (
        not known["checks"].isdisjoint(words[:1]) and name not in LOADING
    )
    fact = CodeFact(FactKind.CALL, name)
    return is_named or name.lower() in RIGHTS or bool(families_of(fact, language))


def unit_at(line: int, file: FileDifference) -> str:
    """Return the name of the innermost unit that a line before the change is in."""
    around = (unit.name for unit in file.old.units if unit.line <= line <= unit.end_line)
    return max(around, key=len, default="")
