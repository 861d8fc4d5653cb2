"""Walks the body of a function once: every node with the condition under which it is reached."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cli_guard.assistant.documenting.facts.conditions import caught, denied, said

if TYPE_CHECKING:
    from ast_grep_py import SgNode

MOST_NODES = 6_000
LONGEST_CONDITION = 130
NESTED = frozenset(
    {"function_definition", "class_definition", "lambda", "function_declaration", "function_expression"}
    | {"arrow_function", "class_declaration", "method_definition", "func_literal", "lambda_expression"}
    | {"generator_function", "generator_function_declaration", "function_item", "closure_expression"}
)
LOOSE = frozenset({"python", "javascript", "typescript", "tsx"})
BLOCKS = frozenset({"block", "statement_block", "statement_list"})
EXITS = frozenset({"return_statement", "continue_statement", "break_statement", "return_expression"})
COMPOUND = frozenset(
    {
        "for_statement",
        "for_in_statement",
        "while_statement",
        "try_statement",
        "with_statement",
        "match_statement",
    }
    | {"switch_statement", "enhanced_for_statement", "expression_switch_statement", "do_statement"}
)
LEAVES = re.compile(r"\b(return|continue|break)\b")
LONGEST_LOOK = 20_000
BRANCHES = frozenset({"if_statement", "if_expression"})


@dataclass(frozen=True, slots=True)
class Step:
    """A node of a body, and when it is reached.

    `when` is the condition in words, "" where there is none or none to tell; `certain` is False where one holds
    that could not be put into words. `after` are the contraries of the conditions under which the same block was
    left before, "" for one that cannot be told: `if done: return` makes what follows depend on it.
    """

    node: "SgNode"
    when: str
    certain: bool
    depth: int
    after: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Body:
    """The steps of a body in source order; `cut` tells that it is too long and was read in part.

    `memo` keeps what is found in it for whoever asks next.
    """

    language: str
    steps: tuple[Step, ...]
    cut: bool
    memo: dict[str, object] = field(default_factory=dict, compare=False, repr=False)

    def of(self, *kinds: str) -> list[Step]:
        """The steps of some kinds."""
        return [step for step in self.steps if step.node.kind() in kinds]


def read_body(function: "SgNode", language: str) -> Body:
    """The body of a function definition, without the functions and classes inside it."""
    block = function.field("body")
    steps: list[Step] = []
    stack = [Step(block, "", True, 0)] if block is not None else []
    loose = language in LOOSE
    while stack and len(steps) < MOST_NODES:
        step = stack.pop()
        steps.append(step)
        kind = step.node.kind()
        if kind in NESTED and step.depth:
            continue
        if kind in BRANCHES:
            following = branches(step, loose)
        elif kind in ("except_clause", "catch_clause"):
            text = caught(step.node)
            following = [
                Step(child, text, bool(text), step.depth + 1) for child in step.node.named_children()
            ]
        elif kind in BLOCKS:
            following = list(statements(step, loose))
        else:
            following = [
                Step(child, step.when, step.certain, step.depth + 1, step.after)
                for child in step.node.named_children()
            ]
        stack.extend(reversed(following))
    return Body(language, tuple(steps), bool(stack))


def statements(block: Step, loose: bool) -> Iterator[Step]:
    """The statements of a block; each knows under which conditions the block was left before it."""
    after = block.after
    for child in block.node.named_children():
        yield Step(child, block.when, block.certain, block.depth + 1, after)
        left = left_when_not(child, loose)
        if left is not None:
            after = (*after, left)


def left_when_not(statement: "SgNode", loose: bool) -> str | None:
    """The contrary of the condition under which a statement leaves its block; None if it does not."""
    kind = statement.kind()
    if kind in BRANCHES:
        then, condition = statement.field("consequence"), statement.field("condition")
        if not LEAVES.search(statement.text()[:LONGEST_LOOK]):
            return None
        last = then
        while last is not None and last.kind() in BLOCKS and last.named_children():
            last = last.named_children()[-1]
        plain = last is not None and last.kind() in EXITS and not statement.field_children("alternative")
        return denied(condition, loose=loose) if plain and condition is not None else ""
    if kind in COMPOUND and LEAVES.search(statement.text()[:LONGEST_LOOK]):
        return ""
    return None


def both(outer: str, inner: str, certain: bool) -> str:
    """The condition of a branch inside a branch, "" if one of the two cannot be said, or both are too long."""
    if not inner or not certain:
        return ""
    if not outer or outer in inner:
        return inner
    text = f"{outer} and {inner}"
    return text if len(text) <= LONGEST_CONDITION else ""


def branches(step: Step, loose: bool) -> list[Step]:
    """The parts of an `if`, each under its own condition."""
    node, depth = step.node, step.depth + 1
    condition = node.field("condition")
    if condition is None:
        return [Step(child, step.when, step.certain, depth, step.after) for child in node.named_children()]
    result = [Step(condition, step.when, step.certain, depth, step.after)]
    then = node.field("consequence")
    if then is not None:
        words = both(step.when, said(condition, loose=loose), step.certain)
        result.append(Step(then, words, bool(words), depth))
    others = node.field_children("alternative")
    otherwise = both(step.when, denied(condition, loose=loose), step.certain) if len(others) == 1 else ""
    for other in others:
        if other.kind() == "elif_clause":
            result += branches(Step(other, step.when, step.certain, step.depth), loose)
        else:
            result.append(Step(other, otherwise, bool(otherwise), depth))
    return result
