"""One part of a review divided among several jobs: the files and the reviewers of this part.

Files are divided by a hash of their path, so that the jobs need no coordination. A reviewer that compares files cannot
be divided: each belongs to one shard, in turn.
"""

import hashlib

from cli_guard.errors import UsageError
from cli_guard.lazy import frozen
from cli_guard.reviewers.registry import REVIEWERS, ReviewScope, reviewer_of

MOST = 1_000


@frozen
class Shard:
    """Part `number` (from 1) of `of` parts."""

    number: int
    of: int

    @classmethod
    def parse(cls, text: str) -> "Shard":
        """Parse `3/8`. Raises UsageError."""
        number, slash, of = text.partition("/")
        plain = all(
            part.isascii() and part.isdigit() and len(part) <= len(str(MOST))
            for part in (number, of)
        )
        if not slash or not plain or not 1 <= int(number) <= int(of) <= MOST:
            raise UsageError(
                f"--shard {text!r} is not a shard: write 1/8 for the first of eight (at most {MOST:,})"
            )
        return cls(int(number), int(of))

    def has_path(self, path: str) -> bool:
        """Return whether a file belongs to this part."""
        digest = hashlib.sha256(path.encode("utf-8", "surrogatepass")).digest()
        return int.from_bytes(digest[:8], "big") % self.of == self.number - 1

    def has_reviewer(self, reviewer: str) -> bool:
        """Return whether a reviewer that sees all files, or the change as a whole, runs in this part."""
        in_turn = comparing()
        turn = in_turn.index(reviewer) + 1 if reviewer in in_turn else 0
        return turn % self.of == self.number - 1

    def has_file(self, reviewer: str, path: str, *, is_packed: bool = False) -> bool:
        """Return whether a reviewer examines a file in this part; those that may be packed share one budget."""
        if reviewer_of(reviewer).scope is ReviewScope.FILE and not (
            is_packed and reviewer == "secrets"
        ):
            return self.has_path(path)
        return self.has_reviewer(reviewer)

    def runs(self, reviewer: str) -> bool:
        """Return whether a reviewer has anything to do in this part."""
        return reviewer_of(reviewer).scope is ReviewScope.FILE or self.has_reviewer(
            reviewer
        )

    def note(self) -> str:
        """Say in one line what this part leaves out."""
        split = (each.name for each in REVIEWERS if each.scope is ReviewScope.FILE)
        own = [
            name
            for name in (*comparing(), "dependencies, drift, message, push and policy")
            if self.has_reviewer(name)
        ]
        also = f"; as a whole: {', '.join(own)}" if own else ""
        part = f"shard {self.number} of {self.of}: {' and '.join(split)} in its files alone{also}"
        return f"{part}; other shards review the rest" if self.of > 1 else part


def comparing() -> tuple[str, ...]:
    """Return the reviewers that compare files, in the order of the shards: the slowest, listed last, first."""
    return tuple(
        each.name for each in reversed(REVIEWERS) if each.scope is ReviewScope.FILES
    )
