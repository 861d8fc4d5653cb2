"""`symbols` and `refs`: definitions and uses by syntax tree, where grep would find any text."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from cli_guard.assistant.sandbox.commands.model import Answer, Call, CommandFailure, OwnCommand, WrongUsage
from cli_guard.assistant.sandbox.files import ROOT
from cli_guard.git.snapshot import Snapshot

# Reading trees is a room of its own below, which `ls` need not wait for: it is imported where it is used.
if TYPE_CHECKING:
    from cli_guard.assistant.sandbox.symbols import Place

MOST_SECONDS = 6.0
MOST_ROWS = 2_000


def within(call: Call, word: str) -> list[str]:
    """The paths of the snapshot that a word names: a file, or all below a folder."""
    absolute = call.absolute(word)
    if absolute == ROOT:
        return sorted(call.world.snapshot)
    path = absolute.removeprefix(f"{ROOT}/")
    return [each for each in sorted(call.world.snapshot) if each == path or each.startswith(f"{path}/")]


def symbols(call: Call) -> Answer:
    """The definitions in a file or folder, or those of a name."""
    if len(call.arguments) > 1:
        raise WrongUsage("one path or one name: symbols [PATH|NAME]")
    word = call.arguments[0] if call.arguments else ROOT
    paths = within(call, word)
    name = "" if paths else word
    rows, note = gathered(call.world.snapshot, paths or sorted(call.world.snapshot), name)
    if not rows:
        raise CommandFailure(f"no definition in {word}, and none of that name: try grep -rn {word} .")
    return Answer(Answer.of("\n".join(map(str, rows))).stdout, note)


def gathered(snapshot: Snapshot, paths: list[str], name: str) -> tuple[list[Place], bytes]:
    """The definitions in some files, of one name if it is given; and a note of what was cut."""
    from cli_guard.assistant.sandbox.symbols import symbols_in

    rows: list[Place] = []
    until = time.monotonic() + MOST_SECONDS
    for read, path in enumerate(paths):
        if time.monotonic() > until or len(rows) > MOST_ROWS:
            return rows[
                :MOST_ROWS
            ], f"[error] symbols: cut after {read} of {len(paths)} files: name a folder\n".encode()
        text = snapshot[path]
        if not name or name.rpartition(".")[2] in text:
            rows += (place for place in symbols_in(path, text) if not name or place.is_named(name))
    return rows, b""


def refs(call: Call) -> Answer:
    """The uses of a name."""
    from cli_guard.assistant.sandbox.symbols import references

    if len(call.arguments) != 1:
        raise WrongUsage("one name: refs NAME")
    name = call.arguments[0]
    found, whole = references(name, call.world.snapshot, MOST_SECONDS)
    if not found:
        raise CommandFailure(f"no use of {name}: try grep -rnw {name} .")
    note = (
        "" if whole and len(found) <= MOST_ROWS else "[error] refs: cut: there are more uses than are shown\n"
    )
    return Answer(Answer.of("\n".join(map(str, found[:MOST_ROWS]))).stdout, note.encode())


SYMBOLS = OwnCommand(
    "symbols",
    "definitions (functions, classes, ...) in a file or folder, or of a name",
    "[PATH|NAME]",
    ("One a line: PATH:LINE: kind name. Bare: all of the repository.",),
    run=symbols,
)
REFS = OwnCommand(
    "refs",
    "uses of a name: definition, imports, calls, mentions",
    "NAME",
    ("One a line: PATH:LINE:COLUMN: what kind of use: the line.",),
    run=refs,
    bare=False,
)
