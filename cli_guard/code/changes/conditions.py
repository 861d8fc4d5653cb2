"""Read branches: their condition, and whether they only leave.

A call may be a guard: `CHECK(x <= n);`, `RETURN_IF(x > n);`, `require(x in known)`, `ensure!(x <= n, Error::Size)`. It
is known by its shape: a statement that is a call with a condition among its arguments, of a macro in capitals or of a
function that is known to refuse. What a macro does is written elsewhere; its name says whether it
leaves where the condition is true.
"""

import re
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from cli_guard.code.changes.asked import asked_tokens
from cli_guard.code.changes.comparisons import (
    outer_tokens,
    read_call,
    split_arguments,
    without_brackets,
)
from cli_guard.code.changes.facts import fold, short_name, words_of_name
from cli_guard.code.changes.kinds import SourceTree
from cli_guard.code.changes.naming import CALLEE_CHARS, callee_name
from cli_guard.code.changes.nodes import ReadNode
from cli_guard.code.syntax import walk_nodes
from cli_guard.code.taint.grammar import TABLE
from cli_guard.code.taint.tree_reader import COMMENTS
from cli_guard.lazy import frozen
from cli_guard.rules.catalog import read_table

if TYPE_CHECKING:
    from ast_grep_py import SgNode

# Before it leaves, a guard may say why: log, set an error, answer.
MOST_STATEMENTS = 4
NEGATED = ("unless", "unless_modifier", "guard_statement")
BODY_FIELDS = ("consequence", "body")
COMPARISONS = frozenset("== != === !== < > <= >= in is =~ !~ instanceof".split())
WRAPPERS = frozenset(
    "expression_statement parenthesized_expression statement_list statements else_clause block then".split()
)
NOTHING = ("pass_statement", "empty_statement")
BRACKETS = ("parenthesized_expression", "condition_clause", "parenthesized_statements")
CONSTANT = re.compile(r"'[^']*'|\"[^\"]*\"|null|nil|None|NULL")
EMPTY = ("''", '""', "null", "nil", "None", "NULL")
ADMITTING = re.compile(r"(?:return\s+)?(?i:true)\b")
ANSWERING = re.compile(r"return\s+(?:await\s+)?[\w.]+\(\s*[\w*]")
JOINERS = {"and": "and", "&&": "and", "or": "or", "||": "or"}
OPPOSITE = {"and": "or", "or": "and"}
MOST_OPERANDS = 50
MOST_NODES = 500
COMMENT_SIGNS = ("#", "//", "/*", "--")
STATEMENTS = ("expression_statement", "statements")
ERROR_GIVEN = re.compile(
    r"(?i:new )?[\w.:\\]*(?:err(?=[A-Z_])|(?i:error|exception)|\bE[A-Z]{3,})[\w.:]*(?:\(.*\))?"
)
# `CHECK(x <= n) << "too long";`
MESSAGE = "binary_expression"
# It is left out of what is released.
ASSERTION = "assert"
LEAVING_IF = frozenset(("if", "on", "when"))
LEAVING_IF_NOT = frozenset(("not", "false", "unless"))


@frozen
class Branch:
    """The condition of a branch as written, `not (…)` for `unless`.

    `leaving` is what it does if it only leaves, but for one that goes on by it: it returns true, or a call where the
    `else` refuses. `only_says`: it only logs, or does nothing, and there is no `else`.
    """

    condition: str
    leaving: str
    only_says: bool = False
    operands: tuple[str, ...] = ()
    joiner: str = ""
    asked: tuple[str, ...] = ()


@cache
def known_words(name: str) -> frozenset[str]:
    """Return the words of a list of the table: those of calls that leave ("exits"), or only tell people ("says")."""
    return frozenset(read_table(TABLE)["changes"][name].split())


def read_branch(node: "SgNode", tree: SourceTree) -> Branch | None:
    """Return the first branch of an `if` in any form, None for one without a condition."""
    inner = children_of(node)
    condition = node.field("condition") or condition_among(inner, node.kind())
    if condition is None:
        return None
    body = next((b for name in BODY_FIELDS if (b := node.field(name)) is not None), None)
    if body is None:
        body = body_beside(inner, condition)
    has_else = node.field("alternative") is not None
    leaving = ""
    says = False
    if body is not None and leaves(body, tree):
        written = without_comments(body, tree).strip("{}: \t\n")
        admits = ADMITTING.match(written) or (has_else and ANSWERING.match(written))
        leaving = "" if admits else written
    elif body is not None and not has_else:
        says = only_says(body, tree)
        leaving = correction(body, condition, tree)
    branch = replace(branch_of(condition, leaving, tree), only_says=says)
    return deny(branch) if node.kind() in NEGATED else branch


def condition_among(inner: "list[SgNode]", kind: str) -> "SgNode | None":
    """Return the condition of a branch whose grammar names none: `a if condition else b` of Python has it second."""
    at = 1 if kind == "conditional_expression" else 0
    return inner[at] if len(inner) > at else None


