"""A plan for one function: which lines to extract, under what name, with which parameters and results."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cli_guard.code.symbols import Symbol
from cli_guard.code.symbols.nesting import first_line, last_line
from cli_guard.reviewers.refactor.naming import block_name, free_name, python_name

if TYPE_CHECKING:
    from ast_grep_py import SgNode

    from cli_guard.reviewers.refactor.extraction import Extraction

STEPS = 2
LONGEST = 2_000
# Class methods, or as good as such, without a decorator.
CLASS_METHODS = ("__new__", "__init_subclass__", "__class_getitem__")
LOOKUPS = ("__getattribute__", "__getattr__")
OWNERS = ("self", "cls", "mcs", "mcls", "metacls", "klass", "meta")
FEWEST_LINES = 4
LARGEST_SHARE = 0.8
BLOCKS = {
    "javascript": ("statement_block", "switch_case"),
    "typescript": ("statement_block", "switch_case"),
    "tsx": ("statement_block", "switch_case"),
    "go": ("block", "expression_case", "type_case", "communication_case"),
    "java": ("block", "switch_block_statement_group"),
}
CASES = ("switch_case", "expression_case", "type_case", "communication_case")
LEAVES = ("return_statement", "break_statement", "continue_statement", "yield_expression", "goto_statement")


@dataclass(frozen=True, slots=True)
class Block:
    """A block of a language other than Python: its lines, and whether `return` and the like leave it."""

    first: int
    last: int
    leaves: bool
    name: str


@dataclass(frozen=True, slots=True)
class CallForm:
    """A new function: its kind ("function", "method", "class method"), its first line and the call of it."""

    kind: str
    head: str
    call: str


def plan(language: str, symbol: Symbol, lines: Sequence[str]) -> str | None:
    """Return the steps as sentences; None if no run of lines can be moved unchanged."""
    steps = _python(symbol, lines) if language == "python" else _blocks(language, symbol, lines)
    if not steps:
        return None
    last = "Run the tests after each step; the lines have only moved."
    return "\n".join(f"{number}. {step}" for number, step in enumerate([*steps, last], 1))


def python_extractions(symbol: Symbol, lines: Sequence[str]) -> "list[tuple[str, Extraction]]":
    """Return the runs that the plan moves, with their new names; the lower first, so that line numbers hold."""
    from cli_guard.reviewers.refactor.extraction import extractions, parse_function

    if symbol.end_line - symbol.line > LONGEST:
        return []
    if symbol.kind == "method" and not _plain_method(symbol):
        return []
    function = parse_function(lines[symbol.top - 1 : symbol.end_line], symbol.top)
    if function is None:
        return []
    try:
        found = extractions(function, lines)
    except RecursionError:
        return []
    owned = first_parameter(symbol) if symbol.kind == "method" else None
    chosen: list[Extraction] = []
    for candidate in found:
        if owned in candidate.results:
            continue
        if all(candidate.last < other.first or candidate.first > other.last for other in chosen):
            chosen.append(candidate)
        if len(chosen) == STEPS:
            break
    taken = set(re.findall(r"\w+", "\n".join(lines)))
    named = []
    for extraction in sorted(chosen, key=lambda e: -e.first):
        name = free_name(python_name(extraction, lines, symbol.name), taken)
        taken.add(name)
        named.append((name, extraction))
    return named


def _plain_method(symbol: Symbol) -> bool:
    """Return whether it can call a new method beside it.

    Not a static method, nor one that the class body or a decorator calls in its own way, nor one that every call goes
    through.
    """
    owner = first_parameter(symbol)
    if owner not in OWNERS or symbol.name in LOOKUPS:
        return False
    of_class = "classmethod" in symbol.decorators or symbol.name in CLASS_METHODS
    return owner == "self" or of_class or not symbol.decorators


def _python(symbol: Symbol, lines: Sequence[str]) -> list[str]:
    steps = []
    for name, extraction in python_extractions(symbol, lines):
        form = call_form(symbol, name, extraction)
        results = ", ".join(extraction.results)
        ends = f", and end it with `return {results}`" if results else "; it returns nothing"
        steps.append(
            f"Move lines {extraction.first} to {extraction.last} into a new {form.kind} `{name}`"
            f" below `{symbol.name}`: `{form.head}`{'' if extraction.returns else ends}. In their place: `{form.call}`."
        )
    return steps


def call_form(symbol: Symbol, name: str, extraction: "Extraction") -> CallForm:
    """Return how the new function is defined and called; a method's is a method, with or without `self`."""
    owner = first_parameter(symbol) if symbol.kind == "method" else None
    given = [p for p in extraction.parameters if p != owner]
    of_class = "classmethod" in symbol.decorators or symbol.name in CLASS_METHODS
    kind = "function" if owner is None else "class method" if of_class else "method"
    decorator = "@classmethod " if kind == "class method" else ""
    taken = ", ".join(given if owner is None else [owner, *given])
    call = f"{'await ' if extraction.waits else ''}{f'{owner}.' if owner else ''}{name}({', '.join(given)})"
    if extraction.returns:
        call = f"return {call}"
    elif extraction.results:
        call = f"{', '.join(extraction.results)} = {call}"
    return CallForm(kind, f"{decorator}{'async ' if extraction.waits else ''}def {name}({taken}):", call)


