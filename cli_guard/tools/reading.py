"""Tools that read a snapshot: find where something stands, read a file, name a command as text."""

import re
from collections import Counter

from pydantic import Field

from cli_guard.model import split_lines
from cli_guard.redact import redact
from cli_guard.secretscan import scan
from cli_guard.secretscan.masking import mask_hits
from cli_guard.tools.tool import Arguments, Tool, ToolOutput, World

STOP_WORDS = frozenset(
    # One line of words is easier to read than a column of them.
    "a an and any are as at be by can do does find for from has have how i in is it its live lives me of on or"
    " our please show suggest tell that the their there this to us used was we what when where which who why"
    " with you".split()
)
QUERY_CHARS = 2_000
SHOWN_MATCHES = 8
LINE_CHARS = 160


class Query(Arguments):
    """Words to look for, in some files."""

    query: str = Field(min_length=1, max_length=QUERY_CHARS)
    paths: tuple[str, ...] | list[str]


class OneFile(Arguments):
    """One file of the snapshot."""

    path: str
    max_chars: int = Field(default=20_000, ge=1, le=200_000)


class CommandText(Arguments):
    """A command for the developer to run."""

    command: str = Field(min_length=1, max_length=1_000)


def words_of(text: str) -> list[str]:
    """The words of a text, identifiers split where their parts meet, small words and stop words dropped."""
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", text)
    words = [part.lower() for part in parts]
    return [stem(word) for word in words if len(word) > 1 and word not in STOP_WORDS]


def stem(word: str) -> str:
    """A word without its commonest English endings, so that `defined` meets `define`."""
    for ending in ("uration", "ation", "ing", "ed", "es", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word.removesuffix(ending)
    return word


def score(query: Counter[str], text: str, weight: float) -> float:
    """How many of the query's words a text holds, each counted once."""
    words = set(words_of(text))
    return weight * sum(1 for word in query if word in words)


def topic_of(request: str) -> str:
    """What a request is about, without the second wish behind it ("... and suggest a test command")."""
    return re.split(r"[?.;]\s|,? and (?:suggest|show|give|recommend|tell|propose)\b", request, maxsplit=1)[0]


def is_test(path: str) -> bool:
    """Does a path look like a test?"""
    return re.search(r"(^|/)(tests?|spec)/|(^|/)test_|_test\.|\.(test|spec)\.", path) is not None


def rank_paths(query: str, snapshot: dict[str, str]) -> list[str]:
    """The paths that hold words of a query, best first; ties by name. Tests come last unless asked for."""
    wanted = Counter(words_of(topic_of(query)))
    about_tests = "test" in wanted
    ranked = []
    for path, text in snapshot.items():
        lines = [score(wanted, line, 1.0) for line in split_lines(text)[:5_000]] if text else []
        points = score(wanted, path, 2.0) + (max(lines) if lines else 0) + 0.01 * sum(lines)
        if is_test(path) and not about_tests:
            points /= 4
        if points > 0:
            ranked.append((-points, path))
    return [path for _, path in sorted(ranked)]


def search(world: World, arguments: Arguments) -> ToolOutput:
    """The lines that hold most of the query's words, each with its place."""
    assert isinstance(arguments, Query)  # noqa: S101 - validated against this schema
    wanted = Counter(words_of(topic_of(arguments.query)))
    places = {path: rank for rank, path in enumerate(rank_paths(arguments.query, dict(world.snapshot)))}
    found = []
    for path in arguments.paths:
        for number, line in enumerate(split_lines(world.snapshot.get(path, "")), 1):
            points = score(wanted, line, 1.0)
            if points:
                found.append((places.get(path, len(places)), -points, number, path))
    matches = [
        {"path": path, "line": number, "text": shown_line(world.snapshot[path], path, number)}
        for _, _, number, path in sorted(found)[:SHOWN_MATCHES]
    ]
    return ToolOutput({"matches": matches})


def shown_line(text: str, path: str, number: int) -> str:
    """One line, secrets masked as the whole file tells them: a line of a key block is nothing by itself."""
    lines = split_lines(text)
    start = sum(len(line) + 1 for line in lines[: number - 1])
    masked = mask_hits(text, scan(text, path).hits, start, start + len(lines[number - 1]))
    return masked.strip()[:LINE_CHARS]


def read_file(world: World, arguments: Arguments) -> ToolOutput:
    """One file, up to a number of characters."""
    assert isinstance(arguments, OneFile)  # noqa: S101 - validated against this schema
    text = redact(world.snapshot.get(arguments.path, ""), arguments.path)
    shown = text[: arguments.max_chars]
    return ToolOutput({"path": arguments.path, "text": shown, "truncated": len(shown) < len(text)})


def suggest_command(world: World, arguments: Arguments) -> ToolOutput:
    """The command as text; nothing runs it."""
    assert isinstance(arguments, CommandText)  # noqa: S101 - validated against this schema
    return ToolOutput({"command": arguments.command})


def reading_tools() -> dict[str, Tool]:
    """The tools that answer a question about a repository."""
    return {
        "search_repository": Tool(
            "search_repository", "lines that hold the words", "read_only", Query, search
        ),
        "read_file": Tool("read_file", "one file of the snapshot", "read_only", OneFile, read_file),
        "suggest_command": Tool(
            "suggest_command",
            "a command as text, not run",
            "read_only",
            CommandText,
            suggest_command,
            shows_command=True,
        ),
    }
