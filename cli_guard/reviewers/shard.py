"""One part of a review that several jobs share: which files it looks at, and what it looks at as a whole.

Files are split by a hash of their path, so that the jobs need not agree on the parts. What compares files with each
other cannot be split: each such reviewer belongs to one shard, in turn.
"""

import hashlib
from dataclasses import dataclass

from cli_guard.errors import UsageError
from cli_guard.reviewers.registry import REVIEWERS, Scope, reviewer_of

MOST = 1_000


@dataclass(frozen=True, slots=True)
class Shard:
    """Part `number` (from 1) of `of` parts."""

    number: int
    of: int

    @classmethod
    def parse(cls, text: str) -> "Shard":
        """Reads `3/8`. Raises UsageError."""
        number, slash, of = text.partition("/")
        plain = all(
            part.isascii() and part.isdigit() and len(part) <= len(str(MOST)) for part in (number, of)
        )
        if not slash or not plain or not 1 <= int(number) <= int(of) <= MOST:
            raise UsageError(
                f"--shard {text!r} is no part: write 1/8 for the first of eight (at most {MOST:,})"
            )
        return cls(int(number), int(of))

    def has_path(self, path: str) -> bool:
        """Does a file belong to this part?"""
        digest = hashlib.sha256(path.encode("utf-8", "surrogatepass")).digest()
        return int.from_bytes(digest[:8], "big") % self.of == self.number - 1

    def has_reviewer(self, reviewer: str) -> bool:
        """Does a reviewer that sees all files, or the change as a whole, run in this part?"""
        in_turn = comparing()
        turn = in_turn.index(reviewer) + 1 if reviewer in in_turn else 0
        return turn % self.of == self.number - 1

    def has_file(self, reviewer: str, path: str) -> bool:
        """Does a reviewer look at a file in this part?"""
        if reviewer_of(reviewer).scope is Scope.FILE:
            return self.has_path(path)
        return self.has_reviewer(reviewer)

    def runs(self, reviewer: str) -> bool:
        """Has a reviewer anything to do in this part?"""
        return reviewer_of(reviewer).scope is Scope.FILE or self.has_reviewer(reviewer)

    def note(self) -> str:
        """What this part does not say, in one line."""
        split = (each.name for each in REVIEWERS if each.scope is Scope.FILE)
        own = [name for name in (*comparing(), "message, push and policy") if self.has_reviewer(name)]
        also = f"; as a whole: {', '.join(own)}" if own else ""
        part = f"shard {self.number} of {self.of}: {' and '.join(split)} in its files alone{also}"
        return f"{part}; the rest is with the others" if self.of > 1 else part


def comparing() -> tuple[str, ...]:
    """The reviewers that compare files, in the order in which shards take them: the slowest, listed last, first."""
    return tuple(each.name for each in reversed(REVIEWERS) if each.scope is Scope.FILES)
