"""`cli-guard report`: the history of a repository as one page: commits, findings, answers, policy."""

import click

from cli_guard.cli.app import Command, option
from cli_guard.cli.io import Io
from cli_guard.cli.review import OUTPUT, write_report
from cli_guard.errors import ExitCode, UsageError
from cli_guard.review.request import parse_range
from cli_guard.secrets.printable import printable
from cli_guard.state.files import explain_write_errors, make_folder


@click.pass_obj
def run(io: Io, /, since: str, range: str, output: str | None) -> int:
    """Write the page, at a terminal into the state folder; a broken audit log is exit code 1."""
    if since and range:
        raise UsageError("--since and --range exclude each other: give one of them")
    within = parse_range(range) if range else None
    repository = io.find_repository(through_gitpython=True)
    from cli_guard.report.page.history import collect_history
    from cli_guard.report.page.report import render

    history = collect_history(repository, io.invocation, since, within)
    place = output
    if not output and io.stdout.isatty():
        # Nobody reads HTML at a terminal, and a file in the work tree might be committed.
        with explain_write_errors("the report"):
            make_folder(repository.state_folder)
        place = str(repository.state_folder / "report.html")
    write_report(io, render(history), place)
    if place != output:
        io.say(printable(f"cli-guard: the page is {place}: open it in a browser"))
    for problem in history.evidence.problems:
        io.warn(printable(f"cli-guard: {problem}"))
    if not history.commits:
        io.warn("cli-guard: there are no commits in this span")
    return ExitCode.DENIED if history.evidence.problems else ExitCode.OK


command = Command(
    "report",
    callback=run,
    help="Write the history of this repository as one HTML page that loads nothing: how each commit was reviewed, the"
    " life of each finding, who approved what and on what proof, what changed the policy, what was not reviewed. It"
    " reads the audit log here, the signed approvals in Git's notes and the commits. Without --output it is printed;"
    " at a terminal it is a file in the state folder, which is named. Exit codes: 0 written, 1 the hash"
    " chain of the audit log is broken, 2 wrong usage.",
    params=[
        option(
            "--since",
            "REV|DAY",
            "Only later commits than this revision or day.",
            default="",
        ),
        option("--range", "A..B", "Only these commits, reviewed again now.", default=""),
        OUTPUT,
    ],
)
