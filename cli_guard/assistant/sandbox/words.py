"""Reads the words of bash text as its parser does: quotes, substitutions, and here-documents, nothing expanded.

Sources: bash(1), "QUOTING", "EXPANSION", "Here Documents"; the words of the errors are those of bash 5.2.
"""

BLANKS = " \t"
META = frozenset("|&;()<> \t\n")
# Each level is some calls of Python; nobody nests so deep by hand.
DEEPEST = 80
EXTENDED = frozenset("?*+@!")
END = ""


class Refused(Exception):
    """Text that bash does not take: the message is what it would say."""


class WordScanner:
    """A place in a text, and what can be read from there."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.depth = 0
        self.pending: list[tuple[str, bool]] = []

    def nested(self) -> None:
        """Reads the commands of a substitution, up to its parenthesis."""
        raise NotImplementedError

    def peek(self, ahead: int = 0) -> str:
        """The sign at the place, "" behind the end."""
        at = self.at + ahead
        return self.text[at] if at < len(self.text) else END

    def sees(self, text: str) -> bool:
        """Does `text` stand at the place?"""
        return self.text.startswith(text, self.at)

    def line(self) -> int:
        """The number of the line at the place, from 1."""
        return self.text.count("\n", 0, self.at) + 1

    def refuse(self, found: str) -> Refused:
        """The error at a token that cannot stand where it stands; "" is the end of the text."""
        if found == END:
            return Refused(f"line {self.line()}: syntax error: unexpected end of file")
        name = "newline" if found == "\n" else found
        return Refused(f"line {self.line()}: syntax error near unexpected token `{name}'")

    def unmatched(self, sign: str, line: int) -> Refused:
        """The error of a quote or bracket that is never closed."""
        return Refused(f"line {line}: unexpected EOF while looking for matching `{sign}'")

    def deeper(self) -> None:
        """One level of nesting more."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise Refused(f"line {self.line()}: commands are nested more than {DEEPEST} deep")

    def skip_blanks(self) -> None:
        """Goes over blanks, line ends behind a backslash, and a comment."""
        while True:
            if self.peek() and self.peek() in BLANKS:
                self.at += 1
            elif self.sees("\\\n"):
                self.at += 2
            else:
                break
        if self.peek() == "#":
            end = self.text.find("\n", self.at)
            self.at = len(self.text) if end < 0 else end

    def newline(self) -> None:
        """Goes over a line end, and over the bodies of the here-documents that begin behind it."""
        self.at += 1
        pending, self.pending = self.pending, []
        for delimiter, tabs in pending:
            while self.at < len(self.text):
                end = self.text.find("\n", self.at)
                end = len(self.text) if end < 0 else end
                line = self.text[self.at : end]
                self.at = min(end + 1, len(self.text))
                if (line.lstrip("\t") if tabs else line) == delimiter:
                    break

    def word(self) -> str:
        """The next word as it is written, "" if there is none."""
        start = self.at
        while (sign := self.peek()) != END:
            if sign in "<>" and self.peek(1) == "(" and self.at == start:
                self.at += 1
                self.parenthesis()
            elif sign == "(" and self.at > start and self.is_array(start):
                self.array()
            elif sign in META:
                break
            elif sign in EXTENDED and self.peek(1) == "(" and self.extended():
                self.at += 1
                self.balanced("(", ")")
            else:
                self.piece()
        return self.text[start : self.at]

    def extended(self) -> bool:
        """Are extended patterns on? bash reads a whole line before it runs what would switch them on."""
        return "extglob" in self.text[: self.text.rfind("\n", 0, self.at) + 1]

    def is_array(self, start: int) -> bool:
        """Does what has been read of the word assign an array (`name=(`)?"""
        name = self.text[start : self.at].removesuffix("=").removesuffix("+")
        return self.text[self.at - 1] == "=" and name.split("[")[0].isidentifier()

    def array(self) -> None:
        """`( words )` of an assignment."""
        line = self.line()
        self.at += 1
        while True:
            self.skip_blanks()
            sign = self.peek()
            if sign == END:
                raise self.unmatched(")", line)
            if sign == "\n":
                self.newline()
            elif sign == ")":
                self.at += 1
                return
            elif not self.word():
                raise self.refuse(sign)

    def piece(self) -> None:
        """One sign, quoted string or expansion of a word."""
        sign = self.peek()
        if sign == "\\":
            self.at += 2
        elif sign == "'":
            self.until_quote("'", escapes=False)
        elif sign == '"':
            self.double_quoted()
        elif sign == "`":
            self.until_quote("`", escapes=True)
        elif sign == "$":
            self.dollar()
        else:
            self.at += 1
        self.at = min(self.at, len(self.text))

    def until_quote(self, quote: str, *, escapes: bool) -> None:
        """A string from its opening quote to the next one."""
        line = self.line()
        self.at += 1
        while self.peek() != quote:
            if self.peek() == END:
                raise self.unmatched(quote, line)
            self.at += 2 if escapes and self.peek() == "\\" else 1
        self.at += 1

    def double_quoted(self) -> None:
        """`"..."`, with what is expanded in it."""
        line = self.line()
        self.deeper()
        self.at += 1
        while (sign := self.peek()) != '"':
            if sign == END:
                raise self.unmatched('"', line)
            if sign == "$" and self.peek(1) not in "'\"":
                self.dollar()
            elif sign == "`":
                self.until_quote("`", escapes=True)
            else:
                self.at += 2 if sign == "\\" else 1
        self.at += 1
        self.depth -= 1

    def dollar(self) -> None:
        """What begins with a dollar."""
        following = self.peek(1)
        self.at += 1
        if following == "(" and self.peek(1) == "(" and self.arithmetic():
            return
        if following == "(":
            self.parenthesis()
        elif following == "{":
            self.brace()
        elif following == "'":
            self.until_quote("'", escapes=True)
        elif following == '"':
            self.double_quoted()
        elif following == "[":
            self.balanced("[", "]")
        elif following == "$":
            self.at += 1

    def arithmetic(self) -> bool:
        """Goes over `((...))`; back to its beginning and False where it is a command in parentheses."""
        start = self.at
        self.at += 1
        try:
            self.balanced("(", ")")
        except Refused:
            self.at = start
            return False
        if self.peek() == ")":
            self.at += 1
            return True
        self.at = start
        return False

    def parenthesis(self) -> None:
        """`(commands)` of a substitution."""
        line = self.line()
        self.at += 1
        self.deeper()
        pending, self.pending = self.pending, []
        self.nested()
        self.pending = pending
        self.depth -= 1
        if self.peek() != ")":
            raise self.unmatched(")", line) if self.peek() == END else self.refuse(self.peek())
        self.at += 1

    def brace(self) -> None:
        """`${...}`: what is in it is looked at when it is expanded, so only its quotes count here."""
        line = self.line()
        self.deeper()
        self.at += 1
        while (sign := self.peek()) != "}":
            if sign == END:
                raise self.unmatched("}", line)
            self.piece()
        self.at += 1
        self.depth -= 1

    def balanced(self, opening: str, closing: str) -> None:
        """From an opening bracket behind its closing one, quotes and expansions apart."""
        line, open_ = self.line(), 0
        self.deeper()
        while True:
            sign = self.peek()
            if sign == END:
                raise self.unmatched(closing, line)
            if sign == opening:
                open_ += 1
                self.at += 1
            elif sign == closing:
                open_ -= 1
                self.at += 1
                if not open_:
                    self.depth -= 1
                    return
            else:
                self.piece()
