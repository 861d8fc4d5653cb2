"""Read branches: their condition, and whether they only leave."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from cli_guard.code.changes.facts import fold
from cli_guard.code.changes.naming import CALLEE_CHARS, callee_name
from cli_guard.code.taint.grammar import TABLE
from cli_guard.code.taint.tree_reader import COMMENTS
from cli_guard.rules.catalog import read_table

if TYPE_CHECKING:
    from ast_grep_py import SgNode

# Before it leaves, a guard may say why: log, set an error, answer.
MOST_STATEMENTS = 4
NEGATED = ("unless", "unless_modifier", "guard_statement")
BODY_FIELDS = ("consequence", "body")
JUDGED = ("binary", "test", "not")
COMPARISONS = frozenset("== != === !== < > <= >= in is =~ !~ instanceof".split())
WRAPPERS = frozenset(
    "expression_statement parenthesized_expression statement_list statements else_clause block then".split()
)
BRACKETS = ("parenthesized_expression", "condition_clause", "parenthesized_statements")
JOINERS = {"and": "and", "&&": "and", "or": "or", "||": "or"}
OPPOSITE = {"and": "or", "or": "and"}
MOST_OPERANDS = 50
MOST_NODES = 500
COMMENT_SIGNS = ("#", "//", "/*", "--")
Source = Callable[["SgNode | None"], str]


@dataclass(frozen=True, slots=True)
class Branch:
    """The condition of a branch as written, `not (…)` for `unless`; `leaving` is what it does if it only leaves."""

    condition: str
    leaving: str
    operands: tuple[str, ...] = ()
    joiner: str = ""


@cache
def exits() -> frozenset[str]:
    return frozenset(read_table(TABLE)["changes"]["exits"].split())


def read_branch(node: "SgNode", shapes: Mapping[str, str], source: Source) -> Branch | None:
    """Return the first branch of an `if` in any form, None for one without a condition."""
    inner = [each for each in node.named_children() if "comment" not in each.kind()]
    condition = node.field("condition") or (inner[0] if inner else None)
    if condition is None:
        return None
    body = next((b for name in BODY_FIELDS if (b := node.field(name)) is not None), None)
    if body is None:
        body = body_beside(inner, condition)
    text = strip_brackets(without_comments(condition, source))
    operands, joiner = operands_of(condition, shapes, source)
    if node.kind() in NEGATED:
        text = f"not ({text})"
        operands = tuple(f"not ({each})" for each in operands)
        joiner = OPPOSITE.get(joiner, "")
    leaving = ""
    if body is not None and leaves(body, shapes, source):
        leaving = without_comments(body, source).strip("{}: \t\n")
    return Branch(text, leaving, operands, joiner)


def operands_of(
    node: "SgNode", shapes: Mapping[str, str], source: Source
) -> tuple[tuple[str, ...], str]:
    """Return the operands of a condition as written, and what joins them: "and", "or" or "" for one alone."""
    node = without_brackets(node)
    joiner = joiner_of(node, shapes)
    if not joiner:
        return (fold(without_comments(node, source)),), ""
    found: list[str] = []
    waiting = [node]
    while waiting and len(found) < MOST_OPERANDS:
        each = without_brackets(waiting.pop())
        if joiner_of(each, shapes) == joiner:
            waiting += reversed(each.named_children())
        elif "comment" not in each.kind():
            found.append(fold(without_comments(each, source)))
    return tuple(found), joiner


def without_brackets(node: "SgNode") -> "SgNode":
    while node.kind() in BRACKETS and len(inner := node.named_children()) == 1:
        node = inner[0]
    return node


def joiner_of(node: "SgNode", shapes: Mapping[str, str]) -> str:
    """Return what joins the operands of a node, "" for what is no condition of several."""
    if shapes.get(node.kind()) != "binary":
        return ""
    signs = (child.text() for child in node.children() if not child.is_named())
    return next((JOINERS[sign] for sign in signs if sign in JOINERS), "")


def without_comments(node: "SgNode", source: Source) -> str:
    """Return the text of a node without the comments inside: what they speak of is not what is asked or done."""
    text = source(node)
    if not any(sign in text for sign in COMMENT_SIGNS):
        return text
    start = node.range().start.index
    kept: list[str] = []
    last = 0
    for comment in comments_in(node):
        span = comment.range()
        kept.append(text[last : span.start.index - start])
        last = span.end.index - start
    return "".join((*kept, text[last:]))


def comments_in(node: "SgNode") -> "Iterator[SgNode]":
    """Yield the comments of a tree in their order; of a tree that is too big only the first."""
    waiting = [node]
    count = 0
    while waiting and count < MOST_NODES:
        each = waiting.pop()
        count += 1
        if each.kind() in COMMENTS:
            yield each
        else:
            waiting += reversed(each.named_children())


def body_beside(inner: "list[SgNode]", condition: "SgNode") -> "SgNode | None":
    """Return what follows the condition, or in `return x if y` what stands before it."""
    others = [each for each in inner if each.range() != condition.range()]
    return others[0] if others else None


def strip_brackets(text: str) -> str:
    """Return a condition without the brackets around all of it."""
    text = text.strip()
    while text.startswith("(") and text.endswith(")") and encloses(text):
        text = text[1:-1].strip()
    return text


def encloses(text: str) -> bool:
    depth = 0
    for at, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if depth == 0:
            return at == len(text) - 1
    return False


def leaves(body: "SgNode", shapes: Mapping[str, str], source: Source) -> bool:
    """Return whether a branch only leaves: few statements, of which the last returns, raises, breaks or goes on."""
    node = body
    count = 0
    while shapes.get(node.kind()) == "block" or node.kind() in WRAPPERS:
        inner = [each for each in node.named_children() if "comment" not in each.kind()]
        count += len(inner)
        if not inner or count > MOST_STATEMENTS + 2:
            return False
        node = inner[-1]
    shape = shapes.get(node.kind(), "")
    if shape in ("return", "leave"):
        return True
    if shape not in ("call", "macro"):
        return False
    name = callee_name(source(node)[:CALLEE_CHARS].partition("(")[0].partition(" ")[0])
    return name.rpartition(".")[2].lower() in exits()


def returned_condition(node: "SgNode", shapes: Mapping[str, str]) -> "SgNode | None":
    """Return the condition that a `return` gives back, None if it gives anything else."""
    inner = node.named_children()
    while len(inner) == 1 and inner[0].kind() in WRAPPERS | {"expression_list"}:
        inner = inner[0].named_children()
    if len(inner) == 1 and is_condition(inner[0], shapes):
        return inner[0]
    return None


def is_condition(node: "SgNode", shapes: Mapping[str, str]) -> bool:
    """Return whether an expression is true or false by its form: a comparison, a negation, several joined."""
    shape = shapes.get(node.kind())
    if shape == "binary":
        signs = {child.text() for child in node.children() if not child.is_named()}
        return not signs.isdisjoint(COMPARISONS | JOINERS.keys())
    return shape in JUDGED
