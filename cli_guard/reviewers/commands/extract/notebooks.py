"""Code and commands in the cells of a Jupyter notebook, with the lines of its file (nbformat 3 and 4).

A line of a Python cell that begins with `!` is for a shell, as is a cell under `%%bash`, `%%sh` or `%%script`
(IPython, "Built-in magic commands"). `%%writefile run.sh` writes such a script.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from cli_guard.lazy import frozen
from cli_guard.reviewers.commands.extract.nodes import Document, Table, at, scalars
from cli_guard.reviewers.commands.extract.programs import program
from cli_guard.reviewers.commands.extract.snippet import (
    Snippet,
    Where,
    snippet,
    snippet_if_any,
    variable,
)

# Which lines are for a shell; what is in braces there is filled in before.
LANGUAGE = "mixed"
COMMAND = re.compile(
    r"(?P<indent>[ \t]*)(?:[\w.,\[\]\"' \t]{1,200}=[ \t]*)?(?:!{1,2}|%(?:sx|system)[ \t])"
)
MAGIC = re.compile(r"(?P<indent>[ \t]*)(?:[%?]|[\w.]{1,200}\?)")
SHELL_CELL = re.compile(
    r"%%(?:(?:ba|z|k)?sh\b|(?:script|writefile|file)\b[^\n]*\b(?:ba|z|k)?sh\b)"
)
PYTHON_CELL = re.compile(
    r"%%(?:time(?:it)?|capture|prun|debug|pypy|python3?|memit|mprun|px)\b"
)
FILLED = re.compile(r"\{[^{}\n]{1,200}\}")
LINE = re.compile(r"[^\n]*\n|[^\n]+")


@frozen
class Cell:
    """A cell of code: its language, and its lines, each with the line of the file that it comes from."""

    language: str
    lines: Sequence[tuple[int, str]]


def cells_of(document: Document) -> Iterator[Cell]:
    """Yield the cells of code; a notebook that names no language is in Python."""
    named = (
        *at(document.roots, "metadata", "language_info"),
        *at(document.roots, "metadata", "kernelspec"),
    )
    words = (
        table.text(key)
        for table in named
        if isinstance(table, Table)
        for key in ("name", "language")
    )
    language = next(filter(None, words), "python").lower()
    folders = (
        *at(document.roots, "cells", "[]"),
        *at(document.roots, "worksheets", "[]", "cells", "[]"),
    )
    for cell in folders:
        if isinstance(cell, Table) and cell.text("cell_type") == "code":
            pieces = [
                (each.line, each.text)
                for each in scalars(cell.get("source") or cell.get("input"))
            ]
            whole = snippet(pieces, Where.SCRIPT)
            lines = [
                (whole.line_at(found.start()), found[0])
                for found in LINE.finditer(whole.text)
            ]
            first = lines[0][1] if lines else ""
            if SHELL_CELL.match(first):
                yield Cell("bash", lines[1:])
            elif not first.startswith("%%") or PYTHON_CELL.match(first):
                yield Cell(
                    "python" if language.startswith(("python", "ipython")) else language,
                    lines,
                )


def program_in(document: Document) -> tuple[str, Sequence[tuple[int, str]]]:
    """Return the language of a notebook and its lines of code, without those for a shell or for IPython."""
    found = [cell for cell in cells_of(document) if cell.language != "bash"]
    lines = [each for cell in found for each in _without_magics(cell)]
    return (found[0].language if found else ""), lines


def _without_magics(cell: Cell) -> Iterator[tuple[int, str]]:
    goes_on = False
    for number, text in cell.lines:
        magic = cell.language == "python" and (COMMAND.match(text) or MAGIC.match(text))
        clear = text.removesuffix("\n")
        if magic:
            clear = f"{magic['indent']}pass"
        elif goes_on:
            clear = ""
        goes_on = bool(magic or goes_on) and text.endswith("\\\n")
        yield number, clear + "\n"


def snippets(document: Document) -> Iterator[Snippet]:
    """Yield what the cells of a notebook give to a shell."""
    for cell in cells_of(document):
        if cell.language in ("bash", "sh", "zsh"):
            yield from snippet_if_any(cell.lines, Where.SCRIPT, LANGUAGE)
        elif cell.language == "python":
            for pieces in _commands(cell):
                for found in snippet_if_any(pieces, Where.SCRIPT, LANGUAGE):
                    yield found.substitute(FILLED, variable)
            lines = [*_without_magics(cell)]
            for found in program("cell.py", "".join(text for _, text in lines)):
                own = tuple(lines[min(line, len(lines)) - 1][0] for line in found.lines)
                yield replace(found, lines=own)


def _commands(cell: Cell) -> Iterator[list[tuple[int, str]]]:
    """Yield each command for the shell, with the lines that it goes on to."""
    command: list[tuple[int, str]] = []
    for number, text in cell.lines:
        begins = COMMAND.match(text)
        if command and command[-1][1].endswith("\\\n"):
            command.append((number, text))
            continue
        if command:
            yield command
        command = [(number, text[begins.end() :])] if begins else []
    if command:
        yield command
