"""What the refactor reviewer says of one file."""

from reviewers.docs.before_after import subject_of

from cli_guard.model import Finding
from cli_guard.reviewers.refactor import review


def found(path: str, after: str, before: str = "") -> list[Finding]:
    """The findings on one file."""
    return list(
        review(subject_of({path: before} if before else {}, {path: after})).findings
    )
