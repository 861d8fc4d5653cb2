"""The gate as a node, the only one that decides: what may run, what needs approval, what Git may record."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import replace

from langgraph.runtime import Runtime

from cli_guard.approvals.counting import review_id
from cli_guard.errors import CliGuardError, UsageError
from cli_guard.graph.context import Context, context_of
from cli_guard.graph.context_nodes import leaves
from cli_guard.graph.state import Data, State, as_data, log, requested
from cli_guard.model import Action, Decision, Finding, Skipped, Verdict
from cli_guard.policy.gate import (
    RECORDING,
    RUN_CHECKS,
    GateJudgement,
    announce_suppressions,
    judge_commands,
    judge_findings,
    judge_record,
    judge_tool,
    paths_in,
)
from cli_guard.repository.snapshot import Snapshot
from cli_guard.reviewers.checks import report_not_run
from cli_guard.reviewers.policy import not_reviewed
from cli_guard.secrets.redact import redact

CHECKS_WAIT = "checks-wait"


def policy_gate(state: State, runtime: Runtime[Context]) -> State:
    """Decide whether the planned tools may run, and whether Git may record the change."""
    context = context_of(runtime.context, state)
    reviews_change = state["task_type"] == "change_review"
    review_only = reviews_change if context.review_only is None else context.review_only
    entries: list[Data] = []
    asked: list[tuple[Action, Verdict]] = []
    allowed = set(state["allowed_paths"])
    for action in requested(state):
        tool = context.tools.get(action.tool)
        records = reviews_change and tool and tool.risk == RECORDING
        if records and tool and not tool.problem_with(action.arguments):
            if len(state["tool_requests"]) > 1:
                verdict = Verdict(
                    Decision.DENY, f"{action.tool} must be planned alone", "tool-malformed"
                )
                return stop_run(state, action, verdict, entries)
            return decide_recording(state, context, action)
        writes = tool is not None and tool.risk == "write"
        paths = allowed | new_paths(state, context, action) if writes else allowed
        verdict = judge_tool(
            action,
            context.tools,
            paths,
            review_only=review_only,
            commands=context.commands_of(action.tool),
        )
        if action.tool == RUN_CHECKS and verdict.decision is Decision.ALLOW:
            verdict = hold_back_checks(state, context, verdict)
        entries += gate_entry(action, verdict)
        if verdict.decision is Decision.DENY:
            denied = stop_run(state, action, verdict, entries)
            # A planner with rounds left sees the deny and may plan something else. A review of a change ends here, as
            # without its reviewers it has no findings. Checks that must wait do not end it; what they wait for does.
            ends = state["last_round"] or (reviews_change and verdict.rule != CHECKS_WAIT)
            return denied if ends else going_on(denied)
        if verdict.decision is Decision.REVIEW:
            asked.append((action, verdict))
    return waiting(state, context, asked, entries) if asked else {"action_log": entries}


def gate_entry(action: Action, verdict: Verdict) -> list[Data]:
    """Build the log entry of a decision."""
    return log(
        "policy_gate",
        tool=action.tool,
        decision=str(verdict.decision),
        rule=verdict.rule,
        reason=verdict.reason,
    )


def new_paths(state: State, context: Context, action: Action) -> set[str]:
    """Return the files that a write would create inside the repository; none if the caller restricted the paths."""
    if state["restricted"]:
        return set()
    return {
        path
        for path in paths_in(action.arguments)
        if path not in context.texts and not leaves(path)
    }


def going_on(denied: State) -> State:
    """Build the state after a deny that does not end the run."""
    kept: State = {
        "blocked_actions": denied["blocked_actions"],
        "action_log": denied["action_log"],
        "tool_requests": [],
    }
    return kept


def waiting(
    state: State, context: Context, asked: list[tuple[Action, Verdict]], entries: list[Data]
) -> State:
    """Build the state of a run that needs a person: an approval starts a patch, a command or a server's tool."""
    reason = "; ".join(dict.fromkeys(verdict.reason for _, verdict in asked))
    ready: list[Action] = []
    # A patch can be reverted, a command cannot: one approval must not cover both.
    alone = sum(context.tools[request.tool].approvable for request, _ in asked) == 1
    for request, _ in asked:
        tool = context.tools[request.tool]
        arguments = request.arguments
        if not tool.approvable or arguments.get("patch") == "":
            continue
        if tool.risk == "execute":
            if context.runner is None or not alone:
                continue
            arguments = {**arguments, "folder": context.runner.folder}
        try:
            if "patch" in arguments:
                bases = context.writer.bases(arguments["paths"]) if context.writer else {}
                check_state(context, bases)
                arguments = {**arguments, "bases": bases}
        except CliGuardError as error:
            reason = f"{reason}; it cannot be written now: {error}"
            continue
        ready.append(replace(request, arguments=arguments))
    return {
        "decision": "review",
        "status": "needs_review",
        "requires_human_review": True,
        "review_reason": reason,
        "review_id": proposal_id(ready, context.policy.identity) if ready else None,
        "blocked_actions": [
            *state["blocked_actions"],
            *(each for one in asked for each in blocked_by(*one)),
        ],
        "tool_requests": list(map(as_data, ready)),
        "action_log": entries,
    }


