"""Shell text -> a tree of commands, words and redirections (ast-grep's bash grammar underneath).

The grammar keeps quotes and escapes; here a word becomes its parts, so that nothing above has to know them.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from cli_guard.code.syntax import Trees
from cli_guard.commands.model import Span
from cli_guard.commands.parse.joining import build_pipeline, separate_lines, with_redirects
from cli_guard.commands.parse.reading import HIDDEN, WORDS, descend, span_of
from cli_guard.commands.parse.simple import REDIRECTS, CommandReader
from cli_guard.commands.parse.tree import (
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
COMPUTED = re.compile(r"\s-(?:eq|ne|lt|le|gt|ge|v)\s")
BRACKET = re.compile(r"\[(?:\\\n)*[ \t]")
# What ends a command, redirects it or starts a comment where no quotes protect it; the nodes that hold it as text.
OPERATORS = frozenset("|&;<>()#\n")
PATTERNS = frozenset(("extglob_pattern", "regex"))
CASE_ENDS = (";;", ";&", ";;&")


def parse(text: str) -> Script:
    """The script of a text. Never raises; what is not understood is named in `errors`."""
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
        """The whole text."""
        return Script(tuple(self.items(node)), tuple(self.errors))

    def script_of(self, text: str) -> Script:
        """The script of a text inside a word; one level deeper than the word."""
        if self.depth >= DEEPEST:
            return Script()
        script = parse(text)
        self.errors += (Span(0, len(self.text)) for _ in script.errors[:1])
        return script

    def items(self, node: "SgNode") -> Iterator[Node]:
        """The commands below a node, in order."""
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
                # Words where a command should stand: the grammar has recovered from an error.
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
        """The command that a node is, None for punctuation."""
        if kind in NODES:
            return NODES[kind](self, node)
        if kind == "ERROR":
            self.errors.append(span_of(node))
            return self.block("group", node)
        return None

    def block(self, kind: str, node: "SgNode") -> Block:
        """Everything that runs below a node."""
        return Block(kind, tuple(self.items(node)), span_of(node))

    def compound(self, node: "SgNode") -> Block:
        """`{ ...; }` or `(( ... ))`, of which only the substitutions inside run."""
        if node.text().startswith("(("):
            scripts = tuple(item for part in self.inner(node) for item in part.script.items)
            return Block("group", scripts, span_of(node))
        return self.block("group", node)

    def list_of(self, node: "SgNode") -> Block:
        """`a && b`: a redirection behind it belongs to the last."""
        return self.block("list", node)

    def subshell(self, node: "SgNode") -> Block:
        return self.block("subshell", node)

    def conditional(self, node: "SgNode") -> Block:
        return self.block("if", node)

    def loop(self, node: "SgNode") -> Block:
        return self.block("loop", node)

    def case(self, node: "SgNode") -> Block:
        """`case word in ... esac`: the word, then the commands of each branch."""
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
        """One branch of a case, without its patterns."""
        kids = self.kids(node)
        closed = next((at for at, kid in enumerate(kids) if kid.kind() == ")"), -1)
        items = tuple(found for kid in kids[closed + 1 :] if (found := self.node(kid, kid.kind())))
        return Block("group", items, span_of(node))

    def as_words(self, node: "SgNode") -> Command:
        """A word that is only expanded, as the argument of a command that does nothing."""
        return Command((Word((Text(":", True),), span_of(node)), self.word(node)), span_of(node))

    def test(self, node: "SgNode") -> Command:
        """`[[ ... ]]` or `[ ... ]`: its words are expanded, nothing else happens."""
        kids = self.kids(node)
        found = list(descend(node, lambda kid: kid.kind() in WORDS))
        if any(not kid.text() for kid in found) or self.misread([kids[0], *found, kids[-1]]):
            self.errors.append(span_of(node))
        # What is compared as a number, or is the name of a variable, is computed.
        name = "let" if COMPUTED.search(node.text()) else ":"
        words = tuple(map(self.word, found))
        return Command((Word((Text(name, True),), span_of(node)), *words), span_of(node))

    def misread(self, kids: "list[SgNode]") -> bool:
        """Is what the grammar takes for a test with one bracket more than that, or the name of a program (`[x]`)?

        `[` is a command like any other: the shell takes `||`, `>` and a line end inside for its own.
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
        # A line end between words has been noted, or stands behind a backslash.
        return not BRACKET.match(inside) or any(
            not OPERATORS.isdisjoint(text)
            for text in (*(gap.replace("\n", "") for gap in between), *patterns)
        )

    def pipeline(self, node: "SgNode") -> Node:
        return build_pipeline(tuple(self.items(node)), span_of(node))

    def for_each(self, node: "SgNode") -> Node:
        """`for x in words` and `select`; a C-style loop is a loop."""
        kids = self.kids(node)
        names = [kid for kid in kids if kid.kind() == "variable_name"]
        if not names:
            scripts = tuple(item for part in self.inner(node) for item in part.script.items)
            loops = tuple(self.block("loop", kid) for kid in kids if kid.kind() in BODIES)
            return Block("loop", (*scripts, *loops), span_of(node))
        at = next((at for at, kid in enumerate(kids) if kid.kind() == "in"), None)
        words = None if at is None else tuple(self.word(kid) for kid in kids[at:] if kid.kind() in WORDS)
        bodies = tuple(item for kid in kids if kid.kind() in BODIES for item in self.items(kid))
        body = Block("loop", bodies, span_of(node))
        return For(names[0].text(), words, body, span_of(node))

    def function(self, node: "SgNode") -> Function:
        """`name() { ...; }`."""
        kids = [kid for kid in self.kids(node) if kid.kind() not in ("function", "(", ")")]
        body = Block(
            "group", tuple(found for kid in kids[1:] if (found := self.node(kid, kid.kind()))), span_of(node)
        )
        return Function(kids[0].text() if kids else "", body, span_of(node))

    def read_redirected(self, node: "SgNode") -> Node:
        """A command and its redirections; a here-document may hold the rest of its pipeline."""
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
        result = with_redirects(inner, tuple(redirects), span_of(node))
        for operator, follows in after:
            pair = (result, follows)
            result = Pipeline(pair, span_of(node)) if operator == "|" else Block("list", pair, span_of(node))
        return result


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
