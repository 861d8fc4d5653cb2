"""What the best location holds: environment variables, constants, settings, defaults, heads of functions."""

import re
from collections.abc import Iterator

from cli_guard.assistant.request_question import SearchQuery
from cli_guard.assistant.retrieval.masked_lines import MaskedLines
from cli_guard.assistant.retrieval.scoring import READ_OF_ENVIRONMENT, ScoredUnit
from cli_guard.assistant.retrieval.types import FactKind, FoundFact
from cli_guard.assistant.stems import stems_of
from cli_guard.code.definitions import Definition

ASSIGNED = re.compile(r"[^=\n]{0,300}?(?<![=!<>])=(?![=>~])\s{0,10}(\S[\s\S]{0,2000})")
KEYED = re.compile(r"[^:=\n]{1,200}[:=]\s{0,10}(\S[\s\S]{0,2000})")
DEFAULT = re.compile(r"(?<![=!<>:])=(?![=>])\s*(\S[\s\S]*)")
NAME = re.compile(r"[*&$]{0,2}([^\W\d]\w{0,80})")
MOST_FACTS = 12
MOST_DEFAULTS = 6
MOST_LINES = 400
HEAD_LINES = 60
VALUE_LINES = 30
VALUE_CHARS = 160
STATEMENT_LINES = 4


def collect_facts(
    path: str, text: str, units: tuple[ScoredUnit, ...], query: SearchQuery
) -> list[FoundFact]:
    """List the facts of the best units of a file, the most relevant first; at most `MOST_FACTS`."""
    lines = MaskedLines(path, text)
    found: list[FoundFact] = []
    if "environment" in query.kinds:
        found += _read_environment(path, lines, 1, text.count("\n") + 1)
    for unit in units[:3]:
        if unit.definition and (unit is units[0] or unit.named):
            found += _describe(path, lines, unit.definition, query)
        elif unit is units[0]:
            for line, _ in unit.lines[:3]:
                found += _read_environment(path, lines, line, line + 3)
    unique: dict[tuple[str, str, int], FoundFact] = {}
    for fact in found:
        unique.setdefault((fact.kind, fact.name, fact.line), fact)
    return list(unique.values())[:MOST_FACTS]


def quote_statement(path: str, text: str, line: int, symbol: str) -> FoundFact:
    """Quote the statement of a line: from the line above where its call began, up to where its brackets close."""
    lines = MaskedLines(path, text)
    above = lines.block(line - 1, line - 1).rstrip()
    first = line - 1 if above.endswith(("(", ",", "=", "\\")) and line > 1 else line
    return FoundFact(
        "statement",
        symbol,
        clip(lines.block(first, line + STATEMENT_LINES).lstrip()),
        path,
        first,
    )


def _describe(
    path: str, lines: MaskedLines, definition: Definition, query: SearchQuery
) -> Iterator[FoundFact]:
    name = definition.qualname
    line = definition.line
    end = min(definition.end_line, line + MOST_LINES)
    if definition.kind in ("function", "class", "type"):
        head = _head_of(lines.block(line, min(end, line + HEAD_LINES)))
        kind: FactKind = "function" if definition.kind == "function" else "class"
        yield FoundFact(kind, name, clip(head), path, line)
        if kind == "function":
            yield from _list_defaults(path, head, definition, query)
    elif definition.kind in ("constant", "key", "target"):
        kind = "constant" if definition.kind == "constant" else "setting"
        text = lines.block(line, min(end, line + VALUE_LINES))
        matched = (ASSIGNED if kind == "constant" else KEYED).match(text)
        yield FoundFact(
            kind, name, clip(matched[1]).rstrip(",;") if matched else "", path, line
        )
    yield from _read_environment(path, lines, line, end)


def _read_environment(
    path: str, lines: MaskedLines, first: int, last: int
) -> Iterator[FoundFact]:
    text = lines.block(first, last)
    for match in READ_OF_ENVIRONMENT.finditer(text):
        line = first + text.count("\n", 0, match.start(1))
        yield FoundFact("environment variable", match[1], clip(match[2] or ""), path, line)


def _head_of(text: str) -> str:
    """Cut a definition after its parameters: where all brackets are closed, at the end of that line."""
    for position, char, depth in walk_brackets(text):
        is_body = char == "{" and depth == 1 and "(" in text[:position]
        if is_body or (char == "\n" and not depth):
            return text[:position]
    return text


def _list_defaults(
    path: str, head: str, definition: Definition, query: SearchQuery
) -> Iterator[FoundFact]:
    """List the parameters with a default, those that the question names first."""
    start = head.find("(")
    if start < 0:
        return
    asked = {stemmed for concept in query.concepts for stemmed in concept.stems}
    found = []
    line = definition.line + head.count("\n", 0, start + 1)
    for part in _split_arguments(head[start + 1 :]):
        named = NAME.match(part.lstrip())
        value = DEFAULT.search(part)
        at = line + part[: len(part) - len(part.lstrip())].count("\n")
        line += part.count("\n")
        if named and value:
            before = part[: value.start()].strip()
            # In languages that put the type first, the name is the last word before the value.
            name = (
                named[1]
                if ":" in part or " " not in before
                else re.findall(r"\w+", before)[-1]
            )
            found.append(
                FoundFact(
                    "default", f"{definition.qualname}.{name}", clip(value[1]), path, at
                )
            )
    found.sort(key=lambda fact: asked.isdisjoint(stems_of(fact.name.rpartition(".")[2])))
    yield from found[:MOST_DEFAULTS]


def _split_arguments(text: str) -> list[str]:
    """Split at commas outside of brackets and quotes, up to the bracket that closes the list."""
    parts: list[str] = []
    start = 0
    for position, char, depth in walk_brackets(text, "\"'"):
        if depth < 0:
            return [*parts, text[start:position]]
        if char == "," and not depth:
            parts.append(text[start:position])
            start = position + 1
    return [*parts, text[start:]]


def walk_brackets(text: str, quotes: str = "") -> Iterator[tuple[int, str, int]]:
    """Yield each sign that is not in quotes with its place, and how many brackets are open behind it."""
    depth = 0
    quote = ""
    for position, char in enumerate(text):
        if quote or char in quotes:
            quote = "" if char == quote else quote or char
            continue
        depth += (char in "([{") - (char in ")]}")
        yield position, char, depth


def clip(value: str) -> str:
    """Return a value as one line of at most `VALUE_CHARS` characters, up to where its brackets close."""
    ends = (
        position
        for position, char, depth in walk_brackets(value[:4_000])
        if char == "\n" and depth <= 0
    )
    line = " ".join(value[: next(ends, None)].split())
    return line if len(line) <= VALUE_CHARS else line[: VALUE_CHARS - 4] + " ..."
