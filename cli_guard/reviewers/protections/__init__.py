"""The reviewer of protections: what a change takes away, and what it weakens.

`judging` compares the two states of the files that the change alters, with `code.changes`; `families` says which facts
are protections, `losses` which of them are really gone, `weakenings` which became weaker, `warnings` where words of
attack went along, `asking` which losses ask for a person; `findings` shows both states.
"""

from cli_guard.code.test_files import has_test_words, is_test_or_example
from cli_guard.model import FileChange, Kind, Report, Status
from cli_guard.reviewers.review_input import ReviewInput

__all__ = ["review"]


def review(subject: ReviewInput) -> Report:
    """Return a finding for each protection that the change removes or weakens."""
    losing = [change for change in subject.changes if may_lose(change)]
    if not losing:
        return Report()
    # Most changes of one file, and all that only add, need none of it.
    from cli_guard.reviewers.protections.judging import judge

    gaining = [change for change in subject.changes if may_gain(change)]
    return judge(subject, losing, [each for each in gaining if each not in losing])


def is_judged(change: FileChange) -> bool:
    """Return whether a file is the program itself: no test or example."""
    path = change.path
    is_tested = is_test_or_example(path) or has_test_words(path)
    return change.kind is Kind.TEXT and not is_tested


def may_lose(change: FileChange) -> bool:
    """Return whether a change removes or alters lines of a file that goes on."""
    ends = change.status in (Status.DELETED, Status.ADDED)
    return not ends and any(hunk.removed for hunk in change.hunks) and is_judged(change)


def may_gain(change: FileChange) -> bool:
    """Return whether a change adds lines, where a protection may have moved to."""
    return any(hunk.added for hunk in change.hunks) and is_judged(change)
