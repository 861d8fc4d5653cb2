"""Puts comments into a file, and holds that nothing but documentation has changed by it."""

from dataclasses import dataclass

from cli_guard.assistant.documenting.sources import Source, broken
from cli_guard.code.symbols import Symbol, symbols_of
from cli_guard.code.symbols.nesting import comment_above, first_line, last_line


@dataclass(frozen=True, slots=True)
class Edit:
    """Lines that stand before line `line` (from 1) of the old text, in place of the `drop` lines from there on.

    `module`: they document the file as a whole.
    """

    line: int
    lines: tuple[str, ...]
    drop: int = 0
    module: bool = False


def applied(source: Source, edits: list[Edit]) -> str:
    """The text with all edits made, in the line ends of the file."""
    lines = list(source.lines)
    for edit in sorted(edits, key=lambda e: e.line, reverse=True):
        lines[edit.line - 1 : edit.line - 1 + edit.drop] = [line + source.end for line in edit.lines]
    return "\n".join(lines)


def holds(source: Source, edits: list[Edit], text: str) -> bool:
    """Does the new text define what the old one does, and parse as well, with documentation in every place?"""
    if broken(source.trees, source.language, text) > broken(source.trees, source.language, source.text):
        return False
    after = symbols_of(source.trees, source.language, text)
    if [_shape(s) for s in after] != [_shape(s) for s in source.symbols]:
        return False
    if any(new.doc is None and old.doc is not None for new, old in zip(after, source.symbols, strict=True)):
        return False
    documented = sum(s.doc is not None for s in after) - sum(s.doc is not None for s in source.symbols)
    if documented < sum(not edit.drop and not edit.module for edit in edits):
        return False
    if any(edit.module for edit in edits) and not module_doc(source, text):
        return False
    return _without(source, after, text) == _without(source, source.symbols, source.text)


def _shape(symbol: Symbol) -> tuple[str, str, object, tuple[str, ...]]:
    return symbol.kind, symbol.qualname, symbol.signature, symbol.decorators


def _without(source: Source, symbols: tuple[Symbol, ...], text: str) -> list[str]:
    """The lines that are no documentation and not blank."""
    lines = text.split("\n")
    gone: set[int] = set()
    for symbol in symbols:
        if symbol.doc is not None:
            gone.update(range(symbol.doc.line, symbol.doc.end_line + 1))
    if source.language in ("python", "go"):
        gone.update(module_doc(source, text))
    return [line for number, line in enumerate(lines, 1) if number not in gone and line.strip()]


def module_doc(source: Source, text: str) -> range:
    """The lines of a Python module's docstring or a Go package's comment, none for one without."""
    if source.language == "go":
        return _package_comment(source, text)
    root = source.trees.root("python", text)
    first = next((c for c in root.named_children() if c.kind() != "comment"), None)
    inner = first.child(0) if first is not None and first.kind() == "expression_statement" else None
    if inner is None or inner.kind() not in ("string", "concatenated_string"):
        return range(0)
    span = inner.range()
    return range(span.start.line + 1, span.end.line + 2)


def _package_comment(source: Source, text: str) -> range:
    root = source.trees.root("go", text)
    clause = next((c for c in root.named_children() if c.kind() == "package_clause"), None)
    comments = comment_above(clause, ("comment",)) if clause is not None else []
    return range(first_line(comments[0]), last_line(comments[-1]) + 1) if comments else range(0)
