"""The second half of the flow: plan, act on what is safe, stop for what is not, answer."""

from dataclasses import replace
from typing import Protocol

from langgraph.runtime import Runtime
from langgraph.types import interrupt

from cli_guard.errors import CliGuardError
from cli_guard.graph.answer import answer_text, review_text
from cli_guard.graph.context import Context, Planned, assistant_of, context_of
from cli_guard.graph.gate import denied_now
from cli_guard.graph.planning import plan
from cli_guard.graph.state import Data, State, as_data, log, ran_of, requested
from cli_guard.graph.tools.tool import Tool, ToolOutput, World
from cli_guard.model import Action, Category, Finding
from cli_guard.policy.gate import RUN_CHECKS

# What a write holds of the text of files.
TEXTS = ("patch", "old", "new", "text")


class Node(Protocol):
    """A node, with the parameter names by which langgraph calls it."""

    def __call__(self, state: State, runtime: Runtime[Context]) -> State:
        """Return the fields of the state that the node changes."""


def plan_cli_actions(state: State, runtime: Runtime[Context]) -> State:
    """Plan the next round, within the bound on rounds."""
    context = context_of(runtime.context, state)
    number = state["round"] + 1
    entry = log("plan_cli_actions", round=number)
    bound = context.rounds or context.limits.rounds
    if number > bound:
        denied = (
            f"; {len(state['blocked_actions'])} actions were denied"
            if state["blocked_actions"]
            else ""
        )
        reason = f"the plan was not done within limits.rounds = {bound}{denied}"
        return {
            "round": number,
            "status": "failed",
            "review_reason": reason,
            "action_log": entry,
        }
    planned = (context.planner or plan)({**state, "round": number}, context)
    if planned.failed or (not planned.actions and number == 1 and not planned.answered):
        reason = planned.failed or "no file here matches the request"
        return {
            "round": number,
            "status": "failed",
            "review_reason": reason,
            "action_log": entry,
        }
    entry += planned.log
    actions = list(planned.actions)
    entry[0]["tools"] = [action.tool for action in actions]
    return {
        "round": number,
        "last_round": planned.last,
        "plan": [*state["plan"], *shown_plan(planned)],
        "tool_requests": list(map(as_data, actions)),
        "action_log": entry,
    }


def shown_plan(planned: Planned) -> list[Data]:
    """Return the actions of a round as they may be shown: a write that was planned in steps as its steps, in order."""
    others = [
        action
        for action in planned.actions
        if not (planned.steps and action.risk == "write")
    ]
    return [*map(as_data, planned.steps), *map(shown_action, others)]


def shown_action(action: Action) -> Data:
    """Return a planned action as it may be shown.

    A patch and the commands of checks are left out: they may hold secrets, and only the request has them exactly.
    """
    arguments = dict(action.arguments)
    if action.tool == RUN_CHECKS:
        wanted = arguments.get("checks")
        listed = wanted if isinstance(wanted, list) else []
        arguments = {
            "checks": [each.get("id") for each in listed if isinstance(each, dict)]
        }
    elif action.risk == "write":
        arguments = {
            key: value for key, value in arguments.items() if key not in TEXTS or not value
        }
    return as_data(replace(action, arguments=arguments))


def is_repeated(found: Finding, known: list[Finding]) -> bool:
    """Return whether a finding of a tool is about a line of which a rule of ours reports a risk."""
    if found.rule != "push-check-report" or found.line is None:
        return False
    same = (
        each
        for each in known
        if each.path == found.path and each.category is Category.RISK and each.line
    )
    return any(
        (each.line or 0) <= found.line <= (each.end_line or each.line or 0) for each in same
    )


