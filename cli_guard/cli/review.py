"""`cli-guard review`: review a change by hand."""

from contextlib import nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli_guard.cli.app import COLOR, Command, flag, format_option, option
from cli_guard.cli.io import Io
from cli_guard.cli.progress import progress
from cli_guard.errors import NotARepository, UsageError
from cli_guard.model import Decision
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
from cli_guard.review.run import ReviewOptions, review_request
from cli_guard.reviewers.shard import Shard

if TYPE_CHECKING:
    from cli_guard.answering.ignoring import Reviewed

SELECTORS = ("staged", "worktree", "range", "commit", "patch")
MOST_OF_PART = 200_000_000


REPORT_FORMAT = format_option(FORMATS)
VERBOSE = flag("--verbose -v", "Show all advice, plans and times.")
OUTPUT = option(
    "--output -o", "FILE", "Write the report to this file instead of printing it."
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


def join_parts(io: Io, names: tuple[str, ...], options: dict[str, object]) -> Review:
    """Read the reports of `review --shard` jobs and join them to the whole review. Raises UsageError."""
    from cli_guard.report.parts import join_shards, read_parts

    given = [*SELECTORS, "shard", "no_cache", "write_baseline", "fix"]
    if foreign := next((name for name in given if options[name]), None):
        raise UsageError(
            f"--join reads reports and reviews nothing: omit --{foreign.replace('_', '-')}"
        )
    if not names:
        raise UsageError("--join needs the reports: name each file")
    found: dict[str, Review] = {}
    for name in names:
        try:
            with io.path(name).open("rb") as file:
                content = file.read(MOST_OF_PART)  # what is cut off there is no JSON
        except OSError as error:
            raise UsageError(f"{name} cannot be read: {error.strerror}") from error
        for number, part in enumerate(read_parts(name, content), 1):
            is_new = number == 1 and name not in found
            found[name if is_new else f"{name} (run {number})"] = part
    return join_shards(found)


def review_selected(
    io: Io, request: Request, paths: tuple[str, ...], options: dict[str, object]
) -> Review:
    """Review the change that the options select. Raises UsageError, CliGuardError."""
    shard = Shard.parse(str(options["shard"])) if options["shard"] else None
    if shard and options["write_baseline"]:
        raise UsageError("--write-baseline needs the whole review: omit --shard")
    if paths and (shard or options["write_baseline"]):
        raise UsageError(
            f"--{'shard' if shard else 'write-baseline'} needs the whole review: omit the paths"
        )
    with nullcontext() if options["quiet"] else progress(io.stderr) as on_progress:
        return review_request(
            request,
            io.invocation,
            ReviewOptions(
                uses_cache=not options["no_cache"],
                on_progress=on_progress,
                shard=shard,
                paths=paths,
            ),
        )


@click.pass_obj
def run(io: Io, /, paths: tuple[str, ...], **options: object) -> int:
    if options["quiet"] and options["verbose"]:
        raise UsageError("--quiet and --verbose exclude each other: give one of them")
    if options["fix"] and (options["format"] != "text" or options["output"]):
        raise UsageError("--fix prints a patch: omit --format and --output")
    within = None
    if options["join"]:
        review = join_parts(io, paths, options)
    else:
        request = request_from(io, options)
        if options["fix"] and isinstance(request, Patch):
            raise UsageError("--fix needs the files of a repository: omit --patch")
        within = request if isinstance(request, Range) else None
        review = review_selected(io, request, paths, options)
    if options["write_baseline"]:
        write_baseline(io, review)
        return 0
    if options["fix"]:
        from cli_guard.answering.ignoring import Reviewed

        show_patch(io, Reviewed(review.event, review.findings))
        return 0 if options["exit_zero"] else review.exit_code
    output = str(options["output"]) if options["output"] else None
    format_name = str(options["format"])
    passes = review.decision is Decision.ALLOW
    is_kept_back = options["quiet"] and passes and format_name == "text" and not output
    if within and review.findings and format_name in ("text", "html"):
        # The other formats name no commit, and to find it takes a Git process a finding.
        from cli_guard.report.page.history import find_origins

        origins = find_origins(io.find_repository(), review, within)
        review = replace(review, origins=origins)
    if not is_kept_back:
        color = str(options["color"])
        verbose = bool(options["verbose"])
        # What a person asked to be quiet about is cut as a hook cuts it.
        brief = bool(options["quiet"])
        text = {"verbose": verbose, "brief": brief}
        show(io, review, format_name, color, output, within=within, **text)
    return 0 if options["exit_zero"] else review.exit_code


command = Command(
    "review",
    callback=run,
    help="Review a change: what is staged, unless an option names another. With PATH only these files, folders and"
    " globs of it; that is never recorded, and no hook trusts it. Exit codes: 0 nothing stops, 1 something must be"
    " fixed, 3 something needs approval, 2 it could not be reviewed.",
    params=[
        click.Argument(["paths"], nargs=-1, metavar="[PATH]..."),
        flag("--staged", "What `git commit` would record (the default)."),
        flag(
            "--join",
            "Join the reports of all `--shard` jobs (json or sarif), given as PATHs. A part that is missing,"
            " there twice, or of another range, policy or version of cli-guard is an error.",
            rare=True,
        ),
        flag(
            "--worktree",
            "Everything that differs from HEAD, untracked files included, by the policy of the work tree.",
        ),
        option(
            "--shard",
            "K/N",
            "Review only part K of N, for jobs that share one review.",
            rare=True,
        ),
        flag(
            "--no-cache",
            "Examine every file again, even if it had no findings before.",
            rare=True,
        ),
        option(
            "--range",
            "A..B",
            "The commits in B that are not in A, one by one; A...B is the same.",
        ),
        option("--commit", "REV", "One commit."),
        option("--patch", "FILE|-", "A unified diff."),
        REPORT_FORMAT,
        OUTPUT,
        VERBOSE,
        flag("--fix", "Print a patch of all fixes instead of the report, for `git apply`."),
        flag("--quiet -q", "Print nothing if nothing stops, and no progress."),
        flag("--exit-zero", "Exit with 0 whatever is found; an error is still one."),
        flag(
            "--write-baseline", "Write the findings to cli-guard-baseline.json.", rare=True
        ),
        COLOR,
    ],
)
