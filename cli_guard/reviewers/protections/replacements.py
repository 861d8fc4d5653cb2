"""What came in the place of a protection that went: another check, another answer, or its name in other words."""

import re
from collections.abc import Iterable, Iterator, Sequence

from cli_guard.code.changes.asked import plain_tokens
from cli_guard.code.changes.comparisons import question_of, split_arguments
from cli_guard.code.changes.difference import FileDifference
from cli_guard.code.changes.facts import (
    IDENTIFIER,
    ONLY_SAYS,
    VALUES,
    CodeFact,
    FactKind,
    short_name,
    words_of_name,
)
from cli_guard.code.changes.values import read_strength_words
from cli_guard.model import Hunk
from cli_guard.reviewers.protections.families import NAMED, families_of
from cli_guard.reviewers.protections.loss import (
    COMMON,
    DOTTED,
    FITTING,
    LONGEST_LINE,
    ORDINARY,
    Loss,
)

COMMENT_SIGN = re.compile(r"//|#|/\*|--|<!--")
# A name that is not called: a function of another name asks something else.
VARIABLE = re.compile(rf"(?:{IDENTIFIER.pattern})(?![\w(]| \()")
MEASURES = frozenset(("len", "length", "size"))
WITHOUT = frozenset(
    "no not non skip without optional maybe unsafe disable disabled".split()
)


def is_replaced(loss: Loss, gains: Sequence[Loss]) -> bool:
    """Return whether a member of another family came where this one stood, or its name is still written there.

    What a fact was besides, its successor may still be: a condition that no longer asks for own properties may go on
    to validate.
    """
    fact = loss.fact
    hunk = loss.hunk
    if hunk is None:
        return True
    is_again = fact.kind in NAMED and is_written(fact, code_added(loss.file, hunk))
    if is_again and not has_namesake(loss):
        return True
    if fact.is_call and is_other_answer(loss):
        return True
    if is_still_asked(loss) or is_inlined(loss, hunk):
        return True
    if fact.kind is FactKind.DECORATOR and is_around(loss):
        return True
    if loss.family in ORDINARY and (
        is_asked_anew(loss, hunk) or is_checked_anew(loss, hunk)
    ):
        return True
    beside = families_of(fact, loss.language) - {loss.family}
    if loss.family not in ORDINARY:
        # Whatever a check asks makes its guards those of a check: that takes the place of nothing else.
        beside |= frozenset(("validation",))
    for gain in gains:
        new = gain.fact
        here = gain.file is loss.file and new.unit == fact.unit
        if here and covers(hunk, new) and gain.family not in beside:
            return True
    return False


def has_namesake(loss: Loss) -> bool:
    """Return whether a call of the same name came that protects nothing: it is another module's."""
    fact = loss.fact
    return fact.is_call and any(
        new.is_call
        and new.last_name == fact.last_name
        and new.name != fact.name
        and new.unit == fact.unit
        and loss.family not in families_of(new, loss.language, came=True)
        for new in loss.file.came
    )


def is_inlined(loss: Loss, hunk: Hunk) -> bool:
    """Return whether what a helper called, which went, is called now where the helper was."""
    fact = loss.fact
    helpers = {
        unit.name
        for unit in loss.file.old.units
        if fact.is_call
        and short_name(unit.name) == fact.last_name
        and loss.file.new.unit_named(unit.name) is None
    }
    inner = {
        each.key
        for each in loss.file.old.facts
        if each.is_call and each.unit in helpers and not each.last_name[:1].isupper()
    }
    return any(
        new.key in inner and new.unit == fact.unit and covers(hunk, new)
        for new in loss.file.new.facts
        if new.is_call
    )


def is_still_asked(loss: Loss) -> bool:
    """Return whether conditions that came ask all that a lost one asked, whatever their form.

    `if not a: return False` and `if not b: return False` may have become `return a and b`.
    """
    fact = loss.fact
    if not fact.is_judged:
        return False
    questions = questions_of(fact)
    # One question alone may be another function's as well.
    is_plain = len(questions) < 2
    asked: set[str] = set()
    for new in loss.file.came:
        if new.detail != ONLY_SAYS and not (is_plain and new.unit != fact.unit):
            asked |= questions_of(new)
    return questions <= asked or is_renamed(loss)


def is_renamed(loss: Loss) -> bool:
    """Return whether a condition asks the same of a variable that has another name now."""
    fact = loss.fact
    was = loss.file.old.unit_named(fact.unit)
    now = loss.file.new.unit_named(fact.unit)
    if was is None or now is None:
        return False
    asked = set(IDENTIFIER.findall(fact.name))
    form = VARIABLE.sub("_", fact.name)
    for new in loss.file.came:
        if new.is_judged and new.unit == fact.unit and VARIABLE.sub("_", new.name) == form:
            names = set(IDENTIFIER.findall(new.name))
            if not (asked - names) & now.words and not (names - asked) & was.words:
                return True
    return False


