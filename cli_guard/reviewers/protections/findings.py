"""Build findings that show both states: the lines that went with `-`, what stands there now with `+`."""

from collections.abc import Iterator, Sequence

from cli_guard.code.changes.difference import ChangeDifference, FileDifference
from cli_guard.code.changes.facts import (
    IDENTIFIER,
    CodeFact,
    FactKind,
    Looser,
    short_name,
    words_of_name,
)
from cli_guard.code.changes.loosening import has_secret, names_of_sides
from cli_guard.code.changes.values import read_strength_words
from cli_guard.lazy import frozen
from cli_guard.model import Finding, Hunk, Severity
from cli_guard.reviewers.protections.asking import accepts_forged, reason_to_ask
from cli_guard.reviewers.protections.exceptions import is_chosen
from cli_guard.reviewers.protections.families import (
    GROUP,
    PREFIX,
    PRESENCE,
    families_of,
)
from cli_guard.reviewers.protections.loss import LONGEST_LINE, Loss
from cli_guard.reviewers.protections.losses import guarded_words
from cli_guard.reviewers.protections.warnings import (
    attack_named_in,
    refuses,
    warned_in,
)
from cli_guard.reviewers.protections.weakenings import EXCEPTION, Weakening
from cli_guard.reviewers.review_input import ReviewInput
from cli_guard.rules import catalog
from cli_guard.rules.catalog import Rule

SHOWN_LINES = 4
SHOWN_CHARS = 120
# The rule of a sort that has none of its own name.
SORTS = {
    "output": "escape",
    "query": "escape",
    "timing": "timing",
    "comparison": "weaker-match",
    "bound": "weaker-value",
    "prefix": "weaker-match",
    "asked": "weaker-condition",
    "unasked": "weaker-condition",
    "ended": "weaker-condition",
    "listed": "weaker-match",
    "handler": "weaker-condition",
    EXCEPTION: "weaker-condition",
    "order": "weaker-condition",
    "type": "weaker-match",
    "function": "weaker-member",
    "owner": "weaker-member",
    "algorithm": "weaker-member",
    "told": "secrecy",
    "filter": "weaker-condition",
}
SHOWN_NAME = 60
SHOWN_KEYS = 2
NOUNS = {
    FactKind.CALL: "the call of",
    FactKind.ARGUMENT: "the argument",
    FactKind.DECORATOR: "the decorator",
    FactKind.GUARD: "the check",
    FactKind.CONDITION: "the condition",
    FactKind.OPTION: "the setting",
    FactKind.DEFINITION: "the definition of",
    FactKind.OUTPUT: "the output",
    FactKind.TEXT: "the text",
    FactKind.COMMENT: "the comment",
    FactKind.ENTRY: "the entry of",
}
CALLED = (FactKind.CALL, FactKind.ARGUMENT)
Warned = tuple[CodeFact, FileDifference]


@frozen
class Found:
    """A finding, the fact that went, or that came if `is_new`, and its file."""

    finding: Finding
    fact: CodeFact
    file: FileDifference
    is_new: bool = False


def findings_of(
    subject: ReviewInput,
    difference: ChangeDifference,
    losses: Sequence[Loss],
    weakenings: Sequence[Weakening],
    warned: Sequence[Warned],
) -> list[Found]:
    """Return one finding for each rule at a place, by path and line: of what went together one that asks, or one."""
    order = {rule: number for number, rule in enumerate(catalog.by_id(GROUP))}
    every = [
        Found(finding_of_loss(loss, subject, difference), loss.fact, loss.file)
        for loss in losses
    ]
    every += [
        Found(finding_of_weakening(each), each.looser.old, each.file, each.is_new)
        for each in weakenings
    ]
    every += [Found(finding_of_warning(fact, file), fact, file) for fact, file in warned]
    found: dict[tuple[str, int, str], Found] = {}
    told: list[Found] = []

    def rank(each: Found) -> tuple[bool, int]:
        return each.finding.severity is not Severity.HIGH, order[each.finding.rule]

    for each in sorted(every, key=rank):
        finding = each.finding
        if not any(went_together(each, other) for other in told):
            found.setdefault((finding.path, finding.line or 0, finding.rule), each)
        told.append(each)
    return [found[place] for place in sorted(found)]