def branch_of(condition: "SgNode", leaving: str, tree: SourceTree) -> Branch:
    """Return the branch that is taken where a condition is true."""
    text = without_brackets(without_comments(condition, tree))
    operands, joiner = operands_of(condition, tree)
    asked = asked_tokens(inside_brackets(condition), tree)
    return Branch(text, leaving, operands=operands, joiner=joiner, asked=asked)


def deny(branch: Branch) -> Branch:
    """Return the branch that is taken where its condition is false."""
    return replace(
        branch,
        condition=f"not ({branch.condition})",
        operands=tuple(f"not ({each})" for each in branch.operands),
        joiner=OPPOSITE.get(branch.joiner, ""),
        asked=("not", "(", *branch.asked, ")"),
    )


def operands_of(node: "SgNode", tree: SourceTree) -> tuple[tuple[str, ...], str]:
    """Return the operands of a condition as written, and what joins them: "and", "or" or "" for one alone.

    `not (a and b)` is `not a or not b`.
    """
    node = inside_brackets(node)
    if denied := denied_operands(node, tree):
        return denied
    joiner = joiner_of(node, tree)
    if not joiner:
        return (fold(without_comments(node, tree)),), ""
    found: list[str] = []
    waiting = [node]
    while waiting and len(found) < MOST_OPERANDS:
        each = inside_brackets(waiting.pop())
        if joiner_of(each, tree) == joiner:
            waiting += reversed(each.named_children())
        elif "comment" not in each.kind():
            found.append(fold(without_comments(each, tree)))
    return tuple(found), joiner


def denied_operands(node: "SgNode", tree: SourceTree) -> tuple[tuple[str, ...], str] | None:
    """Return the operands of a denial of several, each denied; None for any other condition."""
    inner = node.named_children()
    if tree.shape(node) != "not" or len(inner) != 1:
        return None
    operands, joiner = operands_of(inner[0], tree)
    if not joiner:
        return None
    sign = tree.source(node).partition("(")[0].rstrip()
    gap = " " if sign.isalpha() else ""
    denied = (f"({each})" if " " in each else each for each in operands)
    return tuple(f"{sign}{gap}{each}" for each in denied), OPPOSITE[joiner]


def children_of(node: "SgNode") -> "list[SgNode]":
    """Return what is in a node but for comments."""
    return [each for each in node.named_children() if "comment" not in each.kind()]


def inside_brackets(node: "SgNode") -> "SgNode":
    while node.kind() in BRACKETS:
        inner = children_of(node)
        if len(inner) != 1:
            break
        node = inner[0]
    return node


def joiner_of(node: "SgNode", tree: SourceTree) -> str:
    """Return what joins the operands of a node, "" for what is no condition of several."""
    if tree.shape(node) != "binary":
        return ""
    signs = (child.text() for child in node.children() if not child.is_named())
    return next((JOINERS[sign] for sign in signs if sign in JOINERS), "")


def without_comments(node: "SgNode", tree: SourceTree) -> str:
    """Return the text of a node without the comments inside: what they speak of is not what is asked or done."""
    text = tree.source(node)
    if not any(sign in text for sign in COMMENT_SIGNS):
        return text
    start = node.range().start.index
    kept: list[str] = []
    last = 0
    for each in walk_nodes(node, MOST_NODES):
        if each.kind() not in COMMENTS:
            continue
        span = each.range()
        kept.append(text[last : span.start.index - start])
        last = span.end.index - start
    return "".join((*kept, text[last:]))


def body_beside(inner: "list[SgNode]", condition: "SgNode") -> "SgNode | None":
    """Return what follows the condition, or in `return x if y` what stands before it."""
    # Swift writes `guard condition else { … }`.
    others = [
        each
        for each in inner
        if each.range() != condition.range() and each.kind() != "else"
    ]
    return others[0] if others else None


def is_wrapper(node: "SgNode", tree: SourceTree) -> bool:
    return tree.shape(node) == "block" or node.kind() in WRAPPERS


def leaves(body: "SgNode", tree: SourceTree) -> bool:
    """Return whether a branch only leaves: few statements, of which the last returns, raises, breaks or goes on."""
    node = body
    count = 0
    while is_wrapper(node, tree):
        inner = children_of(node)
        count += len(inner)
        if not inner or count > MOST_STATEMENTS + 2:
            return False
        node = inner[-1]
    shape = tree.shape(node)
    if shape in ("return", "leave"):
        return True
    if shape not in ("call", "macro"):
        return False
    return is_exit(short_name(name_called(tree.source(node))))


def is_exit(name: str) -> bool:
    """Return whether a function never comes back, or refuses, by its name: `die`, `throwTooLong`, `sendForbidden`."""
    words = words_of_name(name)
    is_refusal = not known_words("refuses").isdisjoint((*words[:1], *words[-1:]))
    return is_refusal or name.lower() in known_words("exits")


def name_called(call: str) -> str:
    return callee_name(call[:CALLEE_CHARS].partition("(")[0].partition(" ")[0])


