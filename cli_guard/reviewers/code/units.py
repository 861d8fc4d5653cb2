"""Cut text without a grammar here into units for the line rules: Dockerfile instructions, SQL statements."""

import re
from collections.abc import Callable, Iterator

from cli_guard.lazy import frozen
from cli_guard.rules.catalog import read_patterns

DOLLAR_QUOTE = re.compile(r"\$(?:[A-Za-z_]\w{0,62})?\$")
PATTERNS = read_patterns("languages/patterns.toml", "statements")
SQL_STOP = re.compile(r"--|/\*|['\"`;$]|\n")
FROM_STAGE = re.compile(r"FROM\s+(?:--\S+\s+)*(\S+)(?:\s+AS\s+(\S+))?", re.IGNORECASE)


@frozen
class Unit:
    """A unit of a file: its first and last line, and its text without comments, as one line."""

    line: int
    end_line: int
    text: str


def instructions(text: str) -> Iterator[Unit]:
    """Return the instructions of a Dockerfile, continuation lines joined, here-documents of RUN included.

    The here-documents of COPY and ADD are files, and no instructions, whatever they say.

    Instructions without effect are left out: a FROM of an earlier stage or of an argument, and each USER that a later
    one of its stage replaces, or that is not of the last stage.
    """
    stages: set[str] = set()
    user: Unit | None = None
    for unit in _instructions(text):
        verb = unit.text[:5].upper()
        if verb == "USER ":
            user = unit
            continue
        if verb == "FROM ":
            user = None
            stage = FROM_STAGE.match(unit.text)
            if stage and stage[2]:
                stages.add(stage[2].lower())
            if stage and (stage[1].lower() in stages or "$" in stage[1]):
                continue
        yield unit
    if user:
        yield user


def _instructions(text: str) -> Iterator[Unit]:
    # Loads the readers of commands, which a change without a Dockerfile does not need.
    from cli_guard.reviewers.commands.extract import docker

    for each in docker.instructions(text):
        # A here-document of RUN is a script.
        inside = each.below[:-1] if each.verb == "RUN" else ()
        parts = [line.strip().removesuffix("\\").rstrip() for _, line in each.lines]
        parts += (line.strip() for _, line in inside)
        last = (each.below or each.lines)[-1][0]
        yield Unit(each.lines[0][0], last, " ".join(parts))


def statements(text: str) -> Iterator[Unit]:
    """Return the statements of an SQL text without comments; a quoted text becomes an empty literal of its kind.

    The body of a function in dollar quotes is left out: it does not run with the text.
    """
    parts: list[str] = []
    first = 0
    line = 1
    position = 0
    while position <= len(text):
        stop = SQL_STOP.search(text, position)
        before = text[position : stop.start()] if stop else text[position:]
        after, kept = _past(text, stop) if stop else (len(text) + 1, "")
        parts += (before, kept)
        if not first and (before.strip() or kept.strip()):
            first = line
        if not stop or stop[0] == ";":
            joined = " ".join("".join(parts).split())
            if joined:
                yield Unit(first, line, joined)
            parts = []
            first = 0
        else:
            line += text.count("\n", stop.start(), after)
        position = after


def changes_of_tables(text: str) -> Iterator[Unit]:
    """Return the statements of a migration on tables that it did not create; what undoes it is left out."""
    undo = PATTERNS["undo"].search(text)
    own: set[str] = set()
    for unit in statements(text[: undo.start()] if undo else text):
        plain = PATTERNS["quotes"].sub("", unit.text.lower())
        own.update(PATTERNS["new_table"].findall(plain))
        table = PATTERNS["table"].search(plain)
        if table is None or table[1] not in own:
            yield unit


def joined_statements(text: str) -> Iterator[Unit]:
    """Return the statements of routines that run a text which was put together from variables, there or before."""
    built: set[str] = set()
    # format() puts what stands for %s into the text as it is.
    body = PATTERNS["unquoted"].sub("'' || text", DOLLAR_QUOTE.sub("", text))
    for unit in statements(body):
        joined, runs = (PATTERNS[name].search(unit.text) for name in ("joined", "runs"))
        if runs and (joined or not built.isdisjoint(runs.groups())):
            yield unit
        elif joined and (variable := PATTERNS["variable"].search(unit.text)):
            built.add(variable[1])


def _past(text: str, stop: re.Match[str]) -> tuple[int, str]:
    """Return where a comment or quoted text ends, and what replaces it in the statement."""
    mark = stop[0]
    if mark in "\n;":
        return stop.end(), mark.strip(";")
    if mark == "--":
        end = text.find("\n", stop.end())
        return (end if end >= 0 else len(text)), ""
    if mark == "/*":
        end = text.find("*/", stop.end())
        return (end + 2 if end >= 0 else len(text)), " "
    if mark == "$":
        dollar = DOLLAR_QUOTE.match(text, stop.start())
        if not dollar:
            return stop.end(), "$"
        end = text.find(dollar[0], dollar.end())
        return (end + len(dollar[0]) if end >= 0 else len(text)), "''"
    end = text.find(mark, stop.end())
    name = text[stop.end() : end].replace("\n", " ") if end >= 0 and mark != "'" else ""
    return (end + 1 if end >= 0 else len(text)), f"{mark}{name}{mark}"


SPLITTERS: dict[str, Callable[[str], Iterator[Unit]]] = {
    "instruction": instructions,
    "statement": statements,
    "migration": changes_of_tables,
    "joined": joined_statements,
}
