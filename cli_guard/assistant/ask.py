"""The call behind `cli-guard ask`: answers a request about a repository, and stores what needs an approval.

request + repository -> snapshot -> propose -> Proposal -> records
"""

import sqlite3
from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from cli_guard.assistant import Proposal, propose
from cli_guard.assistant.applying import PatchWriter
from cli_guard.assistant.history_request import read_history_request
from cli_guard.assistant.request import read_request
from cli_guard.assistant.reviewing import review_change
from cli_guard.errors import CliGuardError, UsageError
from cli_guard.execution.context import command_context
from cli_guard.git.repository import GitRepository
from cli_guard.graph.state import normalise
from cli_guard.policy.recorded import policy_at_head
from cli_guard.repository.protocol import Repository
from cli_guard.repository.snapshot import Snapshot
from cli_guard.runtime import Invocation
from cli_guard.secrets.printable import printable
from cli_guard.secrets.redact import redact
from cli_guard.state.audit import entry
from cli_guard.state.records import ASKED, PendingReview, Records

if TYPE_CHECKING:
    from cli_guard.assistant.sandbox.model import CommandWorld, McpTools
    from cli_guard.graph.context import Context
    from cli_guard.graph.state import Data, State
    from cli_guard.policy.mcp import ServerConfig

REQUEST_CHARS = 300
REMEMBERED_LINES = 4


class AskedServers(Protocol):
    """MCP servers: their tools by name, and for the sandboxed shell; see `cli_guard.mcp.client.tools`."""

    @property
    def in_the_shell(self) -> "McpTools | None":
        """Return what the sandboxed shell may call."""


OpenServers = Callable[
    ["Mapping[str, ServerConfig]", Path, Mapping[str, str]],
    AbstractContextManager[AskedServers],
]


def ask_request(
    request: str,
    invocation: Invocation,
    *,
    paths: Sequence[str] = (),
    revision: str | None = None,
    worktree: bool = False,
    servers: OpenServers | None = None,
    equip: "Callable[[Context], Context] | None" = None,
) -> Proposal:
    """Answer a request about the repository around an invocation: the index, a revision or the work tree.

    `paths` (from the top of the repository) narrow what may be looked at. `servers` opens the MCP servers of the
    user's configuration; without it none is started. `equip` gives the context what else the caller has: a planner, a
    narrator, tools. Raises CliGuardError.
    """
    repository = GitRepository.discover(invocation.cwd, invocation.env)
    said = read_request(normalise(request))
    if said.kind == "change_review" and not read_history_request(said.text, said.names):
        return review_change(said.text, repository, invocation, revision, worktree=worktree)
    if said.only_recorded and revision is None:
        from cli_guard.assistant.recording import draft_recording

        known = repository.snapshot(None, worktree=False).entries
        return draft_recording(read_request(said.text, known), repository, invocation)
    snapshot = repository.snapshot(revision, worktree=worktree)
    if not snapshot.entries:
        way = "stage some with `git add`"
        if not worktree:
            way += ", or ask about the files of the work tree with --worktree"
        if repository.bare:
            way = "ask about those of a commit with --rev"
        raise UsageError(f"{snapshot.name} holds no files: {way}")
    metadata: Data = {"event": ASKED, "snapshot": snapshot.name}
    allowed = files_under(paths, snapshot) if paths else None
    with context_for(
        repository, invocation, snapshot, servers=servers, runs=revision is None
    ) as context:
        context = equip(context) if equip else context
        proposal = propose(
            request, snapshot, paths=allowed, context=context, metadata=metadata
        )
    return record(proposal, repository, invocation)


def open_world(
    invocation: Invocation, revision: str | None, *, worktree: bool
) -> "CommandWorld":
    """Return the world of the run tool over the repository around an invocation. Raises GitError."""
    from cli_guard.assistant.asking import world_of

    repository = GitRepository.discover(invocation.cwd, invocation.env)
    return world_of(repository, repository.snapshot(revision, worktree=worktree))


