"""What to do next, for the errors that have an answer: read from how a call ended, never by changing what it did."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from cli_guard.assistant.sandbox.commands import COMMANDS
from cli_guard.assistant.sandbox.elsewhere import ELSEWHERE
from cli_guard.assistant.sandbox.files import ROOT
from cli_guard.assistant.sandbox.model import Shell
from cli_guard.assistant.sandbox.tools import TOOLS
from cli_guard.secrets.printable import printable
from cli_guard.secrets.redact import redact

if TYPE_CHECKING:
    from cli_guard.assistant.sandbox.execution import Executed

UNKNOWN = re.compile(r"^bash: line \d+: ([^\n]{1,200}?): command not found", re.MULTILINE)
# `head 10` is written often, and means a file of that name.
BARE_NUMBER = re.compile(
    r"^(head|tail): (?:cannot open ')?(\d+)'?(?: for reading)?: No such file", re.MULTILINE
)
MISSING = re.compile(r"(?:^|: |')([^\s:']{1,300})'?: No such file or directory", re.MULTILINE)
MOST_NAMED = 40
MOST_HINTS = 3


def guidance(command: str, done: Executed, world: Shell) -> Iterator[str]:
    """The lines of advice below the output."""
    if not done.exit_code:
        return
    if not done.ran:
        yield "[error] nothing was run: mend the text, and call again"
        return
    words = done.stderr[:20_000].decode("utf-8", "replace")
    unknown = dict.fromkeys(UNKNOWN.findall(words))
    for name in list(unknown)[:MOST_HINTS]:
        if name in ELSEWHERE:
            yield f"[error] {name}: {ELSEWHERE[name]}"
        else:
            yield f"[error] unknown command: {printable(redact(name))}"
            yield f"Available: {', '.join(available())}"
    for tool, number in dict.fromkeys(BARE_NUMBER.findall(words)):
        yield f"[error] {tool}: a number of lines needs -n: {tool} -n {number}"
    missing = list(dict.fromkeys(MISSING.findall(words)))
    if any(is_outside(path) for path in missing):
        yield f"[error] only {world.snapshot.name} is here, in {ROOT}: {inside(world)}"
    elif missing:
        yield from similar(missing, world)


def available() -> list[str]:
    """Every command there is, sorted."""
    return sorted({*COMMANDS, *TOOLS})


def is_outside(path: str) -> bool:
    """Does a path name something that no repository holds?"""
    return path.startswith(("/", "~", "..")) and not path.startswith((f"{ROOT}/", "/tmp/", "/dev/"))  # noqa: S108


def inside(world: Shell) -> str:
    """The names at the top of the snapshot."""
    tops = sorted({path.split("/")[0] + ("/" if "/" in path else "") for path in world.snapshot.entries})
    more = f" and {len(tops) - MOST_NAMED} more" if len(tops) > MOST_NAMED else ""
    return printable(", ".join(tops[:MOST_NAMED])) + more if tops else "no files"


def similar(missing: list[str], world: Shell) -> Iterator[str]:
    """Files of the same name that lie elsewhere."""
    for path in missing[:MOST_HINTS]:
        name = path.rstrip("/").rpartition("/")[2].lower()
        found = [each for each in sorted(world.snapshot.entries) if each.rpartition("/")[2].lower() == name]
        if found:
            yield f"[error] no {printable(redact(path))} here; there is: {printable(', '.join(found[:5]))}"
        elif not path.isdigit():
            yield f"[error] no {printable(redact(path))} here: look with ls, or find . -name PATTERN"
