"""The command line: parses and dispatches. Each command is a module of this folder, imported when it is called."""

import datetime
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any

import click

from cli_guard import __version__
from cli_guard.cli.io import Io
from cli_guard.errors import ExitCode, UsageError
from cli_guard.graph import half

# Set by the script of `cli-guard completion`, which gives no arguments: no hook can be silenced by it.
COMPLETE = "_CLI_GUARD_COMPLETE"
WHOLE_HELP = "--help-all"
# The groups of the help, in its order.
GROUPS = {
    "Review": {
        "review": "Review a change: staged, a commit, a range, a patch.",
        "verify": "Check that a range is clean, or approved by signature.",
        "scan": "Search repositories and their history for secrets.",
        "report": "Write the history of commits and findings as one page.",
    },
    "Answer": {
        "approve": "Approve or reject a pending review after looking at it.",
        "pending": "List the reviews and proposals that need a person.",
        "ignore": "Write down why a finding is ignored, in code or policy.",
        "undo": "Revert an approved patch.",
        "last": "Show the last report again.",
    },
    "Policy": {
        "config": "Check a policy, show the one in force, or write one.",
        "rules": "List every rule.",
        "explain": "Explain a rule, a file, a name, a commit or a command.",
        "signers": "Say whose approvals count, and fetch those of others.",
        "audit": "Show or verify the audit log.",
        "trust": "Trust the checks of a repository, and agents in it.",
        "allow": "Allow a command from now on, here or everywhere.",
        "stats": "Count reviews and findings, and what became of them.",
    },
    "Agents": {
        "check-command": "Judge a shell command without running it.",
        "mcp": "Serve coding agents over standard input and output.",
        "exec": "Judge a command, then run it, also in the background.",
    },
    "Ask": {
        "ask": "Answer a question, or propose a patch.",
        "chat": "Talk with a model, and approve what it proposes.",
        "shell": "Run a bash command over a snapshot, changing nothing.",
    },
    "Set up": {
        "install": "Install the Git hooks, or the hook of a coding agent.",
        "uninstall": "Remove the hooks and restore what was there before.",
        "doctor": "Show what is installed, what applies, what would run.",
        "demo": "Show four real runs in a scratch repository.",
        "server": "Show, start or stop the server that makes hooks quick.",
        "completion": "Print the script that completes commands in a shell.",
    },
}
COMMANDS = {name: said for group in GROUPS.values() for name, said in group.items()}
# What the help does not list: Git and agents call the first, and the last is a hook by its own name.
HIDDEN = ("hook", "help", "pre-receive")
# Names of earlier releases, and what each is now.
ALIASES = {
    "reviews": ("pending",),
    "merge": ("review", "--join"),
    "reject": ("approve", "--reject"),
    "fetch": ("signers", "fetch"),
    "ps": ("exec", "ps"),
    "logs": ("exec", "logs"),
    "stop": ("exec", "stop"),
}
# A key of a context's `meta`: the help leaves out the options that are rarely needed.
SHORT = "cli_guard.short_help"


