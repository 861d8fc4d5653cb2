"""Words of attack in what a change removes: they say that somebody put the code there to hold something off.

And what a lost check says of itself: what it looked for, how it answered, what a helper that went with it speaks of.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from cli_guard.code.changes.difference import ChangeDifference, FileDifference
from cli_guard.code.changes.facts import (
    IDENTIFIER,
    CodeFact,
    CodeUnit,
    FactKind,
    short_name,
    words_of_name,
)
from cli_guard.code.changes.touched import Span
from cli_guard.model import Hunk
from cli_guard.reviewers.protections.families import GROUP
from cli_guard.reviewers.protections.loss import Loss
from cli_guard.reviewers.protections.replacements import covers, is_asked_anew
from cli_guard.rules.catalog import read_patterns

FILE = f"{GROUP}/warnings.toml"
LISTED = (FactKind.ENTRY, FactKind.TEXT)
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
# An answer that there is no such thing.
HIDDEN = re.compile(r"\b404\b|(?i:not_?found)")


def warns(fact: CodeFact) -> bool:
    """Return whether a comment or text speaks of an attack, or a text refuses somebody."""
    if fact.kind not in WRITTEN:
        return False
    words = read_patterns(FILE, "warnings")
    refuses = fact.kind is FactKind.TEXT and words["refusal"].search(fact.name)
    speaks = refuses or words["pattern"].search(fact.name)
    return bool(speaks and not words["unless"].search(fact.name))


def speaking(facts: Sequence[CodeFact]) -> Iterator[CodeFact]:
    """Yield the facts that warn; a sentence of a comment may go on in its next line."""
    before: CodeFact | None = None
    for fact in facts:
        is_comment = fact.kind is FactKind.COMMENT
        if warns(fact):
            yield fact
            is_comment = False
        elif is_comment and before and fact.line == before.line + 1:
            joined = replace(before, name=f"{before.name} {fact.name}")
            if warns(joined):
                yield before
        before = fact if is_comment else None


def warned_in(file: FileDifference, hunk: Hunk) -> bool:
    """Return whether the lines that a hunk removed speak of an attack more often than those that it added."""
    removed = sum(removes(hunk, fact) for fact in speaking(file.went))
    return removed > sum(covers(hunk, fact) for fact in speaking(file.came))


def removes(hunk: Hunk, fact: CodeFact) -> bool:
    """Return whether a hunk removed the line that a fact of the old side begins on."""
    return hunk.old_start <= fact.line < hunk.old_start + len(hunk.removed)


def warned_losses(
    difference: ChangeDifference,
) -> Iterator[tuple[CodeFact, FileDifference]]:
    """Yield the comments that went with what they spoke of, if no such comment came in the whole change.

    That is the code below, what was commented out and runs now, or a function whose call is what is yielded.
    """
    files = difference.files
    came = [fact for file in files for fact in file.came]
    # A function whose name says what it holds off took over.
    is_named = any(f.kind is FactKind.DEFINITION and attack_named_in(f.name) for f in came)
    if is_named or any(True for _ in speaking(came)):
        return
    for file in files:
        comments = (f for f in speaking(file.went) if f.kind is FactKind.COMMENT)
        for fact in islice(comments, MOST_WARNINGS):
            code = code_that_went_with(file, fact)
            is_of_gone = all(is_used_by_gone(each, file, difference) for each in code)
            is_gone = bool(code) and not is_of_gone
            if (is_gone or runs_now(file, fact)) and not is_warned_still(file, fact):
                yield fact, file
    yield from calls_of_warned(difference)


def runs_now(file: FileDifference, comment: CodeFact) -> bool:
    """Return whether code beside a comment was commented out, and is not any more."""
    hunk = file.hunk_of(comment)
    if hunk is None:
        return False
    added = {line.strip() for line in hunk.added}
    return any(
        fact.kind is FactKind.COMMENT and removes(hunk, fact) and fact.name in added
        for fact in file.went
    )


def calls_of_warned(
    difference: ChangeDifference,
) -> Iterator[tuple[CodeFact, FileDifference]]:
    """Yield the calls of functions that went as well, and whose comment above speaks of an attack."""
    warned = {
        short_name(unit.name)
        for file in difference.files
        for unit in warned_units(file)
        if difference.pair_of(file, unit.name) is None
    }
    for file in difference.files if warned else ():
        for fact in file.went:
            is_of_warned = fact.is_call and fact.last_name in warned
            if is_of_warned and fact.unit and difference.pair_of(file, fact.unit):
                yield fact, file


def warned_units(file: FileDifference) -> Iterator[CodeUnit]:
    """Yield the functions right above which a comment that went speaks of an attack."""
    spoken = {fact.line for fact in speaking(file.went)}
    lines = {fact.line for fact in file.went if fact.kind is FactKind.COMMENT}
    quiet = lines - spoken
    warning = lines & spoken
    for unit in file.old.units if warning else ():
        above = unit.line - 1
        while above in quiet:
            above -= 1
        if above in warning:
            yield unit


def code_that_went_with(file: FileDifference, comment: CodeFact) -> list[CodeFact]:
    """Return the code right below a comment that went in the same hunk and the same unit."""
    hunk = file.hunk_of(comment)
    if hunk is None:
        return []
    return [
        fact
        for fact in file.went
        if fact.kind in ACTING
        and fact.unit == comment.unit
        and 0 <= fact.line - comment.line <= NEAR_LINES
        and removes(hunk, fact)
    ]


def is_used_by_gone(
    fact: CodeFact, file: FileDifference, difference: ChangeDifference
) -> bool:
    """Return whether a constant was used only in functions that went, too: with them went what it was for."""
    if not fact.is_option or fact.unit:
        return False
    users = [unit.name for unit in file.old.units if fact.last_name in unit.words]
    # A class has the words of its methods.
    users = [u for u in users if not any(other.startswith(f"{u}.") for other in users)]
    return bool(users) and not any(difference.pair_of(file, name) for name in users)


def is_warned_still(file: FileDifference, comment: CodeFact) -> bool:
    """Return whether a comment that stands where another one went speaks of an attack."""
    hunk = file.hunk_of(comment)
    return hunk is not None and any(
        fact.kind is FactKind.COMMENT and covers(hunk, fact)
        for fact in speaking(file.new.facts)
    )


def attack_refused(loss: Loss, difference: ChangeDifference) -> str | None:
    """Return that a check looked for what only an attack has, or answered that it was not allowed."""
    hunk = loss.hunk
    if hunk is None or is_asked_anew(loss, hunk):
        return None
    for fact in (loss.fact, *checks_with(loss), *facts_of_helper(loss, difference)):
        if reason := refusal_of(fact):
            return reason
    return None


def refusal_of(fact: CodeFact) -> str | None:
    known = read_patterns(FILE, "refusals")
    if fact.is_call:
        found = known["attacks"].search(fact.detail)
    elif fact.is_judged:
        found = known["attacks"].search(fact.name) or known["controls"].search(fact.name)
    elif fact.kind in LISTED:
        found = known["addresses"].search(f"{fact.name} {fact.detail}")
    else:
        return None
    if found:
        return f"it refused `{found[0]}`"
    if fact.kind not in LISTED and (named := attack_named_in(fact.name)):
        return f"`{named}` says what it held off"
    is_refusing = fact.is_guard and refuses(fact.detail)
    return "it refused who was not allowed" if is_refusing else None


def attack_named_in(text: str) -> str:
    """Return the first name in a text that has the name of an attack in it, "" for none: `hasPathTraversal`."""
    pattern = read_patterns(FILE, "refusals")["names"]
    names = IDENTIFIER.findall(text)
    return next((n for n in names if pattern.search(" ".join(words_of_name(n)))), "")


def refuses(text: str) -> bool:
    """Return whether a piece of code answers that something is not allowed."""
    return read_patterns(FILE, "refusals")["answers"].search(text) is not None


def checks_with(loss: Loss) -> Iterator[CodeFact]:
    """Yield the guards that went and asked what a lost call said, in their conditions or right before."""
    fact = loss.fact
    name = fact.last_name
    for each in loss.file.went if fact.is_call else ():
        is_around = each.line <= fact.line <= each.end_line
        if each.is_guard and is_around and asks_by(each, name, fact.line):
            yield each


def asks_by(guard: CodeFact, name: str, line: int) -> bool:
    """Return whether a guard asks by a call, also by one that Go has before its condition: `if ok := f(x); !ok`."""
    if name in IDENTIFIER.findall(guard.name):
        return True
    return guard.line == line and name not in IDENTIFIER.findall(guard.detail)


def warned_by_helper(loss: Loss, difference: ChangeDifference) -> str | None:
    """Return that a helper which went with its call speaks of an attack."""
    if any(True for file in difference.files for _ in speaking(file.came)):
        return None
    facts = list(facts_of_helper(loss, difference))
    warning = next(speaking(facts), None)
    return "the function that went with it speaks of an attack" if warning else None


def facts_of_helper(loss: Loss, difference: ChangeDifference) -> Iterator[CodeFact]:
    """Yield what stood in the functions that a lost check called and that went with it."""
    fact = loss.fact
    called = {fact.last_name} if fact.is_call else set()
    if fact.is_judged:
        called.update(IDENTIFIER.findall(fact.name))
    for file in difference.files:
        if called.isdisjoint(file.names_before):
            continue
        spans = list(spans_of_gone(called, file, difference))
        for each in file.went if spans else ():
            if any(first <= each.line <= last for first, last in spans):
                yield each


def spans_of_gone(
    names: Collection[str], file: FileDifference, difference: ChangeDifference
) -> Iterator[Span]:
    """Yield the lines of the functions with some names that went: declared, or bound to the name."""
    for unit in file.old.units:
        if short_name(unit.name) in names and not difference.pair_of(file, unit.name):
            yield unit.line, unit.end_line
    came = {each.last_name for each in file.came if each.is_option}
    for fact in file.went:
        name = fact.last_name
        is_bound = fact.is_option and fact.end_line > fact.line
        if is_bound and name in names and name not in came:
            yield fact.line, fact.end_line
