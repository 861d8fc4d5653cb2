"""What a run of the graph is given besides its state: the live things, which no checkpoint could hold."""

import datetime
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from cli_guard.git.between import SnapshotContents, changes_between
from cli_guard.graph.state import State
from cli_guard.graph.tools.registry import all_tools
from cli_guard.graph.tools.tool import Checker, Runner, Tool, World, Writer
from cli_guard.model import Action, ChangeSet, FileChange, Finding, Skipped
from cli_guard.policy.decisions import Policy
from cli_guard.policy.suppressions import Answer
from cli_guard.reviewers.inline import InlineAnswers
from cli_guard.reviewers.review_input import Limits, ReviewInput
from cli_guard.state.approvals import Approval, RecordedContent

if TYPE_CHECKING:
    from cli_guard.assistant.retrieval import SearchResult
    from cli_guard.assistant.sandbox import Shell
    from cli_guard.commands import Context as CommandContext


def no_answer(finding: Finding) -> tuple[Answer, bool] | None:
    """Nothing is answered inline."""
    return None


Planner = Callable[[State, "Context"], "Planned"]


@dataclass(frozen=True)
class Planned:
    """What a planner wants done next; `last` when it will want nothing after that.

    `failed` is why the task cannot be done, in one line.
    """

    actions: tuple[Action, ...]
    last: bool = True
    failed: str | None = None


@dataclass(frozen=True)
class Context:
    """The run context (`context_schema`).

    `commits` are those of a range, for approvals given before they were recorded. `answer` finds the inline
    suppression that answers a finding. `today` decides what has expired. `commands` is where a command that a
    tool carries would run. `planner` plans in place of our own. `writer`, `runner`, `checker` and `sandbox` are those
    of a repository. `review_only` lets nothing but reading through; if it is not said, a review of a change is so,
    and nothing else.
    """

    subject: ReviewInput | None = None
    snapshot: Mapping[str, str] | None = None
    policy: Policy = field(default_factory=Policy)
    tools: Mapping[str, Tool] = field(default_factory=all_tools)
    approvals: tuple[Approval, ...] = ()
    commits: tuple[RecordedContent, ...] = ()
    answer: Callable[[Finding], tuple[Answer, bool] | None] = no_answer
    today: datetime.date = field(default_factory=lambda: datetime.datetime.now(datetime.UTC).date())
    review_only: bool | None = None
    commands: "CommandContext | None" = None
    planner: Planner | None = None
    writer: Writer | None = None
    sandbox: "Shell | None" = None
    found: "dict[str, SearchResult]" = field(default_factory=dict)
    checker: Checker | None = None
    runner: Runner | None = None

    @property
    def limits(self) -> Limits:
        """The bounds in force."""
        return self.subject.limits if self.subject else Limits.of(self.policy)

    @property
    def texts(self) -> Mapping[str, str]:
        """The files by path, none without a snapshot."""
        return self.snapshot if self.snapshot is not None else {}

    def world(self, state: State) -> World:
        """What the tools may look at in this run: the allowed paths, and nothing beside them."""
        allowed = set(state["allowed_paths"])
        texts = self.texts
        kept = (
            texts if allowed.issuperset(texts) else {path: texts[path] for path in texts if path in allowed}
        )
        recorded = state["metadata"].get("test_results") or {}
        shell = self.sandbox
        if shell is not None and state["restricted"]:
            # History and memory would tell of the other paths.
            shell = replace(shell, snapshot=shell.snapshot.only(allowed), repository=None, memory=None)
        return World(
            self.subject,
            kept,
            self.writer,
            recorded,
            self.commands,
            shell,
            self.found,
            self.runner,
            self.checker,
        )

    def commands_of(self, tool: str) -> "CommandContext | None":
        """Where a command in the arguments of a tool would run: what `run_command` runs has a folder of its own."""
        named = self.tools.get(tool)
        if self.commands is None or self.runner is None or named is None or named.risk != "execute":
            return self.commands
        return replace(self.commands, folder=self.runner.folder)


def context_of(given: Context | None, state: State) -> Context:
    """The context given, or one over the in-memory snapshot of the state alone: no Git, no files, no network.

    A context without a subject and a snapshot (a policy or tools alone, or what Studio makes of nothing) gets
    those of the state. The files of `repo_snapshot` are the change; `metadata["base_snapshot"]` may hold what
    was there before.
    """
    if given is not None and (given.subject or given.snapshot is not None):
        return given
    # A fixture gives the same answer on every day.
    context = given or Context(today=datetime.date.min)
    snapshot = dict(sorted((state.get("repo_snapshot") or {}).items()))
    base = dict((state.get("metadata") or {}).get("base_snapshot") or {})
    changes = bounded(changes_between(base, snapshot), snapshot, Limits.of(context.policy))
    subject = ReviewInput("snapshot", changes, SnapshotContents(base, snapshot)).under(context.policy)
    # What was found is found in these files: another run has others.
    return replace(context, subject=subject, snapshot=snapshot, answer=InlineAnswers(subject), found={})


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
