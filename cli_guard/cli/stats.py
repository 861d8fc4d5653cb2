"""`cli-guard stats`: what the reviews of this repository found, and what people made of it."""

import json

import click

from cli_guard.cli.app import FORMAT, Command, option
from cli_guard.cli.io import Io
from cli_guard.report.lives import COMMITS


@click.pass_obj
def run(io: Io, /, format: str, since: str) -> int:
    from cli_guard.report.stats import collect_stats, offer_off

    repository = io.find_repository(through_gitpython=True)
    stats = collect_stats(repository, io.invocation, since)
    if format == "json":
        io.say(json.dumps(stats.as_dict(), indent=2))
        return 0
    io.say("\n".join(stats.lines()))
    if offer := offer_off(repository, stats.unheeded):
        io.say(offer)
    return 0


command = Command(
    "stats",
    callback=run,
    help="Count the reviews of this repository, what became of their findings (fixed: gone before the commit, or the"
    f" line changed within {COMMITS} commits; answered: by a comment in the code; ignored: by the policy),"
    " their time, who approved, and the questions of the model: shown by `last`, acted on (the line changed),"
    " withdrawn before that.",
    params=[
        option("--since", "REV|DATE", "Count what was found since then only.", default=""),
        FORMAT,
    ],
)
