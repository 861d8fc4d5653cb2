"""What an awk program does: only pipes, redirections, `system` and a few names have an effect."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from cli_guard.commands.inline.model import (
    Act,
    NotUnderstood,
    environment,
    file,
    shell,
    unknown,
    unseen_command,
    variable,
)
from cli_guard.commands.model import Kind

TOKEN = re.compile(
    r"""(?P<space>(?:[ \t\r]|\\\r?\n|\#[^\n]*)+)
    |(?P<string>"(?:[^"\\\n]|\\.|\\\n)*")
    |(?P<number>0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
    |(?P<name>[A-Za-z_][\w:]*)
    |(?P<mark>\|\||&&|\|&|>>|>=|<=|==|!=|!~|\+\+|--|\*\*=?|[-+*%^]=|[-{}()\[\];,+*%^!<>|?:~$=&@\n])""",
    re.VERBOSE,
)
REGEX = re.compile(r"/(?:[^/\\\n\[]|\\.|\[\^?\]?(?:\[:\w+:\]|[^\]\n])*\])*/")
ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{1,2}|[0-7]{1,3}|.)", re.DOTALL)
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "\n": ""}
# A name after which "/" begins a regular expression and does not divide.
KEYWORDS = frozenset("return print printf in case do else exit getline BEGIN END delete".split())
BEGINNING = frozenset(
    ("(", "{", "}", ";", "\n", "=", "&&", "||", "!", ")", "while", "if", "return", "do", "else")
)
CONDITIONS = frozenset("if while for switch".split())
OPERANDS = frozenset(("name", "number", "string", "regex"))
CLOSING = frozenset((")", "]", "++", "--"))
DIVISION = re.compile("/=?")
NETWORK = re.compile(r"/inet[46]?/")


@dataclass(frozen=True, slots=True)
class Token:
    """A token of the program: its kind and its text."""

    kind: str
    text: str


END = Token("mark", "\n")
CONTINUING = (",", "{", "&&", "||", "do", "else")
AT_END = (";", "\n", "}")


def acts(code: str) -> Iterator[Act]:
    """Return what the program does, in its order. Raises NotUnderstood."""
    return Program(list(tokens_of(code))).acts()


def tokens_of(code: str) -> Iterator[Token]:
    """Split a program into tokens. Raises NotUnderstood."""
    at, last = 0, END
    openers: list[str] = []
    after_condition = False
    while at < len(code):
        if code[at] == "/":
            divides = (last.kind in OPERANDS and last.text not in KEYWORDS) or last.text in CLOSING
            if divides and after_condition:
                raise NotUnderstood("a regular expression or a division")
            found = DIVISION.match(code, at) if divides else REGEX.match(code, at)
            kind = "mark" if divides else "regex"
        else:
            found = TOKEN.match(code, at)
            kind = str(found.lastgroup) if found else ""
        if not found:
            raise NotUnderstood(f"not understood at character {at}")
        at = found.end()
        if kind == "space":
            continue
        after_condition = False
        if found[0] == "(":
            openers.append(last.text)
        elif found[0] == ")" and openers:
            after_condition = openers.pop() in CONDITIONS
        last = Token(kind, found[0])
        yield last


def literal(token: Token) -> str:
    return ESCAPE.sub(unescape, token.text[1:-1])


def unescape(found: re.Match[str]) -> str:
    given = found[1]
    if given[0] == "x" and len(given) > 1:
        return chr(int(given[1:], 16))
    if given.isdigit() and given[0] < "8":
        return chr(int(given, 8))
    return ESCAPES.get(given, given)


class Program:
    """The tokens of a program, and the values of its variables."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.values: dict[str, list[str]] = {}
        for i, token in enumerate(tokens):
            if token.kind == "name":
                self.note_assignment(i, token.text)

    def at(self, index: int) -> Token:
        """Return the token at a position, a line end beyond the program."""
        return self.tokens[index] if 0 <= index < len(self.tokens) else END

    def note_assignment(self, index: int, name: str) -> None:
        """Record the value if a variable is assigned here."""
        operator = self.at(index + 1).text
        known = self.values.setdefault(name, [])
        if len(known) > 8:
            return
        if operator == "=":
            parts, after = self.literals(index + 2)
            known.extend(["".join(parts)] if parts and self.at(after).text in AT_END else [])

    def literals(self, index: int) -> tuple[list[str], int]:
        """Return the strings side by side at this position, and the position after them."""
        parts = []
        while self.at(index).kind == "string":
            parts.append(literal(self.at(index)))
            index += 1
        return parts, index

    def operand(self, index: int, ends: tuple[str, ...]) -> list[str | None]:
        """Return the possible values of an expression; None stands for an unknown one."""
        while self.at(index).text == "(":
            index += 1
        parts, after = self.literals(index)
        if parts and self.at(after).text in (*ends, ")"):
            return ["".join(parts)]
        alone = self.at(index).kind == "name" and self.at(index + 1).text in (*ends, ")")
        return self.variable(self.at(index)) if alone else [None]

    def variable(self, token: Token) -> list[str | None]:
        """Return the possible values of a variable; `-v` and operands such as `x=1` set it too."""
        return [*self.values.get(token.text, ()), None]

    def before(self, index: int) -> list[str | None]:
        """Return the possible values of the expression in front of a pipe."""
        if self.at(index - 1).text == ")":
            index -= 1
        last = first = index - 1
        while self.at(first).kind == self.at(first - 1).kind == "string":
            first -= 1
        if self.at(first - 1).text not in BEGINNING:
            return [None]
        if self.at(last).kind == "string":
            return ["".join(self.literals(first)[0]), *([None] if first < last else [])]
        return self.variable(self.at(last)) if self.at(last).kind == "name" else [None]

    def acts(self) -> Iterator[Act]:
        printing, depth, print_depth = -1, 0, -1
        for index, token in enumerate(self.tokens):
            text = token.text
            if text in ("(", "["):
                depth += 1
            elif text in (")", "]"):
                depth -= 1
            elif text in ("print", "printf") and token.kind == "name":
                printing, print_depth = index, depth
            elif text in AT_END and not (text == "\n" and self.at(index - 1).text in CONTINUING):
                printing, depth, print_depth = -1, depth if text == ";" else 0, -1
            elif text in (">", ">>") and print_depth == depth:
                yield from self.find_writes(index)
            elif text in ("|", "|&"):
                yield from self.find_pipes(index, printing)
            elif token.kind == "name":
                yield from self.find_named(index, text)
            elif text == "@":
                yield Act(Kind.EXEC, None, "loads code or calls a function by a name made while it runs")

    def find_writes(self, index: int) -> Iterator[Act]:
        for path in self.operand(index + 1, AT_END):
            yield from () if path == "-" else file(Kind.WRITE, path)

    def find_pipes(self, index: int, printing: int) -> Iterator[Act]:
        """Yield the command before or after a pipe; `printing` is the position of the `print` that feeds it."""
        reads = self.at(index + 1).text == "getline"
        for command in self.before(index) if reads else self.operand(index + 1, AT_END):
            if command is None:
                yield unseen_command()
            elif NETWORK.match(command):
                yield Act(Kind.NETWORK_OUT, command)
            else:
                yield shell(command if reads else f"{self.quote_printed(printing, index)} | {command}")

    def quote_printed(self, printing: int, pipe: int) -> str:
        """Return a command that prints what a `print` does, `cat` where that is unknown."""
        parts, after = self.literals(printing + 1)
        if parts and after == pipe and self.at(printing).text == "print":
            return f"echo {shlex.quote(''.join(parts))}"
        return "cat"

    def find_named(self, index: int, name: str) -> Iterator[Act]:
        if name == "system":
            for command in self.operand(index + 2, (")",)):
                yield shell(command) if command is not None else unseen_command()
        elif name == "getline":
            place = index + 1 if self.at(index + 1).text == "<" else index + 2
            if self.at(place).text == "<" and self.at(place - 1).kind in ("name", "number"):
                yield from self.find_reads(place + 1)
            elif self.at(index - 1).text not in ("|", "|&") and "<" in self.line(index):
                yield Act(Kind.READ, None)
        elif name == "ENVIRON":
            literal_key = self.at(index + 1).text == "[" and self.at(index + 3).text == "]"
            if literal_key and self.at(index + 2).kind == "string":
                yield from variable(literal(self.at(index + 2)))
            elif self.at(index - 1).text != "in" or self.at(index - 2).kind != "string":
                yield environment()
        elif name == "ARGV" and "=" in self.line(index):
            yield Act(Kind.READ, None)
        elif name in ("SYMTAB", "FUNCTAB", "extension"):
            yield unknown(f"uses {name}")
        elif self.at(index + 1).text == "(" and name.islower() and "::" in name:
            yield unknown(f"calls {name}")

    def find_reads(self, index: int) -> Iterator[Act]:
        parts, _ = self.literals(index)
        for path in [parts[0]] if parts else self.variable(self.at(index)):
            if path and NETWORK.match(path):
                yield Act(Kind.NETWORK_IN, path)
            else:
                yield from () if path == "-" else file(Kind.READ, path)

    def line(self, index: int) -> list[str]:
        """Return the next tokens of the statement, up to a few."""
        words = [token.text for token in self.tokens[index : index + 40]]
        return words[: min((words.index(end) for end in AT_END if end in words), default=len(words))]
