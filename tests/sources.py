"""The files of the package: each is parsed once for all tests that read its syntax tree."""

import ast
from functools import cache
from pathlib import Path

import cli_guard

ROOT = Path(cli_guard.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))


def name_of(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()


@cache
def tree_of(file: Path) -> ast.Module:
    return ast.parse(file.read_text("utf-8"))


@cache
def nodes_of(file: Path) -> tuple[ast.AST, ...]:
    """Every node of a tree: to find them again takes as long as to parse the file."""
    return tuple(ast.walk(tree_of(file)))
