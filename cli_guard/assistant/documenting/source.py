"""A source file as it is documented: its symbols, its style, and edits that leave its code as it is."""

import ast
import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

from cli_guard.assistant.request_documentation import find_language
from cli_guard.code.symbols import Symbol, symbols_of, unreadable
from cli_guard.code.syntax import Trees
from cli_guard.lazy import dataclass
from cli_guard.model import Skipped
from cli_guard.reviewers.docs.styles import Style, indent_of, style_of

TODO = "TODO: describe."
FILE_CHARS = 400_000
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
TOO_DEEP = (RecursionError, MemoryError)


@dataclass(frozen=True)
class DocSource:
    """A file in a language that is documented here."""

    path: str
    language: str
    text: str
    trees: Trees
    symbols: tuple[Symbol, ...]

    @cached_property
    def lines(self) -> list[str]:
        """Return the lines without LF; a CR stays at the end of its line."""
        return self.text.split("\n")

    def line(self, number: int) -> str:
        """Return a line, counted from 1; "" behind the end."""
        return self.lines[number - 1] if number <= len(self.lines) else ""

    def indent_of(self, number: int) -> str:
        """Return the white space at the beginning of a line, counted from 1."""
        return indent_of(self.line(number))


@dataclass(frozen=True, slots=True)
class DocEdit:
    """Lines to put before line `line` (from 1), in place of the `drop` lines from there on.

    `module`: they document the file as a whole.
    """

    line: int
    lines: tuple[str, ...]
    drop: int = 0
    module: bool = False


def read_source(path: str, text: str, trees: Trees) -> DocSource | Skipped:
    """Read the symbols of a file, or say why it cannot be documented here."""
    language = find_language(path)
    if not language:
        return Skipped(path, "not in a language that is documented here")
    reason = unreadable(path, text, FILE_CHARS)
    if reason:
        return Skipped(path, reason, asks="longer" in reason)
    if (
        "\r" in text.replace("\r\n", "")
        or "\0" in text
        or "\f" in text.replace("\n\f\n", "\n")
    ):
        return Skipped(path, "it has line ends that are not written here")
    if language == "python" and parse_python(text) is None:
        return Skipped(path, "Python cannot parse it: fix the syntax first")
    return DocSource(path, language, text, trees, symbols_of(trees, language, text))


def parse_python(text: str) -> ast.Module | None:
    """Parse Python text; None for text that does not parse."""
    try:
        with warnings.catch_warnings(action="ignore", category=SyntaxWarning):
            return ast.parse(text)
    except (SyntaxError, ValueError, *TOO_DEEP):
        return None


def _dump_code(text: str) -> str | None:
    """Dump the syntax tree of Python text without its docstrings; None for text that does not parse."""
    tree = parse_python(text)
    if tree is None:
        return None
    try:
        for node in ast.walk(tree):
            if (
                isinstance(node, DOCUMENTED)
                and ast.get_docstring(node, clean=False) is not None
            ):
                del node.body[0]
        return ast.dump(tree)
    except TOO_DEEP:
        return None


def apply_edits(source: DocSource, edits: Sequence[DocEdit]) -> str:
    """Make all edits, with the line ends of the file."""
    lines = list(source.lines)
    end = "\r" if lines[0].endswith("\r") else ""
    for edit in sorted(edits, key=lambda e: e.line, reverse=True):
        lines[edit.line - 1 : edit.line - 1 + edit.drop] = [
            line + end for line in edit.lines
        ]
    return "\n".join(lines)


def keeps_code(source: DocSource, edits: Sequence[DocEdit]) -> bool:
    """Return whether edits change documentation alone, and each that adds some documents what it should."""
    text = apply_edits(source, edits)
    if source.language == "python":
        code = _dump_code(text)
        if code is None or code != _dump_code(source.text):
            return False
    elif _drop_comments(source, text) != _drop_comments(source, source.text):
        return False
    after = symbols_of(source.trees, source.language, text)
    added = sum(s.doc is not None for s in after) - sum(
        s.doc is not None for s in source.symbols
    )
    return added == sum(not edit.module and not edit.drop for edit in edits)


def lacks_module_docstring(source: DocSource) -> bool:
    """Return whether it is a Python module with code and without a docstring."""
    tree = parse_python(source.text) if source.language == "python" else None
    return tree is not None and bool(tree.body) and ast.get_docstring(tree) is None


def _drop_comments(source: DocSource, text: str) -> list[str]:
    kinds = (
        ["line_comment", "block_comment"]
        if source.language in ("java", "rust")
        else ["comment"]
    )
    rest: list[str] = []
    at = 0
    root = source.trees.root(source.language, text)
    for node in root.find_all(any=[{"kind": kind} for kind in kinds]):
        span = node.range()
        if span.start.index >= at:
            rest.append(text[at : span.start.index])
            at = span.end.index
    return " ".join([*rest, text[at:]]).split()


def find_style(source: DocSource, asked: str = "") -> Style:
    """Tell the style from the file's own comments; `asked` is a style of Python docstrings that the request names."""
    style = style_of(source.language, source.symbols, ())
    is_asked = asked and source.language == "python"
    return replace(style, sections=asked) if is_asked else style
