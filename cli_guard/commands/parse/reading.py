"""Words of the grammar -> their parts: text, parameters, substitutions; quotes and escapes are resolved here."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cli_guard.code.syntax import STAND_IN
from cli_guard.commands.model import Span
from cli_guard.commands.parse.quoting import (
    ansi_c,
    hidden_substitutions,
    unescape_in_quotes,
    unescape_parts,
)
from cli_guard.commands.parse.tree import Command, Node, Parameter, Part, Script, Substitution, Text, Word

if TYPE_CHECKING:
    from ast_grep_py import SgNode

EXPANSIONS = frozenset("simple_expansion expansion command_substitution arithmetic_expansion".split())
WORDS = EXPANSIONS | frozenset(
    "word string raw_string ansi_c_string translated_string concatenation number brace_expression extglob_pattern "
    "regex process_substitution variable_name special_variable_name test_operator array".split()
)

HIDDEN = re.compile(r"`|\$\(|<\(")
LINE_END = re.compile(r"(?<!\\)\n")
ELEMENT = re.compile(r"\$\{(\w+)\[(@|\*|\d{1,4})\]\}")
BEFORE_COMMENT = " \t\n;&|()<>`"
# Nodes that are rightly empty.
EMPTY = frozenset(("heredoc_content", "heredoc_body", "string_content", "\n", "program"))


@dataclass
class WordReader(ABC):
    """Reads words.

    What the grammar did not understand is collected in `errors`. `line_ends` are those inside a command, where none
    can be: the grammar has read on into the next line.
    """

    text: str
    errors: list[Span] = field(default_factory=list)
    line_ends: list[int] = field(default_factory=list)
    comments: list[Span] = field(default_factory=list)

    @abstractmethod
    def items(self, node: "SgNode") -> Iterator[Node]:
        """The commands below a node, in order: those of a substitution."""

    def source(self, node: "SgNode") -> str:
        """The text of a node as it was given, whatever stood for it in the parser."""
        text = node.text()
        if STAND_IN not in text:
            return text
        where = node.range()
        return self.text[where.start.index : where.end.index]

    def word(self, node: "SgNode") -> Word:
        """One word with its parts."""
        return Word(tuple(self.parts(node)), span_of(node))

    def parts(self, node: "SgNode") -> Iterator[Part]:
        kind = node.kind()
        if kind == "raw_string":
            yield Text(self.source(node)[1:-1], True)
        elif kind == "ansi_c_string":
            yield Text(ansi_c(self.source(node)[2:-1]), True)
        elif kind == "string":
            start = node.range().start.index
            yield Text("", True)
            yield from self.read_quoted(node, Span(start + 1, node.range().end.index - 1))
        elif kind == "simple_expansion":
            yield from read_parameter(self.source(node))
        elif kind == "expansion":
            element = ELEMENT.fullmatch(self.source(node))
            if element:
                yield Parameter(element[1], False, f"[{element[2]}]")
            elif any(kid.kind() == "subscript" for kid in node.children()):
                # What stands in a subscript is computed, and a substitution in it run.
                yield from self.inner(node)
            else:
                yield self.expansion(node)
        elif kind == "command_substitution":
            text = self.source(node)
            if text.startswith("`") and "\\`" in text:
                # Backticks inside backticks, which the grammar takes for text.
                yield from self.plain(text, is_quoted=False)
            else:
                yield Substitution(Script(tuple(self.items(node))), False)
        elif kind == "process_substitution":
            yield Substitution(Script(tuple(self.items(node))), False, self.source(node)[0])
        elif kind == "arithmetic_expansion":
            yield from self.inner(node)
        elif kind in ("concatenation", "translated_string", "command_name", "variable_assignment", "array"):
            yield from self.join_parts(node)
        else:
            if kind == "ERROR":
                self.errors.append(span_of(node))
            self.one_line(node)
            text = self.source(node)
            if HIDDEN.search(text):
                yield from self.plain(text, is_quoted=False)
            else:
                yield from unescape_parts(text)

    def one_line(self, node: "SgNode") -> None:
        """A word without quotes holds no line end but behind a backslash."""
        if "\n" in self.text and (found := LINE_END.search(self.source(node))):
            self.line_ends.append(node.range().start.index + found.start())

    def join_parts(self, node: "SgNode") -> Iterator[Part]:
        """Parts that stand side by side; what the grammar leaves out between them is text."""
        at = node.range().start.index
        for kid in self.kids(node):
            where = kid.range()
            if where.start.index > at:
                yield Text(self.text[at : where.start.index], False)
            if kid.kind() != "$" or node.kind() != "translated_string":
                yield from self.parts(kid)
            at = where.end.index

    def read_quoted(self, node: "SgNode", inside: Span) -> Iterator[Part]:
        """The parts of a text in double quotes: expansions, and everything between them."""
        at = inside.start
        for kid in self.kids(node):
            if kid.kind() not in EXPANSIONS:
                continue
            where = kid.range()
            if where.start.index > at:
                yield from self.literal(self.text[at : where.start.index])
            for part in self.parts(kid):
                yield quote_part(part)
            at = where.end.index
        if inside.end > at:
            yield from self.literal(self.text[at : inside.end])

    def literal(self, text: str) -> Iterator[Part]:
        """Text in double quotes or in a here-document."""
        for part in self.plain(text, is_quoted=True):
            yield Text(unescape_in_quotes(part.text), True) if isinstance(part, Text) else part

    def expansion(self, node: "SgNode") -> Parameter:
        """`${...}`: the name, the operator and, as a word, what follows it."""
        kids = self.kids(node)[1:-1]
        at = next(
            (i for i, kid in enumerate(kids) if kid.kind() in ("variable_name", "special_variable_name")),
            None,
        )
        if at is None:
            return Parameter(self.source(node), False, "?")
        if at > 0:
            return Parameter(kids[at].text(), False, kids[0].text())
        rest = kids[1:]
        if not rest:
            return Parameter(kids[0].text(), False, braced=True)
        operator = rest[0].kind()
        inside = Span(rest[0].range().end.index, node.range().end.index - 1)
        argument = Word(tuple(self.read_argument(rest[1:], inside)), inside)
        return Parameter(kids[0].text(), False, operator, argument)

    def read_argument(self, kids: "list[SgNode]", inside: Span) -> Iterator[Part]:
        """The parts of the argument of an expansion."""
        at = inside.start
        for kid in kids:
            where = kid.range()
            if where.start.index > at:
                yield from self.plain(self.text[at : where.start.index], is_quoted=True)
            if kid.kind() == "raw_string" and HIDDEN.search(kid.text()):
                # Inside double quotes a single quote protects nothing.
                yield from self.plain(self.source(kid), is_quoted=True)
            else:
                yield from self.parts(kid)
            at = where.end.index
        if inside.end > at:
            yield from self.plain(self.text[at : inside.end], is_quoted=True)

    def inner(self, node: "SgNode") -> Iterator[Substitution]:
        """An arithmetic expansion: a number, and the commands that its terms run."""
        found = tuple(
            item
            for kid in descend(
                node, lambda kid: kid.kind() in ("command_substitution", "process_substitution")
            )
            for item in self.items(kid)
        )
        names = tuple(
            Command(
                (
                    Word((Text("let", True),), span_of(name)),
                    Word((Parameter(name.text(), True),), span_of(name)),
                ),
                span_of(name),
            )
            for name in descend(node, lambda kid: kid.kind() == "variable_name")
        )
        yield Substitution(Script(found + names), False, "((")

    @abstractmethod
    def script_of(self, text: str) -> Script:
        """The script of a text inside a word."""

    def plain(self, text: str, *, is_quoted: bool) -> Iterator[Part]:
        """Text between expansions. Substitutions that the grammar has left in it are found here."""
        at = 0
        for start, end, inner in hidden_substitutions(text):
            if start > at:
                yield Text(text[at:start], is_quoted)
            yield Substitution(self.script_of(inner), is_quoted)
            at = end
        if at < len(text):
            yield Text(text[at:], is_quoted)

    def kids(self, node: "SgNode") -> "list[SgNode]":
        """The children of a node; one that the grammar only supposes to be there is an error."""
        kids = node.children()
        for kid in kids:
            if kid.kind() == "comment":
                self.comment(kid)
            if kid.is_leaf() and not kid.text() and kid.kind() not in EMPTY:
                self.errors.append(span_of(kid))
        return kids

    def comment(self, node: "SgNode") -> None:
        """A comment ends with its line, whatever stands at its end; behind a word, `#` is a part of that word."""
        start = node.range().start.index
        if start and self.text[start - 1] not in BEFORE_COMMENT:
            self.errors.append(span_of(node))
        elif "\n" in node.text():
            self.comments.append(Span(start, start + node.text().index("\n")))
            self.line_ends.append(self.comments[-1].end)


def read_parameter(text: str) -> Iterator[Part]:
    """`$name`. The grammar may give it the blank in front; `$10` is the first argument and a zero."""
    before, _, name = text.partition("$")
    if before:
        yield Text(before, True)
    if len(name) > 1 and name.isdecimal():
        yield Parameter(name[0], False)
        yield Text(name[1:], False)
    else:
        yield Parameter(name, False)


def span_of(node: "SgNode") -> Span:
    """Where a node stands."""
    where = node.range()
    return Span(where.start.index, where.end.index)


def quote_part(part: Part) -> Part:
    """A part as it is inside double quotes."""
    if isinstance(part, Parameter):
        return Parameter(part.name, True, part.operator, part.argument, part.braced)
    if isinstance(part, Substitution):
        return Substitution(part.script, True, part.kind)
    return Text(part.text, True)


def descend(node: "SgNode", wanted: "Callable[[SgNode], bool]") -> "Iterator[SgNode]":
    """The outermost nodes below that are wanted, in order."""
    stack = list(reversed(node.children()))
    while stack:
        kid = stack.pop()
        if wanted(kid):
            yield kid
        else:
            stack.extend(reversed(kid.children()))
