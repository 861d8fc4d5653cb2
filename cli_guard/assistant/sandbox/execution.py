"""The execution layer: runs bash text in a sandbox that is made for one call, with raw bytes in and out.

The seam to bashkit, an interpreter of bash that lives in this process: it starts no program, knows no network and
has no files but those it is given.
"""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from cli_guard.assistant.sandbox.commands import COMMANDS
from cli_guard.assistant.sandbox.commands.command import CommandFunction, Reads, reads_dash
from cli_guard.assistant.sandbox.files import ROOT, clear, find_changes, write_snapshot
from cli_guard.assistant.sandbox.model import (
    CommandCall,
    CommandOutput,
    CommandWorld,
    Image,
    RunLimits,
    RunResult,
)
from cli_guard.errors import UsageError
from cli_guard.lazy import dataclass
from cli_guard.rules.catalog import read_table
from cli_guard.runtime import missing_extra
from cli_guard.secrets.printable import printable

if TYPE_CHECKING:
    from bashkit import Bash, CommandContext, ExecResult

STDIN = "/tmp/.stdin"  # noqa: S108 - a path inside the sandbox
STOPPED = 124
SYNTAX_ERROR = 2
NOT_FOUND = 127
PIPE_CLOSED = 141
# What the interpreter has by name, and what is of no use here or not as in bash.
ABSENT = tuple(read_table("sandbox.toml")["absent"].split())
UNPARSED = "parse error"
# `src/**/*.py` means every folder to whoever writes it; in bash it silently means one level without this.
PRELUDE = "shopt -s globstar; "
# Functions in place of programs that only differ in their options from one that is here.
FUNCTIONS: dict[str, str] = read_table("sandbox.toml")["functions"]
# What the sandbox has of its own, and a repository does not.
HIDDEN = ("/etc", "/proc", "/root")
ENVIRONMENT = {"HOME": ROOT, "LC_ALL": "C.UTF-8", "TZ": "UTC", "TERM": "dumb"}
MOST_NAMED = 3
# Commands that may move or remove a folder.
MOVING = re.compile(r"\b(?:mv|rm|rmdir|delete|rename)\b")
CUT = re.compile(r"^([a-z]+: [a-z ]*limit [^\n]{0,80}truncated)$", re.MULTILINE)
GRACE_SECONDS = 2.0


@dataclass
class Sink:
    """Collects a stream up to `limit` bytes, and calls `on_full` once when there is more."""

    limit: int
    on_full: Callable[[], None]
    data: bytearray = field(default_factory=bytearray)
    full: bool = False

    async def write(self, data: bytes) -> None:
        room = self.limit - len(self.data)
        self.data += data[:room]
        if len(data) > room and not self.full:
            self.full = True
            self.on_full()


def execute(
    command: str, world: CommandWorld, extra: Mapping[str, bytes], stdin: bytes = b""
) -> RunResult:
    """Run a command that bash would run; `extra` are more files of the sandbox, by absolute path."""
    limits = world.limits
    bash = create_interpreter(limits)
    files = bash.fs()
    layout = write_snapshot(bash, world.snapshot, exact=bool(MOVING.search(command)))
    for path, raw in {**extra, STDIN: stdin}.items():
        files.mkdir(path.rpartition("/")[0], recursive=True)
        files.write_file(path, raw)
    images: list[Image] = []
    own: dict[str, tuple[CommandFunction, Reads]] = {
        name: (each.answer, each.reads) for name, each in COMMANDS.items()
    }
    own |= {name: (answer_not_found(name), reads_dash) for name in ABSENT}
    for name, (answer, reads) in own.items():
        bash.add_command(name, adapt_command(answer, reads, world, images))
    out = Sink(limits.output_bytes, bash.cancel)
    err = Sink(limits.output_bytes, bash.cancel)
    # With an input that is opened, `rg PATTERN` would search that, empty or not, where it is to search the files.
    opened = f"exec < {STDIN}; " if stdin else ""
    prelude = PRELUDE + "".join(
        f"{name}() {{ {FUNCTIONS[name]} }}; " for name in FUNCTIONS if name in command
    )
    # On one line, as the messages of the interpreter count them.
    result = run_to_end(
        bash, prelude.replace("\n", " ") + opened + command, out, err, limits
    )
    if result and (result.error or "").startswith(UNPARSED):
        message = f"bash: line 1: syntax error: {result.error}\n"
        return RunResult(
            b"", message.encode("utf-8", "replace"), SYNTAX_ERROR, started=False
        )
    hit = (
        *name_limits(result, out, err, limits),
        *name_missing_files(world, layout.left_out),
    )
    code = STOPPED if not result else result.exit_code
    changes = {} if not result else find_changes(files, layout, world.snapshot)
    return RunResult(bytes(out.data), bytes(err.data), code, changes, tuple(images), hit)


