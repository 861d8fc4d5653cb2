r"""The commands of the SQL clients themselves: `\d` of psql, `.tables` of sqlite3, `source` of mysql."""

import re
from collections.abc import Iterator

from cli_guard.commands.inline.model import Act, file, shell, unknown
from cli_guard.commands.model import EffectKind
from cli_guard.rules import tables

# A line that is a command of sqlite3 or of mysql, where a statement could begin.
LINE = re.compile(
    r"[ \t]*(?:\.[A-Za-z][^\n]*|(?:source|system|tee|pager|delimiter)[ \t][^\n]*|(?:go|/)[ \t]*(?=\n|\Z))",
    re.IGNORECASE,
)
# A line that ends a statement of sqlite3, as a semicolon does.
GO = re.compile(r"[ \t]*(?:go|/)[ \t]*(?=\n|\Z)", re.IGNORECASE)
REST = re.compile(r"\\[^\n]*")
WORDS = re.compile(r"'[^']*'|\"[^\"]*\"|\S+")
# What may be a command: with a pipe before it, in quotes or between backticks.
PIECE = re.compile(r"[^'\"`]+")

ASKING = frozenset(tables.words("sql")["asking"])
LISTING = re.compile(r"\\(?:d[A-Za-z]*|l)[S+]{0,2}\Z")
SHELLS = (r"\!", ".shell", ".system", "system", r"\p", "pager", r"\P")


def acts(line: str) -> Iterator[Act]:
    command, *words = WORDS.findall(line.rstrip(";"))
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