def questions_of(fact: CodeFact) -> frozenset[str]:
    """Return what the operands of a condition, or the arguments of an assertion, ask, whatever the answer is to be."""
    asked: Sequence[str] = ()
    if fact.is_judged:
        asked = fact.operands or (fact.name,)
    elif fact.is_call and "assert" in words_of_name(fact.last_name):
        asked = split_arguments(fact.detail)
    return frozenset(map(question_of, asked))


def is_around(loss: Loss) -> bool:
    """Return whether the same decorator came to the class around, for all that is in it."""
    fact = loss.fact
    return any(
        new.key == fact.key and fact.unit.startswith(f"{new.unit}.")
        for new in loss.file.new.facts
        if new.unit
    )


def is_other_answer(loss: Loss) -> bool:
    """Return whether a call is only how a guard left that still asks the same: it raises another error now."""
    fact = loss.fact
    if loss.family in FITTING:
        return False
    name = fact.last_name
    answers = {
        plain_tokens(new.asked): new.detail for new in loss.file.came if new.is_judged
    }
    for old in loss.file.went:
        is_inside = old.is_guard and old.line <= fact.line <= old.end_line
        if is_inside and name in old.detail:
            answer = answers.get(plain_tokens(old.asked), "")
            # Where nothing new is said, the call is only left out.
            if not set(IDENTIFIER.findall(answer)) <= set(IDENTIFIER.findall(old.detail)):
                return True
    return False


def is_asked_anew(loss: Loss, hunk: Hunk) -> bool:
    """Return whether another guard that leaves in the same way came where this one stood, or asks of its values."""
    fact = loss.fact
    asked = paths_asked(fact)
    return fact.is_guard and any(
        new.is_guard
        and (new.unit, new.detail) == (fact.unit, fact.detail)
        and (covers(hunk, new) or not asked.isdisjoint(paths_asked(new)))
        for new in loss.file.came
    )


def is_checked_anew(loss: Loss, hunk: Hunk) -> bool:
    """Return whether a check by another name of one of the values came where this one stood: `check_rows(rows)`.

    In the place of a helper that went, and whose check is meant, any call that is given the same will do.
    """
    fact = loss.fact
    given = set(VALUES.findall(fact.detail if fact.is_call else fact.name)) - COMMON
    for each in loss.file.old.facts:
        # What the helper itself asks about, if it is given nothing.
        if fact.is_call and each.is_judged and short_name(each.unit) == fact.last_name:
            given |= set(VALUES.findall(each.name)) - COMMON - {"self", "this"}
    checks = read_strength_words()["checks"]
    return any(
        new.is_call
        and new.unit == fact.unit
        and covers(hunk, new)
        and (
            (loss.check is not None and bool(given) and new.detail == fact.detail)
            or (
                not checks.isdisjoint(words_of_name(new.last_name)[:1])
                and not given.isdisjoint(VALUES.findall(new.detail))
            )
        )
        for new in loss.file.came
    )


def paths_asked(fact: CodeFact) -> frozenset[str]:
    """Return the values that a condition names, each with what it is a part of."""
    return frozenset(DOTTED.findall(fact.name)) - (COMMON - MEASURES)


def code_added(file: FileDifference, hunk: Hunk) -> Iterator[str]:
    """Yield the added lines without comments: a check that is one now asks nothing."""
    comments = [each for each in file.new.facts if each.kind is FactKind.COMMENT]
    begun = {each.line for each in comments}
    inside = {n for each in comments for n in range(each.line + 1, each.end_line + 1)}
    for number, line in enumerate(hunk.added, hunk.new_start):
        if number in begun:
            yield COMMENT_SIGN.split(line, maxsplit=1)[0]
        elif number not in inside:
            yield line


def is_written(fact: CodeFact, lines: Iterable[str]) -> bool:
    """Return whether a name with the same words stands anywhere in some lines."""
    name = words_of_name(fact.last_name)
    words = (word for line in lines for word in IDENTIFIER.findall(line[:LONGEST_LINE]))
    return any(has_words(words_of_name(word), name) for word in words)


def has_words(other: Sequence[str], name: Sequence[str]) -> bool:
    """Return whether a name is another one, or that with further words that take nothing back: `is_safe_valid_url`."""
    added = set(other).difference(name)
    return other == name or (
        len(name) > 1 and set(name) < set(other) and not added & WITHOUT
    )


def covers(hunk: Hunk, fact: CodeFact) -> bool:
    """Return whether a hunk added the line that a fact of the new side begins on."""
    return hunk.new_start <= fact.line < hunk.new_start + len(hunk.added)