def create_interpreter(limits: RunLimits) -> Bash:
    """Start the interpreter, with nothing in it. Raises UsageError without the extra."""
    try:
        from bashkit import Bash, ExecutionProfile, FileSystem
    except ModuleNotFoundError as error:
        raise UsageError(missing_extra("the sandboxed shell", "shell")) from error
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


def answer_not_found(name: str) -> CommandFunction:
    message = f"bash: line 1: {name}: command not found\n".encode()
    return lambda call: CommandOutput(stderr=message, exit_code=NOT_FOUND)


def adapt_command(
    answer: CommandFunction, reads: Reads, world: CommandWorld, images: list[Image]
) -> Callable[[CommandContext], Awaitable[int]]:
    """Make a command of ours callable by the interpreter."""

    async def call(context: CommandContext) -> int:
        arguments = tuple(context.argv)
        # A command in a loop must leave the rest of the loop's input alone.
        stdin = (
            b"".join([chunk async for chunk in context.stdin]) if reads(arguments) else b""
        )
        given = answer(CommandCall(arguments, stdin, context.cwd, context.fs, world))
        if isinstance(given, str):
            given = CommandOutput.from_text(given)
        images.extend(given.images)
        try:
            await context.stdout.write(given.stdout)
            await context.stderr.write(given.stderr)
        except BrokenPipeError:
            return PIPE_CLOSED
        return given.exit_code

    return call


def run_to_end(
    bash: Bash, text: str, out: Sink, err: Sink, limits: RunLimits
) -> ExecResult | None:
    """Return the result, None where the call had to be given up because its time was over."""
    found = []

    async def main() -> None:
        running = bash.execute(text, stdout=out.write, stderr=err.write)
        try:
            found.append(await asyncio.wait_for(running, limits.seconds + GRACE_SECONDS))
        except TimeoutError:
            bash.cancel()

    # In a thread of its own: the caller may have an event loop running in this one.
    thread = threading.Thread(target=lambda: asyncio.run(main()), daemon=True)
    thread.start()
    thread.join()
    return found[0] if found else None


def name_missing_files(world: CommandWorld, left_out: tuple[str, ...]) -> Iterator[str]:
    """Yield a line on what the repository holds and the sandbox does not."""
    skipped = {each.path: each.reason for each in world.snapshot.skipped if each.asks}
    skipped |= dict.fromkeys(left_out, "its name or number is beyond what can be laid out")
    if skipped:
        first = ", ".join(
            f"{printable(path)} ({skipped[path]})" for path in sorted(skipped)[:MOST_NAMED]
        )
        more = f" and {len(skipped) - MOST_NAMED} more" if len(skipped) > MOST_NAMED else ""
        yield f"not here: {first}{more}"


def name_limits(
    result: ExecResult | None, out: Sink, err: Sink, limits: RunLimits
) -> Iterator[str]:
    """Yield each limit that was hit, in words."""
    if not result:
        yield f"stopped: execution timeout ({limits.seconds:g}s)"
    elif result.error:
        yield f"stopped: {result.error}"
    # A tool that cuts what it prints says so and exits 0.
    yield from dict.fromkeys(CUT.findall(err.data[:20_000].decode("utf-8", "replace")))
    if out.full or err.full:
        yield f"stopped: more than {limits.output_bytes:,} bytes of output"
