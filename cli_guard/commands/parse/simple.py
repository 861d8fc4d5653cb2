"""Read a simple command (bash(1), Simple Commands): words, assignments, redirections and here-documents."""

import re

from cli_guard.commands.model import Span
from cli_guard.commands.parse.cursor import Cursor
from cli_guard.commands.parse.tree import (
    Assignment,
    Computation,
    FunctionDefinition,
    Node,
    ParameterExpansion,
    ParsedCommand,
    Part,
    Redirect,
    Redirects,
    Text,
    Word,
)
from cli_guard.commands.parse.words import ASSIGNED, read_text, read_word

BLANK = re.compile(r"(?:[ \t]|\\\n)+")
COMMENT = re.compile(r"#[^\n]*")
# A word that is reserved only where a command may begin, with what ends it.
RESERVED = re.compile(
    r"(?:if|then|elif|else|fi|for|select|while|until|do|done|case|esac|in|function|time|coproc|[{}!]|\[\[)"
    r"(?=[ \t\n;&|()<>]|\\\n|\Z)"
)
REDIRECT = re.compile(r"(\d+|\{\w+\})?(<<<|<<-?|<>|<&|>>|>\||>&|<(?!\()|>(?!\())|(&)(>>?)")
FUNCTION = re.compile(r"[ \t]*\([ \t]*\)")
DECLARATIONS = frozenset("declare typeset export readonly local".split())
EXPANDED = re.compile(r"[$`\\]")
DECLARED = tuple((Text(name),) for name in DECLARATIONS)


def expect(cursor: Cursor, wanted: str, start: int) -> None:
    """Step behind what has to stand here; what begins at `start` is an error without it."""
    skip_lines(cursor)
    is_other_word = wanted.isalpha() and find_reserved(cursor) != wanted
    if is_other_word or not cursor.accept(wanted):
        cursor.fail(start)


def skip_blanks(cursor: Cursor) -> None:
    """Skip blanks, and a comment."""
    if cursor.at and cursor.has("\\\n") and cursor.peek(1, -1) not in " \t\n":
        # It may join an operator with what follows.
        cursor.fail(cursor.at)
    cursor.take(BLANK)
    cursor.take(COMMENT)


def skip_lines(cursor: Cursor) -> None:
    """Skip blanks, comments and line ends."""
    skip_blanks(cursor)
    while cursor.accept("\n"):
        read_bodies(cursor)
        skip_blanks(cursor)


def read_bodies(cursor: Cursor) -> None:
    """Read the bodies of the here-documents of the line that has ended."""
    pending = cursor.pending
    cursor.pending = []
    for redirect, delimiter, is_literal in pending:
        start = cursor.at
        ended = False
        lines = []
        while not cursor.at_end and not ended:
            end = cursor.text.find("\n", cursor.at) + 1 or len(cursor.text)
            line = cursor.text[cursor.at : end]
            cursor.at = end
            if redirect.operator == "<<-":
                line = line.lstrip("\t")
            ended = line.removesuffix("\n") == delimiter
            if not ended:
                lines.append(line)
        # Inside `$(...)` such a line ends a here-document too.
        is_doubtful = any(line.startswith(delimiter) and ")" in line for line in lines)
        body = "".join(lines)
        parts: tuple[Part, ...] = (Text(body, "'"),)
        if not is_literal:
            parts = read_text(cursor.inside(body, start))
        redirect.target = Word(parts, Span(cursor.base + start, cursor.base + cursor.at))
        is_expanded = not is_literal and EXPANDED.search(body) is not None
        redirect.loose = is_doubtful or is_expanded or not ended


def find_reserved(cursor: Cursor) -> str:
    found = cursor.match(RESERVED)
    return found[0] if found else ""


def read_words(cursor: Cursor) -> tuple[Word, ...]:
    words = list[Word]()
    while True:
        skip_blanks(cursor)
        start = cursor.at
        word = read_word(cursor)
        if cursor.at == start:
            return tuple(words)
        words.append(word)


