"""Guards of no family that went: what tells that they protected is what they did, not what they are called.

Such a guard refused with an error or an answer, also in a helper that went where it was used; it spoke of an attack, or
asked about a value that is used further down as a path, query, command, address or markup.
"""

import re
from collections.abc import Iterator
from itertools import islice

from cli_guard.code.changes.conditions import is_refusing
from cli_guard.code.changes.difference import (
    ChangeDifference,
    FileDifference,
)
from cli_guard.code.changes.facts import (
    IDENTIFIER,
    VALUES,
    CodeFact,
    CodeUnit,
    FactKind,
    short_name,
)
from cli_guard.code.changes.order import facts_of_unit
from cli_guard.code.taint.tables import tables_of
from cli_guard.reviewers.protections.families import (
    ERROR_CHECK,
    PRESENCE,
    families_of,
)
from cli_guard.reviewers.protections.loss import Loss, is_all_that_went, net_key
from cli_guard.reviewers.protections.losses import (
    QUOTED,
    Losses,
    guarded_words,
)
from cli_guard.reviewers.protections.replacements import covers, is_replaced
from cli_guard.reviewers.protections.warnings import HIDDEN, refuses, warns
from cli_guard.reviewers.protections.weakenings import ONE_NAME
from cli_guard.reviewers.review_input import ReviewInput

MOST_GUARDS = 50
REFUSED = re.compile(
    r"(?i)\b(?:throw|raise|abort|die|deny|panic)\b|\breturn\b.{0,60}(?:error|exception|invalid|reject)|^Err\(|\b(?:err|bail)!"
    r"|^\w+ [\w.:]*error|(?-i:\b[eE]rr(?=[A-Z])|\bE[A-Z]{3,})"
)
# What went wrong elsewhere, and what is refused because it has another name now.
REPORTED = re.compile(r"(?i)err(?:or|_|\b)|exception|fail")
OUTDATED = re.compile(r"(?i)deprecat|removed|no longer|instead")
# Of what kind a value is, where any of that kind will do.
LISTED = re.compile(r"!?(?:Array\.isArray|is_array|is_callable)\([\w$.]+\)")
# A character or a byte that is looked for in a value.
CHARACTER = re.compile(r"(['\"])\\?.{1,2}\1|\b0x[0-9A-Fa-f]{1,2}\b")
SINKS = frozenset("path sql command ssrf redirect html code template".split())


def find_plain_guards(subject: ReviewInput, difference: ChangeDifference) -> Iterator[Loss]:
    """Yield the guards that no family names, no other condition took the place of, and something says were needed."""
    losses = Losses(difference, subject.contents)
    asked_now = {
        net_key(fact) for file in difference.files for fact in file.came if fact.is_judged
    }
    for file in difference.files:
        guards = (
            fact
            for fact in file.went
            if is_candidate(fact, difference)
            and net_key(fact) not in asked_now
            and asks_more(fact, file)
        )
        for guard in islice(guards, MOST_GUARDS):
            for loss in losses.standing(Loss("validation", guard, file)):
                if was_needed(loss, subject, difference) and not is_replaced(loss, ()):
                    yield loss


def is_candidate(fact: CodeFact, difference: ChangeDifference) -> bool:
    """Return whether a fact is a guard, or a condition around lines that asks a helper that went as well."""
    is_around = fact.is_judged and fact.end_line > fact.line
    return fact.is_guard or (is_around and asks_helper_gone(fact, difference))


def asks_more(guard: CodeFact, file: FileDifference) -> bool:
    """Return whether a guard of no family asks more than whether there is a value, and no condition came instead."""
    if families_of(guard, file.language) or ERROR_CHECK.fullmatch(guard.name):
        return False
    if REPORTED.search(guard.name) or OUTDATED.search(guard.detail):
        return False
    hunk = file.hunk_of(guard)
    is_asked_anew = hunk is None or any(
        fact.is_judged and covers(hunk, fact) for fact in file.came
    )
    return not is_asked_anew and not all(
        PRESENCE.fullmatch(each) or ONE_NAME.fullmatch(each) or LISTED.fullmatch(each)
        for each in guard.operands or (guard.name,)
    )


def was_needed(loss: Loss, subject: ReviewInput, difference: ChangeDifference) -> bool:
    guard = loss.check or loss.fact
    if warns(CodeFact(FactKind.TEXT, guard.detail)):
        return True
    was = loss.file.old.unit_named(loss.fact.unit)
    now = difference.pair_of(loss.file, loss.fact.unit)
    if was is None or now is None or not loss.file.goes_on(loss.fact, was, now):
        return False
    if is_refusal(guard.detail):
        return True
    is_own = loss.check is None
    if is_own and CHARACTER.search(guard.name) and is_all_that_went(loss):
        return True
    return is_own and (
        asks_helper_gone(guard, difference) or guards_sink(loss, subject, now)
    )


def is_refusal(answer: str) -> bool:
    """Return whether an answer is an error, or says that something is not allowed or not there."""
    if is_refusing(answer.partition(" ")[0]) or refuses(answer):
        return True
    return any(each.search(answer) for each in (REFUSED, HIDDEN))


def asks_helper_gone(asking: CodeFact, difference: ChangeDifference) -> bool:
    """Return whether a condition asks a function that the change takes away as well."""
    asked = frozenset(IDENTIFIER.findall(asking.name))
    return any(
        short_name(unit.name) in asked and difference.pair_of(file, unit.name) is None
        for file in difference.files
        for unit in file.old.units
    )


def guards_sink(loss: Loss, subject: ReviewInput, unit: CodeUnit) -> bool:
    """Return whether a value that a guard asked about is given to a sink in what its unit became."""
    language = loss.language
    tables = tables_of(language)
    text = subject.contents.new(loss.change)
    if tables is None or text is None or unit.path != loss.change.path:
        return False
    asked = guarded_words(loss.fact)
    for call in facts_of_unit(subject.trees, language, text, unit):
        if not call.is_call or call in loss.file.came:
            continue
        sinks = tables.find("sink", "call", (call.name,))
        given = VALUES.findall(QUOTED.sub(" ", call.detail))
        if not asked.isdisjoint(given) and any(each.kinds & SINKS for each in sinks):
            return True
    return False
