"""`cli-guard exec`: run a command that the engine, a person or the user's own configuration allows."""

import stat
from pathlib import Path
from types import MappingProxyType
from typing import Any

import click

from cli_guard.cli.app import Command
from cli_guard.cli.background import COMMANDS
from cli_guard.cli.exec_options import OPTIONS, ExecOptions
from cli_guard.cli.exec_run import (
    PermittedCommand,
    refused_as_dict,
    report_refused,
    run_in_background,
    run_in_foreground,
    sandbox_of,
)
from cli_guard.cli.io import Io
from cli_guard.cli.prompt import asking
from cli_guard.cli.streams import say_json
from cli_guard.errors import CliGuardError, ExitCode, UsageError
from cli_guard.execution.command import CommandRequest, RunRecord
from cli_guard.execution.environment import clean_environment
from cli_guard.execution.permission import (
    Allowances,
    PermissionBasis,
    Session,
    digest_of,
    permission,
)
from cli_guard.execution.processes.model import ProcessLimits
from cli_guard.execution.processes.sandbox import why_not
from cli_guard.state.records import state_folder

MEGABYTE = 1_000_000


@click.pass_obj
def run(io: Io, /, words: tuple[str, ...], **options: object) -> int:
    """Judge a command, ask if it needs review, and run it."""
    asked = ExecOptions(**options)  # type: ignore[arg-type]
    asked.check()
    folder = folder_of(io, asked.cwd)
    state = state_folder(io.cwd, io.env)
    for name in asked.env:
        if name not in io.env:
            raise UsageError(
                f"the variable {name} is not set: set it, or omit --env {name}"
            )
    passed = clean_environment(io.env, asked.env)
    chosen = {name: passed.env[name] for name in asked.env if name in passed.env}
    request = CommandRequest(
        words,
        folder,
        chosen,
        with_line_end(asked.stdin if asked.stdin is not None else asked.respond),
    )
    if not request.text.strip():
        raise UsageError(
            "no command given: write it after --, as in cli-guard exec -- make test"
        )
    if asked.sandbox and (reason := why_not()):
        raise CliGuardError(reason)
    session = Session.current()
    answer = permission(
        request.text_to_judge,
        request.context(io.invocation),
        asking(io, folder, yes=asked.yes, session=session is not None),
        Allowances(state, session),
        digest_of(
            request.text_to_judge,
            folder,
            f"sandbox={asked.sandbox}",
            f"background={asked.background}",
        ),
    )
    run = RunRecord(state, lambda: io.invocation, io.warn)
    run.record_permission(request, answer, background=asked.background)
    if answer.note:
        io.warn(f"cli-guard: {answer.note}")
    if not answer.granted:
        report_refused(io, answer, yes=asked.yes)
        if asked.format == "json":
            say_json(io, refused_as_dict(request, answer))
        waits = answer.answer is PermissionBasis.NEEDS_REVIEW
        return ExitCode.NEEDS_REVIEW if waits else ExitCode.DENIED
    for name in passed.left_out:
        io.warn(f"cli-guard: {name} is not passed on: it looks like a secret")
    limits = ProcessLimits(
        asked.cpu_seconds, asked.memory * MEGABYTE if asked.memory else None
    )
    sandbox = sandbox_of(folder) if asked.sandbox else None
    env = passed.env if sandbox is None else {**passed.env, "TMPDIR": str(sandbox.scratch)}
    job = PermittedCommand(request, env, limits, sandbox, answer, run, state / "processes")
    return (run_in_background if asked.background else run_in_foreground)(io, asked, job)


def folder_of(io: Io, given: str | None) -> Path:
    """Return the folder to run in. Raises UsageError, in the words of the processes contract."""
    folder = io.cwd if given is None else io.path(given)
    try:
        if not stat.S_ISDIR(folder.stat().st_mode):
            raise UsageError(f"Path is not a directory: {folder}")
        return folder.resolve()
    except OSError as error:
        raise UsageError(f"Working directory not found: {folder}") from error


def with_line_end(text: str | None) -> str | None:
    """Add the line end that a person would type."""
    return text if text is None or text.endswith("\n") else f"{text}\n"


class ExecCommand(Command):
    """A command that is run, unless the first word names what is done with those in the background.

    `exec ps` lists these; `exec -- ps` runs the program of that name.
    """

    background = MappingProxyType({each.name: each for each in COMMANDS})

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        name = args[0] if args else ""
        if name not in self.background:
            return super().make_context(info_name, args, parent, **extra)
        whole = f"{info_name} {name}"
        try:
            return self.background[name].make_context(whole, args[1:], parent, **extra)
        except click.BadParameter:
            raise
        except click.UsageError as error:
            hint = f"for the program of that name: cli-guard exec -- {name}"
            raise click.UsageError(
                f"{error.format_message()} ({hint})", error.ctx
            ) from error

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_options(ctx, formatter)
        with formatter.section("Commands"):
            formatter.write_dl([(str(each.name), each.help or "") for each in COMMANDS])


command = ExecCommand(
    "exec",
    callback=run,
    context_settings={"allow_interspersed_args": False},
    help="Judge a command, then run it. One word is a bash script ('make test | tail'), several are a program and its"
    " arguments, run without a shell.\n\nAn allowed command runs, a denied one does not. If it needs approval, you are"
    " asked at a terminal; elsewhere it stops with exit code 3, unless your own configuration allows it ([commands]"
    " allow). Every run is written to the audit log.",
    epilog="Exit codes: that of the command; 128 + signal; 124 timed out, 126 not executable, 127 not found; 130"
    " interrupted. If nothing was run: 1 denied or not started, 2 wrong usage, 3 needs approval. A command may exit"
    " with these codes as well: with --format json its own is in return_code.",
    params=OPTIONS,
)
