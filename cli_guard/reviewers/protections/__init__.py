"""The reviewer of protections: what a change takes away, and what it weakens.

`judged_files` says which files matter, `steps` which two states are compared, `judging` compares them with
`code.changes`; `families` says which facts are protections, `losses` which of them are really gone, `weakenings` which
became weaker, `warnings` where words of attack went along; `findings` shows both states.
"""

from cli_guard.model import Report
from cli_guard.reviewers.protections.judged_files import takes_lines_away
from cli_guard.reviewers.review_input import ReviewInput

__all__ = ["review"]


def review(subject: ReviewInput) -> Report:
    """Return a finding for each protection that the change removes or weakens, of a range by its commits."""
    if not takes_lines_away(subject):
        return Report()
    # Most changes of one file, and all that only add, need none of it.
    from cli_guard.reviewers.protections.steps import review_steps

    return review_steps(subject)
