"""`cli-guard scan`: search whole repositories, and their history, for secrets."""

import json
from collections.abc import Mapping
from typing import Any

import click

from cli_guard.cli.app import (
    COLOR,
    Command,
    Number,
    RareOption,
    choice,
    flag,
    option,
)
from cli_guard.cli.io import Io
from cli_guard.cli.progress import progress
from cli_guard.cli.review import OUTPUT, write_report
from cli_guard.errors import CliGuardError, ExitCode, UsageError
from cli_guard.model import Decision
from cli_guard.report.parts import STRICTEST
from cli_guard.report.scan.run import ScanOptions, scan
from cli_guard.review.render import as_json, sarif, text
from cli_guard.review.render.review import Review
from cli_guard.reviewers import workers
from cli_guard.secrets.printable import json_value, printable
from cli_guard.secrets.redact import redact


@click.pass_obj
def run(io: Io, /, places: tuple[str, ...], engine: str, **given: Any) -> int:
    """Scan each repository; one that cannot be scanned does not keep the others from it."""
    if (engine == "dask") != bool(given["scheduler"]):
        raise UsageError("--engine dask and --scheduler ADDRESS belong together")
    if given["agents"] and (given["history"] or given["rules"]):
        raise UsageError("--agents looks at one thing: leave --history and --rules out")
    options = ScanOptions(
        **{name: given[name] for name in ("history", "rules", "agents", "fresh")},
        jobs=given["jobs"] or workers.available(),
        state=io.path(given["state"]) if given["state"] else None,
        scheduler=given["scheduler"] or "",
    )
    found: dict[str, Review] = {}
    failed = False
    for place in places or (".",):
        try:
            with progress(io.stderr, "commits and files") as on_progress:
                found[place] = scan(
                    place if places else None, options, io.invocation, on_progress
                )
        except CliGuardError as error:
            failed = True
            words = f"not scanned: {redact(str(error))}"
            io.warn(f"cli-guard: {printable(redact(place))} {printable(words)}")
            found[place] = Review(
                "scan", "failed", Decision.REVIEW, (), review_reason=words, notes=(words,)
            )
    strictest = min(found.values(), key=lambda review: STRICTEST.index(review.decision))
    output = given["output"]
    format = given["format"]
    if format == "text":
        color = io.colored(given["color"]) and not output
        style = {"color": color, "ascii_only": io.ascii_only, "verbose": given["verbose"]}
        report = render_text(found, style)
    elif format == "sarif":
        report = render_sarif(found)
    else:
        report = render_json(found, strictest.decision)
    # What the one repository failed with is said already.
    if not (failed and len(found) == 1 and format == "text"):
        write_report(io, report, output)
    if failed and strictest.decision is not Decision.DENY:
        return ExitCode.USAGE
    return strictest.exit_code


def render_text(found: Mapping[str, Review], style: Mapping[str, bool]) -> str:
    reports = []
    for place, review in found.items():
        head = f"{printable(redact(place))}:\n" if len(found) > 1 else ""
        reports.append(head + text.render(review, **style))
    return "\n".join(reports)


def render_sarif(found: Mapping[str, Review]) -> str:
    """Return one SARIF log with a run for each repository."""
    logs = [json.loads(sarif.render(review)) for review in found.values()]
    runs = [run for log in logs for run in log["runs"]]
    return json.dumps(logs[0] | {"runs": runs}, indent=2)


def render_json(found: Mapping[str, Review], decision: Decision) -> str:
    scans = [
        {"repository": redact(place), **as_json.as_dict(review)}
        for place, review in found.items()
    ]
    head = {
        "schema_version": as_json.SCHEMA_VERSION,
        "event": "scan",
        "decision": decision,
    }
    return json.dumps(json_value(head | {"scans": scans}), indent=2)


command = Command(
    "scan",
    callback=run,
    help="Search repositories for secrets: the files of the tip, or with --history every commit of every ref. PATH is a"
    " repository on this machine, or a file:// URL of one; the current one by default. Policy and answers are those of"
    " the tip. Only the state is written, with which an interrupted scan continues.",
    params=[
        click.Argument(["places"], metavar="[PATH]...", nargs=-1),
        flag("--history", "Every commit of every ref, not the tip alone."),
        flag(
            "--agents",
            "Only what agents and editors would obey or start, before a clone is opened; its own policy does not"
            " count.",
        ),
        flag("--rules", "Also review the files of the tip by all other rules.", rare=True),
        RareOption(
            ["--jobs", "-j"],
            type=Number(1, 256),
            help="Processes (default: one a core).",
        ),
        option(
            "--state", "FOLDER", "Keep the state here, not in the repository.", rare=True
        ),
        flag("--fresh", "Ignore what earlier runs have done.", rare=True),
        choice("--engine", ("local", "dask"), "What scans.", rare=True, default="local"),
        option("--scheduler", "ADDRESS", "The Dask scheduler, tls://HOST:PORT.", rare=True),
        choice("--format", ("text", "json", "sarif"), "", default="text"),
        OUTPUT,
        flag("--verbose -v", "Show all advice."),
        COLOR,
    ],
)
