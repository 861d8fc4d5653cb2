"""Parse shell text to a tree of commands, words and redirections (ast-grep's bash grammar underneath).

The grammar keeps quotes and escapes; here a word becomes its parts, so that no caller needs to know them.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from cli_guard.code.syntax import Trees
from cli_guard.commands.model import Span
from cli_guard.commands.parse.joining import attach_redirects, build_pipeline, separate_lines
from cli_guard.commands.parse.reading import HIDDEN, WORDS, descend, span_of
from cli_guard.commands.parse.simple import REDIRECTS, CommandReader
from cli_guard.commands.parse.tree import (
    Arithmetic,
    Block,
    Command,
    For,
    Function,
    Node,
    Pipeline,
    Redirect,
    Script,
    Text,
    Word,
)

if TYPE_CHECKING:
    from ast_grep_py import SgNode

DEEPEST = 40
MOST_REPAIRS = 12
COMPARISON = re.compile(r"-(?:eq|ne|lt|le|gt|ge|v)")
COMPUTED = re.compile(rf"\s{COMPARISON.pattern}\s")
BRACKET = re.compile(r"\[(?:\\\n)*[ \t]")
# Characters that end a command, redirect it or start a comment unless quoted; the nodes that hold them as text.
OPERATORS = frozenset("|&;<>()#\n")
PATTERNS = frozenset(("extglob_pattern", "regex"))
CASE_ENDS = (";;", ";&", ";;&")


def parse(text: str) -> Script:
    """Parse a text. Never raises; what is not understood is recorded in `errors`."""
    for _ in range(MOST_REPAIRS):
        reader = Reader(text)
        root = Trees().root("bash", text)
        script = reader.script(root)
        if not script.errors and (root.kind() != "program" or root.find(kind="ERROR")):
            script = Script(script.items, (Span(0, len(text)),))
        if not reader.line_ends:
            return script
        text = separate_lines(text, reader.line_ends, reader.comments)
    return Script(script.items, (*script.errors, Span(0, len(text))))


@dataclass
class Reader(CommandReader):
    """Turns nodes of the grammar into ours."""

    depth: int = 0

    def script(self, node: "SgNode") -> Script:
        return Script(tuple(self.items(node)), tuple(self.errors))

    def script_of(self, text: str) -> Script:
        """Parse a text inside a word, one level deeper than the word."""
        if self.depth >= DEEPEST:
            return Script()
        script = parse(text)
        self.errors += (Span(0, len(self.text)) for _ in script.errors[:1])
        return script

    def items(self, node: "SgNode") -> Iterator[Node]:
        """Return the commands below a node, in order."""
        self.depth += 1
        if self.depth > DEEPEST:
            self.errors.append(span_of(node))
            self.depth -= 1
            return
        previous: Node | None = None
        stray: list[Word] = []
        for kid in self.kids(node):
            kind = kid.kind()
            if kind in WORDS:
                # Words where a command should be: the grammar has recovered from an error.
                stray.append(self.word(kid))
                continue
            if stray:
                yield Command(tuple(stray), Span(stray[0].span.start, stray[-1].span.end))
                stray = []
            if kind in CASE_ENDS:
                self.errors.append(span_of(kid))
            if kind == "&" and previous is not None:
                previous = Block("background", (previous,), previous.span)
            elif found := self.node(kid, kind):
                if previous is not None:
                    yield previous
                previous = found
        if previous is not None:
            yield previous
        if stray:
            yield Command(tuple(stray), Span(stray[0].span.start, stray[-1].span.end))
        self.depth -= 1

    def node(self, node: "SgNode", kind: str) -> Node | None:
        """Return the command of a node, None for punctuation."""
        if kind in NODES:
            return NODES[kind](self, node)
        if kind == "ERROR":
            self.errors.append(span_of(node))
            return self.block("group", node)
        return None

    def block(self, kind: str, node: "SgNode") -> Block:
        """Return everything that runs below a node."""
        return Block(kind, tuple(self.items(node)), span_of(node))

    def compound(self, node: "SgNode") -> Block:
        """Read `{ ...; }` or `(( ... ))`."""
        if node.text().startswith("(("):
            return Block("group", (self.between_parentheses(node),), span_of(node))
        return self.block("group", node)

    def between_parentheses(self, node: "SgNode") -> Arithmetic:
        """Read the expression of `(( ... ))` or of `for (( ... ))`."""
        edges = [kid.range() for kid in self.kids(node) if kid.kind() in ("((", "))")]
        return self.arithmetic(node, Span(edges[0].end.index, edges[-1].start.index))

    def list_of(self, node: "SgNode") -> Block:
        """Read `a && b`: a redirection after it belongs to the last."""
        return self.block("list", node)

    def subshell(self, node: "SgNode") -> Block:
        return self.block("subshell", node)

    def conditional(self, node: "SgNode") -> Block:
        return self.block("if", node)

    def loop(self, node: "SgNode") -> Block:
        return self.block("loop", node)

    def case(self, node: "SgNode") -> Block:
        """Read `case word in ... esac`: the word, then the commands of each branch."""
        kids = self.kids(node)
        subject = [self.as_words(kid) for kid in kids if kid.kind() in WORDS]
        branches = tuple(self.branch(kid) for kid in kids if kid.kind() == "case_item")
        patterns = [
            self.as_words(pattern)
            for kid in kids
            if kid.kind() == "case_item" and HIDDEN.search(kid.text())
            for pattern in self.kids(kid)
            if pattern.kind() in WORDS
        ]
        return Block("case", (*subject, *patterns, *branches), span_of(node))

    def branch(self, node: "SgNode") -> Block:
        """Read one branch of a case, without its patterns."""
        kids = self.kids(node)
        closed = next((at for at, kid in enumerate(kids) if kid.kind() == ")"), -1)
        items = tuple(found for kid in kids[closed + 1 :] if (found := self.node(kid, kid.kind())))
        return Block("group", items, span_of(node))

    def as_words(self, node: "SgNode") -> Command:
        """Return an expanded word as the argument of a command without effect."""
        return Command((Word((Text(":", True),), span_of(node)), self.word(node)), span_of(node))

    def test(self, node: "SgNode") -> Node:
        """Read `[[ ... ]]` or `[ ... ]`: its words are expanded; `[[` evaluates what it compares as a number."""
        kids = self.kids(node)
        found = list(descend(node, lambda kid: kid.kind() in WORDS))
        if any(not kid.text() for kid in found) or self.misread([kids[0], *found, kids[-1]]):
            self.errors.append(span_of(node))
        is_bracket = kids[0].text() == "["
        name = "test" if is_bracket and COMPUTED.search(node.text()) else ":"
        words = tuple(map(self.word, found))
        expanded = Command((Word((Text(name, True),), span_of(node)), *words), span_of(node))
        if is_bracket or not COMPUTED.search(node.text()):
            return expanded
        numbers = tuple(self.arithmetic(kid, span_of(kid)) for kid in find_numbers(node))
        return Block("group", (expanded, *numbers), span_of(node))

    def misread(self, kids: "list[SgNode]") -> bool:
        """Return whether a test of the grammar holds more than a test, or is the name of a program (`[x]`).

        `[` is an ordinary command: the shell interprets `||`, `>` and a line end inside.
        """
        first, last = kids[0], kids[-1]
        if first.text() != "[":
            return False
        self.on_one_line(kids)
        between = (
            self.text[one.range().end.index : other.range().start.index] for one, other in pairwise(kids)
        )
        patterns = (self.source(kid) for kid in kids if kid.kind() in PATTERNS)
        inside = self.text[first.range().start.index : last.range().end.index]
        # A line end between words is already recorded, or follows a backslash.
        return not BRACKET.match(inside) or any(
            not OPERATORS.isdisjoint(text)
            for text in (*(gap.replace("\n", "") for gap in between), *patterns)
        )

    def pipeline(self, node: "SgNode") -> Node:
        return build_pipeline(tuple(self.items(node)), span_of(node))

    def for_each(self, node: "SgNode") -> Node:
        """Read `for x in words` and `select`; a C-style loop is a loop."""
        kids = self.kids(node)
        names = [kid for kid in kids if kid.kind() == "variable_name"]
        if not names:
            loops = tuple(self.block("loop", kid) for kid in kids if kid.kind() in BODIES)
            return Block("loop", (self.between_parentheses(node), *loops), span_of(node))
        at = next((at for at, kid in enumerate(kids) if kid.kind() == "in"), None)
        words = None if at is None else tuple(self.word(kid) for kid in kids[at:] if kid.kind() in WORDS)
        bodies = tuple(item for kid in kids if kid.kind() in BODIES for item in self.items(kid))
        body = Block("loop", bodies, span_of(node))
        return For(names[0].text(), words, body, span_of(node))

    def function(self, node: "SgNode") -> Function:
        """Read `name() { ...; }`."""
        kids = [kid for kid in self.kids(node) if kid.kind() not in ("function", "(", ")")]
        body = Block(
            "group", tuple(found for kid in kids[1:] if (found := self.node(kid, kid.kind()))), span_of(node)
        )
        return Function(kids[0].text() if kids else "", body, span_of(node))

    def read_redirected(self, node: "SgNode") -> Node:
        """Read a command and its redirections; a here-document may hold the rest of its pipeline."""
        redirects: list[Redirect] = []
        after: list[tuple[str, Node]] = []
        inner: Node | None = None
        kids = self.kids(node)
        redirects += (Redirect("word", "", word, word.span) for word in self.find_dropped_dashes(kids))
        for kid in kids:
            kind = kid.kind()
            if kind in REDIRECTS:
                redirects += self.redirects(kid, after)
            elif kind == "ERROR":
                self.errors.append(span_of(kid))
            elif inner is None:
                inner = self.node(kid, kind)
        self.in_digits(redirects)
        result = attach_redirects(inner, tuple(redirects), span_of(node))
        for operator, follows in after:
            pair = (result, follows)
            result = Pipeline(pair, span_of(node)) if operator == "|" else Block("list", pair, span_of(node))
        return result


def find_numbers(node: "SgNode") -> "Iterator[SgNode]":
    """Yield what `[[` evaluates: the operands of `-eq` and its like, and the name after `-v`, for its subscript."""
    for kid in node.children():
        if COMPARISON.fullmatch(kid.text()) and kid.kind() == "test_operator":
            yield from (each for each in node.children() if each.kind() != "test_operator")
        elif kid.kind() not in WORDS:
            yield from find_numbers(kid)


BODIES = frozenset(("do_group", "compound_statement"))
NODES: "dict[str, Callable[[Reader, SgNode], Node | None]]" = {
    "command": Reader.command,
    "declaration_command": Reader.command,
    "unset_command": Reader.command,
    "variable_assignment": Reader.read_assignments,
    "variable_assignments": Reader.read_assignments,
    "test_command": Reader.test,
    "pipeline": Reader.pipeline,
    "redirected_statement": Reader.read_redirected,
    "file_redirect": Reader.only_redirect,
    "list": Reader.list_of,
    "negated_command": Reader.list_of,
    "compound_statement": Reader.compound,
    "subshell": Reader.subshell,
    "if_statement": Reader.conditional,
    "elif_clause": Reader.conditional,
    "else_clause": Reader.conditional,
    "while_statement": Reader.loop,
    "do_group": Reader.loop,
    "for_statement": Reader.for_each,
    "c_style_for_statement": Reader.for_each,
    "case_statement": Reader.case,
    "function_definition": Reader.function,
}
