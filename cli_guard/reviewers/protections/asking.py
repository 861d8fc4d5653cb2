"""Which losses ask for a person: what tells that the protection was needed, and that nothing has taken its place."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from cli_guard.code.changes.comparisons import split_arguments
from cli_guard.code.changes.difference import ChangeDifference
from cli_guard.code.changes.facts import (
    IDENTIFIER,
    LONGEST_DETAIL,
    CodeFact,
    CodeUnit,
    FactKind,
    has_word,
)
from cli_guard.code.languages import language_for
from cli_guard.model import FileChange
from cli_guard.reviewers.protections.bare import bare_now
from cli_guard.reviewers.protections.containers import stands_without
from cli_guard.reviewers.protections.families import (
    PRESENCE,
    families_of,
    is_refusal_of_check,
)
from cli_guard.reviewers.protections.loss import FITTING, ORDINARY, Loss, is_all_that_went
from cli_guard.reviewers.protections.losses import guarded_words
from cli_guard.reviewers.protections.memory import MEMORY, memory_use_of
from cli_guard.reviewers.protections.warnings import (
    HIDDEN,
    attack_refused,
    checks_with,
    warned_by_helper,
)
from cli_guard.reviewers.review_input import ReviewInput

# What a framework runs before a handler.
AROUND = (FactKind.ARGUMENT, FactKind.DECORATOR)
WHO_MAY = ("access", "csrf")
NAMED = (FactKind.CALL, FactKind.DECORATOR, FactKind.ARGUMENT)
FEWEST_SIBLINGS = 2
# What stands on lines of its own.
TAKEN_OUT = (FactKind.CALL, FactKind.GUARD, FactKind.DECORATOR, FactKind.OPTION)
# Families of calls that say nothing of each other: another lock, another sum.
PLAIN = ("bounds", "lock")
ASKED = r"(?i:\b(?:if|unless|elif|elseif|elsif|require|assert|guard|when)\b|\?)[^\n]{0,300}"


def reason_to_ask(
    loss: Loss, subject: ReviewInput, difference: ChangeDifference
) -> str | None:
    """Return why a loss asks for a person, None if nothing says that it must."""
    reasons: Sequence[Callable[[], str | None]] = (
        lambda: asked_elsewhere(loss, subject),
        lambda: bare_now(loss, subject, difference),
        lambda: attack_refused(loss, difference),
        lambda: lets_in_everybody(loss),
        lambda: stands_bare(loss, difference),
        lambda: accepts_forged(loss),
        lambda: warned_by_helper(loss, difference),
        lambda: follow_data(loss, subject, difference),
        lambda: compared_plainly(loss),
        lambda: taken_out(loss, subject),
    )
    return next((reason for find in reasons if (reason := find())), None)


def taken_out(loss: Loss, subject: ReviewInput) -> str | None:
    """Return that a protection was all that a place lost, and nothing came there."""
    fact = loss.fact
    # A guard of no family, and an ordinary check that refuses nothing itself.
    is_plain = loss.family not in families_of(fact, loss.language) or (
        loss.family in ORDINARY and not fact.is_guard
    )
    if is_plain or loss.family in ("lock", "timing") or fact.kind not in TAKEN_OUT:
        return None
    # What is bound to a name is a value first.
    is_value = loss.family not in FITTING and any(
        each.is_option and each.line == fact.line and has_word(each.detail, fact.last_name)
        for each in loss.file.went
    )
    is_presence = fact.is_guard and all(map(PRESENCE.fullmatch, fact.operands))
    if (fact.is_call and is_value) or is_presence or is_row(loss, subject):
        return None
    if not is_all_that_went(loss):
        return None
    return "nothing else went there, and nothing came"


def compared_plainly(loss: Loss) -> str | None:
    """Return that a line which came compares with a sign what a call compared in constant time."""
    given = split_arguments(loss.fact.detail) if loss.family == "timing" else ()
    names = [re.escape(each.strip("&* ")) for each in given]
    if len(names) != 2 or loss.hunk is None:
        return None
    form = re.compile(rf"{names[0]} ?[!=]==? ?{names[1]}|{names[1]} ?[!=]==? ?{names[0]}")
    found = next(filter(None, map(form.search, loss.hunk.added)), None)
    return f"`{found[0]}` takes the place of it" if found else None


def lets_in_everybody(loss: Loss) -> str | None:
    """Return that what ran before a route, or a guard that hid what is not yours, is gone."""
    if loss.family not in WHO_MAY:
        return None
    if loss.fact.kind in AROUND:
        return "what it stood before answers without it"
    if is_refusal_of_check(loss.fact):
        return "the function that it stood in says who may"
    is_hiding = loss.fact.is_guard and HIDDEN.search(loss.fact.detail)
    return "it answered that there is no such thing" if is_hiding else None


def stands_bare(loss: Loss, difference: ChangeDifference) -> str | None:
    """Return that what a lost setting or condition stood around, or bounded, is done without it now."""
    fact = loss.fact
    if fact.is_option and loss.family == "parser":
        return "what it was set for goes on without it"
    if fact.kind is FactKind.ENTRY and fact.detail.startswith("--"):
        return "what stood behind it may be an option now"
    is_around = fact.kind is FactKind.CONDITION and loss.family not in ORDINARY
    if is_around and stands_without(loss):
        return "what it stood around is done always now"
    unit = difference.pair_of(loss.file, fact.unit)
    if not fact.is_judged or unit is None or loss.language not in MEMORY:
        return None
    for name in guarded_words(fact):
        used = memory_use_of(name, unit.text)
        if used and not name.isupper():
            return f"`{used}` has no bound now"
    return None


def accepts_forged(loss: Loss) -> str | None:
    """Return that a guard went which compared a secret, or a sum that only who knows one can make."""
    guards = list(checks_with(loss)) if loss.family == "timing" else []
    answers = {(new.unit, new.detail) for new in loss.file.came if new.is_guard and guards}
    if all((each.unit, each.detail) in answers for each in guards):
        return None
    return "it refused what did not compare equal"


def asked_elsewhere(loss: Loss, subject: ReviewInput) -> str | None:
    """Return how many other places of the file still have what went."""
    fact = loss.fact
    text = subject.contents.new(loss.change) or ""
    if fact.is_judged:
        names = checking_names(loss)
        if not names:
            return None
        pattern = rf"{ASKED}\b(?:{'|'.join(map(re.escape, names))})\b"
        count = len(re.findall(pattern, text))
        sort = "conditions"
    elif fact.kind in NAMED and loss.family not in PLAIN:
        if is_row(loss, subject):
            return None
        count = count_checks(loss, text)
        sort = "places"
    else:
        return None
    if count < FEWEST_SIBLINGS:
        return None
    return f"{count} other {sort} of this file still name it"


def count_checks(loss: Loss, text: str) -> int:
    """Return how often what went stands in a text: its name, or where that alone protects nothing, such a call."""
    fact = loss.fact
    name = re.escape(fact.last_name)

    def protects(detail: str) -> bool:
        return loss.family in families_of(replace(fact, detail=detail), loss.language)

    if loss.family == "own" or protects(""):
        return len(re.findall(rf"(?<!\w){name}(?!\w)", text))
    calls = re.findall(rf"(?<!\w){name}\(([^\n]{{0,{LONGEST_DETAIL}}})", text)
    return sum(map(protects, calls))


def checking_names(loss: Loss) -> list[str]:
    """Return the names in a condition that make it a check of its family."""
    return [
        name
        for name in dict.fromkeys(IDENTIFIER.findall(loss.fact.name))
        if loss.family in families_of(CodeFact(FactKind.GUARD, name), loss.language)
    ]


def is_row(loss: Loss, subject: ReviewInput) -> bool:
    """Return whether a call was one of several that begin lines below each other: entries of a table, no checks."""
    begins = re.compile(rf"[\w$.:>-]*\b{re.escape(loss.fact.name.rpartition('.')[2])}\b")
    lines = (subject.contents.old(loss.change) or "").split("\n")
    around = lines[max(loss.fact.line - 2, 0) : loss.fact.line + 1]
    rows = [line for line in around if begins.match(line.lstrip())]
    return len(rows) > 1 and loss.fact.is_call


def follow_data(
    loss: Loss, subject: ReviewInput, difference: ChangeDifference
) -> str | None:
    """Return that data from outside is followed through the function that lost the check."""
    unit = difference.pair_of(loss.file, loss.fact.unit)
    if not is_reached(subject, loss.change, unit):
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
    from cli_guard.code.taint.flows import flows_if_readable
    from cli_guard.code.taint.tables import tables_of

    flows = flows_if_readable(subject.trees, language, text, tables_of(language))
    lines = (line for flow in flows for line in (flow.line, *(at for at, _ in flow.steps)))
    return any(unit.line <= line <= unit.end_line for line in lines)
