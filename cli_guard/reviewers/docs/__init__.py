"""Documentation: what a change leaves undocumented, and comments that no longer match the code.

Python docstrings (Google, NumPy, Sphinx), JSDoc, Go doc comments and Javadoc. All findings are advice.
"""

from itertools import chain
from operator import attrgetter

from cli_guard.model import FileChange, Report, Skipped
from cli_guard.reviewers.docs.mismatch import find_wrong_documentation, review_mismatch
from cli_guard.reviewers.docs.missing import gaps_in, review_missing
from cli_guard.reviewers.docs.sources import may_tell, read_source, read_sources
from cli_guard.reviewers.per_file import NOTHING, Examiner, FileResult
from cli_guard.reviewers.review_input import ReviewInput
from cli_guard.rules import catalog


def examiner(subject: ReviewInput) -> Examiner:
    """Return the function that tells whether a file needs `review`, which compares it with the others."""

    def examine(change: FileChange) -> FileResult:
        source = read_source(subject, change)
        if source is None:
            return NOTHING
        if isinstance(source, Skipped):
            return FileResult(skipped=(source,))
        if not may_tell(source):
            return NOTHING
        told = chain(gaps_in(source), find_wrong_documentation(source))
        documented, could = source.share
        return FileResult(again=next(told, None) is not None, weights=(documented, could))

    return examine


def review(subject: ReviewInput) -> Report:
    """Compare the symbols of every changed source before and after; return findings by path, line and rule."""
    sources, skipped = read_sources(subject)
    if not sources:
        return Report((), tuple(skipped))
    rules = catalog.by_id("docs")
    found = [
        *review_missing(rules["docs-missing"], sources),
        *review_mismatch(rules, sources),
    ]
    return Report(tuple(sorted(found, key=attrgetter("order"))), tuple(skipped))