def correction(body: "SgNode", condition: "SgNode", tree: SourceTree) -> str:
    """Return what a branch does if it only gives what its condition asks about a constant, or empties a value."""
    node = body
    while is_wrapper(node, tree):
        inner = children_of(node)
        if len(inner) != 1:
            return ""
        node = inner[0]
    target = tree.source(node.field("left"))
    value = tree.source(node.field("right"))
    asked = tree.source(condition)
    is_corrected = target in asked and CONSTANT.fullmatch(value)
    is_emptied = value in EMPTY
    return fold(tree.source(node)) if target and (is_corrected or is_emptied) else ""


def only_says(body: "SgNode", tree: SourceTree) -> bool:
    """Return whether a branch does nothing, or nothing but log."""
    waiting = [body]
    count = 0
    while waiting:
        node = waiting.pop()
        count += 1
        if is_wrapper(node, tree):
            waiting += children_of(node)
        elif tree.shape(node) in ("call", "macro") and is_saying(tree.source(node)):
            continue
        elif node.kind() not in NOTHING or count > MOST_STATEMENTS + 4:
            return False
    return True


def is_saying(call: str) -> bool:
    """Return whether a call writes a message for people, by the words of its name."""
    return not known_words("says").isdisjoint(words_of_name(name_called(call)))


def returned_condition(node: "SgNode", tree: SourceTree) -> "SgNode | None":
    """Return the condition that a `return` gives back, None if it gives anything else."""
    inner = node.named_children()
    while len(inner) == 1 and inner[0].kind() in WRAPPERS | {"expression_list"}:
        inner = inner[0].named_children()
    if len(inner) == 1 and (is_condition(inner[0], tree) or is_comparing(inner[0], tree)):
        return inner[0]
    return None


def is_comparing(node: "SgNode", tree: SourceTree) -> bool:
    """Return whether an expression is a call that compares, such as `a.startswith(b)`."""
    return tree.shape(node) == "call" and read_call(fold(node.text())) is not None


def is_condition(node: "SgNode", tree: SourceTree) -> bool:
    """Return whether an expression is true or false by its form: a comparison, a negation, several joined."""
    shape = tree.shape(node)
    if shape == "binary":
        signs = {child.text() for child in node.children() if not child.is_named()}
        return not signs.isdisjoint(COMPARISONS | JOINERS.keys())
    # `&x`, `*x` and `-x` are values.
    return shape == "test" or (shape == "not" and node.text().startswith(("!", "not")))


def read_macro(node: "SgNode", tree: SourceTree) -> Branch | None:
    """Return the branch that a call of a macro is, None for any other call."""
    name = short_name(name_called(tree.source(node)))
    if not is_statement(node):
        return None
    if tree.shape(node) == "macro":
        return read_tokens(node, tree, name) if is_refusing(name) else None
    arguments = ReadNode(node, tree).given
    asked = next((each for each in arguments if is_condition(each, tree)), None)
    if asked is None:
        return None
    rest = " ".join(tree.source(e) for e in arguments if e.range() != asked.range())
    if not is_refusing(name) and not names_error(node, rest, tree):
        return None
    leaving = "" if is_saying(name) else fold(f"{name} {rest}")
    branch = branch_of(asked, leaving, tree)
    return branch if leaves_if_true(name) else deny(branch)


def read_tokens(macro: "SgNode", tree: SourceTree, name: str) -> Branch:
    """Return the branch that a macro of Rust is, whose condition is only tokens to its grammar."""
    inside = tree.source(macro).partition("(")[2]
    condition, *rest = split_arguments(inside.rstrip(")")) or ("",)
    condition = fold(condition)
    asked = tuple(map(str.strip, outer_tokens(condition)))
    leaving = fold(f"{name} {' '.join(rest)}")
    return deny(Branch(condition, leaving, operands=(condition,), asked=asked))


def is_refusing(name: str) -> bool:
    """Return whether a function refuses where a condition does not hold, by its name; what asserts is left out."""
    if ASSERTION in name.lower():
        return False
    return name.isupper() or name.lower() in known_words("asserts")


def names_error(call: "SgNode", rest: str, tree: SourceTree) -> bool:
    """Return whether a call is given an error beside a condition: `enforce(n <= MAX, ErrorCode::LENGTH)`."""
    written = tree.source(call)
    is_test = ASSERTION in written.partition("(")[0].lower() or is_saying(written)
    return not is_test and ERROR_GIVEN.fullmatch(rest) is not None


def is_statement(call: "SgNode") -> bool:
    """Return whether a call is a statement of its own, or begins one that adds a message."""
    around = call.parent()
    while around is not None and around.kind() == MESSAGE:
        around = around.parent()
    return around is not None and around.kind() in STATEMENTS


def leaves_if_true(macro: str) -> bool:
    words = frozenset(words_of_name(macro.lower()))
    return not words.isdisjoint(LEAVING_IF) and words.isdisjoint(LEAVING_IF_NOT)
