"""The presentation layer: what a reader with a bounded attention is shown of a call, once, after it has ended.

Binary output is named instead of shown, long output is cut and kept, the error stream of a failure is never lost,
and the last line says how it went. Secrets and control characters go no further than here.
"""

import base64
import os
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from cli_guard.assistant.editing.sources import name_near_paths
from cli_guard.assistant.sandbox.commands import COMMANDS, TOOLS, list_names
from cli_guard.assistant.sandbox.commands.see import identify_picture
from cli_guard.assistant.sandbox.files import ROOT
from cli_guard.assistant.sandbox.model import CommandWorld, RunLimits, RunResult
from cli_guard.model import Kind
from cli_guard.repository.snapshot import Snapshot
from cli_guard.repository.texts import decode, read_worktree_file
from cli_guard.repository.unified import unified_diff
from cli_guard.rules.catalog import read_table
from cli_guard.secrets.printable import printable, printable_text
from cli_guard.secrets.redact import redact
from cli_guard.state.files import open_state

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
FOLDER = "/tmp/cmd-output"  # noqa: S108 - a path inside the sandbox
NAMED_BY = ("/tmp", "cmd-")  # noqa: S108
NAME = re.compile(r"cmd-(\d{1,9})\.txt\Z")
DAY_SECONDS = 86_400
MOST_LINES = 200
MOST_BYTES = 51_200
MOST_STDERR_BYTES = 8_000
CONTROL_SHARE = 0.1
CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
CAT_BINARY = re.compile(r"cat -b (\S+|\"[^\"]+\"|'[^']+')")
# `cat: x: No such file`, as every tool begins an error, and as our commands do.
FAILED = re.compile(r"^(?:\[error\] |[a-z][\w-]*: )", re.MULTILINE)
# The interpreter guesses at commands that are not ours to name.
GUESS = re.compile(r": command not found\. (?:Did you mean|SSH requires)[^\n]*")


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


