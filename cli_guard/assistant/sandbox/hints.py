"""What to do next, for the errors that have an answer: read from how a call ended, never by changing what it did."""

import re
from collections.abc import Iterator

from cli_guard.assistant.editing.sources import name_near_paths
from cli_guard.assistant.sandbox.commands import COMMANDS, TOOLS, list_names
from cli_guard.assistant.sandbox.files import ROOT
from cli_guard.assistant.sandbox.model import CommandWorld, RunResult
from cli_guard.rules.catalog import read_table
from cli_guard.secrets.printable import printable
from cli_guard.secrets.redact import redact

# Programs that people have and this sandbox has not, each with what to use in its place.
ELSEWHERE = {
    name: row["advice"]
    for row in read_table("sandbox.toml")["elsewhere"]
    for name in row["programs"].split()
}
UNKNOWN = re.compile(r"^bash: line \d+: ([^\n]{1,200}?): command not found", re.MULTILINE)
MISSING = re.compile(
    r"(?:^|: |')([^\s:']{1,300})'?: No such file or directory", re.MULTILINE
)
SILENCED = re.compile(r"2>|&>|\|&")
ASKING: tuple[str | None, ...] = ("command", "type", "which", "hash")
KNOWN = frozenset((*COMMANDS, *TOOLS, *read_table("sandbox.toml")["besides"].split()))
MOST_NAMED = 40
MOST_HINTS = 3


def find_hints(command: str, done: RunResult, world: CommandWorld) -> Iterator[str]:
    """Yield the lines of advice below the output."""
    if not done.started:
        yield "[error] nothing was run: correct the syntax, and call again"
        return
    words = done.stderr[:20_000].decode("utf-8", "replace")
    unknown = (*UNKNOWN.findall(words), *find_silenced(command))
    for name in list(dict.fromkeys(unknown))[:MOST_HINTS]:
        if name in ELSEWHERE:
            yield f"[error] {name}: {ELSEWHERE[name]}"
        else:
            yield f"[error] unknown command: {printable(redact(name))}"
            yield f"Available: {list_names()}"
    if not done.exit_code:
        return
    missing = list(dict.fromkeys(MISSING.findall(words)))
    if any(is_outside(path) for path in missing):
        yield f"[error] only {world.snapshot.name} is here, in {ROOT}: {list_top_names(world)}"
    else:
        yield from find_similar(missing, world)


def find_silenced(command: str) -> list[str]:
    """Return the unknown commands of a text that hides errors (`2>/dev/null`): what it prints misleads without them.

    One that the text itself asks about (`command -v NAME`) is expected to be missing.
    """
    if not SILENCED.search(command):
        return []
    from bashkit import Bash, BashError

    try:
        parsed = Bash().analyze(command)
    except BashError:
        return []
    expected = {*KNOWN, *parsed.functions}
    expected |= {
        str(word) for each in parsed.commands if each.name in ASKING for word in each.args
    }
    names = (str(each.name) for each in parsed.commands if each.name)
    return [name for name in names if name not in expected and "/" not in name]


def is_outside(path: str) -> bool:
    return path.startswith(("/", "~", "..")) and not path.startswith(
        (f"{ROOT}/", "/tmp/", "/dev/")  # noqa: S108
    )


def list_top_names(world: CommandWorld) -> str:
    tops = sorted(
        {
            path.split("/")[0] + ("/" if "/" in path else "")
            for path in world.snapshot.entries
        }
    )
    more = f" and {len(tops) - MOST_NAMED} more" if len(tops) > MOST_NAMED else ""
    return printable(", ".join(tops[:MOST_NAMED])) + more if tops else "no files"


def find_similar(missing: list[str], world: CommandWorld) -> Iterator[str]:
    """Name files that are near, else how to look for one."""
    for path in missing[:MOST_HINTS]:
        near = name_near_paths(path.rstrip("/"), world.snapshot.entries)
        if near or not path.isdigit():
            hint = near or ": look with ls, or find . -name PATTERN"
            yield f"[error] no {printable(redact(path))} here{printable(hint)}"
