"""Whether what a lost call made fit is used as it comes now: in its place, or where its result was used."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from cli_guard.code.changes.comparisons import split_arguments
from cli_guard.code.changes.difference import ChangeDifference
from cli_guard.code.changes.facts import CodeFact, CodeUnit, fold, has_word
from cli_guard.code.changes.kinds import SourceTree, kinds_of
from cli_guard.code.changes.naming import write_dotted
from cli_guard.code.changes.nodes import ReadNode, call_name
from cli_guard.code.languages import language_for
from cli_guard.lazy import frozen
from cli_guard.model import Hunk
from cli_guard.reviewers.protections.loss import LONGEST_LINE, Loss
from cli_guard.reviewers.protections.losses import is_bare_by_name, without_blanks
from cli_guard.reviewers.review_input import ReviewInput

if TYPE_CHECKING:
    from ast_grep_py import SgNode

MOST_NODES = 5_000
MOST_VALUES = 10
# From a call to what its result is bound to.
MOST_AROUND = 5
# On each side of a call that went, and of both together at least, as much text as tells its place from others.
CONTEXT = 8


@frozen
class LostCall:
    """A call of the old text, from `start` to `end`.

    `values` are what it was given and called on, `bound_to` is the name of its result.
    """

    text: str
    start: int
    end: int
    values: tuple[str, ...]
    bound_to: str


def bare_now(loss: Loss, subject: ReviewInput, difference: ChangeDifference) -> str | None:
    """Return that what a call made fit is used without it now."""
    hunk = loss.hunk
    call = find_call(loss, subject) if hunk and loss.fact.is_call else None
    if hunk is None or call is None:
        return None
    if is_bare_in_place(call, hunk):
        return "what it was put around stands there now without it"
    was = loss.file.old.unit_named(loss.fact.unit)
    values = (*call.values, *made_of(call.values, loss))
    if is_bare_by_name(call.bound_to, values, loss.change, was):
        return "what its result was used for has the value as it comes now"
    now = difference.pair_of(loss.file, loss.fact.unit)
    if was and now and is_used_again(call, loss, was, now):
        return "the value is used there as it comes now"
    return None


def made_of(values: Sequence[str], loss: Loss) -> list[str]:
    """Return what names among some values were bound to, where that went as well."""
    return [
        without_blanks(each.detail)
        for each in loss.file.went
        if each.is_option
        and each.unit == loss.fact.unit
        and each.name in values
        and each.line != loss.fact.line
    ]


def find_call(loss: Loss, subject: ReviewInput) -> LostCall | None:
    """Return where a lost call is in the old text, None if it is not found there."""
    change = loss.change
    text = subject.contents.old(change)
    language = language_for(change.old_path or change.path)
    if text is None or language is None:
        return None
    root = subject.trees.root(language, text)
    for place in calls_of_lines(root, loss.fact, language, text):
        if is_call_of(place, loss.fact):
            return read_call(place)
    return None


def calls_of_lines(
    root: "SgNode", fact: CodeFact, language: str, text: str
) -> Iterator[ReadNode]:
    """Yield the calls on the lines of a fact, the outer ones first."""
    tree = SourceTree(text, kinds_of(language))
    waiting = [root]
    for _ in range(MOST_NODES):
        if not waiting:
            return
        place = ReadNode(waiting.pop(), tree)
        if place.shape == "call":
            yield place
        inside = (
            child
            for child in reversed(place.node.named_children())
            if child.range().start.line < fact.end_line
            and child.range().end.line + 1 >= fact.line
        )
        waiting += inside


def is_call_of(place: ReadNode, fact: CodeFact) -> bool:
    name = fact.last_name
    return (
        (place.first, place.last) == (fact.line, fact.end_line)
        and call_name(place).rpartition(".")[2] == name
        and fold(inside_of(place)) == fact.detail
    )


def inside_of(place: ReadNode) -> str:
    given = place.tree.source(place.arguments).strip()
    return given[1:-1] if given[:1] in ("(", "[", "{") else given


def read_call(place: ReadNode) -> LostCall:
    values = (*split_arguments(inside_of(place)), *called_on(place))
    written = tuple(
        value
        for each in values[:MOST_VALUES]
        if (value := without_blanks(each)) and len(value) < LONGEST_LINE
    )
    return LostCall(place.tree.text, place.start, place.end, written, name_bound(place))


def called_on(place: ReadNode) -> Iterator[str]:
    """Yield what a call is called on, and what that is called on: `b` and `a` of `a.f().g()`."""
    node = place.node
    while inner := node.named_children():
        node = inner[0]
        if node.range().end.index < place.end:
            yield place.tree.source(node)


def name_bound(place: ReadNode) -> str:
    """Return the name that the result of a call is bound to, as it is written, "" for none."""
    for node in islice(place.node.ancestors(), MOST_AROUND):
        around = ReadNode(node, place.tree)
        if around.shape == "assign":
            return around.key
    return ""


def is_bare_in_place(call: LostCall, hunk: Hunk) -> bool:
    """Return whether the lines that a hunk added have one of the values between what was around the call."""
    lines = call.text.split("\n")
    first = len("\n".join(lines[: hunk.old_start - 1])) + (hunk.old_start > 1)
    last = first + len("\n".join(hunk.removed))
    head = without_blanks(call.text[first : call.start])
    tail = without_blanks(call.text[call.end : last])
    added = without_blanks("\n".join(hunk.added))
    if any(f"{head}{value}{tail}" == added for value in call.values):
        return True
    head = head[-CONTEXT:]
    tail = tail[:CONTEXT]
    has_context = len(head) + len(tail) >= CONTEXT
    return has_context and any(f"{head}{value}{tail}" in added for value in call.values)


def is_used_again(call: LostCall, loss: Loss, was: CodeUnit, now: CodeUnit) -> bool:
    """Return whether a name was bound to what became of its own value, is so no longer, and is used further down."""
    name = call.bound_to
    if not name or name not in map(write_dotted, call.values):
        return False
    is_bound_anew = any(
        new.is_option and new.name == name and new.unit == loss.fact.unit
        for new in loss.file.came
    )
    below = was.text.split("\n")[loss.fact.end_line - was.line + 1 :]
    return (
        not is_bound_anew and has_word("\n".join(below), name) and has_word(now.text, name)
    )
