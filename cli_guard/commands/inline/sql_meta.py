r"""The commands of the SQL clients themselves: `\d` of psql, `.tables` of sqlite3, `source` of mysql."""

import re
from collections.abc import Iterator

from cli_guard.commands.inline.model import Act, file, shell, unknown, unseen_command
from cli_guard.commands.model import Kind
from cli_guard.rules import tables

# A line that is a command of sqlite3 or of mysql, where a statement could begin.
LINE = re.compile(
    r"[ \t]*(?:\.[A-Za-z][^\n]*|(?:source|system|tee|pager|delimiter)[ \t][^\n]*)", re.IGNORECASE
)
REST = re.compile(r"\\[^\n]*")
WORDS = re.compile(r"'[^']*'|\"[^\"]*\"|\S+")

COPY = re.compile(r"\b(to|from)\s+(program\s+)?(?:'([^']*)'|(\S+))(?!.*\b(?:to|from)\s)", re.IGNORECASE)
MOST = 2000

ASKING = frozenset(tables.words("sql")["asking"])
LISTING = re.compile(r"\\(?:d[A-Za-z]*|l)[S+]{0,2}\Z")
SHELLS = frozenset((r"\!", ".shell", ".system", "system", r"\p", "pager", r"\P"))
RUNS_FILE = frozenset((r"\i", r"\ir", r"\include", ".read", "source", r"\."))
WRITES = frozenset(r"\o \out \w \write \T tee .output .once .log .trace .backup .save .clone".split())
READS_IN = frozenset((".import", r"\lo_import"))


def acts(line: str) -> Iterator[Act]:
    command, *words = WORDS.findall(line.rstrip(";"))
    short = re.match(r"\\(?:[!.]|[A-Za-z_?]+)", command)
    rest = line.removeprefix(short[0] if short else command).strip()
    name = short[0] if short else command.lower()
    first = words[0].strip("'\"") if words else ""
    if "`" in rest and name.startswith("\\"):
        yield unseen_command("runs the command between backticks")
    if name in SHELLS and rest:
        yield shell(rest)
    elif name == r"\copy":
        yield from copy(rest)
    elif rest.startswith("|") or (first.startswith("|") and name.startswith(".")):
        yield shell("cat | " + rest[rest.index("|") + 1 :].strip().strip("'\""))
    elif name in RUNS_FILE:
        yield Act(Kind.EXEC, first or None, "runs the statements of a file")
    elif name in WRITES:
        yield from file(Kind.WRITE, words[-1].strip("'\"")) if words else ()
    elif name in (r"\g", r"\gx") and first and first != ";":
        yield from file(Kind.WRITE, first)
    elif name in READS_IN:
        yield from file(Kind.READ, first or None)
        yield Act(Kind.SERVICE_WRITE, None, name)
    elif name == ".load":
        yield Act(Kind.EXEC, first or None, "loads an extension")
    elif name in ASKING or LISTING.match(command):
        yield Act(Kind.SERVICE_READ, None)
    else:
        yield unknown(f"client command {name[:40]}")


def copy(rest: str) -> Iterator[Act]:
    r"""Return the acts of `\copy` between a table and a file or a program."""
    found = COPY.search(rest[:MOST])
    if not found or len(rest) > MOST:
        yield unknown(r"client command \copy")
        return
    target = found[3] if found[3] is not None else found[4]
    if found[2]:
        yield shell(target)
    elif target.lower() not in ("stdin", "stdout", "pstdin", "pstdout"):
        yield from file(Kind.WRITE if found[1].lower() == "to" else Kind.READ, target)
    if found[1].lower() == "from":
        yield Act(Kind.SERVICE_WRITE, None, r"\copy from")
    else:
        yield Act(Kind.SERVICE_READ, None)
