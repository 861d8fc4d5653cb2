"""`cli-guard verify`: check, where the author has no hands, that a range is clean or approved."""

import click

from cli_guard.approvals.storage import Notes
from cli_guard.cli.app import COLOR, Command, option
from cli_guard.cli.io import Io
from cli_guard.cli.review import OUTPUT, REPORT_FORMAT, show
from cli_guard.errors import CliGuardError, ExitCode, GitError, UsageError
from cli_guard.git.notes import REF
from cli_guard.model import Decision
from cli_guard.review.render.words import count
from cli_guard.review.request import Range, parse_range
from cli_guard.review.run import ReviewOptions, empty_review, never, review_request
from cli_guard.secrets.printable import printable
from cli_guard.secrets.redact import redact


@click.pass_obj
def run(io: Io, /, range: str, format: str, output: str | None, color: str) -> int:
    """Review a range; only what is signed answers its findings."""
    asked = parse_range(range)
    try:
        repository = io.find_repository()
        request = Range(
            repository.exact(asked.base), repository.exact(asked.head), "verify"
        )
        if repository.is_cut(request.base, request.head):
            raise GitError(
                "this clone does not have all commits of the range: run `git fetch --unshallow`"
            )
        review = empty_review(request, repository) or review_request(
            request,
            io.invocation,
            ReviewOptions(uses_cache=False, records=never, storages=(Notes(repository),)),
            repository,
        )
    except UsageError:
        raise
    except CliGuardError as error:
        io.warn(f"cli-guard: cannot be verified: {printable(redact(str(error)))}")
        return ExitCode.USAGE
    show(io, review, format, color, output, within=request)
    if format == "text" and not output and review.decision is Decision.ALLOW:
        approved = sum(each.by == "approval" for each in review.suppressed)
        more = f"; {count(approved, 'finding')} approved" if approved else ""
        io.say(f"cli-guard: verified{more}")
    if review.decision is Decision.REVIEW:
        io.warn(
            f"cli-guard: not verified: a signer approves it with `cli-guard review --range {printable(range)}` and"
            f" `cli-guard approve ID`, and pushes {REF}; `cli-guard signers fetch` gets what others have pushed"
        )
    return review.exit_code


command = Command(
    "verify",
    callback=run,
    help="Verify a range: every finding that needs a person must have a signed approval at the level that policy wants."
    " Policy and signers are those of the base, never those that the range brings. Exit codes: 0 verified, 3 approvals"
    " are missing or refused, 1 something must be fixed, 2 it cannot be verified.",
    params=[
        option(
            "--range",
            "BASE..HEAD",
            "The commits in HEAD that are not in BASE.",
            required=True,
        ),
        REPORT_FORMAT,
        OUTPUT,
        COLOR,
    ],
)
