"""`cli-guard review`: review a change by hand."""

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli_guard.cli.app import COLOR, Command
from cli_guard.cli.io import Io
from cli_guard.cli.progress import progress
from cli_guard.errors import NotARepository, UsageError
from cli_guard.review.render import FORMATS, renderer
from cli_guard.review.render.review import Review
from cli_guard.review.request import (
    Commit,
    Patch,
    Range,
    Request,
    Staged,
    Worktree,
    parse_range,
)
from cli_guard.review.run import review_request
from cli_guard.reviewers.shard import Shard

if TYPE_CHECKING:
    from cli_guard.answering.ignoring import Reviewed

SELECTORS = ("staged", "worktree", "range", "commit", "patch")


REPORT_FORMAT = click.Option(
    ["--format"],
    type=click.Choice(list(FORMATS)),
    default="text",
    show_default=True,
    help="Output format.",
)
VERBOSE = click.Option(
    ["--verbose", "-v"], is_flag=True, help="Show all advice, plans and times."
)
OUTPUT = click.Option(
    ["--output", "-o"],
    metavar="FILE",
    help="Write the report to this file instead of printing it.",
)


def request_from(io: Io, options: dict[str, object]) -> Request:
    """Return the request that the options select. Raises UsageError for more than one of them."""
    chosen = [name for name in SELECTORS if options[name]]
    if len(chosen) > 1:
        raise UsageError(
            f"--{chosen[0]} and --{chosen[1]} exclude each other: give one of them"
        )
    selector = chosen[0] if chosen else "staged"
    value = str(options[selector])
    if selector == "worktree":
        return Worktree(own_policy=True)
    if selector == "range":
        return parse_range(value)
    if selector == "commit":
        return Commit(value)
    if selector == "patch":
        return Patch(
            read_patch_file(io, value), "standard input" if value == "-" else value
        )
    return Staged()


def read_patch_file(io: Io, name: str) -> bytes:
    """Read a patch file, `-` is standard input. Raises UsageError."""
    if name == "-":
        return io.read_bytes()
    try:
        return io.path(name).read_bytes()
    except OSError as error:
        raise UsageError(f"the patch {name} cannot be read: {error.strerror}") from error


def show(
    io: Io,
    review: Review,
    format_name: str,
    color: str,
    output: str | None,
    *,
    within: Range | None = None,
    **options: bool,
) -> None:
    """Print the review, or write it to a file. Raises CliGuardError if the file cannot be written.

    `within` is the range that was reviewed, whose approvals a page shows, by the signers of its base; `options`:
    `verbose` or `brief`, for text.
    """
    if format_name == "text":
        from cli_guard.review.render import text

        colored = io.colored(color) and not output
        shown = text.render(
            review, color=colored, ascii_only=io.ascii_only and not output, **options
        )
    elif format_name == "html":
        from cli_guard.report.page.history import find_evidence
        from cli_guard.review.render import html

        evidence = None
        with suppress(NotARepository):
            repository = io.find_repository()
            evidence = find_evidence(repository, io.invocation, review, within)
        shown = html.render(review, evidence)
    else:
        shown = renderer(format_name)(review)
    write_report(io, shown, output)


def write_report(io: Io, shown: str, output: str | None) -> None:
    """Print a report, or write all of it to a file, or nothing. Raises UsageError if that fails."""
    if not output:
        io.say(shown)
        return
    from cli_guard.state.files import write_atomically

    path = io.path(output)
    shown = shown.encode("utf-8", "backslashreplace").decode("utf-8")
    try:
        path.parent.stat()  # a later error names a temporary file
        if path.exists() and not path.is_file():  # a device, a pipe
            path.write_text(shown, "utf-8")
        else:
            # A link that a change brings along is replaced, not followed.
            write_atomically(path, shown)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise UsageError(
            f"the report cannot be written to {output}: {error.strerror}"
        ) from error


