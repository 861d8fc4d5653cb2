"""The parts of a text that never run: what follows a `return` or `exit` in its block, or a condition that is false."""

from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING

from cli_guard.code.syntax import Trees

if TYPE_CHECKING:
    from ast_grep_py import SgNode

# A shell's `exec` without a program only redirects.
ENDS = r"^((return|raise|throw|die|exit|(sys|os|process|System)\._?(exit|abort))\b|exec[ \t]+[^ \t<>&])"
STATEMENTS = ("command", "return", "jump_expression")
NEVER = r"^\(?\s*(false|False|0|null|nil|None)\s*\)?$"
CONDITIONAL = ("if", "elif", "while", "list")
BRANCHES = ("else_clause", "elif_clause", "else", "elsif")


class DeadCode:
    """Offsets in a text, by the spans that never run."""

    def __init__(self, spans: list[tuple[int, int]]) -> None:
        spans.sort()
        self._starts = [start for start, _ in spans]
        self._ends = list(accumulate((end for _, end in spans), max))

    def __len__(self) -> int:
        return len(self._starts)

    def __contains__(self, offset: int) -> bool:
        before = bisect_right(self._starts, offset)
        return before > 0 and offset < self._ends[before - 1]


def dead_code(trees: Trees, language: str, text: str) -> DeadCode:
    """Return what never runs in a text, as far as its own block or condition says so."""
    return trees.derive("dead", language, text, _find)


def _find(root: "SgNode") -> DeadCode:
    ends = [node for node in root.find_all(regex=ENDS) if _is_statement(node)]
    never = [node for node in root.find_all(regex=NEVER, nthChild=1) if _is_condition(node)]
    return DeadCode([_rest(node) for node in (*ends, *never)])


def _is_statement(node: "SgNode") -> bool:
    kind = node.kind()
    # The bare word `return` is a node as well, in front of what is returned.
    return node.is_named() and (kind in STATEMENTS or kind.endswith("_statement"))


def _is_condition(node: "SgNode") -> bool:
    parent = node.parent()
    if parent is None or not parent.kind().startswith(CONDITIONAL):
        return False
    return parent.kind() != "list" or any(
        child.text() == "&&" for child in parent.children()
    )


def _rest(node: "SgNode") -> tuple[int, int]:
    """Return what is behind a node in its parent, up to another branch of it."""
    start = node.range().end.index
    parent = node.parent()
    if parent is None:
        return start, start
    branch = parent.field("alternative")
    if branch is None and parent.kind().startswith(CONDITIONAL):
        branch = next((each for each in node.next_all() if each.kind() in BRANCHES), None)
    return start, branch.range().start.index if branch else parent.range().end.index
