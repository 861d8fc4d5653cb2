"""Shell text -> a tree of commands, words and redirections (ast-grep's bash grammar underneath).

The grammar keeps quotes and escapes; here a word becomes its parts, so that nothing above has to know them.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from cli_guard.policy.commands.model import Span
from cli_guard.policy.commands.reading import LINE_END, WORDS, WordReader, descend, span_of
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
    Text,
    Word,
)
from cli_guard.syntax import Trees

if TYPE_CHECKING:
    from ast_grep_py import SgNode

DEEPEST = 40
MOST_REPAIRS = 12
CASE_ENDS = (";;", ";&", ";;&")
BRACED = re.compile(r"(?<![\w$'\"}]){[^\s{}$`]{0,500},[^\s{}]{0,500}}")
BEFORE_HERE_STRING = re.compile(
    r"((?:\s+\d?>{1,2}&?\s*[\w./-]+){1,4})\s*<<<\s*(\"[^\"]*\"|'[^']*'|[^\s;|&<>]+)"
)


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
        text = separated(text, reader.line_ends, reader.comments)
    return Script(script.items, (*script.errors, Span(0, len(text))))


def separated(text: str, line_ends: list[int], comments: list[Span]) -> str:
    """The text with a semicolon in the place of line ends that the grammar has read over; all offsets stay."""
    characters = list(text)
    for comment in comments:
        characters[comment.start : comment.end] = " " * (comment.end - comment.start)
    for at in line_ends:
        characters[at] = ";"
    return "".join(characters)


def respelled(text: str) -> str:
    """The text in a spelling that the grammar understands where bash does and it does not.

    `{a,b}` as the name of a command is written out, `<>` opens a file for both, which is looked at as writing, and
    redirections in front of a here-string go behind it.
    """
    plain = BRACED.sub(lambda found: found[0].replace(",", " ").strip("{}"), text)
    plain = plain.replace("<>", "> ")
    return BEFORE_HERE_STRING.sub(r" <<< \2\1", plain)


@dataclass
class Reader(WordReader):
    """Turns nodes of the grammar into ours."""

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
            scripts = tuple(item for part in self.inner(node, is_quoted=False) for item in part.script.items)
            return Block("group", scripts, span_of(node))
        return self.block("group", node)

    def list_of(self, node: "SgNode") -> Block:
        """`a && b`: a redirection behind it belongs to the last."""
        return self.block("list", node)

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
        self.kids(node)
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
            scripts = tuple(item for part in self.inner(node, is_quoted=False) for item in part.script.items)
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
        self.on_one_line(kids)
        descriptor = next((kid.text() for kid in kids if kid.kind() == "file_descriptor"), "")
        operator = next((kid.kind() for kid in kids if set(kid.kind()) <= set("<>&|-")), "<<<")
        targets = [kid for kid in kids if kid.kind() in WORDS]
        yield Redirect(operator, descriptor, self.word(targets[0]) if targets else None, span)
        # `> f arg`: the grammar takes what follows the target for more targets.
        for extra in targets[1:]:
            yield Redirect("word", "", self.word(extra), span_of(extra))

    def only_redirect(self, node: "SgNode") -> Command:
        """`$(< file)`: a redirection without a command."""
        return Command((), span_of(node), (), tuple(self.redirects(node, [])))

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
                words.append(Word((Text(kid.text(), False),), span_of(kid)))
        return Command(tuple(adjoined(words)), span_of(node), tuple(assignments), tuple(redirects))

    def on_one_line(self, kids: "list[SgNode]") -> None:
        """A simple command ends with its line: one that goes on has been misread."""
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

    def assigned(self, node: "SgNode") -> Command:
        """Assignments without a command."""
        kids = [node] if node.kind() == "variable_assignment" else self.kids(node)
        found = tuple(self.assignment(kid) for kid in kids if kid.kind() == "variable_assignment")
        return Command((), span_of(node), found)

    def assignment(self, node: "SgNode") -> Assignment:
        """`name=value`."""
        kids = self.kids(node)
        name = kids[0].text().partition("[")[0]
        append = any(kid.kind() == "+=" for kid in kids[:2])
        values: list[Word] = []
        if kids[0].kind() == "subscript":
            values.append(Word(tuple(self.inner(kids[0], is_quoted=False)), span_of(kids[0])))
        for kid in kids[1:]:
            if kid.kind() == "array":
                values += [self.word(part) for part in self.kids(kid) if part.kind() in WORDS]
            elif kid.kind() in WORDS:
                values.append(self.word(kid))
        array = any(kid.kind() == "array" for kid in kids)
        return Assignment(name, tuple(values), append, span_of(node), array)


def adjoined(words: list[Word]) -> list[Word]:
    """Words between which there is no blank are one: the grammar parts `rm$IFS-rf$IFS/` at the second dollar."""
    whole: list[Word] = []
    for word in words:
        if whole and whole[-1].span.end == word.span.start and word.span.end > word.span.start:
            before = whole.pop()
            parts = joined_at_dollar(before.parts, word.parts)
            whole.append(Word(parts, Span(before.span.start, word.span.end)))
        else:
            whole.append(word)
    return whole


def joined_at_dollar(before: tuple[Part, ...], after: tuple[Part, ...]) -> tuple[Part, ...]:
    """Two rows of parts as one; a dollar at the end of the first makes a parameter of the name behind it."""
    last, first = before[-1:], after[:1]
    if (
        last
        and first
        and isinstance(last[0], Text)
        and isinstance(first[0], Text)
        and last[0].text.endswith("$")
    ):
        name = re.match(r"\w+", first[0].text)
        if name and not last[0].quoted:
            rest = first[0].text[name.end() :]
            kept = (*before[:-1], *([Text(last[0].text[:-1], False)] if last[0].text != "$" else []))
            return (*kept, Parameter(name[0], False), *([Text(rest, False)] if rest else []), *after[1:])
    return before + after


def numbered(redirects: tuple[Redirect, ...]) -> tuple[Redirect, ...]:
    """`>f 0>&1`: the grammar takes the descriptor of a redirection for a second target of the one before."""
    found: list[Redirect] = []
    for each in redirects:
        before = found[-1] if found else None
        if before and before.operator == "word" and before.span.end == each.span.start and before.target:
            part = before.target.parts[0]
            if isinstance(part, Text) and part.text.isdigit():
                found[-1] = replace(each, descriptor=part.text)
                continue
        found.append(each)
    return tuple(found)


def with_redirects(inner: Node | None, redirects: tuple[Redirect, ...], span: Span) -> Node:
    """A command with its redirections; words that stand behind one belong to the command."""
    redirects = numbered(redirects)
    words = tuple(each.target for each in redirects if each.operator == "word" and each.target)
    real = tuple(each for each in redirects if each.operator != "word")
    if inner is None:
        return Command(words, span, (), real)
    if isinstance(inner, Command):
        return Command(inner.words + words, span, inner.assignments, inner.redirects + real)
    if isinstance(inner, Pipeline):
        return Pipeline((*inner.stages[:-1], with_redirects(inner.stages[-1], redirects, inner.span)), span)
    if isinstance(inner, Block) and inner.kind == "list" and inner.items:
        last = with_redirects(inner.items[-1], redirects, inner.span)
        return Block("list", (*inner.items[:-1], last), span)
    if isinstance(inner, Block):
        return Block(inner.kind, inner.items, span, inner.redirects + real)
    return Block("group", (inner,), span, real)


REDIRECTS = frozenset(("file_redirect", "heredoc_redirect", "herestring_redirect"))
DECLARATORS = frozenset("declare typeset export readonly local unset unsetenv".split())
BODIES = frozenset(("do_group", "compound_statement"))
NODES: "dict[str, Callable[[Reader, SgNode], Node | None]]" = {
    "command": Reader.command,
    "declaration_command": Reader.command,
    "unset_command": Reader.command,
    "variable_assignment": Reader.assigned,
    "variable_assignments": Reader.assigned,
    "test_command": Reader.test,
    "pipeline": Reader.pipeline,
    "redirected_statement": Reader.redirected,
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
