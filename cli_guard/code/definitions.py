"""The definitions of a file and their lines: by syntax tree where the language has one, else line by line."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from cli_guard.code.languages import language_for
from cli_guard.code.names import JS_FAMILY, name_of
from cli_guard.code.syntax import Trees, find_nodes, indents_too_deep
from cli_guard.lazy import frozen
from cli_guard.rules.catalog import read_patterns, read_table

if TYPE_CHECKING:
    from ast_grep_py import SgNode

TABLE = "languages/definitions.toml"
# Longer texts get no tree: they are data and bundles, not source.
LONGEST_TEXT = 400_000
LONGEST_LINE = 20_000
MOST_DEFINITIONS = 20_000
SIGNATURE_CHARS = 200
# Lines of annotations and types above a name.
MOST_ABOVE = 12
# Files without a syntax tree: settings, Makefiles, Dockerfiles, documents.
MOST_OUTLINED = 50_000
LONGEST_OUTLINED = 400
PATTERNS = read_patterns("languages/patterns.toml", "definitions")

# By name of file: the patterns of what its lines define, and the kind of each.
OUTLINED: tuple[tuple[str, Mapping[str, str]], ...] = (
    (
        r"\.(?:toml|ini|cfg|conf|properties|editorconfig)$",
        {"section": "section", "key": "key"},
    ),
    (r"^(?:gnu)?makefile|^justfile|\.mk$", {"target": "target", "variable": "key"}),
    (r"^\.env|^env\.|\.env$", {"variable": "key"}),
    (r"^dockerfile|\.dockerfile$", {"instruction": "key"}),
)


@frozen
class Definition:
    """A name that a file defines, and where.

    `kind` is a common word ("function", "class", "constant", "type", "key", "heading", ...), `qualname` includes the
    enclosing names ("Session.send"). Lines count from 1; `signature` is the first line of the definition.
    """

    kind: str
    name: str
    qualname: str
    line: int
    end_line: int
    signature: str


@cache
def definition_nodes() -> Mapping[str, Mapping[str, str]]:
    """Map each language to the kinds of node that define something, and the kind of symbol each defines."""
    return {
        language: {
            node: what for what, nodes in kinds["nodes"].items() for node in nodes.split()
        }
        for language, kinds in read_table(TABLE).items()
    }


@cache
def key_depth(language: str) -> int:
    """Return how deep nested keys are listed."""
    depth: int = read_table(TABLE)[language].get("depth", 0)
    return depth


def find_definitions(path: str, text: str) -> tuple[Definition, ...]:
    """List the definitions of a file in order of their lines, outer before inner.

    A text over `LONGEST_TEXT` characters and one with very long lines (minified) have none; broken syntax gives the
    definitions that the parser recovers.
    """
    language = language_for(path, text)
    if language is None or language not in definition_nodes():
        return _outline(path, text)
    if not is_parseable(text):
        return ()
    return tuple(_parse(Trees().root(language, text), language, text.split("\n")))


def _line_of_name(name: str, start: int, end: int, lines: list[str]) -> int:
    """Return the line with the name, which annotations or a result type may precede."""
    last = name.rsplit(".", 1)[-1]
    for line in range(start, min(end, start + MOST_ABOVE, len(lines)) + 1):
        if last in lines[line - 1]:
            return line
    return start


def _is_in_nameless_function(node: "SgNode") -> bool:
    statement = node.parent()
    around = statement.parent() if statement is not None else None
    return around is not None and around.kind() == "statement_block"


def is_parseable(text: str) -> bool:
    """Return whether a text is small and regular enough for a syntax tree."""
    if len(text) > LONGEST_TEXT:
        return False
    if indents_too_deep("yaml", text):
        return False
    return len(text) <= LONGEST_LINE or max(map(len, text.split("\n"))) <= LONGEST_LINE


def _parse(root: "SgNode", language: str, lines: list[str]) -> list[Definition]:
    kinds = definition_nodes()[language]
    depth = key_depth(language)
    found: list[Definition] = []
    # (end index, qualname, kind) of the definitions around the current node.
    around: list[tuple[int, str, str]] = []
    for node in find_nodes(root, kinds):
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
        if (
            kind == "constant"
            and node.kind() == "variable_declarator"
            and _is_in_nameless_function(node)
        ):
            continue
        qualname = f"{around[-1][1]}.{name}" if around else name
        around.append((span.end.index, qualname, kind))
        if kind == "owner":
            continue
        start = span.start.line + 1
        end = max(span.end.line + (span.end.column > 0), span.start.line + 1)
        line = _line_of_name(name, start, end, lines)
        if found and found[-1].qualname == qualname and language in ("haskell", "elixir"):
            # Clauses of one function.
            last = found[-1]
            found[-1] = Definition(
                last.kind, last.name, qualname, last.line, end, last.signature
            )
            continue
        if len(found) >= MOST_DEFINITIONS:
            break
        signature = lines[line - 1].strip()[:SIGNATURE_CHARS] if line <= len(lines) else ""
        found.append(
            Definition(kind, name.rsplit(".", 1)[-1], qualname, line, end, signature)
        )
    return found


def _outline(path: str, text: str) -> tuple[Definition, ...]:
    """List the keys of a settings file, the targets of a Makefile, the headings of a document, in order."""
    name = PurePosixPath(path).name.lower()
    lines = text.split("\n", MOST_OUTLINED)[:MOST_OUTLINED]
    for names, kinds in OUTLINED:
        if re.search(names, name):
            return tuple(_match_lines(lines, kinds))
    if name.endswith((".md", ".markdown", ".mdx")):
        return tuple(_read_headings(lines))
    return tuple(_read_underlined(lines)) if name.endswith((".rst", ".txt")) else ()


def _match_lines(lines: list[str], kinds: Mapping[str, str]) -> Iterator[Definition]:
    """Yield what begins at the left of a line, by the first pattern that it fits; a key is in the section above."""
    section = ""
    for number, line in enumerate(lines, 1):
        if len(line) > LONGEST_OUTLINED or line[:1] in ("", " ", "\t", "#", ";"):
            continue
        tried = ((kind, PATTERNS[name].match(line)) for name, kind in kinds.items())
        kind, found = next((each for each in tried if each[1]), ("", None))
        if found is None:
            continue
        named = found[1].strip("\"'")
        around = "" if kind == "section" else section
        section = named if kind == "section" else section
        qualname = f"{around}.{named}" if around else named
        yield Definition(kind, named, qualname, number, number, line.strip())


def _read_headings(lines: list[str]) -> Iterator[Definition]:
    fenced = False
    for number, line in enumerate(lines, 1):
        if line.startswith(("```", "~~~")):
            fenced = not fenced
        found = (
            None
            if fenced or len(line) > LONGEST_OUTLINED
            else PATTERNS["heading"].match(line)
        )
        if found:
            title = found[2].rstrip("# ").strip()
            yield Definition("heading", title, title, number, number, line.strip())


def _read_underlined(lines: list[str]) -> Iterator[Definition]:
    underline = PATTERNS["underline"]
    for number, (line, below) in enumerate(pairwise(lines), 1):
        title = line.strip()
        if (
            not title
            or len(line) > LONGEST_OUTLINED
            or len(below) > LONGEST_OUTLINED
            or line[0] in " \t"
        ):
            continue
        if (
            underline.match(below)
            and len(below.rstrip()) >= len(title)
            and not underline.match(line)
        ):
            yield Definition("heading", title, title, number, number, title)
