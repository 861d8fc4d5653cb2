"""What an awk program does: only pipes, redirections, `system` and a few names have an effect."""

import re
from collections.abc import Iterator

from cli_guard.commands.inline.model import (
    Act,
    NotUnderstood,
    environment,
    file,
    shell,
    unescape,
    unknown,
    unseen_command,
    variable,
)
from cli_guard.commands.model import EffectKind
from cli_guard.lazy import frozen

TOKEN = re.compile(
    r"""(?P<space>(?:[ \t\r]|\\\r?\n|\#[^\n]*)+)
    |(?P<string>"(?:[^"\\\n]|\\.|\\\n)*")
    |(?P<number>0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
    |(?P<name>[A-Za-z_][\w:]*)
    |(?P<mark>\|\||&&|\|&|>>|>=|<=|==|!=|!~|\+\+|--|\*\*=?|[-+*%^]=|[-{}()\[\];,+*%^!<>|?:~$=&@\n])""",
    re.VERBOSE,
)
REGEX = re.compile(r"/(?:[^/\\\n\[]|\\.|\[\^?\]?(?:\[:\w+:\]|[^\]\n])*\])*/")
# A name after which "/" begins a regular expression and does not divide.
KEYWORDS = frozenset(
    "return print printf in case do else exit getline BEGIN END delete".split()
)
CONDITIONS = frozenset("if while for switch".split())
OPERANDS = ("name", "number", "string", "regex")
CLOSING = (")", "]", "++", "--")
DIVISION = re.compile("/=?")


@frozen
class Token:
    """A token of the program: its kind and its text."""

    kind: str
    text: str


END = Token("mark", "\n")
CONTINUING = (",", "{", "&&", "||", "do", "else")
AT_END = (";", "\n", "}", ")")


def acts(code: str) -> Iterator[Act]:
    """Return what the program does, in its order. Raises NotUnderstood."""
    return AwkProgram(list(tokens_of(code))).acts()


def tokens_of(code: str) -> Iterator[Token]:
    """Split a program into tokens. Raises NotUnderstood."""
    at = 0
    last = END
    openers: list[str] = []
    after_condition = False
    while at < len(code):
        if code[at] == "/":
            divides = (
                last.kind in OPERANDS and last.text not in KEYWORDS
            ) or last.text in CLOSING
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


class AwkProgram:
    """The tokens of a program."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens

    def at(self, index: int) -> Token:
        """Return the token at a position, a line end beyond the program."""
        return self.tokens[index] if 0 <= index < len(self.tokens) else END

    def operand(self, index: int) -> str | None:
        """Return the strings side by side at this position, None if they are not all there is."""
        texts = []
        while self.at(index).kind == "string":
            texts.append(unescape(self.at(index).text[1:-1]))
            index += 1
        return "".join(texts) if texts and self.at(index).text in (*AT_END, "]") else None

    def acts(self) -> Iterator[Act]:
        """Return what the program does; where it runs commands, any of its strings may be a part of one."""
        found = list(self.find_acts())
        yield from found
        strings = [
            unescape(token.text[1:-1]) for token in self.tokens if token.kind == "string"
        ]
        if "/inet" in "".join(strings):
            yield Act(EffectKind.NETWORK_OUT, None, "opens a connection")
        if any(act.kind is EffectKind.EXEC for act in found):
            yield from (Act(EffectKind.EXEC, None, suspect=each) for each in strings)

    def continues(self, index: int) -> bool:
        """Return whether a line end, or several, stand behind a comma or an operator that needs more."""
        while index > 0 and self.tokens[index].text == "\n":
            index -= 1
        return self.tokens[index].text in CONTINUING

    def find_acts(self) -> Iterator[Act]:
        # The depth of the `print` whose output may go elsewhere.
        depth = 0
        print_depth = -1
        for index, token in enumerate(self.tokens):
            text = token.text
            if text in ("(", "["):
                depth += 1
            elif text in (")", "]"):
                depth -= 1
            elif text in ("print", "printf") and token.kind == "name":
                print_depth = depth
            elif text in AT_END and not (text == "\n" and self.continues(index)):
                print_depth = -1
            elif text in (">", ">>") and print_depth == depth:
                yield from file(EffectKind.WRITE, self.operand(index + 1))
            elif text in ("|", "|&"):
                command = self.operand(index + 1)
                yield unseen_command() if command is None else shell(f"cat | {command}")
            elif token.kind == "name":
                yield from self.find_named(index, text)
            elif text == "@":
                yield Act(
                    EffectKind.EXEC,
                    None,
                    "loads code or calls a function by a name made while it runs",
                )

    def find_named(self, index: int, name: str) -> Iterator[Act]:
        if name == "system":
            command = self.operand(index + 2)
            yield unseen_command() if command is None else shell(command)
        elif name == "getline":
            after = self.at(index + 1 + (self.at(index + 1).kind == "name"))
            if after.text not in AT_END:
                yield Act(EffectKind.READ, None)
        elif name == "ENVIRON":
            key = self.operand(index + 2) if self.at(index + 1).text == "[" else None
            yield from variable(key) if key is not None else (environment(),)
        elif name in ("ARGV", "SYMTAB", "FUNCTAB", "extension"):
            yield unknown(f"uses {name}")
        elif self.at(index + 1).text == "(" and name.islower() and "::" in name:
            yield unknown(f"calls {name}")
