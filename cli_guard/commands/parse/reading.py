"""Turn words of the grammar into parts (text, parameters, substitutions); resolve quotes and escapes."""

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
from cli_guard.commands.parse.tree import (
    Arithmetic,
    Node,
    Parameter,
    Part,
    Script,
    Substitution,
    Text,
    Word,
)
from cli_guard.commands.scope import check_time

if TYPE_CHECKING:
    from ast_grep_py import SgNode

SUBSTITUTIONS = frozenset(("command_substitution", "process_substitution"))
EXPANSIONS = frozenset("simple_expansion expansion command_substitution arithmetic_expansion".split())
WORDS = EXPANSIONS | frozenset(
    "word string raw_string ansi_c_string translated_string concatenation number brace_expression extglob_pattern "
    "regex process_substitution variable_name special_variable_name test_operator array".split()
)

OFFSET = re.compile(r"[\s\d:-]*")
HIDDEN = re.compile(r"`|\$\(|<\(")
LINE_END = re.compile(r"(?<!\\)\n")
ELEMENT = re.compile(r"\$\{(\w+)\[(@|\*|\d{1,4})\]\}")
BEFORE_COMMENT = " \t\n;&|()<>`"
# Nodes that may be empty.
EMPTY = frozenset(("heredoc_content", "heredoc_body", "string_content", "\n", "program"))