def show_patch(io: Io, reviewed: "Reviewed") -> None:
    """Print the patch of all fixes for `git apply`, and on standard error what it leaves out."""
    from cli_guard.answering.fixing import patch_of

    patch, notes = patch_of(io.find_repository(), reviewed)
    io.write_bytes(patch.encode("utf-8", "surrogateescape"), b"")
    for note in notes or ([] if patch else ["no finding has a fix"]):
        io.warn(f"cli-guard: {note}")


def write_baseline(io: Io, review: Review) -> None:
    """Write the standing findings to the baseline at the root of the work tree."""
    from cli_guard.policy.decisions import BASELINE_FILE, write_baseline
    from cli_guard.review.render.words import count
    from cli_guard.state.files import explain_write_errors, write_atomically

    path: Path = io.find_repository().root / BASELINE_FILE
    findings = [judged.finding for judged in review.findings]
    findings += [each.finding for each in review.suppressed if each.by == "baseline"]
    # Written beside it and renamed, so that a link in its place is replaced, not followed.
    with explain_write_errors("the baseline"):
        write_atomically(path, write_baseline(findings))
    io.say(
        f"cli-guard: {count(len(findings), 'finding')} written to {BASELINE_FILE}; it applies once it is committed"
    )


@click.pass_obj
def run(io: Io, /, paths: tuple[str, ...], **options: object) -> int:
    shard = Shard.parse(str(options["shard"])) if options["shard"] else None
    if shard and options["write_baseline"]:
        raise UsageError("--write-baseline needs the whole review: omit --shard")
    if paths and (shard or options["write_baseline"]):
        raise UsageError(
            f"--{'shard' if shard else 'write-baseline'} needs the whole review: omit the paths"
        )
    if options["fix"] and (options["format"] != "text" or options["output"]):
        raise UsageError("--fix prints a patch: omit --format and --output")
    request = request_from(io, options)
    if options["fix"] and isinstance(request, Patch):
        raise UsageError("--fix needs the files of a repository: omit --patch")
    with progress(io.stderr) as on_progress:
        review = review_request(
            request,
            io.invocation,
            cache=not options["no_cache"],
            on_progress=on_progress,
            shard=shard,
            paths=paths,
        )
    if options["write_baseline"]:
        write_baseline(io, review)
        return 0
    if options["fix"]:
        from cli_guard.answering.ignoring import Reviewed

        show_patch(io, Reviewed(review.event, review.findings))
        return review.exit_code
    output = str(options["output"]) if options["output"] else None
    within = request if isinstance(request, Range) else None
    format_name = str(options["format"])
    color = str(options["color"])
    verbose = bool(options["verbose"])
    show(io, review, format_name, color, output, verbose=verbose, within=within)
    return review.exit_code


command = Command(
    "review",
    callback=run,
    help="Review a change: what is staged, unless an option names another. With PATH only these files, folders and"
    " globs of it; that is never recorded, and no hook trusts it. Only --write-baseline and --output write a file.",
    params=[
        click.Argument(["paths"], nargs=-1, metavar="[PATH]..."),
        click.Option(
            ["--staged"], is_flag=True, help="What `git commit` would record (the default)."
        ),
        click.Option(
            ["--worktree"],
            is_flag=True,
            help="Everything that differs from HEAD, untracked files included, by the policy of the work tree.",
        ),
        click.Option(
            ["--shard"],
            metavar="K/N",
            help="Review only part K of N, for jobs that share one review.",
        ),
        click.Option(
            ["--no-cache"],
            is_flag=True,
            help="Examine every file again, even if it had no findings before.",
        ),
        click.Option(
            ["--range"],
            metavar="A..B",
            help="The commits in B that are not in A, one by one.",
        ),
        click.Option(["--commit"], metavar="REV", help="One commit."),
        click.Option(["--patch"], metavar="FILE|-", help="A unified diff."),
        REPORT_FORMAT,
        OUTPUT,
        VERBOSE,
        click.Option(
            ["--fix"],
            is_flag=True,
            help="Print a patch of all fixes instead of the report, for `git apply`.",
        ),
        click.Option(
            ["--write-baseline"],
            is_flag=True,
            help="Write the findings to cli-guard-baseline.json.",
        ),
        COLOR,
    ],
)
