"""Every occurrence of a name: defined, imported, called, used or only mentioned, told by syntax tree."""

import re
import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cli_guard.assistant.retrieval.model import Reference, ReferenceKind
from cli_guard.assistant.retrieval.shown import Shown
from cli_guard.code.definitions import Definition, definition_nodes, find_definitions, is_parseable
from cli_guard.code.languages import language_for
from cli_guard.code.syntax import Trees
from cli_guard.errors import UsageError
from cli_guard.model import Skipped

if TYPE_CHECKING:
    from ast_grep_py import SgNode

MOST_IN_FILE = 500
MOST_REFERENCES = 5_000
DOTTED_NAME = re.compile(r"[^\W\d][\w$]*(?:(?:\.|::|#)[^\W\d][\w$]*){0,20}")
RANK: dict[ReferenceKind, int] = {"definition": 0, "import": 1, "call": 2, "use": 3, "mention": 4}
IMPORTS = re.compile(r"import|^use_declaration$|^using_directive$|^namespace_use|^preproc_include$|^require")
SPOKEN = re.compile(r"comment|string|template_chars|char_literal|text$|heredoc|documentation")
# Calls without a bracket: a command of a shell, a method of Ruby, an application of Haskell.
BARE_CALLS = {"bash": "command_name", "ruby": "call", "haskell": "apply", "elixir": "call"}
NEW = frozenset(("new_expression", "object_creation_expression", "macro_invocation"))
LOOK_UP = 4


@dataclass(frozen=True, slots=True)
class Looked:
    """What was found of a name, and what a bound left out."""

    references: tuple[Reference, ...]
    skipped: tuple[Skipped, ...]


def references(
    name: str, texts: Mapping[str, str], *, allowed: Collection[str] | None = None, seconds: float = 5.0
) -> tuple[Reference, ...]:
    """The occurrences of `name`, definitions first; see `look_up`, which also says what was left out."""
    return look_up(name, texts, allowed=allowed, seconds=seconds).references


def look_up(
    name: str, texts: Mapping[str, str], *, allowed: Collection[str] | None = None, seconds: float = 5.0
) -> Looked:
    """The occurrences of a name in `texts` (path -> text): definitions, imports, calls, uses, mentions.

    A dotted name ("Session.send") asks for the last part where the parts before it stand in front of it, around its
    definition, or where it is imported from; types are not inferred. Raises UsageError for what is no name.
    """
    if not DOTTED_NAME.fullmatch(name):
        raise UsageError(f"{name[:60]!r} is not a name: give an identifier, dotted if it has an owner")
    deadline = time.monotonic() + seconds
    parts = re.split(r"\.|::|#", name)
    paths = sorted(texts if allowed is None else (path for path in set(allowed) if path in texts))
    found: list[Reference] = []
    skipped: list[Skipped] = []
    for path in paths:
        if parts[-1] not in texts[path]:
            continue
        if time.monotonic() > deadline:
            skipped.append(Skipped(path, "this file and those after it: no time left", by_limit=True))
            break
        here = list(_in_file(parts, path, texts[path]))
        if len(here) > MOST_IN_FILE:
            skipped.append(Skipped(path, f"over the limit of {MOST_IN_FILE} occurrences", by_limit=True))
        found += here[:MOST_IN_FILE]
        if len(found) >= MOST_REFERENCES:
            skipped.append(
                Skipped(path, f"files after this one: {MOST_REFERENCES:,} occurrences", by_limit=True)
            )
            break
    found.sort(key=lambda each: (RANK[each.kind], each.path, each.line, each.column))
    return Looked(tuple(found), tuple(skipped))


