"""The run context of the graph: the live objects that a checkpoint cannot store."""

import datetime
from collections import ChainMap
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Protocol, cast

from cli_guard.graph.half import load
from cli_guard.graph.state import Data, State, TaskType
from cli_guard.graph.tools import guard_tools
from cli_guard.graph.tools.tool import (
    Checker,
    ErrorReporter,
    Runner,
    Tool,
    World,
    Writer,
    name_error,
)
from cli_guard.lazy import frozen
from cli_guard.model import Action, ChangeSet, FileChange, Finding, Skipped
from cli_guard.policy.decisions import Policy
from cli_guard.policy.suppressions import Suppression
from cli_guard.repository.between import SnapshotContents, changes_between
from cli_guard.reviewers.inline import InlineAnswers
from cli_guard.reviewers.review_input import Limits, ReviewInput

if TYPE_CHECKING:
    from cli_guard.commands import Context as CommandContext


def no_answer(finding: Finding) -> tuple[Suppression, bool] | None:
    """Return None: there are no inline suppressions."""
    return None


def no_approvals(findings: Iterable[Finding]) -> Mapping[str, str]:
    """Return that nothing is approved."""
    return {}


Planner = Callable[[State, "Context"], "Planned"]
# Words an answer anew: returns its text and entries for the action log.
Narrator = Callable[[State, str], tuple[str, list[Data]]]


@frozen
class Planned:
    """The next actions of a planner; `last`: there is no further round.

    `answered`: the planner has an answer, even without any action. `failed` is why the task cannot be done, in one
    line. `log` are its entries in the action log. `steps` are those of the change that the actions write, in order: the
    plan shows them in place of the write.
    """

    actions: tuple[Action, ...]
    last: bool = True
    answered: bool = False
    failed: str | None = None
    log: tuple[Data, ...] = ()
    steps: tuple[Action, ...] = ()


@frozen
class Reading:
    """The meaning of a request: its kind, and plain data for the `wishes` of the state.

    `decided_by` are the words that decided, for the log. `refused` is why no tool can do it, "" if one can.
    """

    task_type: TaskType
    decided_by: str
    wishes: Data
    refused: str = ""


class Assistant(Protocol):
    """The interface of an assistant that answers requests; the caller passes one object for each run."""

    @property
    def tools(self) -> Mapping[str, Tool]:
        """The tools by name, added to those of the context."""

    def read(self, request: str, paths: Collection[str], kind: TaskType | None) -> Reading:
        """Parse a request. `paths` may be read; `kind` is the kind that the caller gave, if any."""

    def select_paths(self, state: State, context: "Context") -> Sequence[str]:
        """Return the paths to read for a request that names none, best first."""

    def plan(self, state: State, context: "Context") -> Planned:
        """Return the next actions for a request."""

    def reply(self, state: State) -> Iterable[str]:
        """Return the lines of the answer from the results so far; the run may have stopped for a person."""


@frozen
class Context:
    """The run context (`context_schema`).

    `approvals` returns the fingerprints of findings that a person approved, with who did. `answer` finds the inline
    suppression that answers a finding. `today` decides what has expired. `commands` is where a command in the
    arguments of a tool would run. `assistant` answers requests (None: the default one). `planner` replaces the
    planners of reviews and requests. `writer`, `runner` and `checker` work on a repository. `review_only` allows
    nothing but reading; None means True for the review of a change, and False for everything else. `narrator` words
    the answer to a request. `rounds` replaces limits.rounds. `report_error` is what reports a bug in a reviewer.
    """

    subject: ReviewInput | None = None
    snapshot: Mapping[str, str] | None = None
    policy: Policy = field(default_factory=Policy)
    tools: Mapping[str, Tool] = field(default_factory=guard_tools)
    approvals: Callable[[Iterable[Finding]], Mapping[str, str]] = no_approvals
    answer: Callable[[Finding], tuple[Suppression, bool] | None] = no_answer
    today: datetime.date = field(
        default_factory=lambda: datetime.datetime.now(datetime.UTC).date()
    )
    review_only: bool | None = None
    commands: "CommandContext | None" = None
    planner: Planner | None = None
    assistant: Assistant | None = None
    writer: Writer | None = None
    checker: Checker | None = None
    runner: Runner | None = None
    narrator: Narrator | None = None
    rounds: int | None = None
    report_error: ErrorReporter = name_error

    @property
    def limits(self) -> Limits:
        """Return the bounds in force."""
        return self.subject.limits if self.subject else Limits.of(self.policy)

    @property
    def texts(self) -> Mapping[str, str]:
        """Return the files by path, none without a snapshot."""
        return self.snapshot if self.snapshot is not None else {}

    def world(self, state: State) -> World:
        """Return what the tools may read in this run: only the allowed paths."""
        allowed = set(state["allowed_paths"])
        texts = self.texts
        kept = (
            texts
            if allowed.issuperset(texts)
            else {path: texts[path] for path in texts if path in allowed}
        )
        recorded = state["metadata"].get("test_results") or {}
        return World(
            self.subject,
            kept,
            self.writer,
            recorded,
            self.commands,
            self.runner,
            self.checker,
            frozenset(allowed) if state["restricted"] else None,
            self.report_error,
        )

    def commands_of(self, tool: str) -> "CommandContext | None":
        """Return where a command in the arguments of a tool would run; `run_command` has its own folder."""
        named = self.tools.get(tool)
        if (
            self.commands is None
            or self.runner is None
            or named is None
            or named.risk != "execute"
        ):
            return self.commands
        return replace(self.commands, folder=self.runner.folder)


def assistant_of(context: Context) -> Assistant:
    """Return the assistant of a context, the default one if the caller passed none."""
    if context.assistant is not None:
        return context.assistant
    return cast(Assistant, load("the assistant")())


def context_of(given: Context | None, state: State) -> Context:
    """Return the caller's context with defaults for what is missing; only requests get an assistant."""
    context = with_subject(given, state)
    if state.get("task_type") == "change_review":
        return context
    assistant = assistant_of(context)
    tools = ChainMap(cast(dict[str, Tool], context.tools), dict(assistant.tools))
    return replace(context, assistant=assistant, tools=tools)


def with_subject(given: Context | None, state: State) -> Context:
    """Return the given context, or one over the in-memory snapshot of the state alone: no Git, files or network.

    A context without a subject and a snapshot (only a policy or tools, or the empty one of Studio) gets those of
    the state. The files of `repo_snapshot` are the change; `metadata["base_snapshot"]` may hold the files before it.
    """
    if given is not None and (given.subject or given.snapshot is not None):
        return given
    # A fixture must give the same answer every day.
    context = given or Context(today=datetime.date.min)
    snapshot = dict(sorted((state.get("repo_snapshot") or {}).items()))
    base = dict((state.get("metadata") or {}).get("base_snapshot") or {})
    changes = limit_changes(
        changes_between(base, snapshot), snapshot, Limits.of(context.policy)
    )
    subject = ReviewInput("snapshot", changes, SnapshotContents(base, snapshot)).under(
        context.policy
    )
    return replace(
        context, subject=subject, snapshot=snapshot, answer=InlineAnswers(subject)
    )


def limit_changes(
    changes: ChangeSet, snapshot: Mapping[str, str], limits: Limits
) -> ChangeSet:
    """Keep the changes within the bounds; record the others as skipped."""
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
        skipped.append(Skipped(change.path, f"over the limit of {limit}", asks=True))
    return replace(changes, files=tuple(kept), skipped=tuple(skipped))
