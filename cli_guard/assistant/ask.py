"""The one call behind `cli-guard ask`: a request in, the graph's answer out, and what waits for a person kept.

request + repository -> snapshot -> the graph -> Asked -> records
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cli_guard.errors import CliGuardError, UsageError
from cli_guard.git.applying import PatchWriter
from cli_guard.git.repository import Repository
from cli_guard.git.snapshot import Snapshot, read_state
from cli_guard.review.command_context import command_context
from cli_guard.review.policy import policy_for
from cli_guard.review.request import Commit, Staged, Worktree
from cli_guard.runtime import Invocation
from cli_guard.secrets.printable import json_value, printable
from cli_guard.secrets.redact import redact
from cli_guard.state.audit import entry
from cli_guard.state.records import ASKED, PendingReview, Records

if TYPE_CHECKING:
    from cli_guard.graph.context import Context
    from cli_guard.graph.run import Pause
    from cli_guard.graph.state import Data, State

# What is told of a run; the rest of its state is the graph's own.
TOLD = (
    *("input", "status", "task_type", "final_output", "plan", "tool_results", "blocked_actions"),
    *("requires_human_review", "review_reason", "review_id", "action_log", "requested_paths", "skipped"),
)
REQUEST_CHARS = 300
REMEMBERED_LINES = 4


@dataclass(frozen=True)
class Asked:
    """What came of a request: `status` is ok, needs_review or failed; `data` is the state as JSON data.

    `patch` is the exact patch that is proposed, "" if there is none or if it holds a secret; `notes` are for stderr.
    """

    status: str
    text: str
    data: dict[str, object]
    patch: str = ""
    notes: tuple[str, ...] = ()


def ask_request(
    request: str,
    invocation: Invocation,
    *,
    paths: Sequence[str] = (),
    revision: str | None = None,
    worktree: bool = False,
    servers: bool = True,
) -> Asked:
    """Answers a request about the repository around an invocation: the index, a revision or the work tree.

    `paths` (from the top of the repository) narrow what may be looked at. Without `servers` no MCP server is started.
    Raises CliGuardError.
    """
    repository = Repository.discover(invocation.cwd, invocation.env)
    if wants_review(request):
        return reviewed(invocation, revision, worktree=worktree)
    snapshot = read(repository, revision, worktree=worktree)
    asked: State = {"input": request, "metadata": {"event": ASKED, "snapshot": snapshot.name}}
    if paths:
        asked["allowed_paths"] = under(paths, snapshot)
    from cli_guard.graph.run import run_graph

    with context_for(repository, invocation, snapshot, servers=servers, runs=revision is None) as context:
        state, pause = run_graph(asked, context)
    return record(asked_of(state), state, pause, repository, invocation)


def wants_review(request: str) -> bool:
    """Does a request ask for what `cli-guard review` does?"""
    from cli_guard.assistant.requests import classify, normalise

    return classify(normalise(request)).task_type == "change_review"


def reviewed(invocation: Invocation, revision: str | None, *, worktree: bool) -> Asked:
    """The review of a change: what is staged, what lies in the work tree, or a commit."""
    from cli_guard.review.render import as_json, text
    from cli_guard.review.run import review_request

    done = review_request(Worktree() if worktree else Commit(revision) if revision else Staged(), invocation)
    shown = text.render(done, color=False)
    data = {"task_type": "change_review", "final_output": shown, **as_json.as_dict(done)}
    return Asked(done.status, shown, data)


def read(repository: Repository, revision: str | None, *, worktree: bool) -> Snapshot:
    """The snapshot that is asked about. Raises UsageError for an empty one."""
    snapshot = read_state(repository, revision, worktree=worktree)
    if not snapshot.entries:
        other = "" if worktree else ", or ask about the files that lie there with --worktree"
        raise UsageError(f"{snapshot.name} holds no files: stage some with `git add`{other}")
    return snapshot


@contextmanager
def context_for(
    repository: Repository,
    invocation: Invocation,
    snapshot: Snapshot,
    *,
    servers: bool = True,
    runs: bool = True,
) -> "Iterator[Context]":
    """What the graph is given of a repository, good while it is open. Raises ConfigError, GitError.

    Without `runs` nothing can be run: what lies in the work tree is not the revision that was asked about.
    """
    from cli_guard.assistant.sandbox import Shell
    from cli_guard.graph.context import Context
    from cli_guard.graph.tools.commands import CommandRunner
    from cli_guard.graph.tools.mcp import WithServers, opened
    from cli_guard.graph.tools.registry import all_tools
    from cli_guard.state.memory import Memory

    policy, _ = policy_for(Staged(), repository, invocation.env)
    folder = repository.state_folder
    with opened(policy.servers if servers else {}, invocation.cwd, invocation.env) as offered:
        yield Context(
            snapshot=snapshot,
            policy=policy,
            tools=WithServers(all_tools(), offered),
            today=invocation.now.date(),
            commands=command_context(invocation.cwd, invocation.env),
            writer=None if repository.bare else PatchWriter(repository),
            runner=CommandRunner(repository.root_name, invocation.env, folder)
            if runs and not repository.bare
            else None,
            sandbox=Shell(snapshot, repository, Memory(folder), offered.in_the_shell, folder),
        )


def under(paths: Sequence[str], snapshot: Snapshot) -> list[str]:
    """The text files that some paths name, folders whole. Raises UsageError for a path that names none."""
    found: dict[str, None] = {}
    for path in paths:
        inside = [each for each in snapshot if path in (each, ".") or each.startswith(f"{path}/")]
        if not inside:
            raise UsageError(f"there is no text file {path} in {snapshot.name}: see `cli-guard shell ls`")
        found |= dict.fromkeys(inside)
    return list(found)


def asked_of(state: "State") -> Asked:
    """The end of a run as an answer."""
    data = {key: state.get(key) for key in TOLD}
    patch = str(state["proposal"].get("patch", ""))
    shown = next((str(r["patch"]) for r in state["tool_results"] if "patch" in r), "")
    told = json_value(data)
    assert isinstance(told, dict)  # noqa: S101 - a dict gives one
    return Asked(state["status"], state["final_output"] or "", told, patch if patch == shown else "")


def record(
    asked: Asked, state: "State", pause: "Pause | None", repository: Repository, invocation: Invocation
) -> Asked:
    """The answer, what waits for a person kept; with a note where that cannot be written."""
    records = Records(repository.state_folder)
    try:
        records.prepare()
        if pause and state["review_id"]:
            pause.keep(records.checkpoint(state["review_id"]))
            records.add_pending(waiting_proposal(state, invocation, repository.root_name))
        records.audit.append(audit_entry(state, invocation))
        remember(asked, state, records)
    except (OSError, sqlite3.Error) as error:
        note = records.not_recorded(error, waits=bool(state["review_id"]))
        return replace(asked, data={**asked.data, "review_id": None}, notes=(*asked.notes, note))
    return asked


def remember(asked: Asked, state: "State", records: Records) -> None:
    """Keeps the beginning of an answer, where the run tool's `memory` finds it again."""
    if state["task_type"] != "repo_qna" or asked.status != "ok":
        return
    from cli_guard.state.memory import Memory

    request = state["normalized_input"][:REQUEST_CHARS]
    text = "\n".join((request, *asked.text.splitlines()[:REMEMBERED_LINES]))
    # What cannot be kept is lost to nobody: the question can be asked again.
    with suppress(CliGuardError):
        Memory(records.folder).keep(text, "answer", f"ask {request}")