def _in_file(parts: list[str], path: str, text: str) -> Iterator[Reference]:
    name = parts[-1]
    symbols = find_definitions(path, text)
    definitions = {symbol.line: symbol for symbol in symbols if symbol.name == name}
    language = language_for(path, text)
    nodes: dict[tuple[int, int], ReferenceKind] = {}
    if language and language in definition_nodes() and is_parseable(text):
        root = Trees().root(language, text)
        for node in root.find_all(regex=f"^[$@]?{re.escape(name)}$"):
            if not node.children() or node.kind() == "variable_name":
                start = node.range().start
                column = start.column + (node.text()[:1] in "$@" and not name.startswith("$"))
                nodes[start.line + 1, column + 1] = _kind_of(node, language, text)
    lines = text.split("\n")
    shown = Shown(path, text)
    line, counted, count = 1, 0, 0
    line_start = 0
    for match in re.finditer(rf"(?<![\w$]){re.escape(name)}(?![\w$])", text):
        newlines = text.count("\n", counted, match.start())
        if newlines:
            line += newlines
            line_start = text.rfind("\n", 0, match.start()) + 1
        counted = match.start()
        column = match.start() - line_start + 1
        kind = nodes.get((line, column), "mention")
        symbol = definitions.get(line)
        told = kind != "mention" or language not in definition_nodes()
        if symbol is not None and told and not _used_before(lines[line - 1], column, name):
            kind = "definition"
        if len(parts) > 1 and not _belongs(parts, kind, symbol, symbols, lines[line - 1], line, column):
            continue
        count += 1
        yield Reference(path, line, column, shown.line(line), kind)
        if count > MOST_IN_FILE:
            return


def _used_before(line: str, column: int, name: str) -> bool:
    """Is it not the first one on the line? `def f(a=f)` defines one and uses the other."""
    return re.search(rf"(?<![\w$]){re.escape(name)}(?![\w$])", line[: column - 1]) is not None


def _kind_of(node: "SgNode", language: str, text: str) -> ReferenceKind:
    around: list[SgNode] = []
    parent = node.parent()
    while parent is not None and len(around) < LOOK_UP:
        around.append(parent)
        parent = parent.parent()
    kinds = [each.kind() for each in around]
    if SPOKEN.search(node.kind()) and node.kind() != "string_identifier":
        return "mention"
    if any(IMPORTS.search(kind) for kind in kinds):
        return "import"
    if "object_pattern" in kinds and any("require(" in each.text()[-200:] for each in around[1:3]):
        return "import"
    if not kinds:
        return "use"
    if kinds[0] == BARE_CALLS.get(language):
        first = around[0].child(0)
        if language != "haskell" or (first is not None and first.range() == node.range()):
            return "call"
    if kinds[0] in NEW:
        return "call"
    end = node.range().end.index
    after = text[end : end + 40].lstrip("!?").lstrip(" ")
    if after.startswith("(") or re.match(r"(?:::)?<[\w, <>\[\]]*>\(", after):
        return (
            "call"
            if any("call" in kind or "invocation" in kind or "creation" in kind for kind in kinds)
            else "use"
        )
    return "use"


def _belongs(
    parts: list[str],
    kind: ReferenceKind,
    symbol: Definition | None,
    symbols: tuple[Definition, ...],
    line: str,
    number: int,
    column: int,
) -> bool:
    """Does an occurrence of the last part go with the parts before it?"""
    owner = parts[:-1]
    if kind == "definition" and symbol is not None:
        return symbol.qualname.split(".")[-len(parts) :] == parts
    before = line[: column - 1]
    joined = r"\s*(?:\.|::|->|#)\s*".join(map(re.escape, owner))
    if re.search(rf"(?<![\w$]){joined}(?:\(\))?\s*(?:\.|::|->|#)\s*$", before):
        return True
    if kind == "import":
        return re.search(rf"(?<!\w){re.escape('.'.join(owner))}(?!\w)", line) is not None or owner[-1] in line
    if re.search(r"(?:\bself|\bthis|\bcls|@)\s*(?:\.|->)?\s*$", before):
        return any(
            each.kind == "class" and each.name == owner[-1] and each.line <= number <= each.end_line
            for each in symbols
        )
    return False
