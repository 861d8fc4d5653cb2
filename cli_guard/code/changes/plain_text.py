"""Facts of files without a grammar here: settings line by line, and what templates print.

`rules/languages/printing.toml` says how each template language prints an expression, and in which files.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache

from cli_guard.code.changes.facts import CodeFact, FactKind, fold
from cli_guard.code.changes.touched import TouchedLines
from cli_guard.lazy import frozen
from cli_guard.rules.catalog import read_table

TABLE = "languages/printing.toml"
# `key = value`, `key: value`, `Directive value`, `<key>value</key>`, `key="value"` inside a tag.
SETTING = re.compile(
    r"[ \t]*(?:export[ \t]+|ENV[ \t]+|ARG[ \t]+)?(?P<key>[\w.$@\"'/-]{1,100}?)[ \t]*(?:=>|[=:])[ \t]*(?P<value>[^\n]*)"
)
DIRECTIVE = re.compile(r"[ \t]*(?P<key>[A-Za-z][\w-]{1,60})[ \t]+(?P<value>\S[^\n]*)")
ELEMENT = re.compile(r"<(?P<key>[A-Za-z][\w.:-]{1,60})>(?P<value>[^<>\n]{1,200})</")
ATTRIBUTE = re.compile(
    r"\b(?P<key>[A-Za-z][\w.:-]{1,60})=[\"'](?P<value>[^\"'\n]{0,200})[\"']"
)
SECTION = re.compile(r"[ \t]*\[+[ \t]*(?P<name>[^\[\]\n]{1,100})\]+[ \t]*$")
COMMENT = re.compile(r"[ \t]*(?:#|;|//|<!--|\{#|\{%-?\s*comment)[ \t]*(?P<text>[^\n]*)")
PLAIN_TEXT = re.compile(r"(?i)\.(?:text|txt|plain)\.\w+$")
MOST_FACTS = 5_000


@frozen
class Printing:
    """How a template language prints the expression `x` of its pattern; `raw`: without an escape."""

    files: re.Pattern[str]
    pattern: re.Pattern[str]
    raw: bool
    unescaped: re.Pattern[str] | None


@cache
def printing() -> tuple[Printing, ...]:
    """Return the rows of the table."""
    return tuple(
        Printing(
            re.compile(row["files"]),
            re.compile(row["pattern"]),
            row.get("raw", False),
            re.compile(row["unescaped"]) if "unescaped" in row else None,
        )
        for row in read_table(TABLE)["printing"]
    )


@cache
def _settings_files() -> re.Pattern[str]:
    return re.compile(read_table(TABLE)["settings"]["files"])


def is_template(path: str) -> bool:
    """Return whether a file prints expressions into text."""
    return any(row.files.search(path) for row in printing())


def is_settings_file(path: str) -> bool:
    """Return whether the lines of a file are settings."""
    return _settings_files().search(path) is not None


def template_facts(path: str, text: str, touched: TouchedLines) -> Iterator[CodeFact]:
    """Yield what a template prints on touched lines, raw or escaped, and the comments there."""
    # What makes plain text needs no escape: `invitation.text.hbs`, `note.txt.erb`.
    is_plain = PLAIN_TEXT.search(path) is not None
    rows = [row for row in printing() if not is_plain and row.files.search(path)]
    for number, line in touched_texts(text, touched):
        for row in rows:
            for match in row.pattern.finditer(line):
                written = fold(match["x"])
                raw = row.raw or bool(row.unescaped and row.unescaped.search(written))
                state = "raw" if raw else "escaped"
                yield CodeFact(FactKind.OUTPUT, written, state, number, number)
        for match in ATTRIBUTE.finditer(line):
            yield option(match["key"], match["value"], number)
        yield from comments_on(line, number)


def setting_facts(text: str, touched: TouchedLines) -> Iterator[CodeFact]:
    """Yield the settings on touched lines, with the section that they stand in before their key."""
    section = ""
    lines = text.split("\n")
    at = 0
    for number, line in touched_texts(text, touched):
        section = last_section(lines, at, number, section)
        at = number
        if found := list(comments_on(line, number)):
            yield from found
            continue
        tagged = [*ELEMENT.finditer(line), *ATTRIBUTE.finditer(line)]
        plain = SETTING.match(line) or DIRECTIVE.match(line)
        for match in tagged or ([plain] if plain else []):
            key = match["key"].strip("\"'")
            value = match["value"].strip().rstrip(";,")
            yield option(f"{section}.{key}" if section else key, value, number)


def last_section(lines: Sequence[str], first: int, last: int, before: str) -> str:
    for line in reversed(lines[first:last]):
        if line.lstrip().startswith("[") and (match := SECTION.match(line)):
            return match["name"].strip("\"' ")
    return before


def option(key: str, value: str, number: int) -> CodeFact:
    return CodeFact(FactKind.OPTION, fold(key), fold(value), number, number)


def comments_on(line: str, number: int) -> Iterator[CodeFact]:
    match = COMMENT.match(line)
    if match and (text := fold(match["text"].removesuffix("-->"))):
        yield CodeFact(FactKind.COMMENT, text, "", number, number)


def touched_texts(text: str, touched: TouchedLines) -> Iterator[tuple[int, str]]:
    """Yield the touched lines of a text with their numbers."""
    lines = text.split("\n")
    for first, last in touched.spans:
        yield from (
            (number, lines[number - 1])
            for number in range(first, min(last, len(lines)) + 1)
        )
