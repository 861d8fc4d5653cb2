"""Shell text -> a tree of commands, words and redirections (ast-grep's bash grammar underneath).

The grammar keeps quotes and escapes; here a word becomes its parts, so that nothing above has to know them.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cli_guard.policy.commands.model import Span
from cli_guard.policy.commands.quoting import ansi_c, unescaped_in_quotes, unescaped_parts
from cli_guard.policy.commands.tree import (
    Assignment,
    Block,
    Command,
    For,
    Function,
    Node,
    Parameter,
    Part,
    Pipeline,
    Redirect,
    Script,
    Substitution,
    Text,
    Word,
)
from cli_guard.syntax import Trees

if TYPE_CHECKING:
    from ast_grep_py import SgNode

DEEPEST = 40


def parse(text: str) -> Script:
    """The script of a text. Never raises; what is not understood is named in `errors`."""
    return Reader(text).script(Trees().root("bash", text))


@dataclass
class Reader:
    """Turns nodes of the grammar into ours."""

    text: str
    errors: list[Span] = field(default_factory=list)
    depth: int = 0

    def script(self, node: "SgNode") -> Script:
        """The whole text."""
        return Script(tuple(self.items(node)), tuple(self.errors))

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
            scripts = tuple(item for part in self.inner(node, False) for item in part.script.items)
            return Block("group", scripts, span_of(node))
        return self.block("group", node)

    def list_of(self, node: "SgNode") -> Block:
        """`a && b`."""
        return self.block("group", node)

    def subshell(self, node: "SgNode") -> Block:
        """`( ... )`."""
        return self.block("subshell", node)

    def conditional(self, node: "SgNode") -> Block:
        """`if`, `elif` and `else`."""
        return self.block("if", node)

    def loop(self, node: "SgNode") -> Block:
        """`while`, `until`, and the body of any loop."""
        return self.block("loop", node)

    def case(self, node: "SgNode") -> Block:
        """`case word in ... esac`: the word, then the commands of each branch."""
        kids = self.kids(node)
        subject = [self.as_words(kid) for kid in kids if kid.kind() in WORDS]
        branches = tuple(self.branch(kid) for kid in kids if kid.kind() == "case_item")
        return Block("case", (*subject, *branches), span_of(node))

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
        words = [Word((Text(":", True),), span_of(node))]
        for leaf in descend(node, lambda kid: kid.kind() in WORDS):
            words.append(self.word(leaf))
        return Command(tuple(words), span_of(node))

    def pipeline(self, node: "SgNode") -> Pipeline:
        """`a | b`."""
        return Pipeline(tuple(self.items(node)), span_of(node))

    def for_each(self, node: "SgNode") -> Node:
        """`for x in words` and `select`; a C-style loop is a loop."""
        kids = self.kids(node)
        names = [kid for kid in kids if kid.kind() == "variable_name"]
        if not names:
            scripts = tuple(item for part in self.inner(node, False) for item in part.script.items)
            bodies = tuple(self.block("loop", kid) for kid in kids if kid.kind() in BODIES)
            return Block("loop", (*scripts, *bodies), span_of(node))
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

    def redirected(self, node: "SgNode") -> Node:
        """A command and its redirections; a here-document may hold the rest of its pipeline."""
        redirects: list[Redirect] = []
        after: list[Node] = []
        inner: Node | None = None
        for kid in self.kids(node):
            kind = kid.kind()
            if kind in REDIRECTS:
                redirects += self.redirects(kid, after)
            elif kind == "ERROR":
                self.errors.append(span_of(kid))
            elif inner is None:
                inner = self.node(kid, kind)
        result = with_redirects(inner, tuple(redirects), span_of(node))
        return Pipeline((result, *after), span_of(node)) if after else result

    def redirects(self, node: "SgNode", after: list[Node]) -> Iterator[Redirect]:
        """The redirections of one node; what stands behind `<<E` on its line comes along."""
        kids = self.kids(node)
        span = span_of(node)
        if node.kind() == "heredoc_redirect":
            started = next((kid.text() for kid in kids if kid.kind() == "heredoc_start"), "E")
            for kid in kids:
                if kid.kind() == "heredoc_body":
                    yield Redirect("<<", "", self.heredoc(kid, literal=started[:1] in "'\"\\"), span)
                elif kid.kind() in REDIRECTS:
                    yield from self.redirects(kid, after)
                elif kid.kind() == "pipeline":
                    after += self.items(kid)
                elif found := self.node(kid, kid.kind()):
                    after.append(found)
            return
        descriptor = next((kid.text() for kid in kids if kid.kind() == "file_descriptor"), "")
        operator = next((kid.kind() for kid in kids if set(kid.kind()) <= set("<>&|-")), "<<<")
        targets = [kid for kid in kids if kid.kind() in WORDS]
        yield Redirect(operator, descriptor, self.word(targets[0]) if targets else None, span)
        # `> f arg`: the grammar takes what follows the target for more targets.
        for extra in targets[1:]:
            yield Redirect("word", "", self.word(extra), span_of(extra))

    def heredoc(self, node: "SgNode", *, literal: bool) -> Word:
        """The body of a here-document as one quoted word."""
        if literal:
            return Word((Text(node.text(), True),), span_of(node))
        return Word(tuple(self.gapped(node, span_of(node))), span_of(node))

    def command(self, node: "SgNode") -> Command:
        """A simple command, a declaration (`export a=b`) or an assignment on its own."""
        words: list[Word] = []
        assignments: list[Assignment] = []
        redirects: list[Redirect] = []
        for kid in self.kids(node):
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
        return Command(tuple(words), span_of(node), tuple(assignments), tuple(redirects))

    def assigned(self, node: "SgNode") -> Command:
        """Assignments without a command."""
        kids = [node] if node.kind() == "variable_assignment" else self.kids(node)
        found = tuple(self.assignment(kid) for kid in kids if kid.kind() == "variable_assignment")
        return Command((), span_of(node), found)

    def assignment(self, node: "SgNode") -> Assignment:
        """`name=value`."""
        kids = self.kids(node)
        name = kids[0].text()
        append = any(kid.kind() == "+=" for kid in kids[:2])
        values: list[Word] = []
        for kid in kids[1:]:
            if kid.kind() == "array":
                values += [self.word(part) for part in self.kids(kid) if part.kind() in WORDS]
            elif kid.kind() in WORDS:
                values.append(self.word(kid))
        return Assignment(name, tuple(values), append, span_of(node))

    def word(self, node: "SgNode") -> Word:
        """One word with its parts."""
        return Word(tuple(self.parts(node)), span_of(node))

    def parts(self, node: "SgNode") -> Iterator[Part]:
        """The parts of a word."""
        kind = node.kind()
        if kind == "raw_string":
            yield Text(node.text()[1:-1], True)
        elif kind == "ansi_c_string":
            yield Text(ansi_c(node.text()[2:-1]), True)
        elif kind == "string":
            start = node.range().start.index
            yield Text("", True)
            yield from self.gapped(node, Span(start + 1, node.range().end.index - 1))
        elif kind == "simple_expansion":
            yield Parameter(node.text()[1:], False)
        elif kind == "expansion":
            yield self.expansion(node, False)
        elif kind == "command_substitution":
            yield Substitution(Script(tuple(self.items(node))), False)
        elif kind == "process_substitution":
            yield Substitution(Script(tuple(self.items(node))), False, node.text()[0])
        elif kind == "arithmetic_expansion":
            yield from self.inner(node, False)
        elif kind in ("concatenation", "translated_string", "command_name", "variable_assignment", "array"):
            yield from self.joined(node)
        else:
            if kind == "ERROR":
                self.errors.append(span_of(node))
            yield from unescaped_parts(node.text())

    def joined(self, node: "SgNode") -> Iterator[Part]:
        """Parts that stand side by side; what the grammar leaves out between them is text."""
        at = node.range().start.index
        for kid in self.kids(node):
            where = kid.range()
            if where.start.index > at:
                yield Text(self.text[at : where.start.index], False)
            if kid.kind() != "$" or node.kind() != "translated_string":
                yield from self.parts(kid)
            at = where.end.index

    def gapped(self, node: "SgNode", inside: Span) -> Iterator[Part]:
        """The parts of a text in double quotes: expansions, and everything between them."""
        at = inside.start
        for kid in self.kids(node):
            if kid.kind() not in EXPANSIONS:
                continue
            where = kid.range()
            if where.start.index > at:
                yield Text(unescaped_in_quotes(self.text[at : where.start.index]), True)
            for part in self.parts(kid):
                yield quoted(part)
            at = where.end.index
        if inside.end > at:
            yield Text(unescaped_in_quotes(self.text[at : inside.end]), True)

    def expansion(self, node: "SgNode", is_quoted: bool) -> Parameter:
        """`${...}`: the name, the operator and, as a word, what follows it."""
        kids = self.kids(node)[1:-1]
        at = next(
            (i for i, kid in enumerate(kids) if kid.kind() in ("variable_name", "special_variable_name")),
            None,
        )
        if at is None:
            return Parameter(node.text(), is_quoted, "?")
        if at > 0:
            return Parameter(kids[at].text(), is_quoted, kids[0].text())
        rest = kids[1:]
        if not rest:
            return Parameter(kids[0].text(), is_quoted)
        operator = rest[0].kind()
        inside = Span(rest[0].range().end.index, node.range().end.index - 1)
        argument = Word(tuple(self.between(rest[1:], inside)), inside)
        return Parameter(kids[0].text(), is_quoted, operator, argument)

    def between(self, kids: "list[SgNode]", inside: Span) -> Iterator[Part]:
        """The parts of the argument of an expansion."""
        at = inside.start
        for kid in kids:
            where = kid.range()
            if where.start.index > at:
                yield Text(self.text[at : where.start.index], True)
            yield from self.parts(kid)
            at = where.end.index
        if inside.end > at:
            yield Text(self.text[at : inside.end], True)

    def inner(self, node: "SgNode", is_quoted: bool) -> Iterator[Substitution]:
        """An arithmetic expansion: a number, and the commands that its terms run."""
        found = tuple(
            item
            for kid in descend(
                node, lambda kid: kid.kind() in ("command_substitution", "process_substitution")
            )
            for item in self.items(kid)
        )
        yield Substitution(Script(found), is_quoted, "((")

    def kids(self, node: "SgNode") -> "list[SgNode]":
        """The children of a node; one that the grammar only supposes to be there is an error."""
        kids = node.children()
        for kid in kids:
            where = kid.range()
            if where.start.index == where.end.index and kid.kind() not in EMPTY:
                self.errors.append(span_of(kid))
        return kids


def span_of(node: "SgNode") -> Span:
    """Where a node stands."""
    where = node.range()
    return Span(where.start.index, where.end.index)


def quoted(part: Part) -> Part:
    """A part as it is inside double quotes."""
    if isinstance(part, Parameter):
        return Parameter(part.name, True, part.operator, part.argument)
    if isinstance(part, Substitution):
        return Substitution(part.script, True, part.kind)
    return Text(part.text, True)


def with_redirects(inner: Node | None, redirects: tuple[Redirect, ...], span: Span) -> Node:
    """A command with its redirections; words that stand behind one belong to the command."""
    words = tuple(each.target for each in redirects if each.operator == "word" and each.target)
    real = tuple(each for each in redirects if each.operator != "word")
    if inner is None:
        return Command(words, span, (), real)
    if isinstance(inner, Command):
        return Command(inner.words + words, span, inner.assignments, inner.redirects + real)
    if isinstance(inner, Block):
        return Block(inner.kind, inner.items, span, inner.redirects + real)
    return Block("group", (inner,), span, real)


def descend(node: "SgNode", wanted: "Callable[[SgNode], bool]") -> "Iterator[SgNode]":
    """The outermost nodes below that are wanted, in order."""
    stack = list(reversed(node.children()))
    while stack:
        kid = stack.pop()
        if wanted(kid):
            yield kid
        else:
            stack.extend(reversed(kid.children()))


EXPANSIONS = frozenset("simple_expansion expansion command_substitution arithmetic_expansion".split())
WORDS = EXPANSIONS | frozenset(
    "word string raw_string ansi_c_string translated_string concatenation number brace_expression extglob_pattern "
    "regex process_substitution variable_name special_variable_name test_operator array".split()
)
REDIRECTS = frozenset(("file_redirect", "heredoc_redirect", "herestring_redirect"))
DECLARATORS = frozenset("declare typeset export readonly local unset unsetenv".split())
BODIES = frozenset(("do_group", "compound_statement"))
# Nodes that are rightly empty.
EMPTY = frozenset(("heredoc_content", "heredoc_body", "string_content", "\n", "program"))
NODES: "dict[str, Callable[[Reader, SgNode], Node | None]]" = {
    "command": Reader.command,
    "declaration_command": Reader.command,
    "unset_command": Reader.command,
    "variable_assignment": Reader.assigned,
    "variable_assignments": Reader.assigned,
    "test_command": Reader.test,
    "pipeline": Reader.pipeline,
    "redirected_statement": Reader.redirected,
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
