"""Read one word of shell text: quotes, escapes, parameters, substitutions (bash(1), QUOTING and EXPANSION).

What the plain subset holds is read exactly as bash reads it; the rest well enough to look for harm in it.
"""

import re

from cli_guard.commands.model import Span
from cli_guard.commands.parse.cursor import Cursor
from cli_guard.commands.parse.quoting import ansi_c, unescape_in_quotes
from cli_guard.commands.parse.tree import (
    Computation,
    ParameterExpansion,
    Part,
    Substitution,
    Text,
    Word,
)

# Substitutions and groups inside each other. A deeper one is an error, and not read.
DEEPEST = 30
RUN = re.compile(r"[^ \t\n|&;()<>'\"\\$`]+")
IN_QUOTES = re.compile(r"[^\"\\$`]+")
IN_BRACES = re.compile(r"[^}<>'\"\\$`]+")
BLANKS = ("", " ", "\t", "\n")
SPECIAL = "@*#?$!-0123456789"
NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
BRACED = re.compile(r"([!#]?)([A-Za-z_]\w*|\d+|[@*#?!-]|\$(?!\{))", re.ASCII)
OPERATOR = re.compile(r":?[-=+?]|%%?|##?|/[/#%]?|\^\^?|,,?|[@:]")
ASSIGNED = re.compile(r"[A-Za-z_]\w*(?:\[.*\])?\+?=\Z", re.ASCII | re.DOTALL)
SUBSCRIPTED = re.compile(r"[A-Za-z_]\w*\[", re.ASCII)
EXTENDED = ("?", "*", "+", "@", "!")


def read_word(cursor: Cursor, *, first: bool = False) -> Word:
    """Read one word; `first` if an assignment may stand here."""
    start = cursor.at
    parts = list[Part]()
    if first and (found := cursor.match(SUBSCRIPTED)):
        parts += read_subscript(cursor, found)
    while not cursor.at_end:
        character = cursor.char
        if found := cursor.take(RUN):
            parts.append(Text(found[0]))
        elif character in "'\"\\$`":
            parts += read_quoted(cursor, character)
        elif character in "<>" and cursor.has("(", 1):
            parts.append(read_process(cursor, character))
        elif character == "(" and cursor.at > start and cursor.peek(1, -1) in EXTENDED:
            parts.append(read_pattern(cursor))
        else:
            break
    return Word(tuple(parts), cursor.span(start))


def read_pattern(cursor: Cursor) -> Text:
    """Read the parentheses of an extended pattern such as `*(...)`."""
    start = cursor.at
    closed = cursor.find_closing(start, "()")
    cursor.at = (closed or start) + 1
    if not closed:
        cursor.fail(start)
    return Text(cursor.text[start : cursor.at], "extglob")


def read_process(cursor: Cursor, kind: str) -> Part:
    """Read `<(...)` or `>(...)`."""
    cursor.at += 2
    return Substitution(cursor.grammar.read_inner(cursor), False, kind)


def read_subscript(cursor: Cursor, found: "re.Match[str]") -> list[Part]:
    """Read `name[subscript]` at the place of an assignment; a pattern there is read like any text."""
    end = cursor.find_closing(found.end() - 1, "[]")
    behind = cursor.text[end + 1 : end + 3]
    if not end or not (behind[:1] == "=" or behind == "+="):
        return []
    expression = read_expression(cursor, found.end(), end)
    cursor.at = end + 1
    return [Text(found[0][:-1]), Computation(expression, False)]


def read_quoted(cursor: Cursor, character: str) -> list[Part]:
    """Read what begins with a quote, a backslash, a dollar or a backquote, outside of double quotes."""
    if character == "'":
        return [Text(read_until_quote(cursor), "'")]
    if character == '"':
        return read_double_quotes(cursor)
    if character == "\\":
        escaped = cursor.peek(1, 1)
        if not escaped:
            # Versions of bash keep it or drop it.
            cursor.fail(cursor.at)
        cursor.at += 2
        if escaped == "\n":
            # Before a blank it only ends the line; within a word it joins what is around it.
            return [] if cursor.peek() in BLANKS else [Text("", "\\\n")]
        return [Text(escaped or "\\", "\\")]
    return [read_expanded(cursor, quoted=False)]