class RareOption(click.Option):
    """An option that is rarely needed: the short help only names it."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        return None if ctx.meta.get(SHORT) else super().get_help_record(ctx)


def option(
    names: str, metavar: str, help: str, *, rare: bool = False, **more: Any
) -> click.Option:
    """Build an option with a value from its names, with blanks between; `more` goes to click."""
    kind = RareOption if rare else click.Option
    return kind(names.split(), metavar=metavar, help=help, **more)


def flag(names: str, help: str, *, rare: bool = False, **more: Any) -> click.Option:
    """Build an option without a value; otherwise as `option`."""
    kind = RareOption if rare else click.Option
    return kind(names.split(), is_flag=True, help=help, **more)


def choice(
    names: str, values: Iterable[str], help: str, *, rare: bool = False, **more: Any
) -> click.Option:
    """Build an option with one of some values; otherwise as `option`."""
    kind = RareOption if rare else click.Option
    return kind(names.split(), type=click.Choice(list(map(str, values))), help=help, **more)


def eager(
    names: str, help: str, callback: Callable[..., None], **more: Any
) -> click.Option:
    """Build an option that is answered before all others, by a call; otherwise as `option`."""
    return click.Option(
        names.split(),
        help=help,
        callback=callback,
        expose_value=False,
        is_eager=True,
        **more,
    )


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
        short = partial(show_help, is_short=True)
        return eager("--help -h", "Show this help.", short, is_flag=True)

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Format what a command is for; a short help has the first paragraph alone."""
        if not ctx.meta.get(SHORT):
            super().format_help_text(ctx, formatter)  # type: ignore[misc]
            return
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text((ctx.command.help or "").partition("\n\n")[0])

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Add the option by which `cli-guard help COMMAND` asks for all options."""
        answer = partial(show_help, is_short=False)
        whole = eager(WHOLE_HELP, "", answer, is_flag=True, hidden=True)
        return [*super().get_params(ctx), whole]  # type: ignore[misc]


def show_help(
    ctx: click.Context, _: click.Parameter, wanted: bool, *, is_short: bool
) -> None:
    """Print the help of a command; a short one ends with the names of the options that it leaves out."""
    if not wanted or ctx.resilient_parsing:
        return
    ctx.meta[SHORT] = is_short
    text = ctx.get_help()
    rare = [each.opts[0] for each in ctx.command.params if isinstance(each, RareOption)]
    if is_short and rare:
        words = ctx.command_path.split()[1:]
        more = f"More options, see `cli-guard help {' '.join(words)}`: {', '.join(rare)}."
        lines = click.wrap_text(more, 78, "  ", "  ")
        text = f"{text}\n\n{lines}"
    ctx.find_object(Io).say(text)  # type: ignore[union-attr]
    ctx.exit()


class Command(HelpToStream, click.Command):
    """A command."""


class Group(HelpToStream, click.Group):
    """A command with sub-commands."""

    command_class = Command


class App(Group):
    """The top level; a command's module is imported only to run it or to show its own help."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS and cmd_name not in HIDDEN:
            return None
        command: click.Command
        if cmd_name in half.COMMANDS:
            command = half.load(cmd_name)
        else:
            name = cmd_name.replace("-", "_")
            command = import_module(f"cli_guard.cli.{name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that the arguments name; print what an old name is called now."""
        new = ALIASES.get(args[0])
        if new is None:
            return super().resolve_command(ctx, args)
        if not ctx.resilient_parsing:
            ctx.find_object(Io).warn(  # type: ignore[union-attr]
                f"cli-guard: `cli-guard {args[0]}` is now `cli-guard {' '.join(new)}`"
            )
        return super().resolve_command(ctx, [*new, *args[1:]])

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Format the groups of commands from the table above, without importing them."""
        longest = max(map(len, COMMANDS))
        for title, commands in GROUPS.items():
            with formatter.section(title):
                rows = [(name.ljust(longest), said) for name, said in commands.items()]
                formatter.write_dl(rows)


def show_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        ctx.find_object(Io).say(f"cli-guard {__version__}")  # type: ignore[union-attr]
        ctx.exit()


def change_folder(ctx: click.Context, _: click.Parameter, folders: tuple[str, ...]) -> None:
    """Let the command run in another folder, each one seen from the one before. Raises UsageError."""
    for name in folders:
        io = ctx.find_object(Io)
        assert io is not None  # noqa: S101 - `dispatch` and completion set it
        folder = io.path(name)
        if not folder.is_dir():
            raise UsageError(f"-C {name}: there is no such folder")
        ctx.obj = replace(io, cwd=folder.resolve())


app = App(
    "cli-guard",
    # Not loaded; for the suggestion of a name.
    commands=dict.fromkeys((*COMMANDS, "--version", "--help")),  # type: ignore[arg-type]
    help="Reviews a change at the moment Git records it, and blocks when policy denies.",
    epilog="Exit codes: 0 ok, 1 must fix, denied, or the command that was run failed, 2 it could not be done (usage,"
    " configuration, a file), 3 needs approval, 4 internal error, 130 interrupted.",
    params=[
        eager(
            "-C folders",
            "Run as if it were started in DIR.",
            change_folder,
            multiple=True,
            metavar="DIR",
        ),
        eager("--version -V", "Show the version.", show_version, is_flag=True),
    ],
)

COLOR = choice(
    "--color",
    ("auto", "always", "never"),
    "When to use colour; NO_COLOR and FORCE_COLOR are honoured.",
    rare=True,
    default="auto",
    show_default=True,
)


def format_option(values: Iterable[str]) -> click.Option:
    return choice("--format", values, "Output format.", default="text", show_default=True)


FORMAT = format_option(("text", "json"))


def dispatch(argv: list[str], io: Io) -> int:
    """Run a command, and report its wrong usage in one line. Raises CliGuardError."""
    if not argv and COMPLETE in io.env:
        code: int = import_module("cli_guard.cli.completion").complete(io, io.env[COMPLETE])
        return code
    # Not `app.main`: it handles interrupts and closed pipes on the streams of the process.
    try:
        with app.make_context("cli-guard", argv, obj=io) as context:
            result: Any = app.invoke(context)
    except click.exceptions.Exit as ended:
        return ended.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        io.warn(error.ctx.get_help() if error.ctx else "")
        return ExitCode.USAGE
    except click.ClickException as error:
        io.complain(usage_line(error))
        return ExitCode.USAGE
    return result if isinstance(result, int) else 0


def usage_line(error: click.ClickException) -> str:
    """Return what is wrong with the arguments, and where the help is."""
    command = "cli-guard"
    if isinstance(error, click.UsageError) and error.ctx:
        command = error.ctx.command_path
    if isinstance(error, click.NoSuchOption | click.NoSuchCommand):
        # The first is the nearest; click would sort them by the alphabet.
        error.possibilities = (error.possibilities or [])[:1]  # type: ignore[misc]
    said = " ".join(error.format_message().split()).rstrip(".")
    return f"{said}; see `{command} --help`".replace("?; s", "? S")
