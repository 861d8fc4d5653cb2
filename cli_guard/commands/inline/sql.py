"""What SQL does, with the client commands of psql, mysql and sqlite3 between the statements."""

import re
from collections.abc import Iterator

from cli_guard.commands.inline.model import Act, NotUnderstood, file, shell, unknown
from cli_guard.commands.model import EffectKind
from cli_guard.rules import tables

WORDS = tables.words("sql")
(
    CHANGES,
    PARTS,
    STEPS,
    SETTINGS,
    READING_PRAGMAS,
    BEFORE_PAREN,
    FUNCTIONS,
    QUERIES,
    EXPLAINS,
    BEFORE_LIST,
) = (
    frozenset(WORDS[name])
    for name in "changes parts steps settings reading_pragmas before_paren functions queries explains lists".split()
)
HARMLESS_PREFIX = tuple(WORDS["harmless_prefix"])
CALLS = {name: EffectKind(kind) for kind, names in WORDS["calls"].items() for name in names}

TOKEN = re.compile(
    r"""(?P<space>\s+|--[^\n]*|/\*(?![!+]).*?\*/)
    |(?P<text>[eEnNbBxX]?'(?:[^']|'')*')
    |(?P<quoted>"(?:[^"]|"")*"|`[^`]*`|\[[A-Za-z_][\w .]*\])
    |(?P<dollar>\$(?P<tag>\w*)\$.*?\$(?P=tag)\$)
    |(?P<word>[^\W\d][\w$]*)
    |(?P<number>\d[\w.]*|\.\d+)
    |(?P<meta>\\)
    |(?P<mark>/(?!\*)|\$(?!\w*\$)|[-+*%<>=!~@\#^&|?:.,()\[\]{};])""",
    re.VERBOSE | re.DOTALL,
)
ODD_COMMENT = re.compile(r"--\S[^\n]*;")
# An address in a string or in a quoted name, and what stands before one that is only compared or shown.
ADDRESS = re.compile(
    r"\W*(?:\w*\$)?[a-z][\w+.-]*://[^\s/'\"]|e'.*\\[0-7xu]", re.IGNORECASE | re.DOTALL
)
SHOWN = frozenset(
    "SELECT LIKE ILIKE GLOB REGEXP RLIKE IN VALUES THEN ELSE WHEN AND OR NOT BETWEEN = < > ! ~ |".split()
)
# A line that is a command of sqlite3 or of mysql, where a statement could begin.
CLIENT_LINE = re.compile(
    r"[ \t]*(?:\.[A-Za-z][^\n]*|(?:source|system|tee|pager|delimiter)[ \t][^\n]*|(?:go|/)[ \t]*(?=\n|\Z))",
    re.IGNORECASE,
)
# A line that ends a statement of sqlite3, as a semicolon does.
GO = re.compile(r"[ \t]*(?:go|/)[ \t]*(?=\n|\Z)", re.IGNORECASE)
REST = re.compile(r"\\[^\n]*")
CLIENT_WORDS = re.compile(r"'[^']*'|\"[^\"]*\"|\S+")
# What may be a command: with a pipe before it, in quotes or between backticks.
PIECE = re.compile(r"[^'\"`]+")

ASKING = frozenset(WORDS["asking"])
LISTING = re.compile(r"\\(?:d[A-Za-z]*|l)[S+]{0,2}\Z")
SHELLS = (r"\!", ".shell", ".system", "system", r"\p", "pager", r"\P")
Token = tuple[str, str]
END: Token = ("mark", ";")


def acts(code: str) -> Iterator[Act]:
    """Return what the statements do, in their order. Raises NotUnderstood."""
    for statement in statements(code):
        yield from (
            statement if isinstance(statement, tuple) else SqlStatement(statement).acts()
        )