def read_until_quote(cursor: Cursor) -> str:
    start = cursor.at + 1
    end = cursor.text.find("'", start)
    if end < 0:
        cursor.fail(cursor.at)
        end = len(cursor.text)
    cursor.at = min(end + 1, len(cursor.text))
    return cursor.text[start:end]


def read_double_quotes(cursor: Cursor) -> list[Part]:
    start = cursor.at
    cursor.at += 1
    parts: list[Part] = [Text("", '"'), *read_in_quotes(cursor, '"')]
    if cursor.at_end:
        cursor.fail(start)
    cursor.at = min(cursor.at + 1, len(cursor.text))
    return parts


def read_text(cursor: Cursor) -> tuple[Part, ...]:
    """Read a whole text that the shell expands like one in double quotes."""
    return tuple(read_in_quotes(cursor, ""))


def read_in_quotes(cursor: Cursor, end: str) -> list[Part]:
    """Read text as in double quotes up to `end`, or to the end of the text."""
    parts: list[Part] = []
    start = cursor.at
    while not cursor.at_end and cursor.char != end:
        character = cursor.char
        if character in "$`":
            parts.append(Text(unescape_in_quotes(cursor.text[start : cursor.at]), '"'))
            parts.append(read_expanded(cursor, quoted=True))
            start = cursor.at
        elif cursor.has("\\\n"):
            parts.append(Text(unescape_in_quotes(cursor.text[start : cursor.at]), '"'))
            # It joins what is around it, a name as well.
            parts.append(Text("", "\\\n"))
            cursor.at += 2
            start = cursor.at
        elif character == "\\":
            cursor.at += 2
        else:
            found = cursor.match(IN_QUOTES)
            cursor.at = found.end() if found else cursor.at + 1
    cursor.at = min(cursor.at, len(cursor.text))
    parts.append(Text(unescape_in_quotes(cursor.text[start : cursor.at]), '"'))
    return [part for part in parts if part != Text("", '"')]


def read_expanded(cursor: Cursor, *, quoted: bool) -> Part:
    """Read what begins with a dollar or a backquote."""
    read = read_dollar if cursor.char == "$" else read_backquote
    return read(cursor, quoted=quoted)


def find_computed(cursor: Cursor, start: int) -> int:
    """Return where the `))` is that closes the second parenthesis of `((`, 0 if they do not fit: then it is `( (`."""
    closed = cursor.find_closing(start, "()")
    return closed if cursor.text.startswith("))", closed) else 0


def read_dollar(cursor: Cursor, *, quoted: bool) -> Part:
    start = cursor.at
    behind = cursor.peek(2, 1)
    cursor.at += 1
    if behind[:1] == "'" and not quoted:
        return read_ansi(cursor)
    if behind[:1] == '"' and not quoted:
        return Text("", '$"')
    if behind == "((" and (closed := find_computed(cursor, start + 2)):
        cursor.at = closed + 2
        return Computation(read_expression(cursor, start + 3, closed), quoted)
    if behind[:1] == "(":
        if behind == "((":
            # Where the parentheses end is told otherwise by quotes in them.
            cursor.fail(start)
        cursor.at = start + 2
        return Substitution(cursor.grammar.read_inner(cursor), quoted)
    if behind[:1] == "{":
        return read_braces(cursor, quoted=quoted)
    if behind[:1] == "[":
        closed = cursor.find_closing(start + 1, "[]")
        if not closed:
            cursor.fail(start)
        cursor.at = closed + 1 if closed else start + 2
        return Computation(read_expression(cursor, start + 2, closed or start + 2), quoted)
    if behind[:1] and behind[0] in SPECIAL:
        cursor.at += 1
        return ParameterExpansion(behind[0], quoted)
    if found := cursor.take(NAME):
        return ParameterExpansion(found[0], quoted)
    if behind == "\\\n":
        return Text("$", "$\\\n")
    return Text("$", '"' if quoted else "$")


