"""The command line: parses and dispatches. Each command is a module of this folder, imported when it is called."""

import datetime
from importlib import import_module
from typing import Any

import click

from cli_guard import __version__
from cli_guard.cli.io import Io
from cli_guard.graph import half

# Set by the script of `cli-guard completion`, which gives no arguments: no hook can be silenced by it.
COMPLETE = "_CLI_GUARD_COMPLETE"
COMMANDS = {
    "review": "Review a change: staged, in the work tree, a commit, a range, a patch.",
    "scan": "Search repositories, and their whole history, for secrets.",
    "merge": "Join the reports of `review --shard` jobs to one.",
    "hook": "Run a hook: Git and coding agents call this.",
    "check-command": "Judge a shell command by what it would do, without running it.",
    "ask": "Answer a request about the repository, or propose a patch for it.",
    "chat": "Talk with a model about the repository, and approve what it proposes.",
    "shell": "Run a bash command over the files of the repository, changing nothing.",
    "exec": "Judge a command, then run it, in the foreground or the background.",
    "ps": "List the background processes.",
    "logs": "Show the output of a background process.",
    "stop": "Stop background processes with their process trees.",
    "install": "Install the Git hooks, or the hook of a coding agent, in this repository.",
    "uninstall": "Remove the hooks and restore what was there before.",
    "trust": "Trust this work tree, and the checks of its repository, after showing them.",
    "allow": "Allow a command from now on, in this work tree or everywhere.",
    "approve": "Approve a pending review, after looking at it.",
    "signers": "Enrol, list and revoke the keys whose approvals count.",
    "verify": "Verify that the findings of a range are approved by signature.",
    "fetch": "Fetch the signed approvals of a remote.",
    "ignore": "Write down why findings are ignored, in the code or in the policy.",
    "reject": "Reject a pending review or proposal.",
    "undo": "Revert an approved patch.",
    "pending": "List the reviews and proposals that need a person.",
    "last": "Show the last report again, and what the model says about the last commit.",
    "stats": "Count the reviews, the findings, and what became of the model's questions.",
    "report": "Write the history as one page: commits, findings, answers, policy.",
    "audit": "Show or verify the audit log.",
    "mcp": "Serve coding agents over standard input and output.",
    "rules": "List every rule.",
    "explain": "Explain a rule, a file, a name of the code, a commit or a command.",
    "config": "Check a policy, show the one in force, or write a first one.",
    "doctor": "Show what is installed, which policy applies and what would run.",
    "server": "Show, start or stop the warm server that makes hooks quick.",
    "completion": "Print the script that completes commands in bash, zsh or fish.",
    "help": "Show the help of a command.",
    "demo": "Show four real runs in a scratch repository.",
}


# Names that help does not list: that of the previous release, and a hook by its own name.
ALIASES = {"reviews": "pending"}
HIDDEN = ("pre-receive",)


class Number(click.IntRange):
    """A whole number, called so in an error."""

    name = "number"


class Day(click.ParamType):  # type: ignore[type-arg] # of older versions of click it takes none
    """A day such as 2026-01-31, as a `datetime`."""

    name = "day"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> datetime.datetime:
        try:
            return datetime.datetime.strptime(str(value), "%Y-%m-%d")
        except ValueError:
            self.fail(f"{value!r} is not a day: write it as 2026-01-31", param, ctx)


class HelpToStream:
    """Print help to the stream of the context instead of the process's own."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse arguments; an error names this command, which click's parser does not know."""
        try:
            parsed: list[str] = super().parse_args(ctx, args)  # type: ignore[misc]
        except click.UsageError as error:
            error.ctx = error.ctx or ctx
            raise
        return parsed

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        def show(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
            if wanted and not ctx.resilient_parsing:
                ctx.find_object(Io).say(ctx.get_help())  # type: ignore[union-attr]
                ctx.exit()

        return click.Option(
            ["--help", "-h"],
            is_flag=True,
            expose_value=False,
            is_eager=True,
            help="Show this help.",
            callback=show,
        )


class Command(HelpToStream, click.Command):
    """A command."""


class Group(HelpToStream, click.Group):
    """A command with sub-commands."""

    command_class = Command


class App(Group):
    """The top level; a command's module is imported only to run it or to show its own help."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        cmd_name = ALIASES.get(cmd_name, cmd_name)
        if cmd_name not in COMMANDS and cmd_name not in HIDDEN:
            return None
        command: click.Command
        if cmd_name in half.COMMANDS:
            command = half.load(cmd_name)
        else:
            name = cmd_name.replace("-", "_")
            command = import_module(f"cli_guard.cli.{name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Format the list of commands from the table above, without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def show_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        ctx.find_object(Io).say(f"cli-guard {__version__}")  # type: ignore[union-attr]
        ctx.exit()


app = App(
    "cli-guard",
    # Not loaded; for the suggestion of a name.
    commands=dict.fromkeys(COMMANDS),  # type: ignore[arg-type]
    help="Reviews a change at the moment Git records it, and blocks when policy denies.",
    epilog="Exit codes: 0 ok, 1 denied or failed, 2 wrong usage or configuration, 3 needs review, 4 internal"
    " error, 130 interrupted.",
    params=[
        click.Option(
            ["--version", "-V"],
            is_flag=True,
            expose_value=False,
            is_eager=True,
            callback=show_version,
            help="Show the version.",
        )
    ],
)

COLOR = click.Option(
    ["--color"],
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    help="When to use colour; NO_COLOR and FORCE_COLOR are honoured.",
)


FORMAT = click.Option(
    ["--format"],
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Output format.",
)


def dispatch(argv: list[str], io: Io) -> int:
    """Run a command. Raises click's errors and CliGuardError, which `cli_guard.__main__` reports in one line."""
    if not argv and COMPLETE in io.env:
        code: int = import_module("cli_guard.cli.completion").complete(io, io.env[COMPLETE])
        return code
    # Not `app.main`: it handles interrupts and closed pipes on the streams of the process.
    try:
        with app.make_context("cli-guard", argv, obj=io) as context:
            result: Any = app.invoke(context)
    except click.exceptions.Exit as ended:
        return ended.exit_code
    return result if isinstance(result, int) else 0
