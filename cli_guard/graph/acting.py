"""The second half of the flow: plan, ask the gate, act on what is safe, stop for what is not, answer."""

from dataclasses import asdict
from typing import Protocol

from langgraph.runtime import Runtime
from langgraph.types import interrupt

from cli_guard.graph.answer import answer_text, review_text
from cli_guard.graph.context import Context, context_of
from cli_guard.graph.planning import LATER, plan
from cli_guard.graph.state import Data, State, finding_data, finding_of, log, skipped_data
from cli_guard.model import Action, ChangeSet, Decision, Skipped, Verdict
from cli_guard.policy.approvals import RecordedContent, approved_findings, review_id
from cli_guard.policy.gate import RECORDING, judge_findings, judge_record, judge_tool
from cli_guard.redact import redact
from cli_guard.reviewers.policy import not_reviewed


class Node(Protocol):
    """A node, with the parameter names by which langgraph calls it."""

    def __call__(self, state: State, runtime: Runtime[Context]) -> State:
        """What the node changes of the state."""


def plan_cli_actions(state: State, runtime: Runtime[Context]) -> State:
    """Plans the next round, within the bound on rounds."""
    context = context_of(runtime.context, state)
    number = state["round"] + 1
    entry = log("plan_cli_actions", round=number)
    later = LATER.get(str(state["task_type"]))
    if later:
        reason = f"{later} is not built yet: this version reviews changes and answers questions"
        return {"round": number, "status": "failed", "review_reason": reason, "action_log": entry}
    if number > context.limits.rounds:
        reason = f"the plan was not done within limits.rounds = {context.limits.rounds}"
        return {"round": number, "status": "failed", "review_reason": reason, "action_log": entry}
    planned: State = {**state, "round": number}
    actions = [asdict(action) for action in plan(planned, context)]
    if not actions and number == 1:
        reason = "nothing here matches the request, and nothing is made up"
        return {"round": number, "status": "failed", "review_reason": reason, "action_log": entry}
    entry[0]["tools"] = [action["tool"] for action in actions]
    return {
        "round": number,
        "plan": [*state["plan"], *actions],
        "tool_requests": actions,
        "action_log": entry,
    }


def policy_gate(state: State, runtime: Runtime[Context]) -> State:
    """Decides: may these tools run, may Git record this change? The only node that does."""
    context = context_of(runtime.context, state)
    entries: list[Data] = []
    for request in state["tool_requests"]:
        action = Action(request["tool"], request["arguments"], request["risk"], request["purpose"])
        tool = context.tools.get(action.tool)
        if tool and tool.risk == RECORDING and not tool.problem_with(action.arguments):
            if len(state["tool_requests"]) > 1:
                verdict = Verdict(Decision.DENY, f"{action.tool} must be planned alone", "tool-malformed")
                return stopped(state, action, verdict, entries)
            return decide_recording(state, context, action)
        verdict = judge_tool(
            action,
            context.tools,
            set(state["allowed_paths"]),
            review_only=context.review_only,
            commands=context.commands,
        )
        entries += log(
            "policy_gate",
            tool=action.tool,
            decision=str(verdict.decision),
            rule=verdict.rule,
            reason=verdict.reason,
        )
        if verdict.decision is not Decision.ALLOW:
            return stopped(state, action, verdict, entries)
    return {"action_log": entries}


