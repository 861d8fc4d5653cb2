"""The input of a reviewer. A reviewer is a function `review(subject) -> Report` without side effects."""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import field, fields, replace
from functools import cached_property
from posixpath import dirname
from typing import TYPE_CHECKING

from cli_guard.code.syntax import Trees
from cli_guard.errors import MissingObject
from cli_guard.hooks import event_of
from cli_guard.lazy import dataclass, frozen
from cli_guard.model import (
    ChangeSet,
    CommitMessage,
    Contents,
    FileChange,
    Skipped,
    Status,
    TagMessage,
)
from cli_guard.policy.user_rules import NO_RULES, UserRules
from cli_guard.repository.protocol import (
    Bounds,
    MergeSide,
    NoContents,
    TreeContents,
    WholeTree,
)
from cli_guard.repository.pushes import PushedRef
from cli_guard.reviewers.advice import HookAdvice, sort_reviewers
from cli_guard.reviewers.per_file import FileResult, FileWork
from cli_guard.reviewers.shard import Shard

if TYPE_CHECKING:
    from cli_guard.policy.checks import PlannedCheck
    from cli_guard.policy.decisions import Policy


@frozen
class Limits:
    """The bounds of one review; names and defaults are those of `[limits]` in the configuration.

    `file_chars` and `total_chars` bound what is read, in characters; `advice_ms` what a hook reads for advice.
    """

    files: int = 25_000
    file_chars: int = 5_000_000
    total_chars: int = 50_000_000
    rounds: int = 4
    advice_ms: int = 300

    @property
    def bounds(self) -> Bounds:
        return Bounds(self.files, self.file_chars, self.total_chars)

    @classmethod
    def of(cls, policy: "Policy") -> "Limits":
        every = [config.limits for config in policy.configs]
        names = [each.name for each in fields(cls)]
        return cls(**{name: max(getattr(each, name) for each in every) for name in names})


@dataclass(frozen=True)
class ReviewInput:
    """The change under review.

    `changes` is the whole change (of a range: its two ends compared). `history` are the commits of a range or a push,
    oldest first, empty for a change that is not yet recorded: only they hold what one commit adds and a later one
    removes. `style` is the message style, `checks` are the repository's checks that it needs. `vouched` commits of a
    push may be on the remote already: in them only keys count that the remote has not `published`. Those `elsewhere`
    may have keys, and the remotes `origins` are known to have them: they go to a `new_place`. `idle` reviewers have
    no rule in force; `advice` says which ones only advise. `user_rules` are the repository's own after the change,
    `own_guards` the names that its policy calls protections, `known_statements` kind, name and digest of the
    settings of agents that it knows. `merge_sides` compares a merge with each of its parents. `commit_subject` is that
    of a message that is not reviewed here.
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
    trees: Trees = field(default_factory=Trees)
    work: FileWork | None = None
    shard: Shard | None = None
    checks: "tuple[PlannedCheck, ...]" = ()
    vouched: Collection[ChangeSet] = ()
    elsewhere: Collection[ChangeSet] = ()
    origins: str = ""
    new_place: str = ""
    published: Callable[[str], bool] = lambda _text: False
    idle: frozenset[str] = frozenset()
    advice: HookAdvice = field(default_factory=HookAdvice)
    user_rules: UserRules = NO_RULES
    own_guards: tuple[str, ...] = ()
    known_statements: frozenset[tuple[str, str, str]] = frozenset()
    commit_subject: str = ""
    merge_sides: Callable[[ChangeSet], tuple[MergeSide, ...]] = lambda _merge: ()

    def under(self, policy: "Policy") -> "ReviewInput":
        """Apply a policy's bounds, message style and protected branches; a file with a new role counts as new."""
        from cli_guard.reviewers.new_roles import with_new_roles
        from cli_guard.reviewers.unread import with_decisions

        limits = Limits.of(policy)
        idle, advising = sort_reviewers(policy)
        bounded = (advising, limits.advice_ms) if event_of(self.event).is_hook else ()
        return replace(
            self,
            changes=with_decisions(
                with_new_roles(self.changes, self.contents, policy), self.contents
            ),
            limits=limits,
            idle=idle,
            advice=HookAdvice(advising, *bounded),
            style=policy.message_style,
            own_guards=policy.own_guards,
            known_statements=policy.known_statements,
            protected_branches=policy.protected_branches,
        )

    @property
    def tips(self) -> tuple[str, ...]:
        """Return what names the states after the change: several for a push of several refs, "" is the index."""
        tips = dict.fromkeys(ref.commits.tip for ref in self.pushed if ref.commits)
        if tips or not isinstance(self.contents, TreeContents):
            return tuple(tips)
        return (self.contents.revision,)

    @cached_property
    def _by_path(self) -> Mapping[str, FileChange]:
        return {change.path: change for change in reversed(self.changes.files)}

    def file_at(self, path: str) -> FileChange | None:
        """Return a file after the change, whether it changes or not; None if only changed files can be read."""
        change = self._by_path.get(path)
        if change is None and isinstance(self.contents, WholeTree):
            return FileChange(
                path, Status.MODIFIED, new_blob=self.contents.object_name(path)
            )
        return change

    def text_at(self, path: str) -> str | None:
        """Return the text of a file after the change, None if there is none to read. Raises GitError."""
        change = self.file_at(path)
        with suppress(MissingObject):
            return self.contents.new(change) if change and not change.is_deleted else None
        return None

    def sides_of(
        self, change: FileChange, reviewer: str, most: int
    ) -> tuple[str, str] | Skipped:
        """Return the whole text before and after a change, at most so many characters, or why a reviewer reads none.

        A patch of a new file has all of it.
        """
        old = "" if change.is_new else self.contents.old(change)
        new = "" if change.is_deleted else self.contents.new(change)
        if new is None and len(change.hunks) == 1 and change.status is Status.ADDED:
            new = "\n".join((*change.hunks[0].added, ""))
        if new is None or old is None:
            return Skipped(change.path, f"{reviewer}: whole text not available")
        if max(len(new), len(old)) > most:
            return Skipped(change.path, f"{reviewer}: over {most:,} characters", asks=True)
        return old, new

    def file_result(self, reviewer: str, change: FileChange) -> FileResult | None:
        """Return the result for one file, None if the reviewer has not examined it yet."""
        return self.work.result(reviewer, change) if self.work else None


def folders_above(path: str) -> Iterator[str]:
    """Yield the folder of a path and those above it, nearest first."""
    while path:
        path = dirname(path)
        yield path
