"""Conditions that make a value safe where they hold, or where they do not: membership, equality, type, form."""

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, TypeAlias

from cli_guard.code.taint.naming import dotted_name, path_of
from cli_guard.code.taint.program import FlowFunction, FlowNode
from cli_guard.code.taint.tables import ALL, is_common
from cli_guard.code.taint.values import Summary
from cli_guard.lazy import frozen

if TYPE_CHECKING:
    from cli_guard.code.taint.walk import Walk

    # What is known at the place of a condition.
    GuardFacts: TypeAlias = "Walk | Inside"

WITHIN = ("in", "of")
OUTSIDE = ("not in", "! in", "!in")
MATCHES = ("=~", "!~", "~=", "~")
VARIABLES = ("name", "member", "index", "call")
EQUAL = ("==", "===", "eq", "is", "=", "-eq", "equals")
UNEQUAL = ("!=", "!==", "ne", "is not", "<>", "-ne")
WHOLE = frozenset((ALL,))
NOTHING = frozenset(("nil", "null", "None", "undefined", "false", "-1", "0", "true"))
HOST = re.compile(r"(?i)(?:host|hostname|netloc|origin|domain|authority)(?:\(\))?$")
OF_URL = frozenset(("ssrf", "redirect"))
PATHS = frozenset(("path", "archive", "upload", "reflection"))
ANCHORED = re.compile(r"^.{0,4}?(?:\^|\\A).*(?:\$|\\[zZ]).{0,6}$", re.DOTALL)
OPEN = re.compile(r"(?<!\\)\.[*+]")
SITE = re.compile(r"https?://[^/]+/")
# Functions that compare whole texts, and those whose result is the same text in another form.
EXACT_CALLS = frozenset(
    "equals equalsIgnoreCase EqualFold Equals eql? contentEquals strcmp EqualsIgnoreCase eq".split()
)
UNWRAPPED = frozenset(
    """lower upper strip trim toLowerCase toUpperCase to_lowercase to_uppercase downcase upcase ToLower lowercase
    ToUpper chars bytes as_bytes as_str as_deref as_ref toString to_s String str TrimSpace casefold Trim trimmed unwrap
    to_string""".split()
)
MOST = 20
OWNERS = ("self", "this", "cls")


@frozen
class Narrowing:
    """An expression that is safe for some kinds; `derived`: what was made from the same value as well."""

    node: FlowNode
    kinds: frozenset[str]
    path: str
    derived: bool = False


def narrowings(
    node: FlowNode, holds: bool, facts: "GuardFacts", depth: int = 0
) -> list[Narrowing]:
    """Return what is safe if a condition holds, or if it does not."""
    if depth > 8:
        return []
    if node.op in ("group", "block") and len(node.parts) == 1:
        return narrowings(node.parts[0], holds, facts, depth + 1)
    if node.op == "not" and node.parts:
        return narrowings(node.parts[0], not holds, facts, depth + 1)
    if node.op in ("and", "or"):
        each = [narrowings(part, holds, facts, depth + 1) for part in node.parts]
        if (node.op == "and") is holds:
            return [found for part in each for found in part]
        return [
            found for found in each[0] if all(_covers(part, found) for part in each[1:])
        ]
    if node.op == "assign" and len(node.parts) == 2:
        return narrowings(node.parts[1], holds, facts, depth + 1)
    return list(_atom(node, holds, facts, depth))[:MOST]


def _covers(part: list[Narrowing], found: Narrowing) -> bool:
    return any(other.path == found.path and other.kinds >= found.kinds for other in part)


def _atom(
    node: FlowNode, holds: bool, facts: "GuardFacts", depth: int
) -> Iterator[Narrowing]:
    for entry, checked in facts.guards(node):
        if entry.data.get("holds", True) is holds:
            yield from _safe(checked, entry.kinds)
    if node.op == "test":
        yield from _comparison(node, holds, facts, depth)
    elif node.op == "call":
        yield from _call(node, holds, facts, depth)
    elif (
        node.op == "index"
        and len(node.parts) == 2
        and facts.is_clean(node.parts[0])
        and holds
    ):
        yield from _safe(node.parts[1])  # allowed[x]
    elif node.op in ("name", "member") and (test := facts.test_of(node)) is not None:
        yield from narrowings(test, holds, facts, depth + 1)


