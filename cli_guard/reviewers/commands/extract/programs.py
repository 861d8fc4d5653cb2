"""Shell strings in programs and build files: what `os.system`, a build script or a start-up file gives to a shell.

The kinds and their patterns are data, in `rules/command_files/programs.toml`; Python is read by its syntax tree.
"""

import re
import shlex
from collections.abc import Iterator
from functools import cache
from html import unescape
from typing import TYPE_CHECKING

from cli_guard.code.syntax import Trees
from cli_guard.code.taint.needs import Needs, has_needed, needs_of
from cli_guard.lazy import frozen
from cli_guard.reviewers.commands.extract.known import path
from cli_guard.reviewers.commands.extract.languages import literal_text
from cli_guard.reviewers.commands.extract.snippet import (
    LineNumbers,
    Snippet,
    Where,
    pieces_of,
    snippet,
)
from cli_guard.rules.catalog import read_table
from cli_guard.words import words_in

if TYPE_CHECKING:
    from ast_grep_py import SgNode

PYTHON = re.compile(r"\.(?:py|pyw|pth)$")
# Calls that run a command, by their last name; the text must hold one of the words, or no tree is made.
RUNS = frozenset(
    "system popen run call check_call check_output Popen getoutput getstatusoutput create_subprocess_shell"
    " create_subprocess_exec".split()
)
MODULES = ("subprocess", "os.system", "os.popen", "popen(", "system(", "create_subprocess")
# At install, test or start of the interpreter: no one calls it.
BUILD_FILES = re.compile(
    r"(?:^|/)(?:setup|conftest|build|_?custom_build|sitecustomize|usercustomize)\.py$|\.pth$"
)
OF_MODULE = re.compile(
    r"(?m)^[ \t]*(?:import (?:subprocess|os|asyncio) as (\w+)|from (?:subprocess|os|asyncio) import\b)"
)
IMPORTED = re.compile(r"""(?:__import__|(?:importlib\.)?import_module)\(["'](\w+)["']\)""")
# Not every such text is for a POSIX shell, so one that cannot be read as such is no finding.
LANGUAGE = "mixed"
COMMENT = re.compile(r"[ \t]*(?:#(?!!)|//(?!go:generate)|\*|--|;)")
ESCAPE = re.compile(r"\\(.)", re.DOTALL)
ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}


@frozen
class CommandFile:
    """A kind of file: its paths, and the pattern whose group `text` is a command; `xml`: with entities.

    `needs` are the words without which the pattern matches nothing.
    """

    paths: re.Pattern[str]
    pattern: re.Pattern[str]
    needs: Needs
    where: Where
    xml: bool


@cache
def kinds() -> tuple[CommandFile, ...]:
    rows = read_table("command_files/programs.toml")["kind"]
    return tuple(
        CommandFile(
            path("|".join(row["paths"])),
            re.compile(row["pattern"]),
            needs_of(row["pattern"], is_whole=False),
            Where(row["where"]),
            row.get("xml", False),
        )
        for row in rows
    )


def is_program(file: str) -> bool:
    """Return whether shell strings are looked for in a file of this path."""
    return bool(PYTHON.search(file)) or any(kind.paths.search(file) for kind in kinds())


def program(file: str, text: str) -> Iterator[Snippet]:
    """Yield the shell strings of a program."""
    if PYTHON.search(file):
        if any(word in text for word in MODULES):
            yield from _python(
                text, Where.BUILD if BUILD_FILES.search(file) else Where.SCRIPT
            )
        return
    lines = LineNumbers(text)
    for kind in kinds():
        if not kind.paths.search(file) or not has_needed(kind.needs, words_in(text)):
            continue
        for found in kind.pattern.finditer(text):
            begin = text.rfind("\n", 0, found.start()) + 1
            if not COMMENT.match(text, begin):
                given = (
                    unescape(found["text"])
                    if kind.xml
                    else ESCAPE.sub(_unescape, found["text"])
                )
                yield snippet(
                    pieces_of(given, lines.at(found.start("text"))), kind.where, LANGUAGE
                )


def _unescape(match: re.Match[str]) -> str:
    return ESCAPED.get(match[1], match[1])


def _python(text: str, where: Where) -> Iterator[Snippet]:
    root = Trees().root("python", text)
    owners = {
        "os",
        "subprocess",
        "asyncio",
        "sp",
        *(found[1] or "" for found in OF_MODULE.finditer(text)),
    }
    names: set[str] = set()
    for call in root.find_all(kind="call"):
        function = call.field("function")
        arguments = call.field("arguments")
        if function is None or arguments is None:
            continue
        owner, _, name = IMPORTED.sub(r"\1", function.text()).rpartition(".")
        first = next(iter(list_children(arguments)), None)
        if name not in RUNS or owner not in owners or first is None:
            continue
        if first.kind() == "identifier":
            names.add(first.text())
        yield from _command_of(first, where)
    for assigned in root.find_all(kind="assignment") if names else ():
        name_node = assigned.field("left")
        value = assigned.field("right")
        if name_node and value and name_node.text() in names:
            yield from _command_of(value, where)


def _command_of(node: "SgNode", where: Where) -> Iterator[Snippet]:
    """Yield the command that a text or a list of words is."""
    line = node.range().start.line + 1
    if node.kind() in ("list", "tuple"):
        words = [literal_text(each) for each in list_children(node)]
        given = " ".join(shlex.quote(word) if word else "${_argument}" for word in words)
        if any(words):
            yield snippet([(line, given)], where, LANGUAGE)
    elif given := literal_text(node):
        yield snippet(pieces_of(given, line), where, LANGUAGE)


def list_children(node: "SgNode") -> "list[SgNode]":
    """Return the parts of a node that are no marks and no comments."""
    return [
        each for each in node.children() if each.is_named() and each.kind() != "comment"
    ]
