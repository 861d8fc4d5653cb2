"""The grammar of bash, as a judge that says yes or where not: what it refuses, bash refuses.

The parser that executes takes `echo a &&`, and the grammar for syntax trees refuses text that bash takes, so neither
can tell. Sources: bash(1), "SHELL GRAMMAR"; POSIX XCU 2.10.
"""

import re

from cli_guard.assistant.sandbox.compound import CompoundScanner
from cli_guard.assistant.sandbox.words import END, Refused

__all__ = ["Refused", "Scanner"]

REDIRECTION = re.compile(r"(?:\d+|\{[A-Za-z_]\w*\})?(<<<|<<-|<<|<&|<>|>&|>>|>\||<|>|&>>|&>)")
CLOSING = frozenset(("then", "else", "elif", "fi", "do", "done", "esac", "}"))
COMPOUND = frozenset(("if", "while", "until", "for", "select", "case", "{", "[[", "function", "coproc"))
SUBSCRIPT = re.compile(r"[A-Za-z_]\w*\[")
ASSIGNED = re.compile(r"[A-Za-z_]\w*(?:\[[^]]*\])?\+?=")


class Scanner(CompoundScanner):
    """Reads a whole program; `program` raises Refused where bash would."""

    def program(self) -> None:
        """The whole text."""
        if "\0" in self.text:
            raise Refused("line 1: the text holds a NUL byte")
        self.commands()
        if self.peek() != END:
            raise self.refuse(self.token())

    def nested(self) -> None:
        """The commands of a substitution; there may be none."""
        self.commands()

    def commands(self) -> int:
        """A list of commands up to what cannot begin one; how many there were."""
        count = 0
        self.linebreak()
        while self.peek() not in (END, ")") and self.reserved() not in CLOSING and not self.sees(";;"):
            self.and_or()
            count += 1
            self.skip_blanks()
            sign = self.peek()
            if sign == "\n":
                pass
            elif sign in (";", "&") and sign and not self.sees(";;") and not self.sees(";&"):
                if self.sees("&&"):
                    raise self.refuse("&&")
                self.at += 1
                self.skip_blanks()
            else:
                break
            self.linebreak()
        return count

    def body(self) -> None:
        """A list of at least one command."""
        if not self.commands():
            raise self.refuse(self.token())

    def and_or(self) -> None:
        """`a && b || c`."""
        self.pipeline()
        self.skip_blanks()
        while self.sees("&&") or self.sees("||"):
            self.at += 2
            self.linebreak()
            self.pipeline()
            self.skip_blanks()

    def pipeline(self) -> None:
        """`[time] [!] a | b`."""
        self.skip_blanks()
        while (word := self.reserved()) in ("!", "time"):
            self.at += len(word)
            self.skip_blanks()
            if word == "time" and self.reserved() in ("-p", "--"):
                self.word()
                self.skip_blanks()
            if self.peek() in (END, "\n", ";") or self.sees("&&") or self.sees("||"):
                return
        self.command()
        self.skip_blanks()
        while self.peek() == "|" and not self.sees("||"):
            self.at += 2 if self.sees("|&") else 1
            self.linebreak()
            if self.reserved() == "!":
                raise self.refuse("!")
            self.command()
            self.skip_blanks()

    def command(self) -> None:
        """A simple or compound command with its redirections."""
        self.deeper()
        self.skip_blanks()
        word = self.reserved()
        if self.peek() == "(":
            self.in_parentheses()
            self.redirections()
        elif word in COMPOUND:
            self.at += len(word)
            getattr(self, COMPOUND_READERS[word])()
            self.redirections()
        elif word in CLOSING or word in ("in", "]]"):
            raise self.refuse(word)
        else:
            self.simple()
        self.depth -= 1

    def in_parentheses(self) -> None:
        """`((...))` or `( commands )`."""
        if self.peek(1) == "(" and self.arithmetic():
            return
        self.at += 1
        self.body()
        self.close(")")

    def close(self, sign: str) -> None:
        """A sign that must follow."""
        self.skip_blanks()
        if self.peek() != sign:
            raise self.refuse(self.token())
        self.at += 1

    def redirection(self) -> bool:
        """Goes over one redirection, if there is one."""
        self.skip_blanks()
        found = REDIRECTION.match(self.text, self.at)
        if not found or (found[1] in "<>" and self.text[found.end() : found.end() + 1] == "("):
            return False
        self.at = found.end()
        self.skip_blanks()
        target = self.word()
        if target.isdigit() and self.peek() and self.peek() in "<>":
            raise self.refuse(target)  # a number in front of a redirection belongs to that
        if not target:
            raise self.refuse(self.token() if self.peek() != END else "\n")
        if found[1] in ("<<", "<<-"):
            self.pending.append((re.sub(r"[\\'\"]", "", target), found[1] == "<<-"))
        return True

    def redirections(self) -> None:
        """Those behind a compound command."""
        while self.redirection():
            pass

    def simple(self) -> None:
        """Words, assignments and redirections; or a function, if `()` follows its name."""
        words = assigned = 0
        while True:
            if self.redirection():
                words += 1
                assigned += 1
                continue
            start = self.at
            if (found := SUBSCRIPT.match(self.text, self.at)) and words == assigned:
                self.at = found.end() - 1
                self.balanced("[", "]")
            word = self.text[start : self.at] + self.word()
            if not word:
                break
            assigned += bool(ASSIGNED.match(word))
            words += 1
            self.skip_blanks()
            if words == 1 and self.peek() == "(" and not ASSIGNED.match(word):
                self.at += 1
                self.close(")")
                self.function_body()
                return
            if self.at == start:
                break
        if self.peek() == "(":
            raise self.refuse("(")
        if not words:
            raise self.refuse(self.token())

    def function_body(self) -> None:
        """A compound command behind the name of a function."""
        self.linebreak()
        if self.peek() != "(" and self.reserved() not in COMPOUND - {"function", "coproc"}:
            raise self.refuse(self.token())
        self.command()


COMPOUND_READERS = {
    "if": "if_",
    "while": "while_",
    "until": "while_",
    "for": "for_",
    "select": "for_",
    "case": "case",
    "{": "group",
    "[[": "test",
    "function": "function",
    "coproc": "coproc",
}