def _comparison(
    node: FlowNode, holds: bool, facts: "GuardFacts", depth: int
) -> Iterator[Narrowing]:
    operator = node.name.strip()
    if len(node.parts) != 2:
        return
    one, other = node.parts
    if operator in WITHIN or operator in OUTSIDE:
        is_inside = (operator in WITHIN) is holds
        if one.op == "constant":
            yield from () if is_inside else _without(one, other)
        elif is_inside and other.op != "constant" and facts.is_clean(other):
            yield from _safe(one)
    elif operator in MATCHES:
        pattern, subject = (one, other) if _is_pattern(one) else (other, one)
        if (operator != "!~") is holds and _is_strict(pattern, whole=False):
            yield from _safe(subject)
    elif operator in EQUAL or operator in UNEQUAL:
        for sides in ((one, other), (other, one)):
            yield from _equality(*sides, operator in EQUAL, holds, facts, depth)


def _equality(
    one: FlowNode,
    other: FlowNode,
    equal: bool,
    holds: bool,
    facts: "GuardFacts",
    depth: int,
) -> Iterator[Narrowing]:
    """Read `one == other` for the first of them, or `one != other` if it is not `equal`."""
    wanted = equal is holds
    if one.op == "test" and one.name == "typeof":
        if wanted and "string" in other.text:
            yield from _safe(one.parts[0], frozenset(("nosql", "mass-assignment")))
        elif wanted and ("number" in other.text or "boolean" in other.text):
            yield from _safe(one.parts[0])
    elif other.op == "constant" and other.text in NOTHING:
        yield from _against_nothing(one, other.text, equal, holds, facts, depth)
    elif not wanted:
        return
    elif HOST.search(dotted_name(one)) and HOST.search(dotted_name(other)):
        yield from _safe(one, OF_URL)
    elif _is_own(other, facts) and (other.op != "constant" or other.text.strip("\"'")):
        yield from _safe(one)


def _against_nothing(
    one: FlowNode, text: str, equal: bool, holds: bool, facts: "GuardFacts", depth: int
) -> Iterator[Narrowing]:
    """Read `find(x) != nil`, `err == nil`, `list.indexOf(x) === -1`: the call before it held, or did not."""
    test = facts.test_of(one) if one.op in ("name", "member") else None
    inner = test or one
    if (
        inner.op == "call"
        and text in ("nil", "null", "None")
        and last_name(one) in ("err", "error", "e")
    ):
        if equal is holds:  # err == nil
            yield from narrowings(inner, True, facts, depth + 1)
    elif inner.op in ("call", "test", "index"):
        found = equal is not holds if text != "true" else equal is holds
        if text == "0" and last_name(inner) in EXACT_CALLS:
            found = not found
        elif text == "0" and not is_common("tests", "member", dotted_name(inner)):
            return
        yield from narrowings(inner, found, facts, depth + 1)


def last_name(node: FlowNode) -> str:
    return dotted_name(node).rpartition(".")[2]


def _is_own(node: FlowNode, facts: "GuardFacts") -> bool:
    return node.op == "constant" or (node.op in VARIABLES and not facts.is_given(node))


