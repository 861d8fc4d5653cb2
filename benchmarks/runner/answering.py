"""Do a task by the calls that the commands make, and convert the result to one form."""

import datetime
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from benchmarks.runner.model import Blocked, Finding, Outcome, Task
from benchmarks.runner.scratch import Scratch, texts
from cli_guard.assistant import SHOWN_FIELDS, Proposal
from cli_guard.assistant.ask import ask_request
from cli_guard.commands import Context as CommandContext
from cli_guard.commands import judge
from cli_guard.errors import CliGuardError
from cli_guard.execution.context import command_context
from cli_guard.execution.verdicts import as_dict, render
from cli_guard.review.render import as_json, text
from cli_guard.review.render.review import Review
from cli_guard.review.request import Commit, Message, Request, Staged, Worktree, parse_range
from cli_guard.review.run import review_request
from cli_guard.secrets.printable import json_value

if TYPE_CHECKING:
    from cli_guard.graph.context import Planner
    from cli_guard.graph.run import Pause
    from cli_guard.graph.state import State

Data = Mapping[str, Any]
STATUS_OF = {"allow": "ok", "review": "needs_review", "deny": "failed"}
# Data that repeat the caller's own words, or say nothing about the answer.
NOT_TOLD = ("input", "timings_ms", "action_log", "command")


@dataclass(frozen=True)
class Answered:
    """The outcome of a task, and the paused run of one in memory."""

    outcome: Outcome
    pause: "Pause | None" = None


Answer = Callable[[Task, Scratch], Answered]


def answer(task: Task, scratch: Scratch, *, planner: "Planner | None" = None) -> Answered:
    """Do a task; `planner` replaces our own for a request. A CliGuardError is an outcome too."""
    try:
        if task.kind == "check-command":
            return Answered(judge_command(task, scratch))
        if task.world == "memory":
            return run_in_memory(task, planner)
        if task.kind == "ask":
            return Answered(ask_repository(task, scratch, planner))
        return Answered(
            outcome_of_review(review_request(request_of(task), scratch.invocation))
        )
    except CliGuardError as error:
        return Answered(Outcome("failed", str(error), data={"error": str(error)}))


def run_in_memory(task: Task, planner: "Planner | None") -> Answered:
    """Run the graph over only the files of a task."""
    from cli_guard.graph.context import Context
    from cli_guard.graph.run import run_graph

    metadata: dict[str, object] = {
        "benchmark_task": task.id,
        "test_results": dict(task.setup.test_results),
        "base_snapshot": texts(task.setup.base),
    }
    request: State = {
        "input": task.instruction,
        "repo_snapshot": texts(task.setup.files),
        "metadata": metadata,
    }
    if task.kind == "review":
        request["task_type"] = "change_review"
    if task.given.paths is not None:
        request["allowed_paths"] = list(task.given.paths)
    state, pause = run_graph(request, Context(today=datetime.date.min, planner=planner))
    return Answered(outcome_of_state(state), pause)


def outcome_of_state(state: "State") -> Outcome:
    """Return the outcome of a run of the graph."""
    data = {key: state.get(key) for key in SHOWN_FIELDS}
    outcome = outcome_of(data, state["final_output"] or "")
    return replace(
        outcome,
        decision=state["decision"],
        findings=tuple(
            finding_of({**asdict(each["finding"]), "decision": each["decision"]})
            for each in state["judged"]
        ),
        files=dict(state["repo_snapshot"]),
    )


def ask_repository(task: Task, scratch: Scratch, planner: "Planner | None") -> Outcome:
    """Ask about a repository."""
    given = task.given
    done: Proposal = ask_request(
        task.instruction,
        scratch.invocation,
        paths=given.paths or (),
        revision=given.revision,
        worktree=given.worktree,
        equip=(lambda context: replace(context, planner=planner)) if planner else None,
    )
    return outcome_of(done.data, done.text)


def request_of(task: Task) -> Request:
    """Return what is to be reviewed. Raises UsageError."""
    given = task.given
    if task.kind == "commit-msg":
        return Message(given.message.encode("utf-8", "surrogateescape"))
    if given.range:
        return parse_range(given.range)
    if given.revision:
        return Commit(given.revision)
    return Worktree() if given.worktree else Staged()


def outcome_of_review(done: Review) -> Outcome:
    """Return the outcome of a review, without its timings, which differ from run to run."""
    done = replace(done, timings_ms={})
    outcome = outcome_of(
        as_json.as_dict(done), text.render(done, color=False, verbose=True)
    )
    return replace(outcome, task_type="change_review")


def judge_command(task: Task, scratch: Scratch) -> Outcome:
    """Return the engine's verdict on a command, which is not run."""
    memory = task.world == "memory"
    context = CommandContext() if memory else command_context(scratch.root, scratch.env)
    verdict = judge(task.given.command, context)
    decision = str(verdict.verdict)
    return Outcome(
        STATUS_OF[decision],
        render(verdict, color=False),
        task_type="check_command",
        decision=decision,
        requires_human_review=decision == "review",
        reason=verdict.reason,
        findings=tuple(
            Finding(each.rule, decision=str(each.decision))
            for each in verdict.effects
            if each.rule
        ),
        data=as_dict(verdict),
    )


def outcome_of(data: Data, shown: str) -> Outcome:
    """Build an outcome from the data of a run, with the keys of `ask --format json` or of a report."""
    status = str(data["status"])
    return Outcome(
        status,
        shown,
        task_type=str(data.get("task_type") or ""),
        decision=str(data.get("decision") or ""),
        requires_human_review=bool(
            data.get("requires_human_review", status == "needs_review")
        ),
        reason=str(data.get("review_reason") or ""),
        review_id=str(data.get("review_id") or ""),
        tools=tuple(str(each["tool"]) for each in data["tool_results"]),
        blocked=tuple(map(blocked_of, data["blocked_actions"])),
        findings=tuple(map(finding_of, data.get("findings") or ())),
        paths=tuple(data.get("requested_paths") or ()),
        nodes=nodes_of(data["action_log"]),
        data=data,
    )


def blocked_of(data: Data) -> Blocked:
    """Build a blocked action from plain data."""
    return Blocked(str(data["tool"]), data.get("path"), data.get("command"))


def finding_of(data: Data) -> Finding:
    """Build a finding from plain data."""
    return Finding(
        str(data["rule"]), data.get("path"), data.get("line"), str(data["decision"])
    )


def nodes_of(entries: Sequence[Data]) -> tuple[str, ...]:
    """Return the nodes of an action log in the order of their first entries."""
    return tuple(dict.fromkeys(str(each["node"]) for each in entries))


def text_of(outcome: Outcome) -> str:
    """Return all that an outcome shows: the answer, and its data as JSON."""
    data = {key: value for key, value in outcome.data.items() if key not in NOT_TOLD}
    return f"{outcome.text}\n{json.dumps(json_value(data), ensure_ascii=False, sort_keys=True)}"