def statements(code: str) -> Iterator[list[Token] | tuple[Act, ...]]:
    """Yield the tokens of each statement, or the acts of a client command. Raises NotUnderstood."""
    at = 0
    current = list[Token]()
    fresh = True
    while at < len(code):
        line = CLIENT_LINE.match(code, at) if fresh and not current else None
        if fresh and current and GO.match(code, at):
            raise NotUnderstood("a line that ends a statement for one client only")
        if line:
            yield tuple(client_acts(line[0].strip()))
            at = line.end()
            continue
        found = TOKEN.match(code, at)
        if not found:
            raise NotUnderstood(f"not understood at character {at}")
        kind = str(found.lastgroup if found.lastgroup != "tag" else "dollar")
        text = found[0]
        at = found.end()
        if kind == "meta":
            line = REST.match(code, at - 1)
            yield tuple(client_acts(line[0].strip() if line else text))
            at = line.end() if line else at
        elif kind == "space":
            if ODD_COMMENT.match(text):
                raise NotUnderstood("a comment for one server and a statement for another")
            fresh = fresh or "\n" in text
            continue
        elif text == ";":
            yield current
            current = []
        else:
            if kind in ("text", "quoted") and "\\" in text[-3:]:
                raise NotUnderstood("a quote behind a backslash")
            current.append((kind, text))
        fresh = text == ";"
    yield current