def _call(
    node: FlowNode, holds: bool, facts: "GuardFacts", depth: int
) -> Iterator[Narrowing]:
    callee, *given = node.parts
    name = facts.names_of(node)[0]
    receiver = callee.parts[0] if callee.op == "member" else None
    sides = [receiver, *given] if receiver is not None else given
    local = facts.function_called(node)
    if local is not None and local[1].test is not None:
        yield from _through(node, local, holds, depth)
    if is_common("tests", "member", name):
        yield from _membership(name, receiver, given, holds, facts)
    if is_common("tests", "prefix", name) and given:
        yield from _prefix_call(receiver, given, holds, facts)
    elif not holds:
        return
    elif name.rpartition(".")[2] in EXACT_CALLS:
        others = [side for side in sides[:3] if not _is_own(side, facts)]
        if len(others) < len(sides[:3]):
            yield from _all_safe(others)
    elif is_common("tests", "matches", name):
        whole = is_common("tests", "whole_matches", name)
        yield from _matching(sides, facts, whole=whole)
    elif local is None and is_common("tests", "type", name):
        yield from _all_safe(side for side in sides if side.op != "constant")
    elif local is None and is_common("tests", "named", name):
        # It is taken at its word.
        yield from _all_safe(side for side in sides if side.op in VARIABLES)
    elif local is not None:
        function, summary = local
        names = function.parameter_names
        for position, kinds in summary.believed.items():
            if (argument := _arguments(function, node).get(names[position])) is not None:
                yield from _safe(argument, kinds)


def _membership(
    name: str,
    receiver: FlowNode | None,
    given: list[FlowNode],
    holds: bool,
    facts: "GuardFacts",
) -> Iterator[Narrowing]:
    """Read `ALLOWED.includes(x)`, `in_array(x, ALLOWED)`, `text.contains("..")`, `isset(ALLOWED[x])`."""
    if receiver is not None and len(given) == 1:
        if given[0].op == "constant":
            yield from () if holds else _without(given[0], receiver)
        elif holds and facts.is_clean(receiver):
            yield from _safe(given[0])
    elif holds and len(given) >= 2:
        needle, hay = given[:2]
        if is_common("tests", "member_second", name) and len(given) == 2:
            hay, needle = given
        if needle.op != "constant" and facts.is_clean(hay):
            yield from _safe(needle)
    elif holds and given and given[0].op == "index" and len(given[0].parts) == 2:
        yield from _safe(given[0].parts[1])


def _prefix_call(
    receiver: FlowNode | None, given: list[FlowNode], holds: bool, facts: "GuardFacts"
) -> Iterator[Narrowing]:
    """Read `path.startsWith(BASE)`, `strings.HasPrefix(path, BASE)`, `Paths.startsWith(path, BASE)`."""
    sides = [given[0], given[-1]]
    if receiver is not None and len(given) == 1:
        sides = [receiver, *given]
    elif receiver is not None and len(given) == 2:
        is_helper = facts.is_clean(receiver) and not facts.is_clean(given[0])
        sides = given if is_helper else [receiver, given[0]]
    of, prefix = sides
    yield from _prefix(of, prefix, holds, facts)


def _matching(
    sides: list[FlowNode], facts: "GuardFacts", *, whole: bool
) -> Iterator[Narrowing]:
    """Read `re.fullmatch(PATTERN, x)`: what is no pattern is safe if a strict one matches it."""
    patterns = [side for side in sides if _is_pattern(side) or _is_own(side, facts)]
    # One that is written there goes before a variable.
    shown = sorted(patterns, key=lambda side: not _is_pattern(side))
    if shown and _is_strict(shown[0], whole=whole):
        yield from _all_safe(side for side in sides if side not in patterns)


def _through(
    node: FlowNode, local: tuple[FlowFunction, Summary], holds: bool, depth: int
) -> Iterator[Narrowing]:
    """Read a check that a function makes: its condition, with the arguments for its parameters."""
    function, summary = local
    if summary.test is None or summary.facts is None:
        return
    given = _arguments(function, node)
    made = summary.made_of
    inside = Inside(summary.facts, [*given, *made])
    for found in narrowings(summary.test, holds, inside, depth + 3):
        of = made.get(found.path, found.path)
        if of in given:
            yield from _safe(given[of], found.kinds)