def read_simple(cursor: Cursor) -> Node:
    start = cursor.at
    words = list[Word]()
    assignments = list[Assignment]()
    redirects = list[Redirect]()
    while True:
        skip_blanks(cursor)
        before = cursor.at
        if redirect := read_redirect(cursor):
            redirects.append(redirect)
            continue
        word = read_word(cursor, first=not words)
        if cursor.at == before:
            break
        text = "".join(part.text for part in word.parts[:1] if isinstance(part, Text))
        declares = bool(words) and words[0].parts[:1] in DECLARED
        if (not words or declares) and cursor.has("(") and ASSIGNED.match(text):
            word = Word((*word.parts, read_array(cursor)), cursor.span(before))
        if not words and (assignment := as_assignment(word)):
            assignments.append(assignment)
            continue
        words.append(word)
        if len(words) == 1 and (opened := cursor.take(FUNCTION)):
            skip_lines(cursor)
            name = cursor.text[before : opened.start()]
            return FunctionDefinition(
                name, cursor.grammar.read_command(cursor), cursor.span(start)
            )
    return ParsedCommand(
        tuple(words), cursor.span(start), tuple(assignments), tuple(redirects)
    )


def read_array(cursor: Cursor) -> Part:
    """Read the list `(...)` of an array: its words, as one."""
    start = cursor.at
    parts = list[Part]()
    cursor.at += 1
    while True:
        skip_lines(cursor)
        before = cursor.at
        parts += read_word(cursor, first=True).parts
        if cursor.at == before:
            break
    expect(cursor, ")", start)
    return ParameterExpansion("", False, "(", Word(tuple(parts), cursor.span(start)))


def read_redirects(cursor: Cursor) -> Redirects:
    """Read the redirections behind a compound command."""
    found = list[Redirect]()
    while True:
        skip_blanks(cursor)
        redirect = read_redirect(cursor)
        if redirect is None:
            return tuple(found)
        found.append(redirect)


def read_redirect(cursor: Cursor) -> Redirect | None:
    start = cursor.at
    found = cursor.take(REDIRECT)
    if found is None:
        return None
    descriptor = found[1] or found[3] or ""
    operator = found[2] or found[4]
    if cursor.match(BLANK):
        skip_blanks(cursor)
    begin = cursor.at
    target = read_word(cursor)
    if cursor.at == begin:
        cursor.fail(start)
    redirect = Redirect(operator, descriptor, target, cursor.span(start))
    if operator in ("<<", "<<-"):
        texts = [part for part in target.parts if isinstance(part, Text)]
        delimiter = "".join(part.text for part in texts)
        is_literal = any(part.quoted for part in texts)
        is_plain = all(part.form in ("", "'", '"', "\\") for part in texts)
        if not is_plain or len(texts) < len(target.parts) or "\n" in delimiter:
            cursor.fail(start)
        cursor.pending.append((redirect, delimiter, is_literal))
    return redirect


def as_assignment(word: Word) -> Assignment | None:
    """Return a word of the form `name=value` as an assignment, None for any other word."""
    first = word.parts[0] if word.parts else None
    if not isinstance(first, Text) or first.quoted:
        return None
    if (
        len(word.parts) > 2
        and first.text.isidentifier()
        and isinstance(word.parts[1], Computation)
    ):
        # The subscript is the beginning of the value.
        behind = Word(word.parts[1:], word.span)
        return Assignment(first.text, behind, False, word.span, element=True)
    found = re.match(r"([A-Za-z_]\w*)(\+?)=", first.text, re.ASCII)
    if found is None:
        return None
    rest = first.text[found.end() :]
    value = (*([Text(rest)] if rest else []), *word.parts[1:])
    return Assignment(found[1], Word(value, word.span), bool(found[2]), word.span)