@dataclass
class WordReader(ABC):
    """Reads words.

    `errors` are the places that the grammar did not understand. `line_ends` are those inside a command, where none can
    be: the grammar has read on into the next line.
    """

    text: str
    errors: list[Span] = field(default_factory=list)
    line_ends: list[int] = field(default_factory=list)
    comments: list[Span] = field(default_factory=list)

    @abstractmethod
    def items(self, node: "SgNode") -> Iterator[Node]:
        """Return the commands of a substitution in order."""

    def source(self, node: "SgNode") -> str:
        """Return the text of a node as given, before any respelling."""
        text = node.text()
        if STAND_IN not in text:
            return text
        where = node.range()
        return self.text[where.start.index : where.end.index]

    def word(self, node: "SgNode") -> Word:
        return Word(tuple(self.parts(node)), span_of(node))

    def parts(self, node: "SgNode") -> Iterator[Part]:
        check_time()
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
            elif subscript := next((kid for kid in node.children() if kid.kind() == "subscript"), None):
                yield from self.subscript(subscript, node)
            else:
                yield self.expansion(node)
        elif kind == "command_substitution":
            text = self.source(node)
            if text.startswith("`") and "\\`" in text:
                # Backticks inside backticks, which the grammar reads as text.
                yield from self.plain(text, is_quoted=False)
            else:
                yield Substitution(Script(tuple(self.items(node))), False)
        elif kind == "process_substitution":
            yield Substitution(Script(tuple(self.items(node))), False, self.source(node)[0])
        elif kind == "arithmetic_expansion":
            kids = node.children()
            inside = Span(kids[0].range().end.index, kids[-1].range().start.index)
            yield Substitution(Script((self.arithmetic(node, inside),)), False, "((")
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
        """Record an error for a line end in an unquoted word that is not escaped."""
        if "\n" in self.text and (found := LINE_END.search(self.source(node))):
            self.line_ends.append(node.range().start.index + found.start())

    def join_parts(self, node: "SgNode") -> Iterator[Part]:
        """Join adjacent parts; what the grammar leaves out between them is text."""
        at = node.range().start.index
        for kid in self.kids(node):
            where = kid.range()
            if where.start.index > at:
                yield Text(self.text[at : where.start.index], False)
            if kid.kind() != "$" or node.kind() != "translated_string":
                yield from self.parts(kid)
            at = where.end.index

    def read_quoted(self, node: "SgNode", inside: Span) -> Iterator[Part]:
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
        """Read text in double quotes or in a here-document."""
        for part in self.plain(text, is_quoted=True):
            yield Text(unescape_in_quotes(part.text), True) if isinstance(part, Text) else part

    def expansion(self, node: "SgNode") -> Parameter:
        """Read `${...}`: the name, the operator and, as a word, its argument."""
        kids = self.kids(node)[1:-1]
        at = next(
            (i for i, kid in enumerate(kids) if kid.kind() in ("variable_name", "special_variable_name")),
            None,
        )
        if at is None:
            return Parameter(self.source(node), False, "?")
        if at > 0:
            # `${!prefix@}` expands to names, `${!name}` to the value of the variable that `name` names.
            listed = "".join(kid.text() for kid in kids[at + 1 :]) in ("@", "*")
            return Parameter(kids[at].text(), False, "!@" if listed else kids[0].text())
        rest = kids[1:]
        if not rest:
            return Parameter(kids[0].text(), False, braced=True)
        operator = rest[0].kind()
        inside = Span(rest[0].range().end.index, node.range().end.index - 1)
        argument = Word(tuple(self.read_argument(rest[1:], inside)), inside)
        if operator == ":" and not OFFSET.fullmatch(self.text[inside.start : inside.end]):
            script = Script((self.arithmetic(node, inside),))
            argument = Word((Substitution(script, False, "(("),), inside)
        return Parameter(kids[0].text(), False, operator, argument)

    def read_argument(self, kids: "list[SgNode]", inside: Span) -> Iterator[Part]:
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

    def arithmetic(self, node: "SgNode", inside: Span, array: str = "") -> Arithmetic:
        """Read an arithmetic expression as text, which the shell expands like text in double quotes."""
        parts: list[Part] = []
        at = inside.start
        for kid in descend(node, lambda kid: kid.kind() in SUBSTITUTIONS):
            where = kid.range()
            if inside.start <= where.start.index and where.end.index <= inside.end:
                parts += self.plain(self.text[at : where.start.index], is_quoted=True)
                parts += map(quote_part, self.parts(kid))
                at = where.end.index
        parts += self.plain(self.text[at : inside.end], is_quoted=True)
        return Arithmetic(Word(tuple(parts), inside), inside, array)

    def index_of(self, node: "SgNode") -> Arithmetic:
        """Read the expression between the brackets of `name[expression]`."""
        kids = self.kids(node)
        return self.arithmetic(
            node, Span(kids[1].range().end.index, kids[-1].range().start.index), kids[0].text()
        )

    def subscript(self, node: "SgNode", expansion: "SgNode") -> Iterator[Part]:
        """Read `${name[expression]...}` as one unknown element; the substitutions after the bracket run too."""
        script = Script((self.index_of(node),))
        argument = Word((Substitution(script, False, "(("),), span_of(node))
        yield Parameter(self.kids(node)[0].text(), False, "[?]", argument)
        end = node.range().end.index
        behind = tuple(
            item
            for kid in descend(expansion, lambda kid: kid.kind() in SUBSTITUTIONS)
            if kid.range().start.index >= end
            for item in self.items(kid)
        )
        if behind:
            yield Substitution(Script(behind), False)

    @abstractmethod
    def script_of(self, text: str) -> Script:
        """Parse a text inside a word."""

    def plain(self, text: str, *, is_quoted: bool) -> Iterator[Part]:
        """Read text between expansions; find the substitutions that the grammar has left in it."""
        at = 0
        for start, end, inner in hidden_substitutions(text):
            if start > at:
                yield Text(text[at:start], is_quoted)
            yield Substitution(self.script_of(inner), is_quoted)
            at = end
        if at < len(text):
            yield Text(text[at:], is_quoted)

    def kids(self, node: "SgNode") -> "list[SgNode]":
        """Return the children of a node; record an error for each that the grammar has added to recover."""
        check_time()
        kids = node.children()
        for kid in kids:
            if kid.kind() == "comment":
                self.comment(kid)
            if kid.is_leaf() and not kid.text() and kid.kind() not in EMPTY:
                self.errors.append(span_of(kid))
        return kids

    def comment(self, node: "SgNode") -> None:
        """Read a comment, which ends with its line; directly after a word, `#` is a part of that word."""
        start = node.range().start.index
        if start and self.text[start - 1] not in BEFORE_COMMENT:
            self.errors.append(span_of(node))
        elif "\n" in node.text():
            self.comments.append(Span(start, start + node.text().index("\n")))
            self.line_ends.append(self.comments[-1].end)


def read_parameter(text: str) -> Iterator[Part]:
    """Read `$name`. The grammar may include the blank in front; `$10` is the first argument and a zero."""
    before, _, name = text.partition("$")
    if before:
        yield Text(before, True)
    if len(name) > 1 and name.isdecimal():
        yield Parameter(name[0], False)
        yield Text(name[1:], False)
    else:
        yield Parameter(name, False)


def span_of(node: "SgNode") -> Span:
    """Return the span of a node. Raises OutOfTime: in a long text each call takes time (0.3 ms in 72 KB)."""
    check_time()
    where = node.range()
    return Span(where.start.index, where.end.index)


def quote_part(part: Part) -> Part:
    if isinstance(part, Parameter):
        return Parameter(part.name, True, part.operator, part.argument, part.braced)
    if isinstance(part, Substitution):
        return Substitution(part.script, True, part.kind)
    return Text(part.text, True)


def descend(node: "SgNode", wanted: "Callable[[SgNode], bool]") -> "Iterator[SgNode]":
    """Yield the outermost nodes of these kinds below, in order."""
    stack = list(reversed(node.children()))
    while stack:
        kid = stack.pop()
        if wanted(kid):
            yield kid
        else:
            stack.extend(reversed(kid.children()))