def waiting_proposal(state: "State", invocation: Invocation, root: str) -> PendingReview:
    """What is told of a proposal to the person who looks through what waits."""
    ready = {request["tool"] for request in state["tool_requests"]}
    waits = [each for each in state["blocked_actions"] if each["tool"] in ready]
    told = [waiting_line(each) for each in waits]
    assert state["review_id"]  # noqa: S101 - only a run with an id waits
    return PendingReview(
        id=state["review_id"],
        event=ASKED,
        at=invocation.now.isoformat(timespec="seconds"),
        reason=printable(redact(state["normalized_input"]))[:REQUEST_CHARS],
        content=state["review_id"],
        policy="",
        fingerprints=(),
        findings=tuple(printable(redact(line)) for line in told),
        root=root,
    )


def waiting_line(blocked: "Data") -> str:
    """What an action that waits would do."""
    if "path" in blocked:
        return f"writes {blocked['path']}"
    return f"runs {blocked['command']}" if "command" in blocked else f"calls {blocked['tool']}"


def audit_entry(state: "State", invocation: Invocation) -> dict[str, object]:
    """Build the audit entry of a request: what kind it was, and how it ended."""
    return entry(
        ASKED,
        invocation,
        request=printable(redact(state["normalized_input"]))[:REQUEST_CHARS],
        task_type=state["task_type"],
        status=state["status"],
        review_id=state["review_id"],
        tools=[each["tool"] for each in state["plan"]],
    )
