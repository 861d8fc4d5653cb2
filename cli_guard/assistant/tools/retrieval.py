"""Tools that read a snapshot: find where something stands, and read a file."""

import re

from pydantic import Field

from cli_guard.graph.tools.tool import Arguments, Tool, ToolOutput, World, plain_data
from cli_guard.secrets.redact import redact

QUERY_CHARS = 2_000
OUTLINED = 20
LINE_CHARS = 160
OPENING_CHARS = 4_000
# What the first line for readers begins with: a docstring, a comment, a heading.
PROSE = tuple("\"'#/*-;<")


class Query(Arguments):
    """Words to look for, in some files or in all that may be looked at."""

    query: str = Field(min_length=1, max_length=QUERY_CHARS)
    paths: tuple[str, ...] | list[str] = ()


class OneFile(Arguments):
    """One file of the snapshot."""

    path: str
    max_chars: int = Field(default=20_000, ge=1, le=200_000)


def topic_of(request: str) -> str:
    """What a request is about, without the second wish behind it ("... and suggest a test command")."""
    cut = r"[?.;]\s|,? and (?:suggest|show|give|recommend|tell|propose)\b"
    return re.split(cut, request, maxsplit=1)[0][:QUERY_CHARS]


def search(world: World, arguments: Arguments) -> ToolOutput:
    """Where the words of a question stand, best place first, and what was found there."""
    assert isinstance(arguments, Query)  # noqa: S101 - validated against this schema
    found = world.find(arguments.query, arguments.paths)
    return ToolOutput({**plain_data(found), "skipped": []}, skipped=found.skipped)


def read_file(world: World, arguments: Arguments) -> ToolOutput:
    """One file, up to a number of characters."""
    assert isinstance(arguments, OneFile)  # noqa: S101 - validated against this schema
    text = redact(world.snapshot.get(arguments.path, ""), arguments.path)
    shown = text[: arguments.max_chars]
    return ToolOutput({"path": arguments.path, "text": shown, "truncated": len(shown) < len(text)})


def outline_file(world: World, arguments: Arguments) -> ToolOutput:
    """What a file says it is for, and what it defines at its top level."""
    from cli_guard.code.definitions import find_definitions

    assert isinstance(arguments, OneFile)  # noqa: S101 - validated against this schema
    path, text = arguments.path, world.snapshot.get(arguments.path, "")
    top = [each for each in find_definitions(path, text) if each.qualname == each.name]
    shown = [
        {"kind": each.kind, "line": each.line, "text": redact(each.signature, path)[:LINE_CHARS]}
        for each in top[:OUTLINED]
    ]
    about = redact(opening_of(text), path)[:LINE_CHARS]
    lines = len(text.splitlines())
    return ToolOutput(
        {"path": path, "lines": lines, "about": about, "symbols": shown, "more": len(top) - len(shown)}
    )


def opening_of(text: str) -> str:
    """The first words of a file for its readers: a docstring, a comment, a heading or a sentence."""
    for line in text[:OPENING_CHARS].splitlines():
        said = line.strip().strip("#/*-;\"'!<> \t").removeprefix('r"""').strip()
        if said and not line.startswith("#!") and (line[:1] in PROSE or " " in said):
            return said if line[:1] in PROSE else ""
    return ""


def reading_tools() -> dict[str, Tool]:
    """The tools that answer a question about a repository."""
    return {
        "search_repository": Tool(
            "search_repository", "where the words of a question stand", "read_only", Query, search
        ),
        "read_file": Tool("read_file", "one file of the snapshot", "read_only", OneFile, read_file),
        "outline_file": Tool(
            "outline_file", "what a file is for and what it defines", "read_only", OneFile, outline_file
        ),
    }
