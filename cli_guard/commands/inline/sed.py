"""What a sed script does, read as GNU sed reads it."""

import re
from collections.abc import Iterator

from cli_guard.commands.inline.model import Act, NotUnderstood, file, shell, unseen_command
from cli_guard.commands.model import Kind

PLAIN = frozenset("=dDgGhHnNpPxzF")
NUMBERED = frozenset("qQlL")
JUMPS = frozenset("btT:")
TEXTS = frozenset("aic")
FILES = {"r": Kind.READ, "R": Kind.READ, "w": Kind.WRITE, "W": Kind.WRITE}

SPACE = re.compile(r"[ \t]*")
BETWEEN = re.compile(r"[\s;]*")
NUMBER = re.compile(r"[ \t]*\d*")
LABEL = re.compile(r"[ \t]*[\w.-]*[ \t]*(?=[;\n}]|\Z)")
LINE = re.compile(r"[^\n]*")
TEXT = re.compile(r"(?:[^\n\\]|\\.)*", re.DOTALL)
PLACE = re.compile(r"\d+(?:~\d+)?|\$")
SECOND = re.compile(r"[+~]?\d+|\$")
NEGATED = re.compile(r"[\s!]*")
REGEX_FLAGS = re.compile(r"[IM]*")
VERSION = re.compile(r"[ \t]*[\d.]*")
END = re.compile(r"[ \t]*(?=[;\n}#]|\Z)")
FLAGS = re.compile(r"[gpiImMe0-9]*")
# A bracket expression, in which the delimiter is an ordinary character.
BRACKET = re.compile(r"\[\^?\]?(?:\[([:.=])[^\n\]]{0,40}?\1\]|[^\]\n])*\]")
BACK_REFERENCE = re.compile(r"(?<!\\)(?:\\\\)*(?:&|\\[0-9LUElu])")
RUNS_INPUT = "runs the lines of its input as commands"
ESCAPED = re.compile(r"\\(.)", re.DOTALL)


def acts(code: str) -> Iterator[Act]:
    """Return what the script does, in its order. Raises NotUnderstood."""
    return Script(code).commands()


class Script:
    """A sed script and the position up to which it is read."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def take(self, pattern: re.Pattern[str]) -> str:
        """Match and consume an expression."""
        found = pattern.match(self.text, self.at)
        if not found:
            raise NotUnderstood(f"not understood at character {self.at}")
        self.at = found.end()
        return found[0]

    def next(self) -> str:
        """Return the next character, empty at the end."""
        return self.text[self.at : self.at + 1]

    def commands(self) -> Iterator[Act]:
        """Read the commands; blocks need no tree, because only their commands count."""
        open_blocks = 0
        while self.more():
            addressed = self.address()
            command = self.next()
            self.at += 1
            if command == "{":
                open_blocks += 1
            elif command == "}" and not addressed and open_blocks:
                open_blocks -= 1
                self.end()
            elif command == "#" and not addressed:
                self.take(LINE)
            else:
                yield from self.command(command)
        if open_blocks:
            raise NotUnderstood("a block is not closed")

    def more(self) -> bool:
        """Skip the separators; return whether another command follows."""
        self.take(BETWEEN)
        return self.at < len(self.text)

    def address(self) -> bool:
        """Read `1,/x/I!`; return whether there was an address."""
        start = self.at
        if self.single(PLACE):
            self.take(SPACE)
            if self.next() == ",":
                self.at += 1
                self.take(SPACE)
                if not self.single(SECOND):
                    raise NotUnderstood("an address ends early")
        self.take(NEGATED)
        return self.at > start

    def single(self, number: re.Pattern[str]) -> bool:
        if self.next() in ("/", "\\"):
            if self.next() == "\\":
                self.at += 1
            self.read_delimited(self.delimiter(), brackets=True)
            self.take(REGEX_FLAGS)
            return True
        found = number.match(self.text, self.at)
        self.at = found.end() if found else self.at
        return bool(found)

    def command(self, command: str) -> Iterator[Act]:
        """Read the rest of a command, after its letter."""
        if command in PLAIN:
            self.end()
        elif command in NUMBERED:
            self.take(NUMBER)
            self.end()
        elif command in JUMPS:
            self.take(LABEL)
        elif command in TEXTS:
            self.take(TEXT)
        elif command in FILES:
            yield from file(FILES[command], self.file_name())
        elif command == "v":
            self.take(VERSION)
            self.end()
        elif command == "e":
            text = self.take(LINE).strip()
            yield shell(text) if text else unseen_command(RUNS_INPUT)
        elif command == "y":
            delimiter = self.delimiter()
            self.read_delimited(delimiter)
            self.read_delimited(delimiter)
            self.end()
        elif command == "s":
            yield from self.substitution()
        else:
            raise NotUnderstood(f"no command {command!r}" if command else "an address without a command")

    def substitution(self) -> Iterator[Act]:
        """Read `/regex/replacement/flags`."""
        delimiter = self.delimiter()
        self.read_delimited(delimiter, brackets=True)
        replacement = self.read_delimited(delimiter)
        if "e" in self.take(FLAGS):
            fixed = replacement and not BACK_REFERENCE.search(replacement)
            yield shell(ESCAPED.sub(r"\1", replacement)) if fixed else unseen_command(RUNS_INPUT)
        if self.next() == "w":
            self.at += 1
            yield from file(Kind.WRITE, self.file_name())
        else:
            self.end()

    def delimiter(self) -> str:
        delimiter = self.next()
        self.at += 1
        if not delimiter or delimiter in "\n\\":
            raise NotUnderstood("a delimiter is missing")
        return delimiter

    def read_delimited(self, delimiter: str, *, brackets: bool = False) -> str:
        """Read up to the delimiter; `brackets`: the part is a regular expression."""
        start = self.at
        while (character := self.next()) != delimiter:
            if not character:
                raise NotUnderstood("a delimiter is missing")
            bracket = BRACKET.match(self.text, self.at) if brackets and character == "[" else None
            if brackets and character == "[" and not bracket:
                raise NotUnderstood("a bracket is not closed")
            self.at = bracket.end() if bracket else self.at + (2 if character == "\\" else 1)
        self.at += 1
        return self.text[start : self.at - 1]

    def file_name(self) -> str:
        """Read a file name, which extends to the end of the line."""
        name = self.take(LINE).strip(" \t")
        if not name:
            raise NotUnderstood("a file name is missing")
        return name

    def end(self) -> None:
        self.take(END)
