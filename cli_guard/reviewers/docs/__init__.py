"""Documentation: what a change adds without it, and what it leaves behind that no longer holds.

Python docstrings (Google, NumPy, Sphinx), JSDoc, Go doc comments and Javadoc. Everything here is advice.
"""

from cli_guard.model import Report
from cli_guard.reviewers.docs.mismatch import review_mismatch
from cli_guard.reviewers.docs.missing import review_missing
from cli_guard.reviewers.docs.sources import read_sources
from cli_guard.reviewers.docs.stale import review_stale_names
from cli_guard.reviewers.subject import Subject
from cli_guard.rules import catalog


def review(subject: Subject) -> Report:
    """Compare the symbols of every changed source before and after; findings by path, line and rule."""
    sources, skipped = read_sources(subject)
    if not sources:
        return Report((), tuple(skipped))
    rules = {rule.id: rule for rule in catalog.load("docs")}
    found = [
        *review_missing(rules["docs-missing"], sources),
        *review_mismatch(rules, sources),
        *review_stale_names(rules["docs-name-stale"], sources),
    ]
    return Report(tuple(sorted(found, key=lambda f: (f.path, f.line or 0, f.rule))), tuple(skipped))
