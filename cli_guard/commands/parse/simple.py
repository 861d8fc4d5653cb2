"""Read a simple command (bash(1), Simple Commands): words, assignments, redirections and here-documents."""

import re
from abc import abstractmethod
from dataclasses import dataclass, field

from cli_guard.commands.model import Span
from cli_guard.commands.parse.tree import (
    Assignment,
    Command,
    Computation,
    Function,
    Node,
    Parameter,
    Part,
    Redirect,
    Redirects,
    Text,
    Word,
)
from cli_guard.commands.parse.words import ASSIGNED, WordReader

BLANK = re.compile(r"(?:[ \t]|\\\n)+")
COMMENT = re.compile(r"#[^\n]*")
# A word that is reserved only where a command may begin, with what ends it.
RESERVED = re.compile(
    r"(?:if|then|elif|else|fi|for|select|while|until|do|done|case|esac|in|function|time|coproc|[{}!]|\[\[)"
    r"(?=[ \t\n;&|()<>]|\\\n|\Z)"
)
REDIRECT = re.compile(r"(\d+|\{\w+\})?(<<<|<<-?|<>|<&|>>|>\||>&|<(?!\()|>(?!\())|(&)(>>?)")
FUNCTION = re.compile(r"[ \t]*\([ \t]*\)")
DECLARATIONS = frozenset("declare typeset export readonly local".split())
EXPANDED = re.compile(r"[$`\\]")
DECLARED = tuple((Text(name),) for name in DECLARATIONS)


@dataclass
class CommandReader(WordReader):
    """Reads simple commands. `pending` are the here-documents whose bodies begin at the next line end."""

    pending: list[tuple[Redirect, str, bool]] = field(default_factory=list)

    @abstractmethod
    def read_command(self) -> Node:
        """Read one command, simple or compound: the body of a function."""

    def expect(self, wanted: str, start: int) -> None:
        """Step behind what has to stand here; what begins at `start` is an error without it."""
        self.skip_lines()
        if (
            self.find_reserved() == wanted
            if wanted.isalpha()
            else self.text.startswith(wanted, self.at)
        ):
            self.at += len(wanted)
        else:
            self.fail(start)

    def skip_blanks(self) -> None:
        """Skip blanks, and a comment."""
        if (
            self.at
            and self.text.startswith("\\\n", self.at)
            and self.text[self.at - 1] not in " \t\n"
        ):
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
        pending = self.pending
        self.pending = []
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
                    is_doubtful = is_doubtful or (
                        line.startswith(delimiter) and ")" in line
                    )
            body = "".join(lines)
            parts: tuple[Part, ...] = (Text(body, "'"),)
            if not is_literal:
                inner = type(self)(
                    body, base=self.base + start, depth=self.depth, errors=self.errors
                )
                parts = tuple(inner.read_in_quotes(""))
            redirect.target = Word(parts, Span(self.base + start, self.base + self.at))
            is_expanded = not is_literal and EXPANDED.search(body) is not None
            redirect.loose = is_doubtful or is_expanded or not ended

    def find_reserved(self) -> str:
        found = RESERVED.match(self.text, self.at)
        return found[0] if found else ""

    def read_words(self) -> tuple[Word, ...]:
        words = list[Word]()
        while True:
            self.skip_blanks()
            start = self.at
            word = self.read_word()
            if self.at == start:
                return tuple(words)
            words.append(word)

    def read_simple(self) -> Node:
        start = self.at
        words = list[Word]()
        assignments = list[Assignment]()
        redirects = list[Redirect]()
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
            if (
                (not words or declares)
                and self.text.startswith("(", self.at)
                and ASSIGNED.match(text)
            ):
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
        start = self.at
        parts = list[Part]()
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
        descriptor = found[1] or found[3] or ""
        operator = found[2] or found[4]
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


def as_assignment(word: Word) -> Assignment | None:
    """Return a word of the form `name=value` as an assignment, None for any other word."""
    first = word.parts[0] if word.parts else None
    if not isinstance(first, Text) or first.quoted:
        return None
    if (
        len(word.parts) > 2
        and first.text.isidentifier()
        and isinstance(word.parts[1], Computation)
    ):
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
