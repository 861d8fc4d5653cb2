"""What a run of the graph is given besides its state: the live things, which no checkpoint could hold."""

import datetime
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from cli_guard.git.between import SnapshotContents, changes_between
from cli_guard.graph.state import State
from cli_guard.model import ChangeSet, FileChange, Finding, Skipped
from cli_guard.policy.approvals import Approval, RecordedContent
from cli_guard.policy.decisions import Policy
from cli_guard.policy.suppressions import Answer
from cli_guard.reviewers.inline import InlineAnswers
from cli_guard.reviewers.subject import Limits, Subject
from cli_guard.tools.registry import all_tools
from cli_guard.tools.tool import Tool, World

if TYPE_CHECKING:
    from cli_guard.policy.commands import Context as CommandContext


def no_answer(finding: Finding) -> tuple[Answer, bool] | None:
    """Nothing is answered inline."""
    return None


@dataclass(frozen=True)
class Context:
    """The run context (`context_schema`).

    `commits` are those of a range, for approvals given before they were recorded. `answer` finds the inline
    suppression that answers a finding. `today` decides what has expired. `commands` is where a command that a
    tool carries would run.
    """

    subject: Subject | None = None
    snapshot: Mapping[str, str] = field(default_factory=dict)
    policy: Policy = field(default_factory=Policy)
    tools: Mapping[str, Tool] = field(default_factory=all_tools)
    approvals: tuple[Approval, ...] = ()
    commits: tuple[RecordedContent, ...] = ()
    answer: Callable[[Finding], tuple[Answer, bool] | None] = no_answer
    today: datetime.date = field(default_factory=lambda: datetime.datetime.now(datetime.UTC).date())
    review_only: bool = True
    commands: "CommandContext | None" = None

    @property
    def limits(self) -> Limits:
        """The bounds in force."""
        return self.subject.limits if self.subject else Limits()

    @property
    def world(self) -> World:
        """What the tools may look at."""
        return World(self.subject, self.snapshot)


def context_of(given: Context | None, state: State) -> Context:
    """The context given, or one over the in-memory snapshot of the state alone: no Git, no files, no network.

    A context without a subject and a snapshot (a policy or tools alone, or what Studio makes of nothing) gets
    those of the state. The files of `repo_snapshot` are the change; `metadata["base_snapshot"]` may hold what
    was there before.
    """
    if given is not None and (given.subject or given.snapshot):
        return given
    # A fixture gives the same answer on every day.
    context = given or Context(today=datetime.date.min)
    snapshot = dict(state.get("repo_snapshot") or {})
    base = dict((state.get("metadata") or {}).get("base_snapshot") or {})
    changes = bounded(changes_between(base, snapshot), snapshot, Limits.of(context.policy))
    subject = Subject("snapshot", changes, SnapshotContents(base, snapshot)).under(context.policy)
    return replace(
        context,
        subject=subject,
        snapshot=snapshot,
        answer=InlineAnswers(subject),
    )


def bounded(changes: ChangeSet, snapshot: Mapping[str, str], limits: Limits) -> ChangeSet:
    """The changes within the bounds; what is left out is named."""
    kept: list[FileChange] = []
    skipped: list[Skipped] = []
    total = 0
    for change in changes:
        chars = len(snapshot.get(change.path, ""))
        if len(kept) >= limits.files:
            limit = f"{limits.files:,} files (limits.files)"
        elif chars > limits.file_chars:
            limit = f"{limits.file_chars:,} characters (limits.file_chars)"
        elif total + chars > limits.total_chars:
            limit = f"{limits.total_chars:,} characters in all (limits.total_chars)"
        else:
            total += chars
            kept.append(change)
            continue
        skipped.append(Skipped(change.path, f"over the limit of {limit}", by_limit=True))
    return replace(changes, files=tuple(kept), skipped=tuple(skipped))