def decide_recording(state: State, context: Context, action: Action) -> State:
    """What the findings mean for the action that Git will take."""
    findings = [finding_of(data) for data in state["findings"]]
    left_out = not_reviewed((*(Skipped(**data) for data in state["skipped"]), *unread(context)))
    findings += [left_out] if left_out else []
    content = RecordedContent.of(context.subject.changes if context.subject else ChangeSet(()))
    approved = approved_findings(
        findings, context.approvals, context.policy.identity, content, context.commits
    )
    judgement = judge_findings(findings, context.policy, context.answer, context.today, approved)
    verdict = judge_record(judgement)
    update: State = {
        "judged": [
            {"finding": finding_data(each.finding), "decision": str(each.disposition)}
            for each in judgement.standing
        ],
        "suppressed": [
            {
                "finding": finding_data(each.finding),
                "by": each.by,
                "reason": redact(each.reason),
                "new": each.new,
            }
            for each in judgement.suppressed
        ],
    }
    entries = log(
        "policy_gate",
        tool=action.tool,
        decision=str(verdict.decision),
        rule=verdict.rule,
        reason=verdict.reason,
    )
    if verdict.decision is Decision.ALLOW:
        return update | {"action_log": entries}
    update = update | stopped(state, action, verdict, entries)
    if verdict.decision is Decision.REVIEW:
        update["review_id"] = review_id(content.identity, context.policy.identity, verdict.evidence)
    return update


def unread(context: Context) -> tuple[Skipped, ...]:
    """What was left out when the change was read."""
    return context.subject.changes.skipped if context.subject else ()


def stopped(state: State, action: Action, verdict: Verdict, entries: list[Data]) -> State:
    """The state after a review or a deny."""
    asks = verdict.decision is Decision.REVIEW
    blocked: Data = {"tool": action.tool, "reason": verdict.reason, "rule": verdict.rule}
    if verdict.evidence:
        blocked["evidence"] = list(verdict.evidence)
    return {
        "decision": "review" if asks else "deny",
        "status": "needs_review" if asks else "failed",
        "requires_human_review": asks,
        "review_reason": verdict.reason,
        "blocked_actions": [*state["blocked_actions"], blocked],
        "action_log": entries,
    }


def execute_safe_actions(state: State, runtime: Runtime[Context]) -> State:
    """Runs what the gate let through, in order."""
    context = context_of(runtime.context, state)
    results = list(state["tool_results"])
    findings = list(state["findings"])
    named = dict.fromkeys(Skipped(**each) for each in state["skipped"])
    entries: list[Data] = []
    for request in state["tool_requests"]:
        output = context.tools[request["tool"]].call(context.world, request["arguments"])
        results.append({"tool": request["tool"], "status": "ok", **output.data})
        findings += [finding_data(finding) for finding in output.findings]
        named |= dict.fromkeys(output.skipped)
        entries += log(
            "execute_safe_actions", tool=request["tool"], status="ok", findings=len(output.findings)
        )
    return {
        "tool_results": results,
        "findings": findings,
        "skipped": skipped_data(named),
        "tool_requests": [],
        "action_log": entries,
    }


def request_human_review(*, pause: bool) -> Node:
    """The node that stops for a person: where there is a checkpointer it pauses, and can be resumed."""

    def node(state: State, runtime: Runtime[Context]) -> State:
        output = review_text(state)
        entry = log("request_human_review", review_id=state["review_id"], reason=state["review_reason"])
        if pause:
            # Nothing before this line may have an effect: the node starts anew when it is resumed.
            answer = interrupt({"final_output": output, "review_id": state["review_id"]})
            if answer.get("approved"):
                entry += log(
                    "request_human_review", approved_by=answer.get("by"), reason=answer.get("reason")
                )
                return {
                    "decision": "allow",
                    "status": "ok",
                    "requires_human_review": False,
                    "action_log": entry,
                }
        return {"final_output": output, "action_log": entry}

    return node


def synthesize_cli_response(state: State, runtime: Runtime[Context]) -> State:
    """Says what was found and on what it rests."""
    text = review_text(state) if state["task_type"] == "change_review" else answer_text(state)
    return {"final_output": text, "status": "ok", "action_log": log("synthesize_cli_response", status="ok")}


def handle_failure(state: State, runtime: Runtime[Context]) -> State:
    """Ends with the reason, in one line."""
    reason = state.get("review_reason") or "the request could not be carried out"
    denied = bool(state.get("judged"))
    return {
        "status": "failed",
        "decision": "deny",
        "final_output": review_text(state) if denied else f"failed: {reason}",
        "action_log": log("handle_failure", reason=reason),
    }