class SqlStatement:
    """The tokens of one statement."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.words = [text.upper() if kind == "word" else "" for kind, text in tokens]
        self.first = next(iter(self.words), "")

    def word(self, index: int) -> str:
        """Return a word in capitals, empty if the token is not one."""
        return self.words[index] if 0 <= index < len(self.words) else ""

    def token(self, index: int) -> Token:
        """Return the token at a position, the end of the statement beyond it."""
        return self.tokens[index] if 0 <= index < len(self.tokens) else END

    def string(self, index: int) -> str | None:
        """Return the string at a position, None if there is none."""
        kind, text = self.token(index)
        return text[text.index("'") + 1 : -1].replace("''", "'") if kind == "text" else None

    def acts(self) -> Iterator[Act]:
        if self.tokens:
            yield from self.kind()
            yield from self.calls()
            yield from self.tables()

    def kind(self) -> Iterator[Act]:
        if self.first in QUERIES or self.token(0)[1] == "(":
            yield from self.query()
        elif self.first in CHANGES:
            yield self.change()
        elif self.first == "PRAGMA":
            yield self.pragma()
        elif self.first == "SET":
            if self.word(1) in SETTINGS or (
                self.word(1) == "SESSION" and self.word(2) == "AUTHORIZATION"
            ):
                yield Act(EffectKind.SERVICE_WRITE, None, f"SET {self.word(1)}")
        elif self.first not in STEPS:
            yield unknown(f"SQL statement {self.first or self.token(0)[1]}")
            yield from self.strings()

    def strings(self) -> Iterator[Act]:
        """Return what the strings may be: files that the statement writes, or commands that it runs."""
        for text in filter(None, map(self.string, range(len(self.tokens)))):
            yield Act(EffectKind.EXEC, None, suspect=text)
            yield from file(EffectKind.WRITE, text)

    def query(self) -> Iterator[Act]:
        """Return the acts of a query, which reads unless a part of it changes something."""
        change = self.inner_change()
        targets = [
            self.token(index + 1)[1]
            for index, word in enumerate(self.words)
            if word == "INTO"
        ]
        if change:
            yield Act(EffectKind.SERVICE_WRITE, None, change)
        elif self.first in ("FROM", "TABLE") and len(self.tokens) < 2:
            yield unknown(f"SQL statement {self.first}")
        else:
            yield Act(EffectKind.SERVICE_READ, None)
        if set(targets) - {"@"} and not change:
            yield Act(EffectKind.SERVICE_WRITE, None, "SELECT INTO makes a table or a file")
            yield from self.strings()

    def inner_change(self) -> str | None:
        """Return the keyword of a change inside this statement: `WITH x AS (DELETE ...`."""
        for index, word in enumerate(self.words):
            behind = (
                self.token(index - 1)[1] in ("(", ")") or self.word(index - 1) in EXPLAINS
            )
            if word in PARTS and index and behind and self.token(index + 1)[1] != "(":
                return word
        return None

    def change(self) -> Act:
        reason = f"runs {' '.join(word for word in (self.first, self.word(1)) if word)}"
        if self.first in ("DELETE", "UPDATE") and "WHERE" not in self.words:
            reason = f"runs {self.first} without WHERE, on every row"
        elif self.first in ("DROP", "TRUNCATE"):
            reason = f"{reason}, which loses the data"
        return Act(EffectKind.SERVICE_WRITE, None, reason)

    def pragma(self) -> Act:
        """Return the act of PRAGMA, which reads unless it is given a value."""
        name = self.word(1) if self.token(2)[1] != "." else self.word(3)
        given = any(text in ("=", "(") for _, text in self.tokens[2:])
        if given and name not in READING_PRAGMAS:
            return Act(EffectKind.SERVICE_WRITE, None, f"PRAGMA {name}")
        return (
            Act(EffectKind.SERVICE_READ, None) if name else unknown("SQL statement PRAGMA")
        )

    def calls(self) -> Iterator[Act]:
        """Return the acts of every function call in the statement."""
        lists = self.first in CHANGES or self.first == "PRAGMA"
        for index, (kind, text) in enumerate(self.tokens):
            if self.token(index + 1)[1] != "(" or kind not in ("word", "quoted"):
                continue
            name = text.strip('"`[]').lower()
            before = self.word(index - 1)
            if name in CALLS:
                known = self.token(index + 3)[1] in (",", ")")
                yield from act_of_call(
                    CALLS[name], name, self.string(index + 2) if known else None
                )
            elif lists or text.upper() in BEFORE_PAREN or before in BEFORE_LIST:
                continue
            elif name not in FUNCTIONS and not name.startswith(HARMLESS_PREFIX):
                yield unknown(f"calls the SQL function {name[:60]}")

    def tables(self) -> Iterator[Act]:
        """Return the acts of files and addresses that are read as tables."""
        before = ""
        for index, (kind, text) in enumerate(self.tokens):
            if (
                kind in ("text", "quoted", "dollar")
                and ADDRESS.match(text)
                and before not in SHOWN
            ):
                yield Act(
                    EffectKind.NETWORK_OUT if before == "TO" else EffectKind.NETWORK_IN,
                    text.strip("'\""),
                )
            elif kind == "text" and before in ("FROM", "JOIN"):
                yield from file(EffectKind.READ, self.string(index))
            if kind not in ("text", "dollar") and text not in ("(", "[", ","):
                before = text.upper()


def act_of_call(kind: EffectKind, name: str, target: str | None) -> Iterator[Act]:
    """Return the act of a function with an effect; `target` is its first argument."""
    yield from file(kind, None if kind is EffectKind.SERVICE_WRITE else target, name)
    if kind is EffectKind.EXEC and target:
        yield Act(kind, None, suspect=target)


def client_acts(line: str) -> Iterator[Act]:
    r"""Yield what a command of a client does: `\d` of psql, `.tables` of sqlite3, `source` of mysql."""
    command, *words = CLIENT_WORDS.findall(line.rstrip(";"))
    short = re.match(r"\\(?:[!.]|[A-Za-z_?]+)", command)
    name = short[0] if short else command.lower()
    rest = line.removeprefix(short[0] if short else command).strip()
    if name in SHELLS and rest:
        yield shell(rest)
    elif (name in ASKING or LISTING.match(command)) and not set(rest) & set("|`"):
        yield Act(EffectKind.SERVICE_READ, None)
        yield from (
            file(EffectKind.WRITE, words[0]) if name in (r"\g", r"\gx") and words else ()
        )
    else:
        yield unknown(f"client command {name[:40]}")
        # It may be a file that it writes or runs, or a command.
        for word in words:
            yield from file(EffectKind.WRITE, word.strip("'\""))
        for piece in PIECE.findall(rest):
            yield Act(EffectKind.EXEC, None, suspect=f"cat | {piece.strip(' |')}")
