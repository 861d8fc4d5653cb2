"""The reviewer of protections: what a change takes away, and what it weakens.

`judged_files` says which files matter, `steps` which two states are compared, `judging` compares them with
`code.changes`; `families` says which facts are protections, `losses` which of them are really gone (`plain_guards`:
guards of no family, by how they refused), `replacements` what came in their place, `weakenings` which became weaker
(`memory`: sizes and pointers, `exceptions`: who is let by, `unasked`: answers that nobody asks for), `warnings` where
words of attack went along and what the check says of itself, `asking` which losses ask for a person, with `bare` (the
value is used without the check now); `findings` shows both states. `marks` are what is known of a file that is not read
again.
"""

from cli_guard.model import FileChange, Report
from cli_guard.reviewers.per_file import NOTHING, Examiner, FileResult
from cli_guard.reviewers.protections.judged_files import may_lose, takes_lines_away
from cli_guard.reviewers.review_input import ReviewInput

__all__ = ["examiner", "review"]

# Facts and lines of units that are kept until all files are compared together; beyond it a file is compared again.
MOST_KEPT = 300_000


def examiner(subject: ReviewInput) -> Examiner:
    """Return the function that says which families one file touches; `review` compares the files that matter."""
    room = MOST_KEPT

    def examine(change: FileChange) -> FileResult:
        nonlocal room
        if not may_lose(change):
            return NOTHING
        from cli_guard.reviewers.protections.judging import compare, marks_of

        file = compare(subject, change)
        room -= file.size
        kept = file if room > 0 else None
        return FileResult(weights=marks_of(subject, file).numbers, made=kept)

    return examine


def review(subject: ReviewInput) -> Report:
    """Return a finding for each protection that the change removes or weakens, of a range by its commits."""
    if not takes_lines_away(subject):
        return Report()
    # Most changes of one file, and all that only add, need none of it.
    from cli_guard.reviewers.protections.steps import review_steps

    return review_steps(subject)
