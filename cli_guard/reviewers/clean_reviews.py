"""Skip the reviewers that found nothing in this very change when it was staged.

The cache stores their names alone, under a hash of all that a review of the index depends on. One that has found
something, or has left anything unread, reads the change again.
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import replace

from cli_guard.hooks import event_of
from cli_guard.repository.protocol import TreeContents
from cli_guard.reviewers.cache import Cache
from cli_guard.reviewers.clean_files import hash_change, identity
from cli_guard.reviewers.registry import REVIEWERS
from cli_guard.reviewers.review_input import ReviewInput


class CleanReviews:
    """What the reviews of one change before this one have found nothing in."""

    def __init__(self, cache: Cache, key: bytes) -> None:
        self._cache = cache
        self._key = key

    def recall(self, subject: ReviewInput) -> ReviewInput:
        """Return the subject with the reviewers that found nothing; as it is for a row of another kind."""
        value = self._cache.get([self._key]).get(self._key)
        known = {reviewer.name for reviewer in REVIEWERS}
        try:
            names, left_out = json.loads(value) if value else ((), 0)
            clean = frozenset(known & {*names})
            bounded = subject.advice.bounded - subject.idle
            # Without `work`, each takes its room when it runs: one that does not run would leave more to the others.
            if left_out and not subject.work and not clean >= bounded:
                return replace(subject, clean=clean - bounded)
            advice = replace(subject.advice, known_left_out=int(left_out))
            return replace(subject, clean=clean, advice=advice)
        except (ValueError, TypeError):
            return subject

    def keep(self, names: Iterable[str], subject: ReviewInput) -> None:
        """Store the reviewers that found nothing, and how many files those that advise have left out."""
        row = json.dumps([sorted(names), len(subject.advice.left_out)])
        self._cache.put({self._key: row.encode("ascii")})


def clean_reviews(cache: Cache, subject: ReviewInput, policy: str) -> CleanReviews | None:
    """Return what is known of the change of a commit that is about to be made; None for any other review.

    `policy` identifies the policy in force. The tree before the change and the change itself identify the tree after
    it, in which some reviewers search. A merge is compared with more than that, and checks run each time. A process
    that does not know its own identity yet would take longer to find it out than a review of most changes.
    """
    if (
        not identity.cache_info().currsize
        or not event_of(subject.event).is_before_commit
        or subject.changes.is_merge
        or subject.checks
        or not isinstance(subject.contents, TreeContents)
        or subject.contents.revision
    ):
        return None
    changes = subject.changes
    known = (
        subject.event,
        changes.identity,
        changes.parents,
        changes.people,
        changes.skipped,
        policy,
        subject.user_rules.digest,
        subject.limits,
    )
    digest = hashlib.sha256(identity())
    digest.update(repr(known).encode("utf-8", "backslashreplace"))
    for change in changes:
        hash_change(digest, change)
    return CleanReviews(cache, digest.digest())
