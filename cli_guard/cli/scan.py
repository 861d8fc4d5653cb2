"""`cli-guard scan`: search whole repositories, and their history, for secrets."""

import json
from dataclasses import replace
from urllib.parse import quote

import click

from cli_guard.cli.app import COLOR, Command
from cli_guard.cli.io import Io
from cli_guard.cli.progress import progress
from cli_guard.cli.review import OUTPUT, write_report
from cli_guard.errors import CliGuardError, ExitCode, UsageError
from cli_guard.model import Decision
from cli_guard.review.parts import STRICTEST
from cli_guard.review.render import as_json, sarif, text
from cli_guard.review.render.review import Review
from cli_guard.review.scan.run import Options, scan
from cli_guard.reviewers import workers
from cli_guard.secrets.printable import json_value, printable
from cli_guard.secrets.redact import redact


@click.pass_obj
def run(
    io: Io,
    /,
    places: tuple[str, ...],
    history: bool,
    rules: bool,
    fresh: bool,
    jobs: int | None,
    state: str | None,
    engine: str,
    scheduler: str | None,
    format: str,
    output: str | None,
    color: str,
    verbose: bool,
) -> int:
    """Scan each repository; one that cannot be scanned does not keep the others from it."""
    if (engine == "dask") != bool(scheduler):
        raise UsageError("--engine dask and --scheduler ADDRESS belong together")
    folder = io.path(state) if state else None
    options = Options(history, rules, fresh, jobs or workers.available(), folder, scheduler or "")
    found: list[tuple[str, Review]] = []
    failed = False
    for place in places or (".",):
        try:
            with progress(io.stderr, "commits and files") as on_progress:
                review = scan(place if places else None, options, io.invocation, on_progress)
        except CliGuardError as error:
            failed = True
            words = redact(f"{place}: {error}" if places else str(error))
            io.warn(f"cli-guard: {printable(words)}")
            review = Review("scan", "failed", Decision.REVIEW, (), review_reason=f"not scanned: {error}")
        found.append((place, review))
    if not failed or len(found) > 1 or format != "text":
        colored = io.colored(color) and not output
        shown = render(found, format, color=colored, ascii_only=io.ascii_only and not output, verbose=verbose)
        write_report(io, shown, output)
    strictest = min((review.decision for _, review in found), key=STRICTEST.index)
    if failed and strictest is not Decision.DENY:
        return ExitCode.USAGE
    return found[0][1].exit_code if len(found) == 1 else replace(found[0][1], decision=strictest).exit_code


def render(
    found: list[tuple[str, Review]], format: str, *, color: bool, ascii_only: bool, verbose: bool
) -> str:
    """Render the reports of all repositories: as text one after the other, JSON as a list, SARIF as runs."""
    if format == "text":
        parts = [text.render(each, color=color, ascii_only=ascii_only, verbose=verbose) for _, each in found]
        names = [f"{printable(redact(place))}:\n" if len(found) > 1 else "" for place, _ in found]
        return "\n".join(name + part for name, part in zip(names, parts, strict=True))
    if format == "sarif":
        named = [
            replace(each, part=quote(printable(redact(place)), safe="") if len(found) > 1 else "")
            for place, each in found
        ]
        logs = [json.loads(sarif.render(each)) for each in named]
        return json.dumps({**logs[0], "runs": [run for log in logs for run in log["runs"]]}, indent=2) + "\n"
    strictest = min((each.decision for _, each in found), key=STRICTEST.index)
    scans = [{"repository": redact(place), **as_json.as_dict(each)} for place, each in found]
    report = {
        "schema_version": as_json.SCHEMA_VERSION,
        "event": "scan",
        "decision": strictest,
        "scans": scans,
    }
    return json.dumps(json_value(report), indent=2, allow_nan=False) + "\n"


command = Command(
    "scan",
    callback=run,
    help="Search repositories for secrets: the files of the tip, or with --history every commit of every ref. PATH is a"
    " repository on this machine, or a file:// URL of one; the current one by default. Policy and answers are those of"
    " the tip. Only the state is written, by which a run that was ended goes on: it saves time and proves nothing.",
    params=[
        click.Argument(["places"], metavar="[PATH]...", nargs=-1),
        click.Option(["--history"], is_flag=True, help="Every commit of every ref, not the tip alone."),
        click.Option(["--rules"], is_flag=True, help="Also review the files of the tip by all other rules."),
        click.Option(
            ["--jobs", "-j"],
            type=click.IntRange(1, 256),
            metavar="N",
            help="Processes; default: one a processor.",
        ),
        click.Option(
            ["--state"],
            metavar="FOLDER",
            help="Keep the state here, for a repository that cannot be written.",
        ),
        click.Option(["--fresh"], is_flag=True, help="Ignore what earlier runs have done."),
        click.Option(
            ["--engine"],
            type=click.Choice(["local", "dask"]),
            default="local",
            show_default=True,
            help="What scans.",
        ),
        click.Option(
            ["--scheduler"], metavar="ADDRESS", help="The Dask scheduler: tls://HOST:PORT or tcp://HOST:PORT."
        ),
        click.Option(
            ["--format"],
            type=click.Choice(["text", "json", "sarif"]),
            default="text",
            show_default=True,
            help="Output format.",
        ),
        OUTPUT,
        click.Option(["--verbose", "-v"], is_flag=True, help="Show all advice."),
        COLOR,
    ],
)
