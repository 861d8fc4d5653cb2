"""The gate as a node: what may run, what a person must say yes to, what Git may record. The only node that decides."""

import hashlib
import json
from collections.abc import Mapping

from langgraph.runtime import Runtime

from cli_guard.errors import CliGuardError, UsageError
from cli_guard.git.snapshot import Snapshot
from cli_guard.graph.context import Context, context_of
from cli_guard.graph.intake import leaves
from cli_guard.graph.state import Data, State, finding_data, finding_of, log
from cli_guard.model import Action, ChangeSet, Decision, Skipped, Verdict
from cli_guard.policy.approvals import RecordedContent, approved_findings, review_id
from cli_guard.policy.gate import RECORDING, judge_findings, judge_record, judge_tool, paths_in
from cli_guard.redact import redact
from cli_guard.reviewers.policy import not_reviewed


def policy_gate(state: State, runtime: Runtime[Context]) -> State:
    """Decides: may these tools run, may Git record this change? The only node that does."""
    context = context_of(runtime.context, state)
    reviews_change = state["task_type"] == "change_review"
    review_only = reviews_change if context.review_only is None else context.review_only
    entries: list[Data] = []
    asked: list[tuple[Data, Verdict]] = []
    allowed = set(state["allowed_paths"])
    for request in state["tool_requests"]:
        action = Action(request["tool"], request["arguments"], request["risk"], request["purpose"])
        tool = context.tools.get(action.tool)
        records = reviews_change and tool and tool.risk == RECORDING
        if records and tool and not tool.problem_with(action.arguments):
            if len(state["tool_requests"]) > 1:
                verdict = Verdict(Decision.DENY, f"{action.tool} must be planned alone", "tool-malformed")
                return stopped(state, action, verdict, entries)
            return decide_recording(state, context, action)
        writes = tool is not None and tool.risk == "write"
        paths = allowed | new_paths(state, context, action) if writes else allowed
        verdict = judge_tool(action, context.tools, paths, review_only=review_only, commands=context.commands)
        entries += gate_entry(action, verdict)
        if verdict.decision is Decision.DENY:
            denied = stopped(state, action, verdict, entries)
            # A planner that goes on is told, and may plan something else, within the bound on rounds.
            return denied if state["last_round"] else going_on(denied)
        if verdict.decision is Decision.REVIEW:
            asked.append((request, verdict))
    return waiting(state, context, asked, entries) if asked else {"action_log": entries}


def gate_entry(action: Action, verdict: Verdict) -> list[Data]:
    """What the gate decided, for the log."""
    return log(
        "policy_gate",
        tool=action.tool,
        decision=str(verdict.decision),
        rule=verdict.rule,
        reason=verdict.reason,
    )


def new_paths(state: State, context: Context, action: Action) -> set[str]:
    """The files that a write would make: inside the repository, and only if the caller narrowed nothing."""
    if state["restricted"]:
        return set()
    named = action.arguments.get("paths")
    paths = {str(path) for path in named} if isinstance(named, list | tuple) else set()
    return {path for path in paths if path not in context.texts and not leaves(path)}


def going_on(denied: State) -> State:
    """The state after a deny that does not end the run."""
    kept: State = {
        "blocked_actions": denied["blocked_actions"],
        "action_log": denied["action_log"],
        "tool_requests": [],
    }
    return kept


def waiting(state: State, context: Context, asked: list[tuple[Data, Verdict]], entries: list[Data]) -> State:
    """The state of a run that needs a person: what an approval sets going is a patch, or the tool of a server."""
    reason = reason_for(asked)
    ready: list[Data] = []
    for request, _ in asked:
        arguments = request["arguments"]
        if not context.tools[request["tool"]].approvable or arguments.get("patch") == "":
            continue
        try:
            if "patch" in arguments:
                bases = context.writer.bases(arguments["paths"]) if context.writer else {}
                check_state(context, bases)
                arguments = {**arguments, "bases": bases}
        except CliGuardError as error:
            reason = f"{reason}; it cannot be written now: {error}"
            continue
        ready.append({**request, "arguments": arguments})
    return {
        "decision": "review",
        "status": "needs_review",
        "requires_human_review": True,
        "review_reason": reason,
        "review_id": proposal_id(ready, context.policy.identity) if ready else None,
        "blocked_actions": [*state["blocked_actions"], *(each for one in asked for each in blocked_by(*one))],
        "tool_requests": ready,
        "action_log": entries,
    }


def proposal_id(requests: list[Data], policy: str) -> str:
    """The id of what a request has done after an approval: another patch, call, base or policy has another."""
    done = [[each["tool"], each["arguments"]] for each in requests]
    content = hashlib.sha256(json.dumps(done, sort_keys=True).encode("ascii"))
    return review_id(content.hexdigest(), policy, ())


def check_state(context: Context, bases: Mapping[str, str | None]) -> None:
    """Is a patch made for what it would be written over? Raises UsageError, where another revision was asked about."""
    asked = context.snapshot
    if not isinstance(asked, Snapshot) or not asked.of_blobs:
        return
    known = {path: entry.identity for path, entry in asked.entries.items() if path in bases}
    other = sorted(path for path, blob in bases.items() if known.get(path) != blob)
    if other:
        raise UsageError(f"{other[0]} is another in the index than in {asked.name}: ask without --rev")


def blocked_by(request: Data, verdict: Verdict) -> list[Data]:
    """What is blocked, a file at a time where it is a write."""
    blocked: Data = {"tool": request["tool"], "reason": verdict.reason, "rule": verdict.rule}
    paths = [path for path in paths_in(request["arguments"]) if path]
    command = request["arguments"].get("command")
    if command:
        return [{**blocked, "command": command}]
    return [{**blocked, "path": path} for path in paths] or [blocked]


def reason_for(asked: list[tuple[Data, Verdict]]) -> str:
    """Why a person is needed, in one line."""
    return "; ".join(dict.fromkeys(verdict.reason for _, verdict in asked))


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
    entries = gate_entry(action, verdict)
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
