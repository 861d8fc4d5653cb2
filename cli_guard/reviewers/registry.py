"""The list of reviewers, read by planning, the tools of the graph, sharding, per-file work and its cache.

A new reviewer is a module `cli_guard/reviewers/NAME.py` (or a folder) with `review(subject) -> Report`, its rules in
`cli_guard/rules/NAME.toml` (or a folder), and one line in `REVIEWERS`.
"""

from collections.abc import Callable
from enum import StrEnum
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from cli_guard.hooks import MESSAGE, event_of
from cli_guard.lazy import frozen

if TYPE_CHECKING:
    from cli_guard.model import Report
    from cli_guard.reviewers.per_file import Examiner
    from cli_guard.reviewers.review_input import ReviewInput
    from cli_guard.rules.catalog import Rule


class ReviewScope(StrEnum):
    """What a reviewer has to see at once, which decides how its work may be divided.

    A reviewer of `FILE` or `FILES` has `examiner(subject)`, see `cli_guard.reviewers.per_file`.
    """

    FILE = "file"
    """Each file stands by itself: its files are divided among the shards."""
    FILES = "files"
    """Files are examined one by one and then compared: one shard has all of them."""
    CHANGE = "change"
    """Only the change as a whole: the first shard has it."""


class Needs(StrEnum):
    """What a change must contain for a reviewer to be planned."""

    NOTHING = "nothing"
    FILES = "files"
    STEPS = "steps"
    """Files, or commits and merges that take each other's lines back."""
    MESSAGES = "messages"
    PUSH = "push"
    CHECKS = "checks"


@frozen
class Reviewer:
    """One reviewer. The ids of its rules begin with `prefix`; `on_message`: it also runs in the commit-msg hook."""

    name: str
    summary: str
    prefix: str
    scope: ReviewScope = ReviewScope.CHANGE
    needs: Needs = Needs.FILES
    on_message: bool = False
    # By default its findings stop nothing, and it never raises the severity of a rule.
    advises: bool = False

    @property
    def rules(self) -> "tuple[Rule, ...]":
        """Read its rules from `rules/NAME.toml` or the folder `rules/NAME`."""
        from cli_guard.rules.catalog import load

        return load(self.name)

    @property
    def _module(self) -> ModuleType:
        return import_module(f"cli_guard.reviewers.{self.name}")

    @property
    def review(self) -> "Callable[[ReviewInput], Report]":
        """Run its `review`; the module is imported at the first use."""
        function: Callable[[ReviewInput], Report] = self._module.review
        return function

    def examiner(self, subject: "ReviewInput") -> "Examiner":
        """Return the function that examines one file of a change."""
        examine: Examiner = self._module.examiner(subject)
        return examine

    def is_needed(self, subject: "ReviewInput", *, has_paths: bool) -> bool:
        """Return whether the change concerns it. `has_paths`: there are files to examine."""
        if self.name in subject.idle:
            return False
        if event_of(subject.event).request == MESSAGE:
            return self.on_message
        present = {
            Needs.NOTHING: True,
            Needs.FILES: has_paths,
            Needs.STEPS: has_paths or bool(subject.history) or subject.changes.is_merge,
            Needs.MESSAGES: bool(subject.message or subject.history),
            Needs.PUSH: bool(subject.pushed),
            Needs.CHECKS: bool(subject.checks),
        }
        return present[self.needs]


# In the order in which they run and report.
REVIEWERS = (
    Reviewer(
        "secrets",
        "credentials in added lines, file names, messages and every commit of a push",
        prefix="secret-",
        scope=ReviewScope.FILE,
        needs=Needs.NOTHING,
        on_message=True,
    ),
    Reviewer(
        "code",
        "risky constructs, conflict markers, debug leftovers, large and newly executable files",
        prefix="code-",
        scope=ReviewScope.FILE,
    ),
    Reviewer(
        "protections",
        "checks, escapes and hardening that the change takes away or weakens",
        prefix="protection-",
        scope=ReviewScope.FILES,
        needs=Needs.STEPS,
    ),
    Reviewer(
        "agents",
        "what coding agents and editors obey or start: hooks, permissions, servers, traffic, text",
        prefix="agent-",
    ),
    Reviewer(
        "commands",
        "shell commands added to scripts, CI files, images, makefiles and settings",
        prefix="command-",
        scope=ReviewScope.FILES,
    ),
    Reviewer(
        "dependencies",
        "what manifests, lock files and package managers' settings bring in, and from where",
        prefix="deps-",
    ),
    Reviewer(
        "docs",
        "public functions and classes whose documentation is missing or no longer true",
        prefix="docs-",
        scope=ReviewScope.FILES,
        advises=True,
    ),
    Reviewer(
        "drift",
        "documents, comments and workflows that the change makes false without touching them",
        prefix="docs-drift-",
        advises=True,
    ),
    Reviewer(
        "refactor",
        "functions that the change pushes over a limit, and blocks that it adds twice",
        prefix="refactor-",
        scope=ReviewScope.FILES,
        advises=True,
    ),
    Reviewer(
        "policy",
        "changes that weaken the policy, remove hooks or add suppressions",
        prefix="policy-",
    ),
    Reviewer(
        "message",
        "the form of commit messages, and messages that contradict their change",
        prefix="message-",
        needs=Needs.MESSAGES,
        on_message=True,
    ),
    Reviewer(
        "push",
        "forced and deleted branches that are protected",
        prefix="push-",
        needs=Needs.PUSH,
    ),
    Reviewer(
        "checks",
        "checks of the repository that are not trusted yet, or that may never run",
        prefix="push-",
        needs=Needs.CHECKS,
    ),
)


def reviewer_of(name: str) -> Reviewer:
    """Return the reviewer of this name. Raises StopIteration if there is none, which is a bug."""
    return next(reviewer for reviewer in REVIEWERS if reviewer.name == name)


def examining() -> tuple[Reviewer, ...]:
    """Return the reviewers that can examine one file at a time."""
    return tuple(
        reviewer for reviewer in REVIEWERS if reviewer.scope is not ReviewScope.CHANGE
    )
