"""What `cli-guard check-command` does once its arguments are read; loaded without click, see plain.py."""

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from cli_guard.agents.payload import parse, text_in
from cli_guard.cli.io import Io
from cli_guard.commands import Context, Verdict, judge_or_raise, verdict_of_failure
from cli_guard.commands.model import Profile
from cli_guard.errors import CliGuardError, UsageError
from cli_guard.execution.context import command_context
from cli_guard.execution.verdicts import (
    as_dict,
    as_json,
    failure_data,
    render,
    write_allow,
)
from cli_guard.model import Decision
from cli_guard.review.render.review import EXIT_CODES

# The longest command, with every character written as an escape.
LINE_BYTES = 2_000_000
FOLDERS = 64


def judge_for_caller(
    io: Io,
    /,
    words: tuple[str, ...],
    jsonl: bool,
    profile: str | None,
    format: str,
    color: str,
) -> int:
    """Judge the given command, or every line of standard input."""
    if jsonl:
        if words:
            raise UsageError("--jsonl reads commands from standard input: omit the command")
        return answer_lines(io, profile)
    command = command_from(io, words)
    verdict = judge_or_report(io, command, profile)
    io.say(
        as_json(as_dict(verdict), indent=2)
        if format == "json"
        else render(verdict, color=io.colored(color))
    )
    is_open = verdict.verdict is Decision.REVIEW and not verdict.alternative
    if format != "json" and is_open and command.strip() and not write_allow(verdict):
        io.say("  if you mean it, run it yourself: no rule is offered for it")
    return EXIT_CODES[verdict.verdict]


def judge_or_report(io: Io, command: str, profile: str | None) -> Verdict:
    """Judge a command; an error of our own is a review, with a report to attach. Raises CliGuardError."""
    try:
        return judge_or_raise(command, context_of(io, io.cwd, profile))
    except CliGuardError:
        raise
    except Exception as error:
        from cli_guard.secrets.printable import printable
        from cli_guard.state.crash import report_crash

        words = report_crash(
            error, ("check-command",), io.cwd, io.env, "a person must decide"
        )
        io.warn(f"cli-guard: {printable(words)}")
        return verdict_of_failure(command, error, "standard error names the report")


def context_of(io: Io, folder: Path, profile: str | None) -> Context:
    """Return the context of commands in a folder; warn of what does not count. Raises CliGuardError."""
    context = command_context(folder, io.env, profile=Profile(profile) if profile else None)
    for warning in context.warnings:
        io.warn(f"cli-guard: warning: {warning}")
    return context


def command_from(io: Io, words: tuple[str, ...]) -> str:
    """Return the command: one word, or standard input. Raises UsageError."""
    if len(words) > 1:
        raise UsageError(
            "the command must be one word: quote it, as in cli-guard check-command 'ls -l'"
        )
    if not words and io.stdin.isatty():
        raise UsageError("no command given: pass it as one word, or on standard input")
    given = (
        words[0].encode("utf-8", "surrogateescape")
        if words not in ((), ("-",))
        else io.read_bytes()
    )
    try:
        return given.decode("utf-8").removesuffix("\n")
    except UnicodeDecodeError as error:
        raise UsageError(
            f"the command is not UTF-8 at byte {error.start}: it cannot be judged"
        ) from error


def answer_lines(io: Io, profile: str | None) -> int:
    """Answer each line in order, as soon as it arrives."""

    @lru_cache(FOLDERS)
    def context(folder: Path) -> Context:
        return context_of(io, folder, profile)

    for line in io.byte_lines(LINE_BYTES):
        io.say(as_json(answer(line, io.cwd, context)))
    return 0


def answer(
    line: bytes | None, cwd: Path, context: Callable[[Path], Context]
) -> dict[str, object]:
    """Return the answer to one line, also if it is not a valid request."""
    try:
        request = request_in(line)
    except ValueError as error:
        return failure_data(str(error))
    marked = {"id": request["id"]} if "id" in request else {}
    try:
        folder = cwd / folder_in(request)
        return marked | as_dict(
            judge_or_raise(text_in(request, "command"), context(folder))
        )
    except (ValueError, CliGuardError) as error:
        return marked | failure_data(str(error))
    except Exception as error:
        # A bug must not leave the other lines without their answers.
        words = f"internal error: {type(error).__name__}; judge this command alone to get a report"
        return marked | failure_data(words)


def request_in(line: bytes | None) -> dict[str, object]:
    """Parse the request in a line. Raises ValueError."""
    if line is None:
        raise ValueError(f"longer than {LINE_BYTES:,} bytes")
    request = parse(line)
    if not isinstance(request, dict):
        raise ValueError('not a JSON object: write {"command": "..."}')
    if not isinstance(request.get("id", ""), str | int | float):
        raise ValueError("id must be text or a number")
    return request


def folder_in(request: dict[str, object]) -> str:
    """Return the folder of a request, "" for the current one. Raises ValueError."""
    folder = text_in(request, "cwd") if "cwd" in request else ""
    if "\0" in folder:
        raise ValueError("cwd contains a NUL character")
    return folder