class Overflow:
    """The files of long output of one repository: `cmd-N.txt`, bounded in number, bytes and age.

    They are kept in the state folder and seen in the sandbox under FOLDER; without a state folder none is kept.
    """

    def __init__(self, state_folder: Path | None, limits: RunLimits) -> None:
        self._folder = state_folder / "cmd-output" if state_folder else None
        self._limits = limits

    def files_named_in(self, command: str) -> Mapping[str, bytes]:
        """Return path in the sandbox -> content of the kept files, empty for a command that names none."""
        found = {}
        if any(part in command for part in NAMED_BY):
            self._remove_old()
            for _, path in self._list():
                # A link there could lead anywhere, and a pipe would be waited for.
                raw = read_worktree_file(path.parent, path.name, self._limits.kept_bytes)
                if raw is not None:
                    found[f"{FOLDER}/{path.name}"] = raw
        return found

    def keep(self, raw: bytes) -> str | None:
        """Keep one output and return its path in the sandbox; None where it cannot be kept."""
        if not self._folder:
            return None
        number = max((number for number, _ in self._list()), default=0) + 1
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            while True:
                try:
                    path = self._folder / f"cmd-{number}.txt"
                    with os.fdopen(
                        open_state(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb"
                    ) as file:
                        file.write(raw)
                    break
                except FileExistsError:  # another call was faster
                    number += 1
        except OSError:
            return None
        self._remove_old()
        return f"{FOLDER}/cmd-{number}.txt"

    def _remove_old(self) -> None:
        oldest = time.time() - self._limits.kept_days * DAY_SECONDS
        size = 0
        for index, (_, path) in enumerate(reversed(self._list())):
            with suppress(OSError):
                about = path.stat()
                size += about.st_size
                beyond = index >= self._limits.kept_files or size > self._limits.kept_bytes
                # The newest stays, whatever its size.
                if about.st_mtime < oldest or (index and beyond):
                    path.unlink()

    def _list(self) -> list[tuple[int, Path]]:
        """Return number and file, the newest last."""
        with suppress(OSError):
            paths = list(self._folder.iterdir()) if self._folder else []
            return sorted(
                (int(found[1]), path) for path in paths if (found := NAME.match(path.name))
            )
        return []


def present(
    command: str, done: RunResult, world: CommandWorld, overflow: Overflow, seconds: float
) -> str:
    """Return the text that is shown of a call."""
    parts = [*present_output(command, done.stdout, world, overflow)]
    stderr = printable_text(redact(done.stderr.decode("utf-8", "surrogateescape")))
    stderr = GUESS.sub(": command not found", stderr).rstrip("\n")
    # A command that fails early in a pipe leaves the exit code 0 and an output that misleads.
    if stderr and (done.exit_code or FAILED.search(stderr)):
        label = "" if stderr.startswith("[error] ") else "[stderr] "
        parts.append(label + cut(stderr, MOST_STDERR_BYTES))
    parts += (f"[limit] {limit}" for limit in done.limits)
    parts += find_hints(command, done, world)
    parts.append(f"[exit:{done.exit_code} | {format_duration(seconds)}]")
    return "\n".join(parts)


def present_output(
    command: str, raw: bytes, world: CommandWorld, overflow: Overflow
) -> Iterator[str]:
    if not raw:
        return
    if is_binary(raw):
        # bash's `cat -b` numbers lines, which is of no use here: it is how a binary file is shown.
        asked = CAT_BINARY.fullmatch(command.strip())
        content = world.snapshot.raw(asked[1].strip("\"'")) if asked else None
        if content is None:
            yield name_binary(command, raw, world)
            return
        raw = base64.encodebytes(content)
    text = redact(raw.decode("utf-8"))
    lines = text.count("\n") + (not text.endswith("\n"))
    if lines <= MOST_LINES and len(raw) <= MOST_BYTES:
        yield printable_text(text).removesuffix("\n")
        return
    kept = overflow.keep(text.encode("utf-8"))
    head = (
        "".join(text.splitlines(keepends=True)[:MOST_LINES]) if lines > MOST_LINES else text
    )
    yield printable_text(cut(head, MOST_BYTES)).removesuffix("\n")
    yield f"\n--- output truncated ({lines} lines, {format_size(len(raw))}) ---"
    if kept is None:
        yield "Full output: not kept, there is no state folder; narrow it down with grep, head or tail"
        return
    yield f"Full output: {kept}"
    yield f"Explore: cat {kept} | grep <pattern>"
    yield f"         cat {kept} | tail -n 100"


def is_binary(raw: bytes) -> bool:
    """Return whether it is no text: a NUL byte, invalid UTF-8, over a tenth of control characters."""
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return True
    return b"\0" in raw or len(CONTROL.findall(raw)) > len(raw) * CONTROL_SHARE


def name_binary(command: str, raw: bytes, world: CommandWorld) -> str:
    """Return what replaces binary output: its size, and the command that reads the file that it came from."""
    words = [word.strip("\"'") for word in command.split()]
    paths = [
        *(word for word in words if word in world.snapshot.entries),
        *world.snapshot.entries,
    ]
    path = printable(
        next((path for path in paths if world.snapshot.raw(path) == raw), "PATH")
    )
    if identify_picture(raw):
        return f"[error] binary image ({format_size(len(raw))}). Use: see {path}"
    return f"[error] binary file ({format_size(len(raw))}). Use: cat -b {path}"


def as_patch(ran: RunResult, snapshot: Snapshot) -> str:
    """Return the changes of a call as a patch that `git apply` takes, redacted; what is no text has a line."""
    old = {}
    new = {}
    other = []
    for path, raw in sorted(ran.changes.items()):
        entry = snapshot.entries.get(path)
        text = None if raw is None else decode(raw)
        before = snapshot.get(path)
        if (entry and (entry.kind is not Kind.TEXT or before is None)) or (
            raw is not None and text is None
        ):
            done = "removed" if raw is None else "written"
            other.append(f"Binary or special file {printable(path)} would be {done}\n")
            continue
        if before is not None:
            old[path] = before
        if text is not None:
            new[path] = text
    return redact("".join(other) + unified_diff(old, new))


def cut(text: str, most_bytes: int) -> str:
    """Return at most so many bytes of a text, cut between two characters."""
    raw = text.encode("utf-8", "surrogateescape")
    return text if len(raw) <= most_bytes else raw[:most_bytes].decode("utf-8", "ignore")


def format_size(count: int) -> str:
    """Return a number of bytes for people: `182KB`, `245.3KB`, `1.2MB`."""
    if count < 1024:
        return f"{count}B"
    if count < 1024**2:
        return f"{count / 1024:.1f}".removesuffix(".0") + "KB"
    return f"{count / 1024**2:.1f}".removesuffix(".0") + "MB"


def format_duration(seconds: float) -> str:
    return f"{seconds:.1f}s" if seconds >= 1 else f"{seconds * 1000:.0f}ms"
