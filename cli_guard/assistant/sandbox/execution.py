"""The execution layer: runs bash text in a sandbox that is made for one call, with raw bytes in and out.

The seam to bashkit, an interpreter of bash that lives in this process: it starts no program, knows no network and
has no files but those it is given.
"""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cli_guard.assistant.sandbox.commands import COMMANDS
from cli_guard.assistant.sandbox.commands.model import Answer, Call, Run
from cli_guard.assistant.sandbox.files import ROOT, changes, clear, lay_out
from cli_guard.assistant.sandbox.gnu import MENDED, READERS
from cli_guard.assistant.sandbox.model import Image, Limits, Shell
from cli_guard.secrets.printable import printable

if TYPE_CHECKING:
    from bashkit import Bash, CommandContext, ExecResult, FileSystem

STDIN = "/tmp/.stdin"  # noqa: S108 - a path inside the sandbox
STOPPED = 124
SYNTAX_ERROR = 2
NOT_FOUND = 127
# What the interpreter has by name, and no bash has, or what can do nothing here: it is absent instead of idle.
PRETENDERS = tuple(
    "assert csv curl dotenv glob http json make man nano openssl parallel pgrep pkill ps retry scp semver sftp ssh sudo"
    " template tomlq users uptime verify vi watch wget who".split()
)
UNPARSED = "parse error"
# What the sandbox has of its own, and a repository does not.
HIDDEN = ("/etc", "/proc", "/root")
ENVIRONMENT = {"HOME": ROOT, "LC_ALL": "C.UTF-8", "TZ": "UTC", "TERM": "dumb"}
MOST_NAMED = 3
# Commands that may move or remove a folder.
MOVING = re.compile(r"\b(?:mv|rm|rmdir|delete|rename)\b")
CUT = re.compile(r"^([a-z]+: [a-z ]*limit [^\n]{0,80}truncated)$", re.MULTILINE)
GRACE_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Executed:
    """What the execution alone gave; `ran` is False where an error of syntax kept it from running at all."""

    stdout: bytes
    stderr: bytes
    exit_code: int
    changes: Mapping[str, bytes | None] = field(default_factory=dict)
    images: tuple[Image, ...] = ()
    limits: tuple[str, ...] = ()
    ran: bool = True


@dataclass
class Sink:
    """Collects a stream, up to `limit` bytes, and says so when there was more."""

    limit: int
    on_full: Callable[[], None]
    parts: list[bytes] = field(default_factory=list)
    size: int = 0
    full: bool = False

    async def write(self, data: bytes) -> None:
        """Takes some bytes."""
        room = self.limit - self.size
        self.parts.append(data[:room])
        self.size += min(room, len(data))
        if len(data) > room and not self.full:
            self.full = True
            self.on_full()

    @property
    def data(self) -> bytes:
        """All of it."""
        return b"".join(self.parts)


def execute(command: str, world: Shell, extra: Mapping[str, bytes], stdin: bytes = b"") -> Executed:
    """Runs a command that bash would take; `extra` are more files of the sandbox, by absolute path."""
    limits = world.limits
    bash = sandbox(limits)
    files = bash.fs()
    laid = lay_out(bash, world.snapshot, exact=bool(MOVING.search(command)))
    put(files, {**extra, STDIN: stdin})
    images: list[Image] = []
    for own in COMMANDS.values():
        bash.add_command(own.name, adapter(own.answer, own.reads, world, laid.ended, images))
    for name, mended in MENDED.items():
        reads = always if name in READERS else reads_dash
        bash.add_command(name, adapter(mended, reads, world, laid.ended, images))
    for name in PRETENDERS:
        bash.add_command(name, adapter(absent(name), reads_dash, world, laid.ended, images))
    out = Sink(limits.output_bytes, bash.cancel)
    err = Sink(limits.output_bytes, bash.cancel)
    result, late = finished(bash, f"exec < {STDIN}; {command}", out, err, limits)
    if result is not None and (result.error or "").startswith(UNPARSED):
        words = f"bash: line 1: syntax error: {result.error}\n"
        return Executed(b"", words.encode("utf-8", "replace"), SYNTAX_ERROR, ran=False)
    hit = (*named_limits(result, late, out, err, limits), *not_here(world, laid.left_out))
    code = STOPPED if result is None else result.exit_code
    written = {} if result is None else changes(files, laid, world.snapshot)
    return Executed(out.data, err.data, code, written, tuple(images), hit)


