"""Report the repository's checks that will not run: the user has not trusted them, or nobody could."""

from cli_guard.model import Finding, Report, group_by
from cli_guard.policy.checks import PlannedCheck
from cli_guard.reviewers.review_input import ReviewInput
from cli_guard.rules.catalog import one


def review(subject: ReviewInput) -> Report:
    """Return a finding for each untrusted table of checks, and for each trusted check that may never run."""
    untrusted = (check for check in subject.checks if not check.trusted)
    tables = group_by(untrusted, lambda check: check.digest)
    denied = (
        report_not_run(check, f"its command may never run: {check.denied}")
        for check in subject.checks
        if check.trusted and check.denied
    )
    return Report((*map(report_untrusted, tables.values()), *denied))


def report_untrusted(checks: list[PlannedCheck]) -> Finding:
    """Build the finding about a table of checks that the user has not trusted."""
    first = checks[0]
    names = ", ".join(dict.fromkeys(check.name for check in checks))
    where = f" --rev {first.revision[:12]}" if first.revision else ""
    return one("checks", "push-check-untrusted").finding(
        message=f"the checks of this repository are new or have changed, and have not run ({names}): `cli-guard trust"
        f" --checks{where}` shows their commands, and asks whether they may run as you, with the code that is"
        " committed or pushed",
        content=f"{first.digest} {first.tree}",
    )


def report_not_run(check: PlannedCheck, reason: str) -> Finding:
    """Build the finding about a check that gave no result."""
    return one("checks", "push-check-not-run").finding(
        message=f"the check {check.name} did not run: {reason}",
        subject=check.name,
        content=check.tree,
    )
