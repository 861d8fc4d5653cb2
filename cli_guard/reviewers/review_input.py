"""What a reviewer is given. A reviewer is a function `review(subject) -> Report`, free of side effects."""

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from cli_guard.code.syntax import Trees
from cli_guard.model import ChangeSet, CommitMessage, Contents, FileChange, NoContents, PushedRef, TagMessage
from cli_guard.reviewers.per_file import FileResult, FileWork
from cli_guard.reviewers.shard import Shard

if TYPE_CHECKING:
    from cli_guard.policy.checks import PlannedCheck
    from cli_guard.policy.decisions import Policy


@dataclass(frozen=True)
class Limits:
    """The bounds of one review; names and defaults are those of `[limits]` in the configuration.

    `file_chars` and `total_chars` bound what is read, in characters; `seconds` is the time that a
    reviewer may spend on one file before it gives up and says so.
    """

    files: int = 25_000
    file_chars: int = 5_000_000
    total_chars: int = 50_000_000
    rounds: int = 4
    seconds: float = 5.0

    @classmethod
    def of(cls, policy: "Policy") -> "Limits":
        """The bounds that a policy sets."""
        return cls(**policy.config.limits.model_dump())


@dataclass(frozen=True)
class ReviewInput:
    """The thing under review.

    `changes` is the change as a whole (of a range: its two ends compared). `history` are the commits of
    a range or a push, oldest first, empty for a change that is not yet recorded: what was added in one
    and removed in a later one is there and nowhere else. `style` is the message style to apply, `checks` are
    those of the repository that it needs.
    """

    event: str
    changes: ChangeSet
    contents: Contents = field(default_factory=NoContents)
    history: Collection[ChangeSet] = ()
    message: CommitMessage | None = None
    pushed: tuple[PushedRef, ...] = ()
    limits: Limits = field(default_factory=Limits)
    style: str = "plain"
    protected_branches: tuple[str, ...] = ("main", "master", "release/*")
    tags: tuple[TagMessage, ...] = ()
    clock: Callable[[], float] = time.monotonic
    trees: Trees = field(default_factory=Trees)
    work: FileWork | None = None
    shard: Shard | None = None
    checks: "tuple[PlannedCheck, ...]" = ()

    def under(self, policy: "Policy") -> "ReviewInput":
        """The subject with the bounds, the message style and the branches that a policy sets."""
        return replace(
            self,
            limits=Limits.of(policy),
            style=policy.message_style,
            protected_branches=policy.protected_branches,
        )

    def file_result(self, reviewer: str, change: FileChange) -> FileResult | None:
        """What a reviewer made of one file already, None if it has not looked at it yet."""
        return self.work.result(reviewer, change) if self.work else None