@contextmanager
def context_for(
    repository: Repository,
    invocation: Invocation,
    snapshot: Snapshot,
    *,
    servers: OpenServers | None = None,
    runs: bool = True,
) -> "Iterator[Context]":
    """Open what the graph is given of a repository. Raises ConfigError, GitError.

    Without `runs` nothing can be run: the work tree is not the revision that was asked about.
    """
    from cli_guard.assistant.asking import world_of
    from cli_guard.assistant.local import LocalAssistant
    from cli_guard.execution.approved import CommandRunner
    from cli_guard.graph.context import Context
    from cli_guard.graph.tools import guard_tools

    policy, _ = policy_at_head(repository, invocation.env)
    folder = repository.state_folder
    tools = guard_tools()
    runner = CommandRunner(repository.root_name, invocation.env, folder)
    written = Records(folder).applied_patches()
    opening = (
        servers(policy.servers, invocation.cwd, invocation.env)
        if servers
        else nullcontext(None)
    )
    with opening as offered:
        mcp = offered.in_the_shell if offered is not None else None
        shell = replace(world_of(repository, snapshot), mcp=mcp)
        yield Context(
            snapshot=snapshot,
            policy=policy,
            tools=tools if offered is None else ChainMap(tools, cast(Any, offered)),
            today=invocation.now.date(),
            commands=command_context(invocation.cwd, invocation.env),
            writer=None if repository.bare else PatchWriter(repository, written),
            runner=runner if runs and not repository.bare else None,
            assistant=LocalAssistant(shell),
        )


def files_under(paths: Sequence[str], snapshot: Snapshot) -> list[str]:
    """Find the text files that some paths name, folders whole. Raises UsageError for a path that names none."""
    found: dict[str, None] = {}
    for path in paths:
        inside = [
            each for each in snapshot if path in (each, ".") or each.startswith(f"{path}/")
        ]
        if not inside:
            raise UsageError(
                f"there is no text file {path} in {snapshot.name}: see `cli-guard shell ls`"
            )
        found |= dict.fromkeys(inside)
    return list(found)


def record(proposal: Proposal, repository: Repository, invocation: Invocation) -> Proposal:
    """Store what needs an approval, and the audit entry; with a note where that cannot be written."""
    state = proposal.state
    records = Records(repository.state_folder)
    assert state is not None  # noqa: S101 - what the graph made has one
    logged = entry(
        ASKED,
        invocation,
        request=shown_request(state),
        task_type=state["task_type"],
        status=state["status"],
        review_id=state["review_id"],
        tools=[each["tool"] for each in state["plan"]],
    )
    tried = [each for each in state["action_log"] if each["node"] == "model"]
    if tried:
        logged["models"] = [
            {key: each[key] for key in ("model", "outcome", "prompt")} for each in tried
        ]
    try:
        records.prepare()
        if proposal.pause and state["review_id"]:
            proposal.pause.keep(records.checkpoint(state["review_id"]))
            waits = pending_review(state, invocation, repository.root_name)
            dropped = records.add_pending(waits)
            proposal = replace(proposal, notes=(*proposal.notes, *dropped))
        records.audit.append(logged)
        remember(proposal, state, records)
    except (OSError, sqlite3.Error) as error:
        note = records.not_recorded(error, waits=bool(state["review_id"]))
        return replace(
            proposal,
            data={**proposal.data, "review_id": None},
            notes=(*proposal.notes, note),
        )
    return proposal


def remember(proposal: Proposal, state: "State", records: Records) -> None:
    """Keep the beginning of an answer, where the run tool's `memory` finds it again."""
    if (
        state["task_type"] != "repo_qna"
        or proposal.status != "ok"
        or state["wishes"].get("chat")
    ):
        return
    from cli_guard.state.memory import Memory

    request = redact(state["normalized_input"])[:REQUEST_CHARS]
    text = "\n".join((request, *proposal.text.splitlines()[:REMEMBERED_LINES]))
    # An answer that cannot be kept is no loss: the question can be asked again.
    with suppress(CliGuardError):
        Memory(records.folder).keep(text, "answer", f"ask {request}")


def shown_request(state: "State") -> str:
    return printable(redact(state["normalized_input"]))[:REQUEST_CHARS]


def pending_review(state: "State", invocation: Invocation, root: str) -> PendingReview:
    """Build the pending review of a proposal, as `cli-guard pending` shows it."""
    ready = {request["tool"] for request in state["tool_requests"]}
    verbs = {"path": "writes", "command": "runs", "tool": "calls"}
    effects = [
        next(f"{verb} {each[key]}" for key, verb in verbs.items() if key in each)
        for each in state["blocked_actions"]
        if each["tool"] in ready
    ]
    assert state["review_id"]  # noqa: S101 - only a run with an id is pending
    return PendingReview(
        id=state["review_id"],
        event=ASKED,
        at=invocation.now.isoformat(timespec="seconds"),
        reason=shown_request(state),
        content=state["review_id"],
        policy="",
        fingerprints=(),
        findings=tuple(printable(redact(line)) for line in effects),
        root=root,
    )
