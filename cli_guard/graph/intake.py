"""The first half of the flow: take the request, name its kind, choose and collect its context."""

import re

from langgraph.runtime import Runtime

from cli_guard.graph.classify import classify
from cli_guard.graph.context import Context, context_of
from cli_guard.graph.state import Data, State, log, skipped_data
from cli_guard.model import Kind, Skipped
from cli_guard.redact import redact
from cli_guard.tools.reading import rank_paths

ANSWERED_FROM = 5
INPUT_CHARS = 20_000
PATH_CHARS = 300
PATH = re.compile(
    r"(?!\S*://)[~/\w.@+-]*/[\w.@+-]*\.[A-Za-z]\w{0,9}|[~/]?(?:[\w.-]+/)*\.\.?/\S+|(?:~/|/\S+/)\S+"
)


def failed(node: str, reason: str) -> State:
    """A controlled failure; the edge after the node leads to `handle_failure`."""
    return {"status": "failed", "review_reason": reason, "action_log": log(node, failed=reason)}


def prepare_task(state: State, runtime: Runtime[Context]) -> State:
    """Checks that there is a request and something to look at, and fills in every field."""
    request = " ".join(str(state.get("input") or "").split())
    fresh: State = {
        "normalized_input": request[:INPUT_CHARS],
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
        "decision": "allow",
        "review_id": None,
        "findings": [],
        "judged": [],
        "suppressed": [],
        "skipped": [],
    }
    if not request:
        return fresh | failed("prepare_task", "the request is empty: say what to do")
    given = runtime.context
    if not (fresh["repo_snapshot"] or (given and (given.subject or given.snapshot))):
        return fresh | failed("prepare_task", "there is no repository to look at: give a repo_snapshot")
    context = context_of(given, state)
    known = [change.path for change in context.subject.changes] if context.subject else []
    named = state.get("allowed_paths")
    # An empty list allows nothing; only a caller that names none leaves everything open.
    allowed = list(dict.fromkeys((*sorted(context.snapshot), *known)) if named is None else named)
    return fresh | {"allowed_paths": allowed, "action_log": log("prepare_task", paths=len(allowed))}


def classify_task(state: State, runtime: Runtime[Context]) -> State:
    """Names the kind of task; a hook has named it already."""
    kind, told_by = classify(state["normalized_input"])
    if state.get("task_type"):
        kind, told_by = state["task_type"] or kind, "the caller"
    entry = log("classify_task", task_type=kind, told_by=told_by)
    if kind == "unsupported":
        reason = f"not supported: {told_by!r} is nothing this assistant does or turns into a command"
        return {"task_type": kind, "status": "failed", "review_reason": reason, "action_log": entry}
    return {"task_type": kind, "action_log": entry}


def select_context(state: State, runtime: Runtime[Context]) -> State:
    """Chooses the paths to look at: those asked for, else the whole change, else the best matches."""
    context = context_of(runtime.context, state)
    allowed = state["allowed_paths"]
    requested = state["requested_paths"]
    if state["task_type"] == "change_review":
        changes = context.subject.changes if context.subject else ()
        requested = requested or [change.path for change in changes]
    else:
        request = state["normalized_input"]
        requested = requested or named_paths(request, allowed)
        texts = {path: context.snapshot[path] for path in allowed if path in context.snapshot}
        requested = requested or rank_paths(request, texts)[:ANSWERED_FROM]
    return {
        "requested_paths": requested,
        "action_log": log("select_context", paths=requested[:50], selected=len(requested)),
    }


def named_paths(request: str, known: list[str]) -> list[str]:
    """The paths that a request names, there or not: known ones, and words that can be nothing else."""
    words = (word.strip("`'\"()[]<>,;:!?").rstrip(".") for word in request.split())
    there = set(known)
    paths = (word for word in words if word in there or (len(word) < PATH_CHARS and PATH.fullmatch(word)))
    return list(dict.fromkeys(paths))


def collect_context(state: State, runtime: Runtime[Context]) -> State:
    """Reads what was chosen, within its bounds; what is not allowed or not there is named."""
    context = context_of(runtime.context, state)
    blocked = list(state["blocked_actions"])
    kept: list[str] = []
    skipped: list[Skipped] = []
    present = set(context.snapshot) | {c.path for c in (context.subject.changes if context.subject else ())}
    allowed = set(state["allowed_paths"])
    for path in state["requested_paths"]:
        if path not in allowed and (path in present or allowed < present or leaves(path)):
            blocked.append({"tool": "read_file", "path": path, "reason": "outside the allowed paths"})
        elif path not in present:
            skipped.append(Skipped(path, "there is no such file"))
        else:
            kept.append(path)
    if state["task_type"] == "change_review":
        items = review_items(context)
        # Whoever narrows a review leaves something unread, and a person is asked about that.
        reason = "outside the paths of this review"
        chosen = set(kept)
        left = [item["path"] for item in items if item["path"] not in chosen]
        skipped += [Skipped(path, reason, by_limit=True) for path in left]
    else:
        items = snapshot_items(context, kept, skipped)
    update: State = {
        "requested_paths": kept,
        "blocked_actions": blocked,
        "context_items": items,
        "skipped": skipped_data(skipped),
        "action_log": log("collect_context", items=len(items), blocked=len(blocked), skipped=len(skipped)),
    }
    if state["requested_paths"] and not kept:
        missing = ", ".join(state["requested_paths"][:5])
        return update | {"status": "failed", "review_reason": f"none of the paths can be read: {missing}"}
    return update


def leaves(path: str) -> bool:
    """Does a path lead out of the repository?"""
    return path.startswith(("/", "~")) or ".." in path.split("/")


def review_items(context: Context) -> list[Data]:
    """A change file by file, without its text: what a reader of the state needs to follow the run."""
    if context.subject is None:
        return []
    return [
        {
            "path": change.path,
            "status": str(change.status),
            "kind": str(change.kind),
            "added": 0 if change.kind is Kind.BINARY else len(change.added),
            "removed": len(change.removed),
        }
        for change in context.subject.changes
    ]


def snapshot_items(context: Context, paths: list[str], skipped: list[Skipped]) -> list[Data]:
    """The texts of files of the snapshot, as far as the bounds go."""
    items: list[Data] = []
    limits = context.limits
    total = 0
    for path in paths:
        text = context.snapshot[path]
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
