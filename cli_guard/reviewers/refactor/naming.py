"""Names for extracted functions, taken from a comment, the result, the loop or the first call."""

import ast
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cli_guard.rules.catalog import read_table

if TYPE_CHECKING:
    from ast_grep_py import SgNode

    from cli_guard.reviewers.refactor.extraction import Extraction

COMMENT = re.compile(r"^\s*(?:#|//)\s*(?:\d+[.)]\s*)?([A-Za-z][\w' -]*)")
CALL = re.compile(r"([A-Za-z_]\w*)\s*\(")
WORD = re.compile(r"[A-Za-z]+")
EMPTY, NOT_COMMENTS, PLAIN_CALLS = (
    frozenset(read_table("languages/english.toml")[name].split())
    for name in ("empty", "not_comments", "plain_calls")
)
WRAPPERS = ("enumerate", "sorted", "reversed", "zip", "list")
MOST_WORDS = 4


def python_name(extraction: "Extraction", lines: Sequence[str], function: str) -> str:
    """Name a run of Python statements, private, in snake case."""
    said = _from_comment(lines, extraction.first)
    if said:
        return "_" + "_".join(said)
    first = extraction.statements[0]
    if len(extraction.results) == 1:
        return f"_compute_{extraction.results[0].strip('_')}"
    if len(extraction.statements) == 1 and isinstance(first, ast.For | ast.AsyncFor):
        over = _last_word(first.iter)
        if over:
            return f"_process_{over}"
    if len(extraction.statements) == 1 and isinstance(first, ast.If | ast.While):
        asked = _last_word(first.test)
        if asked:
            return f"_handle_{_snake(asked)}"
    call = next((w for w in CALL.findall(_text(lines, extraction)) if _telling(w)), "")
    snake = _snake(call)
    if snake and snake != function.strip("_"):
        return f"_{snake}_step"
    return f"_{function.strip('_')}_step"


def block_name(node: "SgNode", lines: Sequence[str], function: str) -> str:
    """Name a block of another language, in camel case."""
    first = node.range().start.line + 1
    said = _from_comment(lines, first) or _from_comment(lines, first + 2)
    if said:
        return said[0] + "".join(word.capitalize() for word in said[1:])
    call = next((w for w in CALL.findall(node.text()) if _telling(w)), function)
    stem = call.strip("_$") or "block"
    return f"{stem[0].lower()}{stem[1:]}Step"


def free_name(name: str, taken: set[str]) -> str:
    """Return the name, with the lowest number that makes it new to the file."""
    if name not in taken:
        return name
    return next(f"{name}_{n}" for n in range(2, len(taken) + 3) if f"{name}_{n}" not in taken)


def _from_comment(lines: Sequence[str], line: int) -> list[str]:
    """Return the first words of the comment on the line above, if they make a phrase."""
    match = COMMENT.match(lines[line - 2]) if 2 <= line <= len(lines) else None
    if match is None:
        return []
    words = [word.lower() for word in WORD.findall(match[1].split(" - ")[0])]
    if not words or words[0] in NOT_COMMENTS or "'" in match[1]:
        return []
    telling = [word for word in words if word not in EMPTY]
    return telling if 2 <= len(telling) <= MOST_WORDS else []


def _last_word(node: ast.expr) -> str:
    if isinstance(node, ast.Call):
        inside = [arg for arg in node.args if not isinstance(arg, ast.Constant)]
        if isinstance(node.func, ast.Name) and node.func.id in WRAPPERS:
            return _last_word(inside[0]) if inside else ""
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("items", "values", "keys"):
            return _last_word(node.func.value)
        if isinstance(node.func, ast.Name) and node.func.id == "isinstance" and len(node.args) == 2:
            return _last_word(node.args[1])
        return _last_word(node.func)
    if isinstance(node, ast.BoolOp):
        return _last_word(node.values[0])
    if isinstance(node, ast.UnaryOp):
        return _last_word(node.operand)
    if isinstance(node, ast.Compare):
        return _last_word(node.left)
    if isinstance(node, ast.Attribute):
        return node.attr.strip("_")
    return node.id.strip("_") if isinstance(node, ast.Name) else ""


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().strip("_")


def _telling(word: str) -> bool:
    return word not in PLAIN_CALLS and len(word) > 3 and not word.startswith("__")


def _text(lines: Sequence[str], extraction: "Extraction") -> str:
    return "\n".join(lines[extraction.first - 1 : extraction.last])
