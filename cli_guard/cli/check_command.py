"""`cli-guard check-command`: what a shell command would do, and whether it may; nothing is run."""

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import click

from cli_guard.agents.payload import parse, text_in
from cli_guard.cli.app import COLOR, FORMAT, Command
from cli_guard.cli.io import Io
from cli_guard.commands import Context, judge
from cli_guard.errors import CliGuardError, UsageError
from cli_guard.review.command_context import command_context
from cli_guard.review.render.command import as_dict, as_json, failure_data, render
from cli_guard.review.render.review import EXIT_CODES

# A command of the longest kind, every character of it written as an escape.
LINE_BYTES = 2_000_000
FOLDERS = 64


class CheckCommand(Command):
    """Options of a command that was not quoted are not ours: it says so."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Raises UsageError for an option that is not known."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            raise UsageError(
                f"there is no option {error.option_name}: quote the command as one word ('ls -l'), or put -- before it"
            ) from error


@click.pass_obj
def run(io: Io, /, words: tuple[str, ...], jsonl: bool, format: str, color: str) -> int:
    """Judges the command that was given, or every line of standard input."""
    if jsonl:
        if words:
            raise UsageError("--jsonl reads its commands on standard input: leave the command out")
        return answer_lines(io)
    command = command_from(io, words)
    verdict = judge(command, command_context(io.cwd, io.env))
    io.say(
        as_json(as_dict(verdict), indent=2) if format == "json" else render(verdict, color=io.colored(color))
    )
    return EXIT_CODES[verdict.verdict]


def command_from(io: Io, words: tuple[str, ...]) -> str:
    """The command: one word, or standard input. Raises UsageError."""
    if len(words) > 1:
        raise UsageError("the command is one word: quote it, as in cli-guard check-command 'ls -l'")
    if not words and io.stdin.isatty():
        raise UsageError("there is no command: give it as one word, or on standard input")
    given = words[0].encode("utf-8", "surrogateescape") if words not in ((), ("-",)) else io.read_bytes()
    try:
        return given.decode("utf-8").removesuffix("\n")
    except UnicodeDecodeError as error:
        raise UsageError(f"the command is not UTF-8 at byte {error.start}: it cannot be judged") from error


def answer_lines(io: Io) -> int:
    """One answer for each line, in order, as soon as the line is there."""

    @lru_cache(FOLDERS)
    def context(folder: Path) -> Context:
        return command_context(folder, io.env)

    for line in io.byte_lines(LINE_BYTES):
        io.say(as_json(answer(line, io.cwd, context)))
    return 0


def answer(line: bytes | None, cwd: Path, context: Callable[[Path], Context]) -> dict[str, object]:
    """The answer to one line; one that holds no request is answered as well."""
    try:
        request = request_in(line)
    except ValueError as error:
        return failure_data(str(error))
    marked = {"id": request["id"]} if "id" in request else {}
    try:
        folder = cwd / folder_in(request)
        return marked | as_dict(judge(text_in(request, "command"), context(folder)))
    except (ValueError, CliGuardError) as error:
        return marked | failure_data(str(error))
    except Exception as error:
        # A fault of ours is no reason to leave the other lines without their answers.
        words = f"internal error: {type(error).__name__}; judge this command alone for a report of it"
        return marked | failure_data(words)


def request_in(line: bytes | None) -> dict[str, object]:
    """The request of a line. Raises ValueError."""
    if line is None:
        raise ValueError(f"longer than {LINE_BYTES:,} bytes")
    request = parse(line)
    if not isinstance(request, dict):
        raise ValueError('not an object: write {"command": "..."}')
    if not isinstance(request.get("id", ""), str | int | float):
        raise ValueError("id is neither text nor a number")
    return request


def folder_in(request: dict[str, object]) -> str:
    """The folder of a request, "" for ours. Raises ValueError."""
    folder = text_in(request, "cwd") if "cwd" in request else ""
    if "\0" in folder:
        raise ValueError("cwd holds a NUL character")
    return folder


command = CheckCommand(
    "check-command",
    callback=run,
    help="Judge a shell command by what it would do; nothing is run. COMMAND is one word: quote it. Without it, or"
    " with -, the command is read on standard input. Exit codes: 0 allow, 3 review, 1 deny.",
    params=[
        click.Argument(["words"], nargs=-1, metavar="[COMMAND]"),
        click.Option(
            ["--jsonl"],
            is_flag=True,
            help='Read {"command": ...} lines on standard input and answer each with a line.',
        ),
        FORMAT,
        COLOR,
    ],
)