def proposal_id(requests: list[Action], policy: str) -> str:
    """Return the id of what an approval would start; another patch, call, base or policy gives another id."""
    done = [[each.tool, each.arguments] for each in requests]
    content = hashlib.sha256(json.dumps(done, sort_keys=True).encode("ascii"))
    return review_id(content.hexdigest(), policy, ())


def denied_now(requests: list[Action], context: Context) -> str | None:
    """Return why an approved request must not run: its command is denied where it would run now; None if it may."""
    for request in requests:
        verdict = judge_commands(request.arguments, context.commands_of(request.tool))
        if verdict.decision is Decision.DENY:
            return verdict.reason
    return None


def check_state(context: Context, bases: Mapping[str, str | None]) -> None:
    """Raise UsageError if a patch was made for another revision than the index that it would be written over."""
    asked = context.snapshot
    if not isinstance(asked, Snapshot) or not asked.of_blobs:
        return
    known = {path: entry.identity for path, entry in asked.entries.items() if path in bases}
    other = sorted(path for path, blob in bases.items() if known.get(path) != blob)
    if other and asked.name == "the index":
        raise UsageError(
            f"{other[0]} has unstaged changes: stage them, or ask with --worktree"
        )
    if other:
        raise UsageError(
            f"{other[0]} differs between the index and {asked.name}: ask without --rev"
        )


def blocked_by(request: Action, verdict: Verdict) -> list[Data]:
    """Return the blocked actions of a request: one for each file of a write."""
    blocked: Data = {"tool": request.tool, "reason": verdict.reason, "rule": verdict.rule}
    paths = [path for path in paths_in(request.arguments) if path]
    command = request.arguments.get("command")
    if command:
        return [{**blocked, "command": command}]
    return [{**blocked, "path": path} for path in paths] or [blocked]


def hold_back_checks(state: State, context: Context, allowed: Verdict) -> Verdict:
    """Deny checks, which run code of the change, while a finding in the change is denied or needs review."""
    so_far = judge_record(judgement_of(state, context))
    if so_far.decision is Decision.ALLOW:
        return allowed
    return Verdict(
        Decision.DENY,
        f"checks run only when nothing else stops the change: {so_far.reason}",
        CHECKS_WAIT,
    )


def judgement_of(
    state: State, context: Context, more: Iterable[Finding] = ()
) -> GateJudgement:
    """Judge the findings so far, and `more`, by the policy and the approvals."""
    # Two ways may lead to the same line: a script that is added, and one that sources it.
    findings = list(dict.fromkeys((*state["findings"], *more)))
    findings += not_reviewed((*state["skipped"], *unread(context)))
    findings = announce_suppressions(findings, context.policy, context.answer)
    approved = context.approvals(findings)
    return judge_findings(findings, context.policy, context.answer, context.today, approved)


def without_result(state: State, context: Context) -> tuple[Finding, ...]:
    """Return a finding for each check that should have run and has no result, for any reason."""
    results = [result for result in state["tool_results"] if result["tool"] == RUN_CHECKS]
    ran = {each["id"] for result in results for each in result.get("checks", ())}
    reason = next(
        (str(result["error"]) for result in results if "error" in result), "no result"
    )
    checks = context.subject.checks if context.subject else ()
    return tuple(
        report_not_run(check, reason)
        for check in checks
        if check.may_run and check.id not in ran
    )


def decide_recording(state: State, context: Context, action: Action) -> State:
    """Decide by the findings whether Git may record or send the change."""
    judgement = judgement_of(state, context)
    verdict = judge_record(judgement)
    if verdict.decision is Decision.ALLOW and (lost := without_result(state, context)):
        judgement = judgement_of(state, context, lost)
        verdict = judge_record(judgement)
    update: State = {
        "judged": [
            {"finding": each.finding, "decision": str(each.disposition)}
            for each in judgement.standing
        ],
        "suppressed": [
            replace(each, reason=redact(each.reason)) for each in judgement.suppressed
        ],
    }
    entries = gate_entry(action, verdict)
    if verdict.decision is Decision.ALLOW:
        return update | {"action_log": entries}
    update = update | stop_run(state, action, verdict, entries)
    if verdict.decision is Decision.REVIEW:
        content = context.subject.changes.identity if context.subject else ""
        update["review_id"] = review_id(content, context.policy.identity, verdict.evidence)
    return update


def unread(context: Context) -> tuple[Skipped, ...]:
    """Return what was skipped when the change was read."""
    return context.subject.changes.skipped if context.subject else ()


def stop_run(state: State, action: Action, verdict: Verdict, entries: list[Data]) -> State:
    """Build the state after a review or a deny."""
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
