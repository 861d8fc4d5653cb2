"""What stands at a place: environment variables that are read, constants, settings, defaults, heads of functions."""

import re
from collections.abc import Iterator

from cli_guard.assistant.retrieval.model import Fact, FactKind
from cli_guard.assistant.retrieval.question import Query
from cli_guard.assistant.retrieval.scoring import Unit
from cli_guard.assistant.retrieval.shown import Shown
from cli_guard.assistant.retrieval.words import stems_of
from cli_guard.code.definitions import Definition

ENVIRONMENT = re.compile(
    r"(?:environ(?:\.get|\.setdefault|\.pop)?\s{0,4}[\[(]|getenv\w{0,20}\s{0,4}\(|process\.env(?:\.|\[)|import\.meta\.env\."
    r"|env::var(?:_os)?\s{0,4}\(|\bENV(?:\.fetch)?\s{0,4}[\[(]|(?:Getenv|LookupEnv|GetEnvironmentVariable)\s{0,4}\()"
    r"\s{0,40}['\"]?([A-Za-z_]\w{1,80})['\"]?(?:\s{0,40},\s{0,40}([^)\n]{1,200}))?"
)
ASSIGNED = re.compile(r"[^=\n]{0,300}?(?<![=!<>])=(?![=>~])\s{0,10}(\S[\s\S]{0,2000})")
KEYED = re.compile(r"[^:=\n]{1,200}[:=]\s{0,10}(\S[\s\S]{0,2000})")
NAME = re.compile(r"[*&$]{0,2}([^\W\d]\w{0,80})")
MOST_FACTS = 12
MOST_LINES = 400
HEAD_LINES = 60
VALUE_CHARS = 160
PAIRS = {"(": ")", "[": "]", "{": "}"}


def facts_at(path: str, text: str, units: tuple[Unit, ...], query: Query) -> list[Fact]:
    """What is to be said of the best places of a file, the most telling first; at most `MOST_FACTS`."""
    shown = Shown(path, text)
    found: list[Fact] = []
    for unit in units[:3]:
        if unit.symbol is not None and (unit is units[0] or unit.named):
            found += _of_symbol(path, shown, unit.symbol, query)
        elif unit is units[0]:
            for line, _ in unit.lines[:3]:
                found += _environment(path, shown, line, line + 3)
    if "environment" in " ".join(concept.word for concept in query.concepts):
        found = [*_environment(path, shown, 1, text.count("\n") + 1), *found]
    unique = {(fact.kind, fact.name, fact.line): fact for fact in reversed(found)}
    return [fact for fact in dict.fromkeys(found) if unique[fact.kind, fact.name, fact.line] == fact][
        :MOST_FACTS
    ]


def _of_symbol(path: str, shown: Shown, symbol: Definition, query: Query) -> Iterator[Fact]:
    end = min(symbol.end_line, symbol.line + MOST_LINES)
    if symbol.kind == "function":
        head = head_of(shown.block(symbol.line, min(end, symbol.line + HEAD_LINES)))
        yield Fact("function", symbol.qualname, clip(head), path, symbol.line)
        yield from _defaults(path, head, symbol, query)
    elif symbol.kind in ("class", "type"):
        yield Fact(
            "class",
            symbol.qualname,
            clip(head_of(shown.block(symbol.line, symbol.line + 10))),
            path,
            symbol.line,
        )
    elif symbol.kind in ("constant", "key", "target"):
        kind: FactKind = "constant" if symbol.kind == "constant" else "setting"
        text = shown.block(symbol.line, min(end, symbol.line + 30))
        matched = ASSIGNED.match(text) if kind == "constant" else KEYED.match(text)
        yield Fact(kind, symbol.qualname, clip(matched[1]).rstrip(",;") if matched else "", path, symbol.line)
    yield from _environment(path, shown, symbol.line, end)


def _environment(path: str, shown: Shown, first: int, last: int) -> Iterator[Fact]:
    text = shown.block(first, last)
    for match in ENVIRONMENT.finditer(text):
        line = first + text.count("\n", 0, match.start(1))
        yield Fact("environment variable", match[1], clip(match[2] or ""), path, line)


def head_of(text: str) -> str:
    """A definition up to the end of its parameters: the brackets closed, and the rest of that line."""
    open_brackets: list[str] = []
    seen = False
    for position, char in enumerate(text):
        if char in PAIRS and not (char == "{" and seen):
            open_brackets.append(PAIRS[char])
            seen = seen or char == "("
        elif open_brackets and char == open_brackets[-1]:
            open_brackets.pop()
        elif char in "\n{" and not open_brackets:
            return text[:position]
    return text


def _defaults(path: str, head: str, symbol: Definition, query: Query) -> Iterator[Fact]:
    """The parameters of a head that have a default, those that the question names first."""
    start = head.find("(")
    if start < 0:
        return
    wanted = {stemmed for concept in query.concepts for stemmed, weight in concept.variants if weight >= 0.8}
    found = []
    line = symbol.line + head.count("\n", 0, start + 1)
    for part in split_arguments(head[start + 1 :]):
        named = NAME.match(part.lstrip())
        value = re.search(r"(?<![=!<>:])=(?![=>])\s*(\S[\s\S]*)", part)
        at = line + len(part[: len(part) - len(part.lstrip())].split("\n")) - 1
        line += part.count("\n")
        if named and value:
            # In languages that put the type first, the name is the last word before the value.
            name = (
                named[1]
                if ":" in part or " " not in part[: value.start()].strip()
                else re.findall(r"\w+", part[: value.start()])[-1]
            )
            found.append(Fact("default", f"{symbol.qualname}.{name}", clip(value[1]), path, at))
    found.sort(key=lambda fact: wanted.isdisjoint(stems_of(fact.name.rpartition(".")[2])))
    yield from found[:6]


def split_arguments(text: str) -> list[str]:
    """The parts between commas, up to the bracket that closes them all; brackets and quotes inside are kept."""
    parts: list[str] = []
    depth, start, quote = 0, 0, ""
    for position, char in enumerate(text):
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
            if depth < 0:
                return [*parts, text[start:position]]
        elif char == "," and depth == 0:
            parts.append(text[start:position])
            start = position + 1
    return [*parts, text[start:]]


def clip(value: str) -> str:
    """A value as one line, up to where its brackets close, of at most `VALUE_CHARS` characters."""
    depth, end = 0, len(value)
    for position, char in enumerate(value[:4_000]):
        if char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        elif char == "\n" and depth <= 0:
            end = position
            break
    line = " ".join(value[:end].split())
    return line if len(line) <= VALUE_CHARS else line[: VALUE_CHARS - 4] + " ..."
