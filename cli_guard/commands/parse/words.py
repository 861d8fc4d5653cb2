"""Read one word of shell text: quotes, escapes, parameters, substitutions (bash(1), QUOTING and EXPANSION).

What the plain subset holds is read exactly as bash reads it; the rest well enough to look for harm in it.
"""

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, field

from cli_guard.commands.model import Span
from cli_guard.commands.parse.quoting import ansi_c, unescape_in_quotes
from cli_guard.commands.parse.tree import (
    Computation,
    Parameter,
    Part,
    Script,
    Substitution,
    Text,
    Word,
)

# Substitutions and groups inside each other. A deeper one is an error, and not read.
DEEPEST = 30
LONGEST_EXPRESSION = 5_000
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


@dataclass
class WordReader(ABC):
    """Reads words at `at`. `errors` are the places that are no shell syntax; `base` is added to every offset."""

    text: str
    at: int = 0
    base: int = 0
    depth: int = 0
    errors: list[Span] = field(default_factory=list)

    @abstractmethod
    def read_inner(self, opening: int, kind: str) -> Script:
        """Read the commands behind `opening` up to the closing parenthesis, and step behind it."""

    @abstractmethod
    def read_apart(self, text: str, start: int) -> Script:
        """Read a text that was unquoted first, and so has offsets of its own."""

    def span(self, start: int) -> Span:
        """Return the span of what has been read from `start` on, without blanks behind it."""
        end = min(self.at, len(self.text))
        while end > start and self.text[end - 1] in " \t\n":
            end -= 1
        return Span(self.base + start, self.base + end)

    def fail(self, start: int) -> None:
        end = min(max(self.at, start + 1), len(self.text))
        self.errors.append(Span(self.base + min(start, end), self.base + end))

    def read_word(self, *, first: bool = False) -> Word:
        """Read one word; `first` if an assignment may stand here."""
        start = self.at
        parts = list[Part]()
        if first and (found := SUBSCRIPTED.match(self.text, self.at)):
            parts += self.read_subscript(found)
        while self.at < len(self.text):
            character = self.text[self.at]
            if found := RUN.match(self.text, self.at):
                parts.append(Text(found[0]))
                self.at = found.end()
            elif character in "'\"\\$`":
                parts += self.read_quoted(character)
            elif character in "<>" and self.text.startswith("(", self.at + 1):
                parts.append(self.read_process(character))
            elif character == "(" and self.is_extended(start):
                begin = self.at
                self.skip_parentheses()
                parts.append(Text(self.text[begin : self.at], "extglob"))
            else:
                break
        return Word(tuple(parts), self.span(start))

    def read_process(self, kind: str) -> Part:
        """Read `<(...)` or `>(...)`."""
        self.at += 2
        return Substitution(self.read_inner(self.at, "("), False, kind)

    def is_extended(self, start: int) -> bool:
        """Return whether a parenthesis here belongs to an extended pattern such as `*(...)`."""
        return self.at > start and self.text[self.at - 1] in EXTENDED

    def skip_parentheses(self) -> None:
        begin = self.at
        open_ones = 0
        while self.at < len(self.text):
            open_ones += {"(": 1, ")": -1}.get(self.text[self.at], 0)
            self.at += 1
            if not open_ones:
                return
        self.at = begin + 1
        self.fail(begin)

    def read_subscript(self, found: "re.Match[str]") -> list[Part]:
        """Read `name[subscript]` at the place of an assignment; a pattern there is read like any text."""
        end = self.find_bracket(found.end() - 1)
        behind = self.text[end + 1 : end + 3]
        if not end or not (behind[:1] == "=" or behind == "+="):
            return []
        expression = self.read_expression(found.end(), end)
        self.at = end + 1
        return [Text(found[0][:-1]), Computation(expression, False)]

    def read_quoted(self, character: str) -> list[Part]:
        """Read what begins with a quote, a backslash, a dollar or a backquote, outside of double quotes."""
        if character == "'":
            return [Text(self.read_until_quote(), "'")]
        if character == '"':
            return self.read_double_quotes()
        if character == "\\":
            escaped = self.text[self.at + 1 : self.at + 2]
            if not escaped:
                # Versions of bash keep it or drop it.
                self.fail(self.at)
            self.at += 2
            if escaped == "\n":
                # Before a blank it only ends the line; within a word it joins what is around it.
                return (
                    [] if self.text[self.at : self.at + 1] in BLANKS else [Text("", "\\\n")]
                )
            return [Text(escaped or "\\", "\\")]
        return (
            [self.read_dollar(quoted=False)]
            if character == "$"
            else [self.read_backquote(quoted=False)]
        )

    def read_until_quote(self) -> str:
        start = self.at + 1
        end = self.text.find("'", start)
        if end < 0:
            self.fail(self.at)
            end = len(self.text)
        self.at = min(end + 1, len(self.text))
        return self.text[start:end]

    def read_double_quotes(self) -> list[Part]:
        start = self.at
        self.at += 1
        parts: list[Part] = [Text("", '"'), *self.read_in_quotes('"')]
        if self.at >= len(self.text):
            self.fail(start)
        self.at = min(self.at + 1, len(self.text))
        return parts

    def read_in_quotes(self, end: str) -> list[Part]:
        """Read text as in double quotes up to `end`, or to the end of the text."""
        parts: list[Part] = []
        start = self.at
        while self.at < len(self.text) and self.text[self.at] != end:
            character = self.text[self.at]
            if character in "$`":
                parts.append(Text(unescape_in_quotes(self.text[start : self.at]), '"'))
                is_dollar = character == "$"
                parts.append(
                    self.read_dollar(quoted=True)
                    if is_dollar
                    else self.read_backquote(quoted=True)
                )
                start = self.at
            elif self.text.startswith("\\\n", self.at):
                parts.append(Text(unescape_in_quotes(self.text[start : self.at]), '"'))
                # It joins what is around it, a name as well.
                parts.append(Text("", "\\\n"))
                self.at += 2
                start = self.at
            elif character == "\\":
                self.at += 2
            else:
                found = IN_QUOTES.match(self.text, self.at)
                self.at = found.end() if found else self.at + 1
        self.at = min(self.at, len(self.text))
        parts.append(Text(unescape_in_quotes(self.text[start : self.at]), '"'))
        return [part for part in parts if part != Text("", '"')]

    def read_dollar(self, *, quoted: bool) -> Part:
        start = self.at
        behind = self.text[start + 1 : start + 3]
        self.at += 1
        if behind[:1] == "'" and not quoted:
            return self.read_ansi()
        if behind[:1] == '"' and not quoted:
            return Text("", '$"')
        if behind == "((" and (closed := self.find_computed(start + 3)):
            self.at = closed + 2
            return Computation(self.read_expression(start + 3, closed), quoted)
        if behind[:1] == "(":
            if behind == "((":
                # Where the parentheses end is told otherwise by quotes in them.
                self.fail(start)
            self.at = start + 2
            return Substitution(self.read_inner(self.at, "("), quoted)
        if behind[:1] == "{":
            return self.read_braces(quoted=quoted)
        if behind[:1] == "[":
            closed = self.find_bracket(start + 1)
            if not closed:
                self.fail(start)
            self.at = closed + 1 if closed else start + 2
            return Computation(self.read_expression(start + 2, closed or start + 2), quoted)
        if behind[:1] and behind[0] in SPECIAL:
            self.at += 1
            return Parameter(behind[0], quoted)
        if found := NAME.match(self.text, self.at):
            self.at = found.end()
            return Parameter(found[0], quoted)
        is_joined = behind[:2] == "\\\n"
        return Text("$", "$\\\n" if is_joined else '"' if quoted else "$")

    def read_ansi(self) -> Text:
        """Read `$'...'`, in which a backslash may hide a quote."""
        start = self.at + 1
        at = start
        while at < len(self.text) and self.text[at] != "'":
            at += 2 if self.text[at] == "\\" else 1
        if at >= len(self.text):
            self.fail(self.at)
        self.at = min(at + 1, len(self.text))
        return Text(ansi_c(self.text[start:at]), "$'")

    def read_backquote(self, *, quoted: bool) -> Substitution:
        start = self.at
        at = start + 1
        while at < len(self.text) and self.text[at] != "`":
            at += 2 if self.text[at] == "\\" else 1
        body = re.sub(
            r'\\([`$\\"])' if quoted else r"\\([`$\\])", r"\1", self.text[start + 1 : at]
        )
        self.at = min(at + 1, len(self.text))
        if at >= len(self.text):
            self.fail(start)
        return Substitution(self.read_apart(body, start + 1), quoted, "`")

    def find_bracket(self, start: int) -> int:
        """Return where the bracket that opens at `start` is closed, 0 if it is not."""
        depth = 0
        for at in range(start, min(len(self.text), start + LONGEST_EXPRESSION)):
            depth += {"[": 1, "]": -1}.get(self.text[at], 0)
            if not depth:
                return at
        return 0

    def find_computed(self, start: int) -> int:
        """Return where the `))` of `$((` is, 0 if its parentheses do not fit: then it is `$( (`."""
        depth = 0
        for at in range(start, min(len(self.text), start + LONGEST_EXPRESSION)):
            depth += {"(": 1, ")": -1}.get(self.text[at], 0)
            if depth < 0:
                return at if self.text.startswith("))", at) else 0
        return 0

    def read_expression(self, start: int, end: int) -> Word:
        """Read an arithmetic expression, which the shell expands like text in double quotes."""
        inner = self.inside(start, end)
        parts = tuple(inner.read_in_quotes(""))
        return Word(parts, Span(self.base + start, self.base + end))

    def inside(self, start: int, end: int) -> "WordReader":
        """Return a reader of a part of the text; it shares the errors."""
        return type(self)(
            self.text[start:end],
            base=self.base + start,
            depth=self.depth,
            errors=self.errors,
        )

    def read_braces(self, *, quoted: bool) -> Part:
        """Read `${...}`: the name, the operator and, as a word, its argument."""
        start = self.at - 1
        self.at += 1
        # `${!}` and `${#}` are parameters themselves.
        found = BRACED.match(self.text, self.at)
        if found is None:
            argument = self.read_argument(quoted=quoted)
            return Parameter("", quoted, "?", argument, braced=True)
        prefix, name = found.groups()
        self.at = found.end()
        operator = f"{prefix}name" if prefix else ""
        if self.text.startswith("[", self.at) and (closed := self.find_bracket(self.at)):
            expression = self.read_expression(self.at + 1, closed)
            self.at = closed + 1
            behind = self.read_argument(quoted=quoted)
            if prefix or behind.parts:
                operator = "[?"
            subscript = (Computation(expression, quoted), *behind.parts)
            return Parameter(
                name, quoted, operator or "[", Word(subscript, expression.span), braced=True
            )
        if self.text.startswith("}", self.at) and not prefix:
            self.at += 1
            return Parameter(name, quoted, braced=True)
        if (found := OPERATOR.match(self.text, self.at)) and not prefix:
            operator = found[0]
            self.at = found.end()
        elif not prefix:
            operator = "?"
            self.fail(start)
        return Parameter(
            name, quoted, operator, self.read_argument(quoted=quoted), braced=True
        )

    def read_argument(self, *, quoted: bool) -> Word:
        """Read up to the closing brace, and step behind it."""
        start = self.at
        parts = list[Part]()
        while self.at < len(self.text) and self.text[self.at] != "}":
            character = self.text[self.at]
            if found := IN_BRACES.match(self.text, self.at):
                parts.append(Text(found[0]))
                self.at = found.end()
            elif character == "'" and quoted:
                # Inside double quotes a single quote protects nothing.
                parts.append(Text("'"))
                self.at += 1
            elif (
                character in "<>" and self.text.startswith("(", self.at + 1) and not quoted
            ):
                parts.append(self.read_process(character))
            elif character in "<>":
                parts.append(Text(character))
                self.at += 1
            else:
                parts += self.read_quoted(character)
        word = Word(tuple(parts), self.span(start))
        if self.at >= len(self.text):
            self.fail(start)
        self.at += 1
        return word
