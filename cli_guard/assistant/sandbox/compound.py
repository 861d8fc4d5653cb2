"""The compound commands of bash as its grammar has them: `if`, loops, `case`, groups, functions and tests."""

import re

from cli_guard.assistant.sandbox.conditional import ConditionalScanner


class CompoundScanner(ConditionalScanner):
    """Reads a compound command from behind its first word; lists of commands are read by what stands above."""

    def body(self) -> None:
        """A list of at least one command."""
        raise NotImplementedError

    def commands(self) -> int:
        """A list of commands; how many there were."""
        raise NotImplementedError

    def command(self) -> None:
        """A command with its redirections."""
        raise NotImplementedError

    def function_body(self) -> None:
        """A compound command behind the name of a function."""
        raise NotImplementedError

    def keyword(self, *words: str) -> str:
        """One of the reserved words, which must follow."""
        self.linebreak()
        word = self.reserved()
        if word not in words:
            raise self.refuse(self.token())
        self.at += len(word)
        return word

    def function(self) -> None:
        """`function name [()] body`."""
        self.skip_blanks()
        if not self.word():
            raise self.refuse(self.token())
        self.skip_blanks()
        if self.peek() == "(" and re.match(r"\([ \t]*\)", self.text[self.at : self.at + 80]):
            self.at = self.text.index(")", self.at) + 1
        self.function_body()

    def coproc(self) -> None:
        """`coproc [name] command`."""
        self.command()

    def if_(self) -> None:
        """`if ... then ... [elif ... then ...] [else ...] fi`."""
        word = "elif"
        while word == "elif":
            self.body()
            self.keyword("then")
            self.body()
            word = self.keyword("elif", "else", "fi")
        if word == "else":
            self.body()
            self.keyword("fi")

    def while_(self) -> None:
        """`while ... do ... done`."""
        self.body()
        self.do_group()

    def do_group(self) -> None:
        """`do ... done`, or the braces that a `for` may have in their place."""
        if self.keyword("do", "{") == "{":
            self.group()
            return
        self.body()
        self.keyword("done")

    def for_(self) -> None:
        """`for name [in words]; do`, or `for ((a; b; c))`."""
        self.skip_blanks()
        if self.sees("(("):
            if not self.arithmetic():
                raise self.refuse("(")
        else:
            # A word that is no name is an error only when the loop runs.
            if not self.word():
                raise self.refuse(self.token())
            self.linebreak()
            if self.reserved() == "in":
                self.at += 2
                self.skip_blanks()
                while self.word():
                    self.skip_blanks()
                if self.peek() not in (";", "\n") or self.sees(";;"):
                    raise self.refuse(self.token())
        self.skip_blanks()
        if self.peek() == ";" and not self.sees(";;"):
            self.at += 1
        self.do_group()

    def case(self) -> None:
        """`case word in [pattern | pattern) commands ;;]... esac`."""
        self.skip_blanks()
        if not self.word():
            raise self.refuse(self.token())
        self.keyword("in")
        self.linebreak()
        while self.reserved() != "esac":
            if self.peek() == "(":
                self.at += 1
            self.patterns()
            self.commands()
            ending = next((sign for sign in (";;&", ";;", ";&") if self.sees(sign)), "")
            self.at += len(ending)
            self.linebreak()
            if not ending and self.reserved() != "esac":
                raise self.refuse(self.token())
        self.at += len("esac")

    def patterns(self) -> None:
        """`a | b)`."""
        while True:
            self.skip_blanks()
            if not self.word():
                raise self.refuse(self.token())
            self.skip_blanks()
            if self.peek() == ")":
                self.at += 1
                return
            if self.peek() != "|":
                raise self.refuse(self.token())
            self.at += 1

    def group(self) -> None:
        """`{ commands; }`."""
        self.body()
        self.keyword("}")
