"""Read the syntax of a shell script (bash(1), SHELL GRAMMAR): commands, lists, compound commands, here-documents.

Each rule of the grammar is a method that begins at `at` and stops behind what it has read. What is no shell syntax is
an error with its place, and reading goes on behind it.
"""

import re
from collections.abc import Iterator

from cli_guard.commands.parse.simple import RESERVED, CommandReader
from cli_guard.commands.parse.tree import (
    AndOr,
    Case,
    Compute,
    For,
    Function,
    Group,
    If,
    Loop,
    Node,
    Nodes,
    Pipeline,
    Script,
    Test,
    Text,
    Word,
)
from cli_guard.commands.parse.words import DEEPEST

ENDS = frozenset(("then", "elif", "else", "fi", "do", "done", "esac", "}"))
NAMED_FUNCTION = re.compile(r"[ \t]*([^\s;&|()<>'\"\\$`]+)(?:[ \t]*\([ \t]*\))?")
COMPUTED = re.compile(r"\(\(")
CASE_END = re.compile(r";;&|;;|;&")


def parse(text: str) -> Script:
    """Parse a text. Never raises; what is no shell syntax is recorded in `errors`."""
    return Reader(text).read_all()


class Reader(CommandReader):
    """Reads lists, pipelines and compound commands."""

    def read_all(self) -> Script:
        items = list[Node]()
        while self.at < len(self.text):
            items += self.read_list(frozenset())
            if self.at < len(self.text):
                # A closing parenthesis or word without what it closes.
                start = self.at
                found = RESERVED.match(self.text, self.at) or CASE_END.match(
                    self.text, self.at
                )
                self.at = found.end() if found else self.at + 1
                self.fail(start)
        self.read_bodies()
        return Script(tuple(items), tuple(self.errors))

    def read_inner(self, opening: int, kind: str) -> Script:
        outer = self.pending
        self.pending = []
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
        inner = Reader(
            text, base=self.base + start, depth=self.depth + 1, errors=self.errors
        )
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

    def read_list(self, ends: frozenset[str]) -> Iterator[Node]:
        """Read commands up to one of the words or characters in `ends`, or another that ends a list."""
        while True:
            self.skip_lines()
            if (
                self.at >= len(self.text)
                or self.text[self.at] in ends
                or self.find_reserved() in ENDS
            ):
                return
            if self.text[self.at] == ")" or CASE_END.match(self.text, self.at):
                return
            start = self.at
            node = self.read_and_or()
            self.skip_blanks()
            if self.text.startswith("&", self.at) and self.at > start:
                self.at += 1
                node = Group("background", (node,), self.span(start))
            elif self.text.startswith(";", self.at) and not CASE_END.match(
                self.text, self.at
            ):
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
        return (
            at_end
            or self.find_reserved() in ENDS
            or bool(CASE_END.match(self.text, self.at))
        )

    def read_and_or(self) -> Node:
        start = self.at
        items = [self.read_pipeline()]
        operators = list[str]()
        while True:
            self.skip_blanks()
            operator = self.text[self.at : self.at + 2]
            if operator not in ("&&", "||"):
                break
            self.at += 2
            self.skip_lines()
            operators.append(operator)
            items.append(self.read_operand())
        return (
            AndOr(tuple(items), tuple(operators), self.span(start))
            if operators
            else items[0]
        )

    def read_operand(self) -> Node:
        """Read the pipeline behind an operator, which cannot be missing."""
        start = self.at
        node = self.read_pipeline()
        if self.at == start:
            self.fail(start)
        return node

    def read_pipeline(self) -> Node:
        start = self.at
        word = self.find_reserved()
        if word == "!":
            self.at += 1
            self.skip_blanks()
            return self.read_operand()
        if word == "time" and (compound := self.read_timed(start)):
            return compound
        stages = [self.read_command()]
        if self.at == start and self.text[start : start + 1] in ("|", "&"):
            self.fail(start)
        while self.text.startswith("|", self.at) and not self.text.startswith(
            "||", self.at
        ):
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
        if self.text.startswith("(", self.at) or (
            self.find_reserved() and self.find_reserved() not in ENDS
        ):
            inner = self.read_pipeline()
            return Group("time", (inner,), self.span(start))
        self.at = start
        return None

    def read_command(self) -> Node:
        start = self.at
        word = self.find_reserved()
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
        branches = []
        otherwise = Nodes()
        while True:
            condition = self.read_some()
            self.expect("then", start)
            branches.append((condition, self.read_some()))
            if self.find_reserved() != "elif":
                break
            self.at += 4
        if self.find_reserved() == "else":
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
        closing = "}" if self.find_reserved() == "{" else "done"
        self.expect("{" if closing == "}" else "do", start)
        body = self.read_some()
        self.expect(closing, start)
        return body

    def read_for(self, start: int) -> Node:
        kind = self.text[start : self.at]
        self.skip_blanks()
        if COMPUTED.match(self.text, self.at) and (
            closed := self.find_computed(self.at + 2)
        ):
            expression = self.read_expression(self.at + 2, closed)
            self.at = closed + 2
            self.skip_separator()
            test = Compute(expression, self.span(start))
            return Loop(
                kind,
                (test,),
                self.read_body(start),
                self.span(start),
                self.read_redirects(),
            )
        name = self.read_word()
        if not is_bare(name):
            self.fail(start)
        self.skip_lines()
        words = None
        if self.find_reserved() == "in":
            self.at += 2
            words = self.read_words()
        self.skip_separator()
        text = "".join(part.text for part in name.parts if isinstance(part, Text))
        # Braces in place of `do` and `done` are not in the manual.
        kind = f"{kind} {{" if self.find_reserved() == "{" else kind
        return For(
            kind,
            text,
            words,
            self.read_body(start),
            self.span(start),
            self.read_redirects(),
        )

    def skip_separator(self) -> None:
        self.skip_blanks()
        if self.text.startswith(";", self.at):
            self.at += 1
        self.skip_lines()

    def read_case(self, start: int) -> Node:
        self.skip_blanks()
        word = self.read_word()
        self.expect("in", start)
        branches = []
        while True:
            self.skip_lines()
            if self.at >= len(self.text) or self.find_reserved() == "esac":
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
        start = self.at
        patterns = list[Word]()
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
            if (
                self.text.startswith("]]", self.at)
                and self.text[self.at + 2 : self.at + 3] in ENDING
            ):
                break
            operator = self.text[
                self.at : self.at + (2 if self.text[self.at : self.at + 2] in PAIRS else 1)
            ]
            is_process = self.text.startswith(("<(", ">("), self.at)
            if operator and operator[0] in "&|()<>;" and not is_process:
                self.at += len(operator)
                if (
                    operator == ")"
                    and words
                    and words[-1].parts == (Text("(", "operator"),)
                ):
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
        body = (
            self.text[found.end() :].lstrip(" \t")[:1]
            if found and not self.find_reserved()
            else ""
        )
        if found and body in ("{", "("):
            self.at = found.end()
            self.skip_blanks()
        return Group("coproc", (self.read_command(),), self.span(start))


def is_bare(word: Word) -> bool:
    """Return whether a word is one run of unquoted text."""
    return (
        len(word.parts) == 1
        and isinstance(word.parts[0], Text)
        and not word.parts[0].quoted
    )


PAIRS = ("&&", "||")
ENDING = ("", "\\", " ", "\t", "\n", ";", "&", "|", ")", "<", ">")
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
