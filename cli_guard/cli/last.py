"""`cli-guard last`: the last report again, and what the model says about the last commit."""

import json
import os
from contextlib import suppress
from dataclasses import asdict, replace
from typing import Any

import click

from cli_guard.answering.ignoring import Reviewed
from cli_guard.cli.app import COLOR, FORMAT, Command, flag
from cli_guard.cli.io import Io
from cli_guard.cli.review import VERBOSE, show, show_patch
from cli_guard.errors import CliGuardError
from cli_guard.graph import half
from cli_guard.policy.config import read_user_config
from cli_guard.repository.protocol import Repository
from cli_guard.review.render.as_json import read_report
from cli_guard.review.render.review import Review
from cli_guard.secrets.printable import json_value, printable
from cli_guard.state.advice import Advice, AdviceStore, Question, read_version
from cli_guard.state.files import read_state
from cli_guard.state.records import Records


@click.pass_obj
def run(
    io: Io, /, format: str, color: str, verbose: bool, background: bool, patch: bool
) -> int:
    user = read_user_config(io.env)
    config = (
        user.model if user and user.model.after_hooks and user.model.is_configured else None
    )
    if background:
        # It runs in the background.
        os.nice(10)
        if config:
            half.load("advice after a hook")(io, config)
        return 0
    repository = io.find_repository()
    data, review = read_last(repository)
    if patch:
        show_patch(io, Reviewed(review.event, review.findings, review.blobs))
        return 0
    if format == "text":
        show(io, review, format, color, None, verbose=verbose)
    advice: Advice | None = None
    if config:
        advice = half.load("advice on a commit")(io, repository, config)
    asked = (
        advice.open_questions(lambda *place: read_version(repository, *place))
        if advice
        else ()
    )
    if format == "json":
        shown = asdict(replace(advice, questions=asked)) if advice else None
        io.say(json.dumps(json_value(data | {"advice": shown}), indent=2))
    elif advice:
        io.say(describe(advice, asked))
    if advice and advice.questions and not advice.shown:
        # Where it cannot be written, the next hook names the questions again.
        with suppress(CliGuardError, OSError):
            now = io.invocation.now.isoformat(timespec="seconds")
            AdviceStore(repository.state_folder).keep(replace(advice, shown=now))
    return 0


def read_last(repository: Repository) -> tuple[dict[str, Any], Review]:
    """Return the last report of a repository, as data and as a review. Raises CliGuardError."""
    path = Records(repository.state_folder).report
    try:
        return read_report(read_state(path).decode("utf-8"))
    except FileNotFoundError:
        raise CliGuardError(
            "there is no report yet: commit something, or run `cli-guard review`"
        ) from None
    except (OSError, ValueError, KeyError, TypeError, RecursionError, AttributeError):
        raise CliGuardError(
            f"{path} cannot be read: run `cli-guard review` to write it anew"
        ) from None


def describe(advice: Advice, asked: tuple[Question, ...]) -> str:
    """Format the summary, the questions whose lines are unchanged, and what was left out."""
    lines = advice.summary.splitlines() + [
        f"{each.path}:{each.line}  {each.text}" for each in asked
    ]
    if withdrawn := len(advice.questions) - len(asked):
        lines.append(f"(questions withdrawn, as their lines have changed: {withdrawn})")
    if advice.left_out:
        lines.append(f"(files of which not all was sent: {advice.left_out})")
    head = f"{advice.commit[:7]}, by {advice.model}:"
    return "\n".join(
        printable(line)
        for line in (head, *(f"  {each}" for each in lines or ["nothing to say"]))
    )


command = Command(
    "last",
    callback=run,
    help="Show the last report of this repository again. With `after_hooks` in [model] of your own file, also a"
    " summary of the last commit and questions worth asking, unless their lines have changed.",
    params=[
        FORMAT,
        VERBOSE,
        flag("--patch", "Print a patch of all its fixes instead, for `git apply`."),
        click.Option(["--background"], is_flag=True, hidden=True),
        COLOR,
    ],
)
