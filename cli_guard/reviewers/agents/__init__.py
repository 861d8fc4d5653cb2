"""What coding agents and editors obey or start when a repository brings it: settings, servers, plugins and text.

`agent_paths` beside this folder says which files matter, `tables` what tools read in them. `reading` and `statements`
turn both states of a file into statements; `starts`, `permissions`, `servers` and `traffic` judge those that are new or
changed. `markdown`, `hidden` and `orders` read the texts that agents obey, which `obeyed` judges. `judging` brings
all together and `findings` puts it into words.
"""

from cli_guard.model import Report
from cli_guard.reviewers.agent_paths import may_be_obeyed
from cli_guard.reviewers.review_input import ReviewInput

__all__ = ["review"]


def review(subject: ReviewInput) -> Report:
    """Return the findings on what a change has agents and editors obey or start, by path, line and rule."""
    changes = [change for change in subject.changes if may_be_obeyed(change)]
    if not changes:
        return Report()
    # Most changes hold no such file, and need nothing of what reads and judges one.
    from cli_guard.reviewers.agents.judging import review_files

    return review_files(subject, changes)
