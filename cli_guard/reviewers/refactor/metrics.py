"""Complexity and length of one function, counted in its syntax tree.

Only functions that may be over a limit are counted: a function has no more decisions than it has keywords and operators
that make one.
"""

from typing import TYPE_CHECKING

from cli_guard.code.languages import FAMILY
from cli_guard.code.symbols import Symbol
from cli_guard.lazy import frozen
from cli_guard.rules.catalog import read_table
from cli_guard.words import split_identifiers

if TYPE_CHECKING:
    from ast_grep_py import SgNode

DECIDING = frozenset(
    "if elif for foreach while and or except catch case match select switch when else".split()
)
DECIDING_SIGNS = ("&&", "||", "=>", "?")

TABLE = "languages/decisions.toml"


@frozen
class Measure:
    """The lines of the decisions of a function, and its length (lines of code without comments and blanks)."""

    decisions: tuple[int, ...]
    length: int

    @property
    def complexity(self) -> int:
        """Return the cyclomatic complexity: the number of independent paths."""
        return 1 + len(self.decisions)


def may_exceed(text: str, complexity: int, length: int) -> bool:
    """Return whether a function with this text may be over either limit."""
    if text.count("\n") + 1 > length:
        return True
    if len(text) <= 2 * complexity:
        return False
    words = sum(map(DECIDING.__contains__, split_identifiers(text)))
    return words + sum(map(text.count, DECIDING_SIGNS)) + 1 > complexity


def measure(language: str, symbol: Symbol) -> Measure:
    """Measure one function without the functions in it, which have paths and lines of their own."""
    if symbol.node is None:
        raise ValueError(f"{symbol.qualname} has no syntax tree")
    table = read_table(TABLE)[FAMILY.get(language, language)]
    left_out = f"{table['functions']} {table['comments']}".split()
    decisions = []
    spans = []
    end = 0
    kinds = [{"kind": name} for name in (*left_out, *table["kinds"].split())]
    found = symbol.node.find_all(any=[*kinds, *table["rules"]])  # type: ignore[list-item]
    for node in found[1:]:  # the first is the function itself
        span = node.range()
        if span.start.index < end:
            continue
        if node.kind() in left_out:
            end = span.end.index
            spans.append((span.start.index, end))
        else:
            decisions.append(span.start.line + 1)
    return Measure(tuple(decisions), _count_lines(symbol, symbol.node, spans))


def _count_lines(symbol: Symbol, node: "SgNode", spans: list[tuple[int, int]]) -> int:
    """Count the lines that hold anything outside of these spans and of the docstring."""
    text = node.text()
    start = node.range().start.index
    kept = []
    at = 0
    for begin, end in spans:
        kept.append(text[at : begin - start])
        at = end - start
    kept.append(text[at:])
    length = sum(1 for line in "".join(kept).split("\n") if line.strip())
    doc = symbol.doc
    if doc is None or doc.line <= symbol.head_end:
        return length
    return length - sum(1 for line in doc.text.split("\n") if line.strip())