def _arguments(function: FlowFunction, node: FlowNode) -> dict[str, FlowNode]:
    """Map the parameters of a function to what a call gives them by position."""
    names = [name for name in function.parameter_names if name not in OWNERS]
    return dict(zip(names, node.parts[1:], strict=False))


class Inside:
    """The facts of a function for a condition in it: its parameters are what the caller gives, and not clean."""

    def __init__(self, facts: "Walk", parameters: list[str]) -> None:
        self._facts = facts
        self._parameters = parameters
        self.function_called = facts.function_called
        self.names_of = facts.names_of
        self.guards = facts.guards
        self.is_resolved = facts.is_resolved

    def test_of(self, node: FlowNode) -> FlowNode | None:
        return None if path_of(node) in self._parameters else self._facts.test_of(node)

    def is_clean(self, node: FlowNode) -> bool:
        return path_of(node).partition(".")[
            0
        ] not in self._parameters and self._facts.is_clean(node)

    def is_given(self, node: FlowNode) -> bool:
        return path_of(node).partition(".")[0] in self._parameters or self._facts.is_given(
            node
        )


def _prefix(
    of: FlowNode, prefix: FlowNode, holds: bool, facts: "GuardFacts"
) -> Iterator[Narrowing]:
    text = prefix.text.strip("\"'`")
    if prefix.op == "constant" and SITE.match(text):
        if holds:
            yield from _safe(of, OF_URL)
    elif prefix.op == "constant" and text in ("/", "//"):
        if (text == "/") is holds:
            yield from _safe(of, frozenset(("slash" if holds else "one-slash",)))
    elif holds and facts.is_resolved(of):
        yield from _safe(of, PATHS)


def _without(part: FlowNode, of: FlowNode) -> Iterator[Narrowing]:
    """Read a refusal of what holds a text: `".." in name` leaves no way out of the folder."""
    text = part.text.strip("\"'`")
    if ".." in text or text in ("/", "\\\\"):
        yield from _safe(of, PATHS)
    elif "\\n" in text or "\\r" in text:
        yield from _safe(of, frozenset(("header",)))


def _is_pattern(node: FlowNode) -> bool:
    return node.op == "constant" or (node.op == "call" and "ompile" in dotted_name(node))


def _is_strict(pattern: FlowNode, *, whole: bool) -> bool:
    """Return whether a regular expression checks all of a text; one that is not seen here is taken at its word."""
    text = pattern.text
    if pattern.op == "call":
        text = next((part.text for part in pattern.parts[1:] if part.op == "constant"), "")
    if not text:
        return pattern.op != "constant"
    return not OPEN.search(text) and (whole or ANCHORED.match(text) is not None)


def _all_safe(nodes: Iterable[FlowNode]) -> Iterator[Narrowing]:
    for node in nodes:
        yield from _safe(node)


def _safe(node: FlowNode, kinds: frozenset[str] = WHOLE) -> Iterator[Narrowing]:
    """Yield what is safe if an expression is: a variable, also through calls that only change its form."""
    derived = False
    while (inner := _unwrap(node)) is not None:
        node = inner
    if node.op != "name" and HOST.search(dotted_name(node)):
        derived = True
        kinds = OF_URL if ALL in kinds else kinds
        while node.op == "member" or (node.op == "call" and node.parts[0].op == "member"):
            node = node.parts[0] if node.op == "member" else node.parts[0].parts[0]
        while node.op == "call" and len(node.parts) > 1:
            node = node.parts[1]
    path = path_of(node)
    if path:
        yield Narrowing(node, kinds, path, derived)


def _unwrap(node: FlowNode) -> FlowNode | None:
    """Return what an expression only changes the form of: `x` for `(x)` and `x.strip()`."""
    if node.op in ("group", "block", "cast") and len(node.parts) == 1:
        return node.parts[0]
    if node.op != "call" or last_name(node) not in UNWRAPPED:
        return None
    callee, *given = node.parts
    if callee.op == "member":
        return given[-1] if given else callee.parts[0]
    return given[0] if len(given) == 1 else None