def went_together(one: Found, other: Found) -> bool:
    """Return whether two facts have a line in common and are not two things that are called beside each other."""
    first = one.fact
    second = other.fact
    shares_line = first.line in lines_of(second) or second.line in lines_of(first)
    if one.file is not other.file or not shares_line:
        return False
    is_apart = first.text not in second.text and second.text not in first.text
    return not (first.kind in CALLED and second.kind in CALLED and is_apart)


def lines_of(fact: CodeFact) -> range:
    """Return the lines that a fact is about: a comment speaks of the one below it."""
    behind = 2 if fact.kind is FactKind.COMMENT else 1
    return range(fact.line, max(fact.line, fact.end_line) + behind)


def finding_of_loss(
    loss: Loss, subject: ReviewInput, difference: ChangeDifference
) -> Finding:
    """Return the finding of a loss; it asks where a warning went, others still check, or data comes from outside."""
    # Where the refusal went along, it is no longer about time.
    is_unasked = loss.family == "timing" and accepts_forged(loss)
    family = "signature" if is_unasked else loss.family
    rule = catalog.one(GROUP, f"{PREFIX}{family}")
    why = f"{name_of(loss.fact)} is gone: {rule.extra['message']}"
    reason = reason_to_ask(loss, subject, difference)
    if reason:
        why = f"{why}; {reason}"
    return finding_at(rule, loss.fact, loss.file, why, asks=reason is not None)


def finding_of_weakening(weakening: Weakening) -> Finding:
    looser = weakening.looser
    rule = catalog.one(GROUP, f"{PREFIX}{SORTS.get(looser.sort, f'weaker-{looser.sort}')}")
    why = f"{looser.why}: {rule.extra['message']}"
    return finding_at(
        rule,
        looser.old,
        weakening.file,
        why,
        asks=weakening_asks(weakening),
        is_new=weakening.is_new,
    )


def weakening_asks(weakening: Weakening) -> bool:
    """Return whether what became weaker says by itself that it was needed."""
    looser = weakening.looser
    match looser.sort:
        case "timing" | "owner" | "unasked" | "prefix" | "query":
            # The very same values are compared, the very same rows looked for, the same check is made.
            return True
        case "function":
            return verifies(looser.old)
        case "handler":
            hunk = weakening.file.hunk_of(looser.old)
            return hunk is not None and refuses("\n".join(hunk.removed))
        case "condition":
            return condition_asks(looser)
        case "member":
            # Both ask for a right, and the new one for less.
            return not looser.old.is_judged and all(
                verifies(each) or "access" in families_of(each, weakening.file.language)
                for each in (looser.old, looser.new)
            )
        case "comparison":
            return is_secret_converted(looser)
        case "asked":
            language = weakening.file.language
            unit = CodeFact(FactKind.DEFINITION, short_name(looser.old.unit))
            return any("access" in families_of(e, language) for e in (looser.old, unit))
        case "exception":
            # A filter that is skipped, and not a branch, says itself that it asks who may.
            return looser.new.kind is FactKind.ARGUMENT or is_chosen(looser.new.name)
        case _:
            return False


def condition_asks(looser: Looser) -> bool:
    """Return whether a condition refused who may not, or an attack, and no longer does; or who asks chooses it."""
    was = looser.old.operands
    now = looser.new.operands
    gone = set(was) - set(now)
    if set(was) == set(now):
        # It is still asked, and no longer decides anything.
        return True
    if any(map(attack_named_in, gone)):
        return True
    if not refuses(looser.old.detail) and not verifies(looser.old):
        return False
    is_dropped = gone and len(now) < len(was)
    is_more = not all(PRESENCE.fullmatch(each) for each in gone)
    return any(map(is_chosen, set(now) - set(was))) or bool(is_dropped and is_more)


