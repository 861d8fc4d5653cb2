"""Finds the definitions that a request for documentation names, and ranks those of one name."""

import re
from collections.abc import Mapping

from cli_guard.assistant.documenting.source import Source, read_source
from cli_guard.assistant.request_documentation import DocRequest, find_language
from cli_guard.code.symbols import Symbol
from cli_guard.code.syntax import Trees
from cli_guard.code.test_files import is_test_code
from cli_guard.model import Skipped

MOST_CANDIDATES = 40
DEFINES = r"(?:def|class|func|function|fn|struct|enum|trait|type|interface|record|const|let)\b[^\n]{0,80}"


def find_definitions(
    name: str, wanted: DocRequest, texts: Mapping[str, str], trees: Trees
) -> tuple[list[tuple[Source, Symbol]], list[Skipped]]:
    """Find the definitions of a name, the most likely first; and the files that cannot be read."""
    parts = re.split(r"\.|::|#", name)
    word = rf"(?<![\w$]){re.escape(parts[-1])}(?![\w$])"
    where = wanted.paths or sorted(texts, key=lambda p: (is_test_code(p), p))
    candidates = [p for p in where if find_language(p) and parts[-1] in texts[p]]
    definition = re.compile(rf"\b{DEFINES}{word}")
    candidates.sort(key=lambda p: not definition.search(texts[p]))
    hits: list[tuple[Source, Symbol]] = []
    skipped = []
    for path in candidates[:MOST_CANDIDATES]:
        source = read_source(path, texts[path], trees)
        if isinstance(source, Skipped):
            skipped.append(source)
            continue
        hits += [(source, s) for s in source.symbols if _is_named(s, parts)]
    return sorted(hits, key=lambda hit: _rank(hit, name)), skipped


def _is_named(symbol: Symbol, parts: list[str]) -> bool:
    # A constructor of the same name is part of its class.
    if symbol.quiet in ("overload", "setter") or symbol.name == symbol.owner:
        return False
    return symbol.qualname.split(".")[-len(parts) :] == parts or parts == [symbol.name]


def _rank(hit: tuple[Source, Symbol], name: str) -> tuple[bool, bool, bool, int, str, int]:
    source, symbol = hit
    depth = source.path.count("/")
    return (
        is_test_code(source.path),
        symbol.qualname != name,
        not symbol.public,
        depth,
        source.path,
        symbol.line,
    )
