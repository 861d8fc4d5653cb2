"""What the refactor reviewer says of one file."""

import re

from reviewers.docs.before_after import subject_of

from cli_guard.code.symbols import Symbol
from cli_guard.model import Finding, split_lines
from cli_guard.reviewers.refactor import review


def found(path: str, after: str, before: str = "") -> list[Finding]:
    """The findings on one file."""
    return list(
        review(subject_of({path: before} if before else {}, {path: after})).findings
    )


STEP = re.compile(
    r"Move lines (\d+) to (\d+) into a new [a-z ]+ `\w+` below `.+?`: `(@classmethod )?(.+?)( \{)?`"
    r"(?:, and end it with `(.+?)`|; it returns nothing)?\. In their place: `(.+)`\.$",
)


def carried_out(text: str, symbol: Symbol, steps: list[str]) -> str:
    """The file after the steps of a plan, read from their sentences alone; the moved lines are as they were.

    Raises ValueError if a step gives no signature.
    """
    lines = split_lines(text)
    moved = []
    removed = 0
    base = re.match(r"\s*", lines[symbol.line - 1])[0]  # type: ignore[index]
    for said in steps:
        step = STEP.match(said)
        if step is None:
            raise ValueError(said)
        first = int(step[1])
        last = int(step[2])
        margin = re.match(r"\s*", lines[first - 1])[0]  # type: ignore[index]
        head = [*(["@classmethod"] if step[3] else []), step[4] + (step[5] or "")]
        moved += ["", *(base + line for line in head), *lines[first - 1 : last]]
        moved += [margin + line for line in [step[6]] if line] + [base + "}"] * bool(
            step[5]
        )
        lines[first - 1 : last] = [margin + step[7]]
        removed += last - first
    end = symbol.end_line - removed
    return "\n".join([*lines[:end], *moved, *lines[end:]]) + "\n"
