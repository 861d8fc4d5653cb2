"""`[[ ... ]]` as the grammar of bash has it, and what is read between the words of any command.

Source: bash(1), "CONDITIONAL EXPRESSIONS" and "Compound Commands".
"""

import re

from cli_guard.assistant.sandbox.words import END, Refused, WordScanner

OPERATORS = ("&&", "||", ";;&", ";;", ";&", "|&", "&>>", "&>", "|", "&", ";", "(", ")", "\n")
RESERVED = re.compile(r"[^\s|&;()<>\"'\\$`]+")
UNARY = re.compile(r"-[a-zA-Z]\Z")
BINARY = frozenset("= == != =~ -eq -ne -lt -le -gt -ge -nt -ot -ef < >".split())


class ConditionalScanner(WordScanner):
    """Reads a test from behind its `[[`."""

    def token(self) -> str:
        """The operator or word at the place, as an error names it."""
        for operator in OPERATORS:
            if self.sees(operator):
                return operator
        start = self.at
        found = self.word() or self.peek()
        self.at = start
        return found

    def reserved(self) -> str:
        """The bare word at the place, "" if quotes or expansions are in it."""
        found = RESERVED.match(self.text, self.at)
        if not found:
            return ""
        after = self.text[found.end() : found.end() + 1]
        return found[0] if after not in ('"', "'", "\\", "$", "`") or not after else ""

    def linebreak(self) -> None:
        """Blanks, comments and line ends."""
        self.skip_blanks()
        while self.peek() == "\n":
            self.newline()
            self.skip_blanks()

    def test(self) -> None:
        """The expression and its `]]`; an empty one is taken, as bash does."""
        self.linebreak()
        if self.reserved() != "]]":
            self.either()
            self.linebreak()
        if self.reserved() != "]]":
            raise self.unexpected()
        self.at += 2

    def unexpected(self) -> Refused:
        """The error at the place."""
        if self.peek() == END:
            return Refused(f"line {self.line()}: unexpected end of file in conditional command: no `]]'")
        return Refused(f"line {self.line()}: syntax error in conditional expression near `{self.token()}'")

    def either(self) -> None:
        """`a && b || c`."""
        self.term()
        self.linebreak()
        while self.sees("&&") or self.sees("||"):
            self.at += 2
            self.term()
            self.linebreak()

    def term(self) -> None:
        """`! a`, `( a )`, `-f a`, `a == b` or `a`."""
        self.linebreak()
        self.deeper()
        if self.peek() == "!" and self.reserved() == "!":
            self.at += 1
            self.term()
        elif self.peek() == "(":
            self.at += 1
            self.either()
            if self.peek() != ")":
                raise self.unexpected()
            self.at += 1
        else:
            self.comparison()
        self.depth -= 1

    def comparison(self) -> None:
        """One operand, or two around an operator."""
        if self.reserved() == "]]":
            raise self.unexpected()
        first = self.word()
        if not first:
            raise self.unexpected()
        self.skip_blanks()
        if self.ends():
            return
        if UNARY.match(first):
            self.word()
            return
        operator = self.peek() if self.peek() and self.peek() in "<>" else self.reserved()
        if operator not in BINARY:
            raise Refused(f"line {self.line()}: conditional binary operator expected near `{self.token()}'")
        self.at += len(operator)
        self.skip_blanks()
        if self.ends() and self.peek() != "(":
            raise self.unexpected()
        self.operand()

    def ends(self) -> bool:
        """Does a term end here?"""
        sign = self.peek()
        return sign in (END, ")", "\n", ";", "&", "|", "(") or self.reserved() == "]]"

    def operand(self) -> None:
        """What is on the right; a pattern or regular expression may hold parentheses and bars."""
        start = self.at
        while (sign := self.peek()) and sign not in " \t\n;":
            if sign == "(":
                self.balanced("(", ")")
            elif sign in "|&)<>":
                if sign in "&)<>" or self.at == start or self.peek(1) == sign:
                    return
                self.at += 1
            else:
                self.piece()