def execute_safe_actions(state: State, runtime: Runtime[Context]) -> State:
    """Run the actions that the gate allowed, in order."""
    context = context_of(runtime.context, state)
    world = context.world(state)
    results = list(state["tool_results"])
    findings = list(state["findings"])
    named = dict.fromkeys(state["skipped"])
    proposal = state["proposal"]
    snapshot = state["repo_snapshot"]
    entries: list[Data] = []
    for request in requested(state):
        output = call_tool(context.tools[request.tool], request.arguments, world)
        status = "failed" if output.failed or "error" in output.data else "ok"
        results.append({"tool": request.tool, "status": status, **output.data})
        findings += [each for each in output.findings if not is_repeated(each, findings)]
        named |= dict.fromkeys(output.skipped)
        proposal = dict(output.proposal) or proposal
        snapshot = {
            path: text
            for path, text in {**snapshot, **output.written}.items()
            if text is not None
        }
        entries += log(
            "execute_safe_actions",
            tool=request.tool,
            status=status,
            findings=len(output.findings),
        )
    return {
        "tool_results": results,
        "findings": findings,
        "skipped": list(named),
        "proposal": proposal,
        "repo_snapshot": snapshot,
        "tool_requests": [],
        "action_log": entries,
    }


def call_tool(tool: Tool, arguments: Data, world: World) -> ToolOutput:
    """Call a tool. The failure of one that only reads for a request becomes its result; others raise CliGuardError."""
    try:
        return tool.call(world, arguments)
    except CliGuardError as error:
        # A reviewer that failed has not found nothing.
        if tool.risk in ("write", "execute") or tool.name.startswith("review_"):
            raise
        return ToolOutput({"error": str(error)})


def request_human_review(*, pause: bool) -> Node:
    """Build the node that stops for a person; with a checkpointer (`pause`) the run can be resumed."""

    def node(state: State, runtime: Runtime[Context]) -> State:
        output, said = answer_of(state, context_of(runtime.context, state))
        entry = said + log(
            "request_human_review",
            review_id=state["review_id"],
            reason=state["review_reason"],
        )
        if pause and state["review_id"]:
            # Nothing before this line may have an effect: a resumed run executes the node again from its start.
            answer = interrupt({"final_output": output, "review_id": state["review_id"]})
            by = answer.get("by")
            reason = answer.get("reason")
            if answer.get("approved"):
                entry += log("request_human_review", approved_by=by, reason=reason)
                context = context_of(runtime.context, state)
                denied = denied_now(requested(state), context)
                if denied:
                    # A deny overrides an approval.
                    return {
                        "decision": "deny",
                        "status": "failed",
                        "review_reason": denied,
                        "final_output": f"failed: {denied}",
                        "action_log": entry + log("request_human_review", denied=denied),
                    }
                return {
                    "decision": "allow",
                    "status": "ok",
                    "requires_human_review": False,
                    "last_round": True,
                    "action_log": entry,
                }
            if by:
                entry += log("request_human_review", rejected_by=by, reason=reason)
        return {"final_output": output, "action_log": entry}

    return node


def summary_of(state: State) -> str | None:
    """Return a review in a few lines; None for that of an event, which `cli_guard.review.render` shows."""
    return None if "event" in state["metadata"] else review_text(state)


def answer_of(state: State, context: Context) -> tuple[str | None, list[Data]]:
    """Return the answer with the results so far, and the log of who has worded it."""
    if state["task_type"] == "change_review":
        return summary_of(state), []
    answer = answer_text(state, assistant_of(context).reply)
    return context.narrator(state, answer) if context.narrator else (answer, [])


def synthesize_cli_response(state: State, runtime: Runtime[Context]) -> State:
    """Write the answer and its sources. If a command was run and failed, the status is `failed`."""
    ran = ran_of(state)
    update: State = {"status": "ok"}
    if ran.get("problem"):
        update = {
            "status": "failed",
            "review_reason": f"{ran['command']}: {ran['problem']}",
        }
    output, entry = answer_of({**state, **update}, context_of(runtime.context, state))
    entry += log("synthesize_cli_response", status=update["status"])
    return {**update, "final_output": output, "action_log": entry}


def handle_failure(state: State, runtime: Runtime[Context]) -> State:
    """End the run with the reason of its failure, in one line."""
    reason = state.get("review_reason") or "the request could not be carried out"
    denied = bool(state.get("judged"))
    return {
        "status": "failed",
        "decision": "deny",
        "final_output": summary_of(state) if denied else f"failed: {reason}",
        "action_log": log("handle_failure", reason=reason),
    }
