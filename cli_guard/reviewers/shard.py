"""One part of a review that several jobs share: which files it looks at, and what it looks at as a whole.

Files are split by a hash of their path, so that every job finds the same parts with nobody to ask. What compares files
with each other cannot be split: each such reviewer belongs to one shard, in turn.
"""

import hashlib
from dataclasses import dataclass

from cli_guard.errors import UsageError

# Reviewers for which a file stands by itself.
SPLIT = ("secrets", "code")
# The others, in the order in which shards take them: the dearest first, the cheap ones on the first shard.
WHOLE = ("refactor", "docs", "commands")
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
        """Is a file one of this part's?"""
        digest = hashlib.sha256(path.encode("utf-8", "surrogatepass")).digest()
        return int.from_bytes(digest[:8], "big") % self.of == self.number - 1

    def has_reviewer(self, reviewer: str) -> bool:
        """Is a reviewer that compares files one of this part's?"""
        turn = WHOLE.index(reviewer) + 1 if reviewer in WHOLE else 0
        return turn % self.of == self.number - 1

    def looks(self, reviewer: str, path: str) -> bool:
        """Does a reviewer look at a file in this part?"""
        return self.has_path(path) if reviewer in SPLIT else self.has_reviewer(reviewer)

    def note(self) -> str:
        """What this part does not say, in one line."""
        own = [name for name in (*WHOLE, "message, push and policy") if self.has_reviewer(name)]
        also = f"; as a whole: {', '.join(own)}" if own else ""
        part = f"shard {self.number} of {self.of}: {' and '.join(SPLIT)} in its files alone{also}"
        return f"{part}; the rest is with the others" if self.of > 1 else part
