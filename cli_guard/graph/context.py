"""What a run of the graph is given besides its state: the live things, which no checkpoint could hold."""

import datetime
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from cli_guard.git.snapshot import SnapshotContents, changes_between
from cli_guard.graph.state import State
from cli_guard.model import Finding
from cli_guard.policy.approvals import Approval
from cli_guard.policy.decisions import Policy
from cli_guard.policy.suppressions import Answer
from cli_guard.reviewers.inline import InlineAnswers
from cli_guard.reviewers.subject import Limits, Subject
from cli_guard.tools.registry import all_tools
from cli_guard.tools.tool import Tool, World


def no_answer(finding: Finding) -> tuple[Answer, bool] | None:
    """Nothing is answered inline."""
    return None


@dataclass(frozen=True)
class Context:
    """The run context (`context_schema`).

    `contents` are the identities under which approvals count: that of the change, and of each commit of a
    range. `answer` finds the inline suppression that answers a finding. `today` decides what has expired.
    """

    subject: Subject | None = None
    snapshot: Mapping[str, str] = field(default_factory=dict)
    policy: Policy = field(default_factory=Policy)
    tools: Mapping[str, Tool] = field(default_factory=all_tools)
    approvals: tuple[Approval, ...] = ()
    contents: tuple[str, ...] = ()
    answer: Callable[[Finding], tuple[Answer, bool] | None] = no_answer
    today: datetime.date = field(default_factory=lambda: datetime.datetime.now(datetime.UTC).date())
    review_only: bool = True
    clock: Callable[[], float] = time.monotonic

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

    The files of `repo_snapshot` are the change; `metadata["base_snapshot"]` may hold what was there before.
    """
    if given is not None:
        return given
    snapshot = dict(state.get("repo_snapshot") or {})
    base = dict(state.get("metadata", {}).get("base_snapshot") or {})
    changes = changes_between(base, snapshot)
    subject = Subject("snapshot", changes, SnapshotContents(base, snapshot))
    return Context(
        subject=subject,
        snapshot=snapshot,
        contents=(changes.identity,),
        answer=InlineAnswers(subject),
        today=datetime.date.min,  # a fixture gives the same answer on every day
    )
