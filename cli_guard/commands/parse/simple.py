"""Simple commands of the grammar: their words, assignments, redirections and here-documents."""

import re
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from cli_guard.commands.model import Span
from cli_guard.commands.parse.joining import join_words
from cli_guard.commands.parse.reading import LINE_END, WORDS, WordReader, descend, span_of
from cli_guard.commands.parse.tree import (
    Assignment,
    Command,
    Node,
    Parameter,
    Part,
    Redirect,
    Script,
    Substitution,
    Text,
    Word,
)

if TYPE_CHECKING:
    from ast_grep_py import SgNode

TABS = re.compile(r"(?m)^\t+")
REDIRECTS = frozenset(("file_redirect", "heredoc_redirect", "herestring_redirect"))
DECLARATORS = frozenset("declare typeset export readonly local unset unsetenv".split())


@dataclass
class CommandReader(WordReader):
    @abstractmethod
    def node(self, node: "SgNode", kind: str) -> Node | None:
        """Return the command of a node, None for punctuation."""

    def redirects(self, node: "SgNode", after: list[tuple[str, Node]]) -> Iterator[Redirect]:
        """Return the redirections of one node, with what follows `<<E` on its line."""
        kids = self.kids(node)
        span = span_of(node)
        if node.kind() == "heredoc_redirect":
            yield from self.here_document(kids, after, span)
            return
        self.on_one_line(kids)
        descriptor = next((kid.text() for kid in kids if kid.kind() == "file_descriptor"), "")
        operator = next((kid.kind() for kid in kids if set(kid.kind()) <= set("<>&|-")), "<<<")
        targets = [kid for kid in kids if kid.kind() in WORDS]
        yield Redirect(operator, descriptor, self.word(targets[0]) if targets else None, span)
        # `> f arg`: the grammar reads the words after the target as more targets.
        for extra in targets[1:]:
            yield Redirect("word", "", self.word(extra), span_of(extra))

    def only_redirect(self, node: "SgNode") -> Command:
        """Read `$(< file)`: a redirection without a command."""
        return Command((), span_of(node), (), tuple(self.redirects(node, [])))

    def here_document(
        self, kids: "list[SgNode]", after: list[tuple[str, Node]], span: Span
    ) -> Iterator[Redirect]:
        """Read `<<E`, with what follows it on its line and is joined by `|`, `&&` or `||`."""
        started, operator, edge, lost = "E", "|", span.start, False
        content = next((kid for kid in kids if kid.kind() == "heredoc_body"), None)
        for kid in kids:
            kind = kid.kind()
            if kind == "heredoc_start":
                started = kid.text()
            elif kind == "heredoc_end":
                yield Redirect(
                    "<<",
                    "",
                    self.body(
                        Span(edge, kid.range().start.index), content, started, kids[0].kind(), lost=lost
                    ),
                    span,
                )
            elif kind in WORDS:
                # A body that begins with a backslash is read as more words of the command.
                lost = lost or kid.text().startswith("\n")
                if not lost:
                    yield Redirect("word", "", self.word(kid), span_of(kid))
            elif kind in REDIRECTS:
                yield from self.redirects(kid, after)
            elif kind in ("&&", "||", "|"):
                operator = kind
            elif kind == "pipeline":
                after += (("|", item) for item in self.items(kid))
            elif found := self.node(kid, kind):
                after.append((operator, found))
            if kind not in ("heredoc_body", "heredoc_end") and not lost:
                edge = kid.range().end.index

    def body(
        self, around: Span, content: "SgNode | None", started: str, operator: str, *, lost: bool
    ) -> Word:
        """Return the text between the line of `<<E` and the line `E` as one quoted word."""
        start = self.text.find("\n", around.start) + 1
        inside = Span(start, max(start, around.end))
        text = self.text[inside.start : inside.end]
        literal = started[:1] in "'\"\\"
        parts: tuple[Part, ...] = (Text(text, True),)
        if not literal and content is not None and not lost:
            parts = tuple(self.read_quoted(content, inside))
        elif not literal and lost:
            # The grammar has lost the body: its substitutions are found, the rest is unknown.
            parts = (*self.literal(text), Parameter("", True))
        if operator == "<<-":
            parts = tuple(
                replace(each, text=TABS.sub("", each.text)) if isinstance(each, Text) else each
                for each in parts
            )
        return Word(parts, inside)

    def command(self, node: "SgNode") -> Command:
        """Read a simple command, a declaration (`export a=b`) or an assignment on its own."""
        words: list[Word] = []
        assignments: list[Assignment] = []
        redirects: list[Redirect] = []
        kids = self.kids(node)
        self.on_one_line(kids)
        for kid in kids:
            kind = kid.kind()
            if kind == "command_name":
                words += [self.word(part) for part in self.kids(kid)]
            elif kind == "variable_assignment" and not words:
                assignments.append(self.assignment(kid))
            elif kind in WORDS or kind == "variable_assignment":
                words.append(self.word(kid))
            elif kind in REDIRECTS:
                redirects += self.redirects(kid, [])
            elif kind in DECLARATORS:
                words.append(Word((Text(kind, False),), span_of(kid)))
            elif kind == "ERROR":
                self.errors.append(span_of(kid))
                words += [self.word(leaf) for leaf in descend(kid, lambda part: part.kind() in WORDS)]
            elif kind == "subshell":
                self.errors.append(span_of(kid))
            elif kind not in ("comment", "\n"):
                # A token on its own, such as a dash or a dollar.
                words.append(Word((Text(self.source(kid), False),), span_of(kid)))
        return Command(tuple(join_words(words)), span_of(node), tuple(assignments), tuple(redirects))

    def in_digits(self, redirects: list[Redirect]) -> None:
        """Record an error for `<0<f`: the grammar reads the second descriptor as the first target."""
        for one, other in pairwise(redirects):
            target = one.target if one.operator not in ("word", "<<") else None
            if (
                target
                and target.span.end == other.span.start
                and self.text[target.span.start : target.span.end].isdecimal()
            ):
                self.errors.append(one.span)

    def find_dropped_dashes(self, kids: "list[SgNode]") -> Iterator[Word]:
        """Find a lone dash in front of a redirection, which the grammar drops."""
        for one, other in pairwise(kids if " - " in self.text else ()):
            start, end = one.range().end.index, other.range().start.index
            if self.text[start:end].strip() == "-":
                yield Word((Text("-", False),), Span(start, end))

    def on_one_line(self, kids: "list[SgNode]") -> None:
        """Record an error if a simple command extends beyond its line: it was misread."""
        if "\n" not in self.text:
            return
        for kid in kids:
            if kid.kind() == "comment":
                self.comments.append(span_of(kid))
        for one, other in pairwise(kids):
            start = one.range().end.index
            found = LINE_END.search(self.text[start : other.range().start.index])
            if found:
                self.line_ends.append(start + found.start())

    def read_assignments(self, node: "SgNode") -> Command:
        kids = [node] if node.kind() == "variable_assignment" else self.kids(node)
        found = tuple(self.assignment(kid) for kid in kids if kid.kind() == "variable_assignment")
        return Command((), span_of(node), found)

    def assignment(self, node: "SgNode") -> Assignment:
        kids = self.kids(node)
        name = kids[0].text().partition("[")[0]
        append = any(kid.kind() == "+=" for kid in kids[:2])
        values: list[Word] = []
        if kids[0].kind() == "subscript":
            script = Script((self.index_of(kids[0]),))
            values.append(Word((Substitution(script, False, "(("),), span_of(kids[0])))
        for kid in kids[1:]:
            if kid.kind() == "array":
                values += [self.word(part) for part in self.kids(kid) if part.kind() in WORDS]
            elif kid.kind() in WORDS:
                values.append(self.word(kid))
        array = any(kid.kind() == "array" for kid in kids)
        element = kids[0].kind() == "subscript"
        return Assignment(name, tuple(values), append, span_of(node), array, element)
