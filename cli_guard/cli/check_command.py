"""`cli-guard check-command`: judge what a shell command would do, without running it."""

import click

from cli_guard.cli.app import COLOR, FORMAT, Command, choice, flag
from cli_guard.cli.judging import judge_for_caller
from cli_guard.commands.model import Profile
from cli_guard.errors import UsageError


class CheckCommand(Command):
    """Explain that the command must be quoted if its options are parsed as ours."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments. Raises UsageError for an unknown option."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            raise UsageError(
                f"there is no option {error.option_name}: quote the command as one word ('ls -l'), or put -- before it"
            ) from error


command = CheckCommand(
    "check-command",
    callback=click.pass_obj(judge_for_caller),
    help="Judge a shell command by what it would do, without running it. Quote COMMAND as one word. Without it, or"
    " with -, the command is read from standard input. Exit codes: 0 allow, 3 review, 1 deny.",
    params=[
        click.Argument(["words"], nargs=-1, metavar="[COMMAND]"),
        flag(
            "--jsonl",
            'Read {"command": ...} lines from standard input and answer each with one line.',
        ),
        choice(
            "--profile",
            Profile,
            "Judge by this profile (see `cli-guard trust --help`), whether the work tree is trusted or not.",
        ),
        FORMAT,
        COLOR,
    ],
)
