"""What a file defines, and where: by syntax tree in every language that has one, else by lines."""

from typing import TYPE_CHECKING

from cli_guard.assistant.retrieval.model import SymbolAt
from cli_guard.assistant.retrieval.outline import outline
from cli_guard.code.languages import DEFINITIONS, KEY_DEPTH, language_for
from cli_guard.code.names import JS_FAMILY, name_of
from cli_guard.code.syntax import Trees, indents_too_deep

if TYPE_CHECKING:
    from ast_grep_py import SgNode

# A tree of more text than this takes longer than an answer may; data and bundles are that long, not source.
LONGEST_TEXT = 400_000
LONGEST_LINE = 20_000
MOST_SYMBOLS = 20_000
SIGNATURE_CHARS = 200
# Lines of annotations and types above a name.
MOST_ABOVE = 12


def symbols_in(path: str, text: str) -> tuple[SymbolAt, ...]:
    """The symbols that a file defines, in order of their lines, outer before inner.

    A language without a grammar, a text over `LONGEST_TEXT` characters, and one of very long lines (minified) have
    none; broken syntax gives those that can be told.
    """
    language = language_for(path, text)
    if language not in DEFINITIONS:
        return outline(path, text)
    if not parseable(text):
        return ()
    return tuple(_symbols(Trees().root(language, text), language, text.split("\n")))


def _line_of(name: str, start: int, end: int, lines: list[str]) -> int:
    """The line on which the name stands: annotations, or the type of a result, may stand above it."""
    last = name.rsplit(".", 1)[-1]
    for line in range(start, min(end, start + MOST_ABOVE, len(lines)) + 1):
        if last in lines[line - 1]:
            return line
    return start


def _local(node: "SgNode") -> bool:
    """Does a declaration stand in a function without a name, where no symbol around it tells?"""
    statement = node.parent()
    around = statement.parent() if statement is not None else None
    return around is not None and around.kind() == "statement_block"


def parseable(text: str) -> bool:
    """Is a text of a size and form that is worth a syntax tree?"""
    if len(text) > LONGEST_TEXT:
        return False
    if indents_too_deep("yaml", text):
        return False
    return len(text) <= LONGEST_LINE or max(map(len, text.split("\n"))) <= LONGEST_LINE


def _symbols(root: "SgNode", language: str, lines: list[str]) -> list[SymbolAt]:
    kinds = DEFINITIONS[language]
    depth = KEY_DEPTH.get(language, 0)
    found: list[SymbolAt] = []
    # (end index, qualname, kind) of the definitions around the node at hand.
    around: list[tuple[int, str, str]] = []
    for node in root.find_all(any=[{"kind": kind} for kind in kinds]):
        span = node.range()
        while around and around[-1][0] <= span.start.index:
            around.pop()
        kind = kinds[node.kind()]
        inner = bool(around) and around[-1][2] == "function"
        if inner and kind == "constant" and language not in JS_FAMILY:
            continue
        if kind == "key" and len(around) >= depth:
            continue
        named = name_of(node, language, kind)
        if named is None:
            continue
        name, kind = named
        if inner and kind in ("constant", "key"):
            continue
        if kind == "constant" and node.kind() == "variable_declarator" and _local(node):
            continue
        qualname = f"{around[-1][1]}.{name}" if around else name
        around.append((span.end.index, qualname, kind))
        if kind == "owner":
            continue
        start, end = span.start.line + 1, max(span.end.line + (span.end.column > 0), span.start.line + 1)
        line = _line_of(name, start, end, lines)
        if found and found[-1].qualname == qualname and language in ("haskell", "elixir"):
            # Clauses of one function.
            last = found[-1]
            found[-1] = SymbolAt(last.kind, last.name, qualname, last.line, end, last.signature)
            continue
        if len(found) >= MOST_SYMBOLS:
            break
        signature = lines[line - 1].strip()[:SIGNATURE_CHARS] if line <= len(lines) else ""
        found.append(SymbolAt(kind, name.rsplit(".", 1)[-1], qualname, line, end, signature))
    return found
