"""Has the assistant do a task, by the calls that stand behind the commands, and puts what came into one form."""

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
from cli_guard.review.command_context import command_context
from cli_guard.review.render import as_json, text
from cli_guard.review.render.command import as_dict, render
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
# What the caller has said himself proves nothing about the answer.
NOT_TOLD = ("input", "timings_ms", "action_log", "command")


@dataclass(frozen=True)
class Answered:
    """What came of a task, and the paused run of one in memory."""

    outcome: Outcome
    pause: "Pause | None" = None


Answer = Callable[[Task, Scratch], Answered]


def answer(task: Task, scratch: Scratch, *, planner: "Planner | None" = None) -> Answered:
    """Does a task; `planner` plans in place of our own in a task in memory. An error of ours is an outcome too."""
    try:
        if task.kind == "check-command":
            return Answered(judged(task, scratch))
        if task.world == "memory":
            return in_memory(task, planner)
        if task.kind == "ask":
            return Answered(asked(task, scratch))
        return Answered(reviewed(review_request(request_of(task), scratch.invocation)))
    except CliGuardError as error:
        return Answered(Outcome("failed", str(error), data={"error": str(error)}))


def in_memory(task: Task, planner: "Planner | None") -> Answered:
    """Runs the graph over the files of a task alone."""
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
    return Answered(of_state(state), pause)


def of_state(state: "State") -> Outcome:
    """The end of a run of the graph."""
    data = {key: state.get(key) for key in SHOWN_FIELDS}
    outcome = of_data(data, state["final_output"] or "")
    return replace(
        outcome,
        decision=state["decision"],
        findings=tuple(
            finding_of({**asdict(each["finding"]), "decision": each["decision"]}) for each in state["judged"]
        ),
        files=dict(state["repo_snapshot"]),
    )


def asked(task: Task, scratch: Scratch) -> Outcome:
    """Asks about a repository."""
    given = task.given
    done: Proposal = ask_request(
        task.instruction,
        scratch.invocation,
        paths=given.paths or (),
        revision=given.revision,
        worktree=given.worktree,
    )
    return of_data(done.data, done.text)


def request_of(task: Task) -> Request:
    """What is to be reviewed. Raises UsageError."""
    given = task.given
    if task.kind == "commit-msg":
        return Message(given.message.encode("utf-8", "surrogateescape"))
    if given.range:
        return parse_range(given.range)
    if given.revision:
        return Commit(given.revision)
    return Worktree() if given.worktree else Staged()


def reviewed(done: Review) -> Outcome:
    """The end of a review, without the one thing in it that no two runs share."""
    done = replace(done, timings_ms={})
    outcome = of_data(as_json.as_dict(done), text.render(done, color=False, verbose=True))
    return replace(outcome, task_type="change_review")


def judged(task: Task, scratch: Scratch) -> Outcome:
    """What the engine says of a command; nothing runs it."""
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
            Finding(each.rule, decision=str(each.decision)) for each in verdict.effects if each.rule
        ),
        data=as_dict(verdict),
    )


def of_data(data: Data, shown: str) -> Outcome:
    """An outcome out of what is told of a run: the keys of `ask --format json`, or those of a report."""
    status = str(data["status"])
    return Outcome(
        status,
        shown,
        task_type=str(data.get("task_type") or ""),
        decision=str(data.get("decision") or ""),
        requires_human_review=bool(data.get("requires_human_review", status == "needs_review")),
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
    """A blocked action out of plain data."""
    return Blocked(str(data["tool"]), data.get("path"), data.get("command"))


def finding_of(data: Data) -> Finding:
    """A finding out of plain data."""
    return Finding(str(data["rule"]), data.get("path"), data.get("line"), str(data["decision"]))


def nodes_of(entries: Sequence[Data]) -> tuple[str, ...]:
    """The nodes of an action log in the order of their first entries."""
    return tuple(dict.fromkeys(str(each["node"]) for each in entries))


def told(outcome: Outcome) -> str:
    """All that an outcome shows to anybody: the answer, and its data as JSON."""
    data = {key: value for key, value in outcome.data.items() if key not in NOT_TOLD}
    return f"{outcome.text}\n{json.dumps(json_value(data), ensure_ascii=False, sort_keys=True)}"