def read_ansi(cursor: Cursor) -> Text:
    """Read `$'...'`, in which a backslash may hide a quote."""
    start = cursor.at + 1
    at = start
    while at < len(cursor.text) and cursor.text[at] != "'":
        at += 2 if cursor.text[at] == "\\" else 1
    if at >= len(cursor.text):
        cursor.fail(cursor.at)
    cursor.at = min(at + 1, len(cursor.text))
    return Text(ansi_c(cursor.text[start:at]), "$'")


def read_backquote(cursor: Cursor, *, quoted: bool) -> Substitution:
    start = cursor.at
    at = start + 1
    while at < len(cursor.text) and cursor.text[at] != "`":
        at += 2 if cursor.text[at] == "\\" else 1
    body = re.sub(
        r'\\([`$\\"])' if quoted else r"\\([`$\\])", r"\1", cursor.text[start + 1 : at]
    )
    cursor.at = min(at + 1, len(cursor.text))
    if at >= len(cursor.text):
        cursor.fail(start)
    return Substitution(cursor.grammar.read_apart(cursor, body, start + 1), quoted, "`")


def read_expression(cursor: Cursor, start: int, end: int) -> Word:
    """Read an arithmetic expression, which the shell expands like text in double quotes."""
    parts = read_text(cursor.inside(cursor.text[start:end], start))
    return Word(parts, Span(cursor.base + start, cursor.base + end))


def read_braces(cursor: Cursor, *, quoted: bool) -> Part:
    """Read `${...}`: the name, the operator and, as a word, its argument."""
    start = cursor.at - 1
    cursor.at += 1
    # `${!}` and `${#}` are parameters themselves.
    found = cursor.take(BRACED)
    if found is None:
        argument = read_argument(cursor, quoted=quoted)
        return ParameterExpansion("", quoted, "?", argument)
    prefix, name = found.groups()
    operator = f"{prefix}name" if prefix else ""
    if cursor.has("[") and (closed := cursor.find_closing(cursor.at, "[]")):
        expression = read_expression(cursor, cursor.at + 1, closed)
        cursor.at = closed + 1
        behind = read_argument(cursor, quoted=quoted)
        if prefix or behind.parts:
            operator = "[?"
        subscript = (Computation(expression, quoted), *behind.parts)
        return ParameterExpansion(
            name, quoted, operator or "[", Word(subscript, expression.span)
        )
    if cursor.has("}") and not prefix:
        cursor.at += 1
        return ParameterExpansion(name, quoted)
    if not prefix:
        found = cursor.take(OPERATOR)
        operator = found[0] if found else "?"
        if not found:
            cursor.fail(start)
    return ParameterExpansion(name, quoted, operator, read_argument(cursor, quoted=quoted))


def read_argument(cursor: Cursor, *, quoted: bool) -> Word:
    """Read up to the closing brace, and step behind it."""
    start = cursor.at
    parts = list[Part]()
    while not cursor.at_end and cursor.char != "}":
        character = cursor.char
        if found := cursor.take(IN_BRACES):
            parts.append(Text(found[0]))
        elif character == "'" and quoted:
            # Inside double quotes a single quote protects nothing.
            parts.append(Text("'"))
            cursor.at += 1
        elif character in "<>" and cursor.has("(", 1) and not quoted:
            parts.append(read_process(cursor, character))
        elif character in "<>":
            parts.append(Text(character))
            cursor.at += 1
        else:
            parts += read_quoted(cursor, character)
    word = Word(tuple(parts), cursor.span(start))
    if cursor.at_end:
        cursor.fail(start)
    cursor.at += 1
    return word
