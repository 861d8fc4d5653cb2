"""Read the syntax of a shell script (bash(1), SHELL GRAMMAR): commands, lists, compound commands, here-documents.

Each rule of the grammar is a method that begins at `at` and stops behind what it has read. What is no shell syntax is
an error with its place, and reading goes on behind it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from cli_guard.commands.model import Span
from cli_guard.commands.parse.tree import (
    AndOr,
    Assignment,
    Case,
    Command,
    Computation,
    Compute,
    For,
    Function,
    Group,
    If,
    Loop,
    Node,
    Nodes,
    Parameter,
    Part,
    Pipeline,
    Redirect,
    Redirects,
    Script,
    Test,
    Text,
    Word,
)
from cli_guard.commands.parse.words import ASSIGNED, DEEPEST, WordReader

BLANK = re.compile(r"(?:[ \t]|\\\n)+")
COMMENT = re.compile(r"#[^\n]*")
# A word that is reserved only where a command may begin, with what ends it.
RESERVED = re.compile(
    r"(?:if|then|elif|else|fi|for|select|while|until|do|done|case|esac|in|function|time|coproc|[{}!]|\[\[)"
    r"(?=[ \t\n;&|()<>]|\\\n|\Z)"
)
ENDS = frozenset(("then", "elif", "else", "fi", "do", "done", "esac", "}"))
REDIRECT = re.compile(r"(\d+|\{\w+\})?(<<<|<<-?|<>|<&|>>|>\||>&|<(?!\()|>(?!\())|(&)(>>?)")
FUNCTION = re.compile(r"[ \t]*\([ \t]*\)")
NAMED_FUNCTION = re.compile(r"[ \t]*([^\s;&|()<>'\"\\$`]+)(?:[ \t]*\([ \t]*\))?")
COMPUTED = re.compile(r"\(\(")
CASE_END = re.compile(r";;&|;;|;&")
DECLARATIONS = frozenset("declare typeset export readonly local".split())
EXPANDED = re.compile(r"[$`\\]")


def parse(text: str) -> Script:
    """Parse a text. Never raises; what is no shell syntax is recorded in `errors`."""
    return Reader(text).read_all()


@dataclass
class Reader(WordReader):
    """Reads commands. `pending` are the here-documents whose bodies begin at the next line end."""

    pending: list[tuple[Redirect, str, bool]] = field(default_factory=list)

    def read_all(self) -> Script:
        items = list[Node]()
        while self.at < len(self.text):
            items += self.read_list(frozenset())
            if self.at < len(self.text):
                # A closing parenthesis or word without what it closes.
                start = self.at
                found = RESERVED.match(self.text, self.at) or CASE_END.match(self.text, self.at)
                self.at = found.end() if found else self.at + 1
                self.fail(start)
        self.read_bodies()
        return Script(tuple(items), tuple(self.errors))

    def read_inner(self, opening: int, kind: str) -> Script:
        outer, self.pending = self.pending, []
        items = self.read_nested(frozenset((")",)))
        self.read_bodies()
        if outer and "\n" in self.text[opening : self.at]:
            # Which line the body of the outer here-document begins at differs between shells.
            self.fail(opening)
        self.pending = outer
        self.expect(")", opening - 1)
        return Script(items)

    def read_apart(self, text: str, start: int) -> Script:
        if self.depth > DEEPEST:
            self.fail(start)
            return Script()
        inner = Reader(text, base=self.base + start, depth=self.depth + 1, errors=self.errors)
        return Script(inner.read_all().items)

    def read_nested(self, ends: frozenset[str]) -> Nodes:
        """Read the commands inside of something, one level deeper."""
        if self.depth > DEEPEST:
            self.fail(self.at)
            self.at = len(self.text)
            return ()
        self.depth += 1
        items = tuple(self.read_list(ends))
        self.depth -= 1
        return items

    def read_some(self) -> Nodes:
        """Read the commands of a compound command, of which there has to be one."""
        items = self.read_nested(frozenset())
        if not items:
            self.fail(self.at)
        return items

    def expect(self, wanted: str, start: int) -> None:
        """Step behind what has to stand here; what begins at `start` is an error without it."""
        self.skip_lines()
        if self.reserved() == wanted if wanted.isalpha() else self.text.startswith(wanted, self.at):
            self.at += len(wanted)
        else:
            self.fail(start)

    def skip_blanks(self) -> None:
        """Skip blanks, and a comment."""
        if self.at and self.text.startswith("\\\n", self.at) and self.text[self.at - 1] not in " \t\n":
            # It may join an operator with what follows.
            self.fail(self.at)
        if found := BLANK.match(self.text, self.at):
            self.at = found.end()
        if found := COMMENT.match(self.text, self.at):
            self.at = found.end()

    def skip_lines(self) -> None:
        """Skip blanks, comments and line ends."""
        self.skip_blanks()
        while self.text.startswith("\n", self.at):
            self.at += 1
            self.read_bodies()
            self.skip_blanks()

    def read_bodies(self) -> None:
        """Read the bodies of the here-documents of the line that has ended."""
        pending, self.pending = self.pending, []
        for redirect, delimiter, is_literal in pending:
            start = self.at
            ended = is_doubtful = False
            lines = []
            while self.at < len(self.text) and not ended:
                end = self.text.find("\n", self.at) + 1 or len(self.text)
                line = self.text[self.at : end]
                self.at = end
                if redirect.operator == "<<-":
                    line = line.lstrip("\t")
                ended = line.removesuffix("\n") == delimiter
                if not ended:
                    lines.append(line)
                    # Inside `$(...)` such a line ends a here-document too.
                    is_doubtful = is_doubtful or (line.startswith(delimiter) and ")" in line)
            body = "".join(lines)
            parts: tuple[Part, ...] = (Text(body, "'"),)
            if not is_literal:
                inner = Reader(body, base=self.base + start, depth=self.depth, errors=self.errors)
                parts = tuple(inner.read_in_quotes(""))
            redirect.target = Word(parts, Span(self.base + start, self.base + self.at))
            is_expanded = not is_literal and EXPANDED.search(body) is not None
            redirect.loose = is_doubtful or is_expanded or not ended

    def reserved(self) -> str:
        found = RESERVED.match(self.text, self.at)
        return found[0] if found else ""

    def read_list(self, ends: frozenset[str]) -> Iterator[Node]:
        """Read commands up to one of the words or characters in `ends`, or another that ends a list."""
        while True:
            self.skip_lines()
            if self.at >= len(self.text) or self.text[self.at] in ends or self.reserved() in ENDS:
                return
            if self.text[self.at] == ")" or CASE_END.match(self.text, self.at):
                return
            start = self.at
            node = self.read_and_or()
            self.skip_blanks()
            if self.text.startswith("&", self.at) and self.at > start:
                self.at += 1
                node = Group("background", (node,), self.span(start))
            elif self.text.startswith(";", self.at) and not CASE_END.match(self.text, self.at):
                self.at += 1
                if self.at == start + 1:
                    self.fail(start)
                    continue
            elif self.at == start:
                self.at += 1
                self.fail(start)
                continue
            elif not self.is_end():
                # `ls (`, or a word behind `fi`.
                self.fail(self.at)
            yield node

    def is_end(self) -> bool:
        """Return whether a command may end here without a separator."""
        at_end = self.at >= len(self.text) or self.text[self.at] in "\n)"
        return at_end or self.reserved() in ENDS or bool(CASE_END.match(self.text, self.at))

    def read_and_or(self) -> Node:
        start = self.at
        items, operators = [self.read_pipeline()], list[str]()
        while True:
            self.skip_blanks()
            operator = self.text[self.at : self.at + 2]
            if operator not in ("&&", "||"):
                break
            self.at += 2
            self.skip_lines()
            operators.append(operator)
            items.append(self.read_operand())
        return AndOr(tuple(items), tuple(operators), self.span(start)) if operators else items[0]

    def read_operand(self) -> Node:
        """Read the pipeline behind an operator, which cannot be missing."""
        start = self.at
        node = self.read_pipeline()
        if self.at == start:
            self.fail(start)
        return node

    def read_pipeline(self) -> Node:
        start, word = self.at, self.reserved()
        if word == "!":
            self.at += 1
            self.skip_blanks()
            return self.read_operand()
        if word == "time" and (compound := self.read_timed(start)):
            return compound
        stages = [self.read_command()]
        if self.at == start and self.text[start : start + 1] in ("|", "&"):
            self.fail(start)
        while self.text.startswith("|", self.at) and not self.text.startswith("||", self.at):
            self.at += 2 if self.text.startswith("|&", self.at) else 1
            self.skip_lines()
            before = self.at
            stages.append(self.read_command())
            if self.at == before:
                self.fail(before)
        return Pipeline(tuple(stages), self.span(start)) if len(stages) > 1 else stages[0]

    def read_timed(self, start: int) -> Node | None:
        """Read `time` before a compound command; before a simple one it is read as a program."""
        self.at += 4
        self.skip_blanks()
        if self.text.startswith("(", self.at) or (self.reserved() and self.reserved() not in ENDS):
            inner = self.read_pipeline()
            return Group("time", (inner,), self.span(start))
        self.at = start
        return None

    def read_command(self) -> Node:
        start, word = self.at, self.reserved()
        if COMPUTED.match(self.text, self.at) and (closed := self.find_computed(start + 2)):
            self.at = closed + 2
            expression = self.read_expression(start + 2, closed)
            return Compute(expression, self.span(start), self.read_redirects())
        if self.text.startswith("(", self.at):
            if COMPUTED.match(self.text, self.at):
                self.fail(start)
            self.at += 1
            items = self.read_inner(self.at, "(").items
            if not items:
                self.fail(start)
            return Group("subshell", items, self.span(start), self.read_redirects())
        if word in COMPOUND:
            self.at += len(word)
            return COMPOUND[word](self, start)
        return self.read_simple()

    def read_group(self, start: int) -> Node:
        items = self.read_some()
        self.expect("}", start)
        return Group("group", items, self.span(start), self.read_redirects())

    def read_if(self, start: int) -> Node:
        branches, otherwise = [], Nodes()
        while True:
            condition = self.read_some()
            self.expect("then", start)
            branches.append((condition, self.read_some()))
            if self.reserved() != "elif":
                break
            self.at += 4
        if self.reserved() == "else":
            self.at += 4
            otherwise = self.read_some()
        self.expect("fi", start)
        return If(tuple(branches), otherwise, self.span(start), self.read_redirects())

    def read_while(self, start: int) -> Node:
        kind = self.text[start : self.at]
        condition = self.read_some()
        body = self.read_body(start)
        return Loop(kind, condition, body, self.span(start), self.read_redirects())

    def read_body(self, start: int) -> Nodes:
        """Read `do ... done`, or `{ ... }` in its place."""
        self.skip_lines()
        closing = "}" if self.reserved() == "{" else "done"
        self.expect("{" if closing == "}" else "do", start)
        body = self.read_some()
        self.expect(closing, start)
        return body

    def read_for(self, start: int) -> Node:
        kind = self.text[start : self.at]
        self.skip_blanks()
        if COMPUTED.match(self.text, self.at) and (closed := self.find_computed(self.at + 2)):
            expression = self.read_expression(self.at + 2, closed)
            self.at = closed + 2
            self.skip_separator()
            test = Compute(expression, self.span(start))
            return Loop(kind, (test,), self.read_body(start), self.span(start), self.read_redirects())
        name = self.read_word()
        if not is_bare(name):
            self.fail(start)
        self.skip_lines()
        words = None
        if self.reserved() == "in":
            self.at += 2
            words = self.read_words()
        self.skip_separator()
        text = "".join(part.text for part in name.parts if isinstance(part, Text))
        # Braces in place of `do` and `done` are not in the manual.
        kind = f"{kind} {{" if self.reserved() == "{" else kind
        return For(kind, text, words, self.read_body(start), self.span(start), self.read_redirects())

    def skip_separator(self) -> None:
        self.skip_blanks()
        if self.text.startswith(";", self.at):
            self.at += 1
        self.skip_lines()

    def read_words(self) -> tuple[Word, ...]:
        words = list[Word]()
        while True:
            self.skip_blanks()
            start = self.at
            word = self.read_word()
            if self.at == start:
                return tuple(words)
            words.append(word)

    def read_case(self, start: int) -> Node:
        self.skip_blanks()
        word = self.read_word()
        self.expect("in", start)
        branches = []
        while True:
            self.skip_lines()
            if self.at >= len(self.text) or self.reserved() == "esac":
                break
            before = self.at
            patterns = self.read_patterns()
            body = self.read_nested(frozenset())
            end = CASE_END.match(self.text, self.at)
            branches.append((patterns, body, end[0] if end else ""))
            self.at = end.end() if end else self.at
            if self.at == before:
                break
        self.expect("esac", start)
        return Case(word, tuple(branches), self.span(start), self.read_redirects())

    def read_patterns(self) -> tuple[Word, ...]:
        start, patterns = self.at, list[Word]()
        if self.text.startswith("(", self.at):
            self.at += 1
        while True:
            self.skip_blanks()
            patterns.append(self.read_word())
            if not patterns[-1].parts:
                self.fail(start)
            self.skip_blanks()
            if not self.text.startswith("|", self.at):
                break
            self.at += 1
        self.expect(")", start)
        return tuple(patterns)

    def read_test(self, start: int) -> Node:
        """Read `[[ ... ]]`; behind `=~`, parentheses and bars belong to the expression."""
        words = list[Word]()
        while self.at < len(self.text):
            self.skip_lines()
            before = self.at
            if self.text.startswith("]]", self.at) and self.text[self.at + 2 : self.at + 3] in ENDING:
                break
            operator = self.text[self.at : self.at + (2 if self.text[self.at : self.at + 2] in PAIRS else 1)]
            is_process = self.text.startswith(("<(", ">("), self.at)
            if operator and operator[0] in "&|()<>;" and not is_process:
                self.at += len(operator)
                if operator == ")" and words and words[-1].parts == (Text("(", "operator"),):
                    self.fail(before)
                words.append(Word((Text(operator, "operator"),), self.span(before)))
            else:
                words.append(self.read_word())
            if self.at == before:
                break
        self.expect("]]", start)
        return Test(tuple(words), self.span(start), self.read_redirects())

    def read_function(self, start: int) -> Node:
        found = NAMED_FUNCTION.match(self.text, self.at)
        self.at = found.end() if found else self.at
        self.skip_lines()
        return Function(found[1] if found else "", self.read_command(), self.span(start))

    def read_coproc(self, start: int) -> Node:
        self.skip_blanks()
        found = NAMED_FUNCTION.match(self.text, self.at)
        body = self.text[found.end() :].lstrip(" \t")[:1] if found and not self.reserved() else ""
        if found and body in ("{", "("):
            self.at = found.end()
            self.skip_blanks()
        return Group("coproc", (self.read_command(),), self.span(start))

    def read_simple(self) -> Node:
        start = self.at
        words, assignments, redirects = list[Word](), list[Assignment](), list[Redirect]()
        while True:
            self.skip_blanks()
            before = self.at
            if redirect := self.read_redirect():
                redirects.append(redirect)
                continue
            word = self.read_word(first=not words)
            if self.at == before:
                break
            text = "".join(part.text for part in word.parts[:1] if isinstance(part, Text))
            declares = bool(words) and words[0].parts[:1] in DECLARED
            if (not words or declares) and self.text.startswith("(", self.at) and ASSIGNED.match(text):
                word = Word((*word.parts, self.read_array()), self.span(before))
            if not words and (assignment := as_assignment(word)):
                assignments.append(assignment)
                continue
            words.append(word)
            if len(words) == 1 and (opened := FUNCTION.match(self.text, self.at)):
                self.at = opened.end()
                self.skip_lines()
                name = self.text[before : opened.start()]
                return Function(name, self.read_command(), self.span(start))
        return Command(tuple(words), self.span(start), tuple(assignments), tuple(redirects))

    def read_array(self) -> Part:
        """Read the list `(...)` of an array: its words, as one."""
        start, parts = self.at, list[Part]()
        self.at += 1
        while True:
            self.skip_lines()
            before = self.at
            parts += self.read_word(first=True).parts
            if self.at == before:
                break
        self.expect(")", start)
        return Parameter("", False, "(", Word(tuple(parts), self.span(start)))

    def read_redirects(self) -> Redirects:
        """Read the redirections behind a compound command."""
        found = list[Redirect]()
        while True:
            self.skip_blanks()
            redirect = self.read_redirect()
            if redirect is None:
                return tuple(found)
            found.append(redirect)

    def read_redirect(self) -> Redirect | None:
        start = self.at
        found = REDIRECT.match(self.text, self.at)
        if found is None:
            return None
        self.at = found.end()
        descriptor, operator = found[1] or found[3] or "", found[2] or found[4]
        if BLANK.match(self.text, self.at):
            self.skip_blanks()
        begin = self.at
        target = self.read_word()
        if self.at == begin:
            self.fail(start)
        redirect = Redirect(operator, descriptor, target, self.span(start))
        if operator in ("<<", "<<-"):
            texts = [part for part in target.parts if isinstance(part, Text)]
            delimiter = "".join(part.text for part in texts)
            is_literal = any(part.quoted for part in texts)
            is_plain = all(part.form in ("", "'", '"', "\\") for part in texts)
            if not is_plain or len(texts) < len(target.parts) or "\n" in delimiter:
                self.fail(start)
            self.pending.append((redirect, delimiter, is_literal))
        return redirect


def is_bare(word: Word) -> bool:
    """Return whether a word is one run of unquoted text."""
    return len(word.parts) == 1 and isinstance(word.parts[0], Text) and not word.parts[0].quoted


def as_assignment(word: Word) -> Assignment | None:
    """Return a word of the form `name=value` as an assignment, None for any other word."""
    first = word.parts[0] if word.parts else None
    if not isinstance(first, Text) or first.quoted:
        return None
    if len(word.parts) > 2 and first.text.isidentifier() and isinstance(word.parts[1], Computation):
        return as_element(first.text, word)
    found = re.match(r"([A-Za-z_]\w*)(\+?)=", first.text, re.ASCII)
    if found is None:
        return None
    rest = first.text[found.end() :]
    value = (*([Text(rest)] if rest else []), *word.parts[1:])
    return Assignment(found[1], Word(value, word.span), bool(found[2]), word.span)


def as_element(name: str, word: Word) -> Assignment:
    """Return `name[subscript]=value`: the subscript is the beginning of the value."""
    return Assignment(name, Word(word.parts[1:], word.span), False, word.span, element=True)


PAIRS = ("&&", "||")
ENDING = ("", "\\", " ", "\t", "\n", ";", "&", "|", ")", "<", ">")
DECLARED = tuple((Text(name),) for name in DECLARATIONS)
COMPOUND = {
    "{": Reader.read_group,
    "if": Reader.read_if,
    "while": Reader.read_while,
    "until": Reader.read_while,
    "for": Reader.read_for,
    "select": Reader.read_for,
    "case": Reader.read_case,
    "[[": Reader.read_test,
    "function": Reader.read_function,
    "coproc": Reader.read_coproc,
}