def first_parameter(symbol: Symbol) -> str | None:
    """Return `self` or `cls` of a method, None for a static one."""
    parameters = symbol.node.field("parameters") if symbol.node is not None else None
    first = next(iter(parameters.named_children()), None) if parameters is not None else None
    if first is None or "staticmethod" in symbol.decorators:
        return None
    return re.split(r"\W", first.text())[0] or None


def _blocks(language: str, symbol: Symbol, lines: Sequence[str]) -> list[str]:
    best = _best_block(language, symbol, lines)
    if best is None:
        return []
    move = f"Move lines {best.first} to {best.last} into a new function `{best.name}`"
    if best.leaves:
        tail = (
            "; lines there leave the block (`return`, `break`), so let it tell the caller whether to go on."
        )
    else:
        tail = "; pass what they read, and return what is read after them."
    return [move + tail, f"Put a call of `{best.name}` in their place."]


def _best_block(language: str, symbol: Symbol, lines: Sequence[str]) -> Block | None:
    if symbol.node is None:
        return None
    size = symbol.end_line - symbol.body + 1
    found: list[tuple[tuple[bool, int, int], Block]] = []
    for node in symbol.node.find_all(any=[{"kind": kind} for kind in BLOCKS[language]]):
        inner = _inner_lines(node)
        if inner is None or inner[0] <= symbol.body:
            continue
        first, last = inner
        if not FEWEST_LINES <= last - first + 1 <= LARGEST_SHARE * size:
            continue
        leaves = node.find(any=[{"kind": kind} for kind in _leaving_kinds(language)]) is not None
        name = block_name(node, lines, symbol.name)
        found.append(((not leaves, last - first, -first), Block(first, last, leaves, name)))
    if not found:
        return None
    best = max(found, key=lambda pair: pair[0])[1]
    taken = set(re.findall(r"\w+", "\n".join(lines)))
    return Block(best.first, best.last, best.leaves, free_name(best.name, taken))


def _leaving_kinds(language: str) -> tuple[str, ...]:
    """Return the kinds that a grammar has: asking for another one is an error."""
    if language == "java":
        return (*LEAVES[:3], "yield_statement")
    return (*LEAVES[:3], "goto_statement") if language == "go" else LEAVES[:4]


def _inner_lines(node: "SgNode") -> tuple[int, int] | None:
    inner = next((p for p in node.named_children() if p.kind() == "statement_list"), node)
    parts = [p for p in inner.named_children() if p.kind() not in ("switch_label", "comment")]
    if node.kind() in CASES and inner is node:
        parts = parts[1:]  # the value of the case
    if not parts:
        return None
    return first_line(parts[0]), last_line(parts[-1])
