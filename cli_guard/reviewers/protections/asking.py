"""Which losses ask for a person: what tells that the protection was needed, and that nothing has taken its place."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache

from cli_guard.code.changes.difference import ChangeDifference
from cli_guard.code.changes.facts import (
    IDENTIFIER,
    JUDGED,
    LONGEST_DETAIL,
    CodeFact,
    CodeUnit,
    FactKind,
)
from cli_guard.code.languages import FAMILY, language_for
from cli_guard.model import FileChange
from cli_guard.reviewers.protections.families import GROUP, families_of
from cli_guard.reviewers.protections.losses import LONGEST_LINE, Loss, hunk_of
from cli_guard.reviewers.review_input import ReviewInput
from cli_guard.rules import data

TABLE = f"{GROUP}/warnings.toml"
NAMED = (FactKind.CALL, FactKind.DECORATOR, FactKind.ARGUMENT)
FEWEST_SIBLINGS = 2
# Around a call that went, as much text as tells its place from others.
CONTEXT = 12
BLANKS = re.compile(r"\s+")
ASKED = r"(?i:\b(?:if|unless|elif|elseif|elsif|require|assert|guard|when)\b|\?)[^\n]{0,300}"


def reason_to_ask(
    loss: Loss, subject: ReviewInput, difference: ChangeDifference
) -> str | None:
    """Return why a loss asks for a person, None if nothing says that it must."""
    reasons: Sequence[Callable[[], str | None]] = (
        lambda: asked_elsewhere(loss, subject),
        lambda: bare_now(loss),
        lambda: attack_refused(loss),
        lambda: follow_data(loss, subject, difference),
    )
    return next((reason for find in reasons if (reason := find())), None)


def asked_elsewhere(loss: Loss, subject: ReviewInput) -> str | None:
    """Return how many other places of the file still have what went."""
    fact = loss.fact
    text = subject.contents.new(loss.file.change) or ""
    if fact.kind in JUDGED:
        names = checking_names(loss)
        if not names:
            return None
        pattern = rf"{ASKED}\b(?:{'|'.join(map(re.escape, names))})\b"
        count = len(re.findall(pattern, text))
        sort = "conditions"
    elif fact.kind in NAMED:
        if is_row(loss, subject):
            return None
        count = count_checks(loss, text)
        sort = "places"
    else:
        return None
    if count < FEWEST_SIBLINGS:
        return None
    return f"{count} other {sort} of this file still have it"


def count_checks(loss: Loss, text: str) -> int:
    """Return how often what went stands in a text: its name, or where that alone protects nothing, such a call."""
    fact = loss.fact
    name = re.escape(fact.name.rpartition(".")[2])
    language = language_for(loss.file.change.path) or ""

    def protects(detail: str) -> bool:
        return loss.family in families_of(replace(fact, detail=detail), language)

    if loss.family == "own" or protects(""):
        return len(re.findall(rf"(?<!\w){name}(?!\w)", text))
    calls = re.findall(rf"(?<!\w){name}\(([^\n]{{0,{LONGEST_DETAIL}}})", text)
    return sum(map(protects, calls))


def checking_names(loss: Loss) -> list[str]:
    """Return the names in a condition that make it a check of its family."""
    language = language_for(loss.file.change.path) or ""
    names = dict.fromkeys(IDENTIFIER.findall(loss.fact.name))
    asked = {name: CodeFact(FactKind.GUARD, name) for name in names}
    return [
        name for name, fact in asked.items() if loss.family in families_of(fact, language)
    ]


def is_row(loss: Loss, subject: ReviewInput) -> bool:
    """Return whether a call was one of several that begin lines below each other: entries of a table, no checks."""
    begins = re.compile(rf"[\w$.:>-]*\b{re.escape(loss.fact.name.rpartition('.')[2])}\b")
    lines = (subject.contents.old(loss.file.change) or "").split("\n")
    around = lines[max(loss.fact.line - 2, 0) : loss.fact.line + 1]
    rows = [line for line in around if begins.match(line.lstrip())]
    return len(rows) > 1 and loss.fact.kind is FactKind.CALL


def bare_now(loss: Loss) -> str | None:
    """Return that what a call was put around stands in the same place without it."""
    fact = loss.fact
    hunk = hunk_of(loss.file.change, fact)
    if fact.kind is not FactKind.CALL or hunk is None or not fact.detail:
        return None
    name = re.escape(fact.name.rpartition(".")[2])
    given = re.escape(without_blanks(fact.detail))
    call = re.compile(rf"[\w$.:\\>-]{{0,100}}{name}\({given}\)")
    first = first_argument(without_blanks(fact.detail))
    start = fact.line - hunk.old_start
    before = without_blanks("\n".join(hunk.removed[start:]))
    match = call.search(before)
    if match is None:
        return None
    head = before[max(match.start() - CONTEXT, 0) : match.start()]
    tail = before[match.end() : match.end() + CONTEXT]
    if len(head) + len(tail) < CONTEXT:
        return None
    if f"{head}{first}{tail}" in without_blanks("\n".join(hunk.added)):
        return "what it was put around stands there now without it"
    return None


def without_blanks(text: str) -> str:
    return BLANKS.sub("", text[: 20 * LONGEST_LINE])


def first_argument(arguments: str) -> str:
    """Return what stands before the first comma that is in no brackets."""
    depth = 0
    for at, char in enumerate(arguments):
        depth += (char in "([{") - (char in ")]}")
        if char == "," and depth == 0:
            return arguments[:at]
    return arguments


@cache
def _refusals() -> tuple[re.Pattern[str], re.Pattern[str]]:
    table = data.read(TABLE)["refusals"]
    return re.compile(table["answers"]), re.compile(table["looked_for"])


def attack_refused(loss: Loss) -> str | None:
    """Return that a guard looked for what only an attack has, or answered that it was not allowed."""
    fact = loss.fact
    if fact.kind is not FactKind.GUARD:
        return None
    answers, looked_for = _refusals()
    if found := looked_for.search(fact.name):
        return f"it refused `{found[0]}`"
    return "it refused who was not allowed" if answers.search(fact.detail) else None


def follow_data(
    loss: Loss, subject: ReviewInput, difference: ChangeDifference
) -> str | None:
    """Return that data from outside is followed through the function that lost the check."""
    unit = difference.pair_of(loss.file, loss.fact.unit)
    if not is_reached(subject, loss.file.change, unit):
        return None
    return "data from outside is followed through this function"


def is_reached(subject: ReviewInput, change: FileChange, unit: CodeUnit | None) -> bool:
    """Return whether a flow of the file after the change ends, or passes, in a unit.

    Only asked for a loss, so no other change pays for following data a second time.
    """
    language = language_for(change.path)
    text = subject.contents.new(change)
    if unit is None or language is None or text is None:
        return False
    from cli_guard.code.taint.flows import TooBigError, find_flows
    from cli_guard.code.taint.tables import tables_of

    tables = tables_of(FAMILY.get(language, language))
    if tables is None or not tables.may_hold_flow(text):
        return False
    try:
        flows = find_flows(subject.trees.root(language, text), language, text, tables)
    except TooBigError:
        return False
    lines = (line for flow in flows for line in (flow.line, *(at for at, _ in flow.steps)))
    return any(unit.line <= line <= unit.end_line for line in lines)