def sandbox(limits: Limits) -> Bash:
    """An interpreter with nothing in it."""
    from bashkit import Bash, ExecutionProfile, FileSystem

    bash = Bash(
        username="user",
        hostname="sandbox",
        cwd=ROOT,
        env=ENVIRONMENT,
        max_commands=limits.commands,
        max_loop_iterations=limits.loop_iterations,
        max_memory=limits.memory_bytes,
        timeout_seconds=limits.seconds,
        profile=ExecutionProfile.Interactive,
    )
    for folder in HIDDEN:
        empty = FileSystem()
        clear(empty)
        bash.mount(folder, empty)
    return bash


def put(files: FileSystem, extra: Mapping[str, bytes]) -> None:
    """Writes more files."""
    for path, raw in extra.items():
        files.mkdir(path.rpartition("/")[0], recursive=True)
        files.write_file(path, raw)


def reads_dash(arguments: tuple[str, ...]) -> bool:
    """Is standard input one of the files (`-`)?"""
    return "-" in arguments


def always(arguments: tuple[str, ...]) -> bool:
    """Standard input is read whatever the words are."""
    return True


def absent(name: str) -> Run:
    """A command that is not there, in the words of bash."""

    def answer(call: Call) -> Answer:
        return Answer(stderr=f"bash: line 1: {name}: command not found\n".encode(), exit_code=NOT_FOUND)

    return answer


def adapter(
    answer: Run, reads: Callable[[tuple[str, ...]], bool], world: Shell, began: float, images: list[Image]
) -> Callable[[CommandContext], Awaitable[int]]:
    """A command of ours as the interpreter calls it."""

    async def call(context: CommandContext) -> int:
        arguments = tuple(context.argv)
        # A command in a loop must leave the rest of the loop's input alone.
        stdin = b"".join([chunk async for chunk in context.stdin]) if reads(arguments) else b""
        given = answer(Call(arguments, stdin, context.cwd, context.fs, world, began))
        images.extend(given.images)
        await context.stdout.write(given.stdout)
        await context.stderr.write(given.stderr)
        return given.exit_code

    return call


def finished(bash: Bash, text: str, out: Sink, err: Sink, limits: Limits) -> tuple[ExecResult | None, bool]:
    """The result, None if it had to be given up; and whether the time was over."""
    found: list[ExecResult] = []

    async def main() -> None:
        running = bash.execute(text, stdout=out.write, stderr=err.write)
        try:
            found.append(await asyncio.wait_for(running, limits.seconds + GRACE_SECONDS))
        except TimeoutError:
            bash.cancel()

    # In a thread of its own: whoever calls may have an event loop running in this one.
    thread = threading.Thread(target=lambda: asyncio.run(main()), daemon=True)
    thread.start()
    thread.join()
    return (found[0], False) if found else (None, True)


def not_here(world: Shell, left_out: tuple[str, ...]) -> Iterator[str]:
    """What the repository holds and the sandbox does not, in a line."""
    skipped = {each.path: each.reason for each in world.snapshot.skipped if each.by_limit}
    skipped |= dict.fromkeys(left_out, "its name or number is beyond what can be laid out")
    if skipped:
        first = ", ".join(f"{printable(path)} ({skipped[path]})" for path in sorted(skipped)[:MOST_NAMED])
        more = f" and {len(skipped) - MOST_NAMED} more" if len(skipped) > MOST_NAMED else ""
        yield f"not here: {first}{more}"


def named_limits(
    result: ExecResult | None, late: bool, out: Sink, err: Sink, limits: Limits
) -> tuple[str, ...]:
    """Each limit that was hit, in words."""
    said = [f"stopped: {result.error}"] if result is not None and result.error else []
    # A tool that cuts what it prints says so and exits 0.
    words = b"".join(err.parts[:100])[:20_000].decode("utf-8", "replace")
    said += dict.fromkeys(CUT.findall(words))
    if late:
        said.append(f"stopped: execution timeout ({limits.seconds:g}s)")
    if out.full or err.full:
        said.append(f"stopped: more than {limits.output_bytes:,} bytes of output")
    return tuple(said)
