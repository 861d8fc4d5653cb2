"""Which files of a change are compared: those that lose lines, and if a protection went those that gain some.

Loaded for every change, so it imports nothing that parses.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import chain

from cli_guard.code.test_files import has_test_words, is_test_or_example
from cli_guard.model import FileChange, Hunk, group_by
from cli_guard.repository.protocol import MergeSide
from cli_guard.reviewers.review_input import ReviewInput

# A line that may let by, or let in more: it hands a request on (`code.changes.facts.CONTINUING` says whether it does),
# skips a filter, or holds nothing but entries of a list.
OPENING = re.compile(
    r"(?i)\bnext\b.{0,20}\(|\bdofilter\(|\bget_response\(|\(\*args\b|@app\.call\(|^\s*skip_"
    r"|^\s*(?:[\"'`][\w./: *+-]{1,30}[\"'`],?\s?){1,9}$"
)


def takes_lines_away(subject: ReviewInput) -> bool:
    """Return whether any step of a change removes lines that are judged, or may do so as a merge."""
    steps = chain((subject.changes,), subject.history)
    return any(step.is_merge or any(map(may_lose, step)) for step in steps)


def is_judged(change: FileChange) -> bool:
    """Return whether a file is the program itself: no test or example."""
    path = change.path
    is_tested = is_test_or_example(path) or has_test_words(path)
    return change.is_text and not is_tested


def may_lose(change: FileChange) -> bool:
    """Return whether a change removes or alters lines of a file that goes on, or opens what stood before."""
    # Of a copy nothing is gone: what it was copied from still stands.
    if change.is_deleted or change.is_new:
        return False
    return any(hunk.removed or opens(hunk) for hunk in change.hunks) and is_judged(change)


def opens(hunk: Hunk) -> bool:
    return any(OPENING.search(line) for line in hunk.added)


def may_gain(change: FileChange) -> bool:
    """Return whether a change adds lines, where a protection may have moved to."""
    return any(hunk.added for hunk in change.hunks) and is_judged(change)


def own_files(side: MergeSide) -> list[FileChange]:
    """Return what a merge changes of one parent, without what is another's and this one had left alone."""
    taken = {
        (each.path, each.old_blob, each.new_blob) for other in side.others for each in other
    }
    return [c for c in side.changes if (c.path, c.old_blob, c.new_blob) not in taken]


def others_by_path(side: MergeSide) -> Mapping[str, Sequence[FileChange]]:
    """Return how the other parents had changed each file."""
    return group_by(chain.from_iterable(side.others), lambda change: change.path)
