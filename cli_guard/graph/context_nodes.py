"""The first half of the flow: read the request, find its kind, choose and collect its context."""

from collections.abc import Iterable

from langgraph.runtime import Runtime

from cli_guard.graph.context import Context, assistant_of, context_of, with_subject
from cli_guard.graph.state import Data, State, log, normalise
from cli_guard.model import FileChange, Kind, Skipped
from cli_guard.repository.snapshot import Snapshot
from cli_guard.secrets.redact import redact


def fail(node: str, reason: str) -> State:
    """Return the state of a controlled failure; the edge after the node leads to `handle_failure`."""
    return {
        "status": "failed",
        "review_reason": reason,
        "action_log": log(node, failed=reason),
    }


def prepare_task(state: State, runtime: Runtime[Context]) -> State:
    """Check that there is a request and something to read, and fill in every field."""
    request = normalise(str(state.get("input") or ""))
    fresh: State = {
        "normalized_input": request,
        "task_type": state.get("task_type"),
        "requested_paths": list(state.get("requested_paths") or []),
        "repo_snapshot": dict(state.get("repo_snapshot") or {}),
        "context_items": [],
        "plan": [],
        "tool_requests": [],
        "tool_results": [],
        "blocked_actions": [],
        "requires_human_review": False,
        "review_reason": None,
        "status": "ok",
        "final_output": None,
        "metadata": dict(state.get("metadata") or {}),
        "round": 0,
        "last_round": False,
        "restricted": state.get("allowed_paths") is not None,
        "wishes": {},
        "proposal": {},
        "decision": "allow",
        "review_id": None,
        "findings": [],
        "judged": [],
        "suppressed": [],
        "skipped": [],
    }
    if not request:
        return fresh | fail("prepare_task", "the request is empty: say what to do")
    given = runtime.context
    if not (
        fresh["repo_snapshot"] or (given and (given.subject or given.snapshot is not None))
    ):
        return fresh | fail(
            "prepare_task", "there is no repository to look at: give a repo_snapshot"
        )
    context = with_subject(given, state)
    known = [change.path for change in context.subject.changes] if context.subject else []
    named = state.get("allowed_paths")
    # An empty list allows nothing; None allows everything.
    allowed = list(
        dict.fromkeys((*sorted(context.texts), *known)) if named is None else named
    )
    return fresh | {
        "allowed_paths": allowed,
        "action_log": log("prepare_task", paths=len(allowed)),
    }


def classify_task(state: State, runtime: Runtime[Context]) -> State:
    """Let the assistant find the kind of the request. A hook has given the kind, and no words."""
    kind = state.get("task_type")
    if kind == "change_review":
        return {
            "action_log": log(
                "classify_task", task_type="change_review", told_by="the caller"
            )
        }
    context = context_of(runtime.context, state)
    reading = assistant_of(context).read(
        state["normalized_input"], state["allowed_paths"], kind
    )
    entry = log(
        "classify_task", task_type=reading.task_type, told_by=redact(reading.decided_by)
    )
    update: State = {
        "task_type": reading.task_type,
        "wishes": reading.wishes,
        "action_log": entry,
    }
    if reading.refused:
        return update | {
            "status": "failed",
            "review_reason": f"not supported: {reading.refused}",
        }
    return update


def select_context(state: State, runtime: Runtime[Context]) -> State:
    """Choose the paths to read: those requested, else the whole change, else the best matches."""
    context = context_of(runtime.context, state)
    requested = state["requested_paths"]
    wishes = state["wishes"]
    if state["task_type"] == "change_review":
        changes = context.subject.changes if context.subject else ()
        requested = requested or [change.path for change in changes]
    else:
        requested = requested or list(wishes.get("paths", ()))
        wishes = wishes | {"named": bool(requested)}
        requested = requested or list(assistant_of(context).select_paths(state, context))
    return {
        "requested_paths": requested,
        "wishes": wishes,
        "action_log": log("select_context", paths=requested[:50], selected=len(requested)),
    }


def collect_context(state: State, runtime: Runtime[Context]) -> State:
    """Read the chosen paths within the bounds; record each that is not allowed or does not exist."""
    context = context_of(runtime.context, state)
    blocked = list(state["blocked_actions"])
    kept: list[str] = []
    skipped: list[Skipped] = []
    changes = context.subject.changes.files if context.subject else ()
    present = set(context.texts) | {change.path for change in changes}
    allowed = set(state["allowed_paths"])
    for path in state["requested_paths"]:
        if path not in allowed and (path in present or allowed < present or leaves(path)):
            blocked.append(
                {"tool": "read_file", "path": path, "reason": "outside the allowed paths"}
            )
        elif path not in present:
            skipped.append(Skipped(path, "there is no such file"))
        else:
            kept.append(path)
    if state["task_type"] == "change_review":
        # A hook passes the change itself, so it needs no items.
        items = review_items(changes) if context is not runtime.context else []
        collected = len(changes)
        # The files that a caller leaves out of a review count as unread, which needs review.
        reason = "outside the paths of this review"
        chosen = set(kept)
        skipped += [
            Skipped(each.path, reason, asks=True)
            for each in changes
            if each.path not in chosen
        ]
    else:
        items = snapshot_items(context, kept, skipped)
        collected = len(items)
        if not state["restricted"]:
            skipped += left_out(context)
    update: State = {
        "requested_paths": kept,
        "blocked_actions": blocked,
        "context_items": items,
        "skipped": skipped,
        "action_log": log(
            "collect_context", items=collected, blocked=len(blocked), skipped=len(skipped)
        ),
    }
    if state["requested_paths"] and not kept:
        missing = ", ".join(state["requested_paths"][:5])
        return update | {
            "status": "failed",
            "review_reason": f"none of the paths can be read: {missing}",
        }
    return update


def left_out(context: Context) -> list[Skipped]:
    """Return what the snapshot skipped, one entry a reason: the answer cannot use these files."""
    if not isinstance(context.snapshot, Snapshot):
        return []
    reasons: dict[str, list[Skipped]] = {}
    for each in context.snapshot.skipped:
        reasons.setdefault(each.reason, []).append(each)
    return [
        Skipped(f"{each[0].path} and {len(each) - 1:,} more", reason, asks=True)
        if len(each) > 1
        else each[0]
        for reason, each in sorted(reasons.items())
    ]


def leaves(path: str) -> bool:
    """Return whether a path leads out of the repository."""
    return path.startswith(("/", "~")) or ".." in path.split("/")


def review_items(changes: Iterable[FileChange]) -> list[Data]:
    """Return the files of a change without their text, so that a reader of the state can follow the run."""
    return [
        {
            "path": change.path,
            "status": str(change.status),
            "kind": str(change.kind),
            "added": 0
            if change.kind is Kind.BINARY
            else sum(len(hunk.added) for hunk in change.hunks),
            "removed": sum(len(hunk.removed) for hunk in change.hunks),
        }
        for change in changes
    ]


def snapshot_items(
    context: Context, paths: list[str], skipped: list[Skipped]
) -> list[Data]:
    """Return the texts of files of the snapshot within the bounds; add the others to `skipped`."""
    items: list[Data] = []
    limits = context.limits
    total = 0
    for path in paths:
        text = context.texts[path]
        if (
            len(text) > limits.file_chars
            or total + len(text) > limits.total_chars
            or len(items) >= limits.files
        ):
            skipped.append(Skipped(path, "over the bounds of the context"))
            continue
        total += len(text)
        items.append({"path": path, "chars": len(text), "text": redact(text, path)})
    return items