def is_secret_converted(looser: Looser) -> bool:
    """Return whether a secret must only be like another one, after its type is changed to that of the other."""
    sides = map(names_of_sides, set(looser.new.operands) - set(looser.old.operands))
    is_secret = any(has_secret(name for side in each for name in side) for each in sides)
    return is_secret and "==" in looser.old.name and "==" in looser.why


def verifies(fact: CodeFact) -> bool:
    """Return whether a function is a check by the first word of its name, as `jwt.verify` is."""
    words = words_of_name(fact.last_name)
    return not read_strength_words()["checks"].isdisjoint(words[:1])


def finding_of_warning(fact: CodeFact, file: FileDifference) -> Finding:
    rule = catalog.one(GROUP, f"{PREFIX}warned")
    return finding_at(rule, fact, file, rule.extra["message"])


def finding_at(
    rule: Rule,
    fact: CodeFact,
    file: FileDifference,
    message: str,
    *,
    asks: bool = False,
    is_new: bool = False,
) -> Finding:
    change = file.change
    line, hunk = (fact.line, None) if is_new else place_now(file, fact)
    # The same check may go from two places: who approves one has not seen the other.
    went = lines_gone(hunk, fact) if hunk else ()
    asks = asks or (hunk is not None and warned_in(file, hunk))
    evidence = f"+ {fact.text}" if is_new else ""
    if hunk:
        evidence = "\n".join(show_states(hunk, fact))
    return rule.finding(
        path=change.path,
        line=line,
        message=message,
        severity=Severity.HIGH if asks else rule.severity,
        evidence=evidence,
        content="\n".join((fact.text, fact.unit, *went)),
    )


def name_of(fact: CodeFact) -> str:
    """Return what a fact is, and its short name, for a sentence."""
    text = fact.name
    if fact.is_option:
        key = ".".join(text.split(".")[-SHOWN_KEYS:])
        text = f"{key}: {fact.detail}"
    if len(text) > SHOWN_NAME:
        text = f"{text[: SHOWN_NAME - 3]}..."
    return f"{NOUNS[fact.kind]} `{text}`"


def place_now(file: FileDifference, fact: CodeFact) -> tuple[int, Hunk | None]:
    """Return the line after the change where a removed fact stood, and the hunk that removed it."""
    found = file.hunk_of(fact)
    if found is None:
        return 1, None
    if found.added:
        return max(found.new_start, 1), found
    hunks = file.change.hunks
    earlier = hunks[: hunks.index(found)]
    shift = sum(len(hunk.added) - len(hunk.removed) for hunk in earlier)
    return max(found.old_start + shift, 1), found


def show_states(hunk: Hunk, fact: CodeFact) -> Iterator[str]:
    """Yield the lines of the hunk that the fact stood on, and what stands there now."""
    for line in lines_gone(hunk, fact):
        yield f"- {line[:SHOWN_CHARS]}"
    for line in lines_about(guarded_words(fact), hunk.added):
        yield f"+ {line.strip()[:SHOWN_CHARS]}"


def lines_gone(hunk: Hunk, fact: CodeFact) -> Iterator[str]:
    """Yield the first lines of a hunk that the fact stood on."""
    start = max(fact.line - hunk.old_start, 0)
    end = max(fact.end_line - hunk.old_start, start) + 1
    if fact.kind is FactKind.COMMENT:
        # It speaks of the code below.
        end = len(hunk.removed)
    for line in hunk.removed[start : min(end, start + SHOWN_LINES)]:
        yield line.strip()


def lines_about(words: frozenset[str], lines: Sequence[str]) -> Sequence[str]:
    """Return a few of the lines: those that name one of the words, of lines that name none the first."""
    written = [line for line in lines if line.strip()]
    speaking = [
        line
        for line in written
        if not words.isdisjoint(IDENTIFIER.findall(line[:LONGEST_LINE]))
    ]
    return (speaking or written)[:SHOWN_LINES]
