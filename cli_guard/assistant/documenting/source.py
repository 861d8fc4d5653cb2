"""A source file as it is documented: its symbols, edits that leave its code as it is, repairs of stale parameters."""

import ast
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

from cli_guard.assistant.editing.sources import parse_python
from cli_guard.assistant.request_documentation import find_language
from cli_guard.code.symbols import Parameter, Symbol, symbols_of, unreadable
from cli_guard.code.syntax import Trees
from cli_guard.lazy import dataclass, frozen
from cli_guard.model import Skipped
from cli_guard.reviewers.docs.documented import Documented
from cli_guard.reviewers.docs.mismatch import READERS, mismatch
from cli_guard.reviewers.docs.repair import Mismatch, repaired
from cli_guard.reviewers.docs.styles import Style, indent_of

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


@frozen
class DocEdit:
    """Lines to put in place of the `drop` lines from line `line` (from 1) on."""

    line: int
    lines: tuple[str, ...]
    drop: int


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
    tree = parse_python(text) if language == "python" else None
    if isinstance(tree, str):
        return Skipped(path, tree)
    return DocSource(path, language, text, trees, symbols_of(trees, language, text))


def _dump_code(text: str) -> str | None:
    """Dump the syntax tree of Python text without its docstrings; None for text that does not parse."""
    tree = parse_python(text)
    if isinstance(tree, str):
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


def keeps_code(source: DocSource, text: str) -> bool:
    """Return whether a new text of a file differs from it in documentation alone."""
    if source.language == "python":
        code = _dump_code(text)
        return code is not None and code == _dump_code(source.text)
    return _drop_comments(source, text) == _drop_comments(source, source.text)


def leaves_code(path: str, old: str, new: str) -> bool:
    """Return whether a change of a file is one of its documentation alone, in a language that is documented here."""
    source = read_source(path, old, Trees())
    return isinstance(source, DocSource) and keeps_code(source, new)


def lacks_module_docstring(source: DocSource) -> bool:
    """Return whether it is a Python module with code and without a docstring."""
    tree = parse_python(source.text) if source.language == "python" else ""
    return not isinstance(tree, str) and bool(tree.body) and ast.get_docstring(tree) is None


def _drop_comments(source: DocSource, text: str) -> list[str]:
    kinds = (
        ["line_comment", "block_comment"]
        if source.language in ("java", "rust")
        else ["comment"]
    )
    rest = []
    at = 0
    root = source.trees.root(source.language, text)
    for node in root.find_all(any=[{"kind": kind} for kind in kinds]):
        span = node.range()
        if span.start.index >= at:
            rest.append(text[at : span.start.index])
            at = span.end.index
    return " ".join([*rest, text[at:]]).split()


def repair(
    source: DocSource, symbol: Symbol, style: Style, *, complete: bool
) -> tuple[str, DocEdit | None] | None:
    """Say what is wrong in the documentation of a function, and the edit; None where nothing is known to be wrong.

    The edit is None where a person has to fix it. A docstring that names only some of the parameters may do so on
    purpose: the others are missing if `complete`, or if they are few.
    """
    doc = symbol.doc
    if not doc or not symbol.is_function or symbol.quiet in ("nested", "overload"):
        return None
    if source.language not in READERS:
        return None
    documented = READERS[source.language](doc.text)
    wrong = mismatch(source.language, symbol, documented)
    if complete:
        wrong = replace(wrong, new=find_missing(symbol, documented, doc.text))
    new = {p.name for p in wrong.new}
    gone = set(wrong.gone)
    if wrong == Mismatch():
        return None
    ordered = replace(wrong, new=order_for_insertion(symbol, documented, wrong.new))
    indent = source.indent_of(doc.line)
    words = dict.fromkeys(new, TODO)
    text = repaired(source.language, symbol, doc, documented, ordered, style, indent, words)
    if text is None or may_be_example(doc.text, documented, wrong):
        return describe(wrong), None
    repaired_names = {name.strip("*") for name in READERS[source.language](text).names}
    if not repaired_names >= new or not repaired_names.isdisjoint(gone):
        return describe(wrong), None
    # One name gone and one new at its place: the reviewer takes that for a new name, and keeps the words.
    kept = "; the words are kept, check them" if wrong.new and TODO not in text else ""
    lines = tuple(text.split("\n"))
    return describe(wrong) + kept, DocEdit(doc.line, lines, doc.end_line - doc.line + 1)


def order_for_insertion(
    symbol: Symbol, documented: Documented, new: tuple[Parameter, ...]
) -> tuple[Parameter, ...]:
    """Reverse those before all documented parameters: each is put in front of the ones before it."""
    names = [p.name for p in symbol.parameters]
    first = min(
        (names.index(name) for name in documented.names if name in names),
        default=len(names),
    )
    front = [p for p in new if names.index(p.name) < first]
    return (*reversed(front), *(p for p in new if p not in front))


def find_missing(
    symbol: Symbol, documented: Documented, text: str
) -> tuple[Parameter, ...]:
    """Find the parameters that a comment which documents others leaves out; `*args` and `_private` need none."""
    if not (documented.certain and documented.entries) or any(
        not p.name for p in symbol.parameters
    ):
        return ()
    listed = {name.strip("_") for name in documented.names}
    bare = (p for p in symbol.parameters if not p.star and not p.name.startswith("_"))
    # The first line of a docstring may be an entry, which is not read as one.
    return tuple(
        p for p in bare if p.name.strip("_") not in listed and f" {p.name}:" not in text
    )


def may_be_example(text: str, documented: Documented, wrong: Mismatch) -> bool:
    """Return whether a stale entry is below a doctest, whose output it may be."""
    last = max((e.first for e in documented.entries if e.name in wrong.gone), default=0)
    return any(">>>" in line for line in text.split("\n")[:last])


def describe(wrong: Mismatch) -> str:
    lists = {"stale": wrong.gone, "missing": [p.name for p in wrong.new]}
    parts = [f"{title}: `{'`, `'.join(names)}`" for title, names in lists.items() if names]
    if wrong.no_result:
        parts.append("documents a result, and declares to return none")
    return "; ".join(parts)
