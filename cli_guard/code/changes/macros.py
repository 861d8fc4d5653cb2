"""Guards that a macro hides: `CHECK(x <= n);`, `RETURN_IF(x > n);`, `VERIFY_OR_RETURN(x <= n, -1);`.

They are known by their shape: a statement that is a call of a name in capitals, with a condition among its arguments.
What such a macro does is written elsewhere; its name says whether it leaves where the condition is true.
"""

from typing import TYPE_CHECKING

from cli_guard.code.changes.conditions import (
    Branch,
    branch_of,
    deny,
    is_condition,
    is_saying,
)
from cli_guard.code.changes.facts import fold, words_of_name
from cli_guard.code.changes.kinds import SourceTree
from cli_guard.code.taint.tree_reader import COMMENTS

if TYPE_CHECKING:
    from ast_grep_py import SgNode

STATEMENT = "expression_statement"
# `CHECK(x <= n) << "too long";`
MESSAGE = "binary_expression"
# It is left out of what is released.
ASSERTION = "assert"
LEAVING_IF = frozenset(("if", "on", "when"))
LEAVING_IF_NOT = frozenset(("not", "false", "unless"))


def read_macro(node: "SgNode", tree: SourceTree) -> Branch | None:
    """Return the branch that a call of a macro is, None for any other call."""
    callee = node.field("function")
    name = tree.source(callee)
    given = node.field("arguments")
    if given is None or not name.isupper() or ASSERTION in name.lower():
        return None
    if not is_statement(node):
        return None
    arguments = [each for each in given.named_children() if each.kind() not in COMMENTS]
    asked = next((each for each in arguments if is_asked(each, tree)), None)
    if asked is None:
        return None
    rest = (tree.source(each) for each in arguments if each.range() != asked.range())
    leaving = "" if is_saying(name) else fold(f"{name} {' '.join(rest)}")
    branch = branch_of(asked, leaving, tree)
    return branch if leaves_if_true(name) else deny(branch)


def is_statement(call: "SgNode") -> bool:
    """Return whether a call is a statement of its own, or begins one that adds a message."""
    around = call.parent()
    while around is not None and around.kind() == MESSAGE:
        around = around.parent()
    return around is not None and around.kind() == STATEMENT


def is_asked(argument: "SgNode", tree: SourceTree) -> bool:
    """Return whether an argument is true or false by its form; `-x` is not."""
    is_minus = tree.shape(argument) == "not" and argument.text()[:1] != "!"
    return is_condition(argument, tree) and not is_minus


def leaves_if_true(macro: str) -> bool:
    words = frozenset(words_of_name(macro.lower()))
    return not words.isdisjoint(LEAVING_IF) and words.isdisjoint(LEAVING_IF_NOT)
