"""Approves what the assistant asked for: shows it, writes its patch or runs its command, and takes a patch back.

Nothing beside the checkpoint is trusted: what is shown is what the paused run holds, and exactly that is done. A patch
is written before its approval is recorded, a command run after it: one approval never starts a command twice.
"""

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from cli_guard.answering.approve import check_still_pending, record_approval, resume
from cli_guard.assistant.applying import PatchWriter
from cli_guard.assistant.ask import OpenServers, context_for
from cli_guard.assistant.proposals import shown_patch
from cli_guard.errors import Denied, Interrupted, UsageError
from cli_guard.lazy import frozen
from cli_guard.model import Action
from cli_guard.policy.recorded import policy_at_head
from cli_guard.repository.protocol import Repository
from cli_guard.repository.snapshot import Snapshot
from cli_guard.runtime import Invocation
from cli_guard.secrets.printable import printable
from cli_guard.secrets.redact import redact
from cli_guard.state.audit import entry
from cli_guard.state.files import lock
from cli_guard.state.records import Applied, PendingReview, Records

if TYPE_CHECKING:
    from cli_guard.graph.context import Context
    from cli_guard.graph.state import Data, State


def find_requests(
    repository: Repository, review: PendingReview, invocation: Invocation
) -> list[Action]:
    """Return the tool calls that an approval sets going, as the paused run holds them.

    Raises UsageError if they are not those that were asked about here under the present policy, CliGuardError for a
    command that is denied by now.
    """
    from cli_guard.graph.gate import denied_now, proposal_id
    from cli_guard.graph.run import waiting_requests

    if review.root and review.root != repository.root_name:
        raise UsageError(
            f"this was asked in another work tree: approve it in {review.root}, or ask again here"
        )
    requests = waiting_requests(Records(repository.state_folder).checkpoint(review.id))
    policy, _ = policy_at_head(repository, invocation.env)
    if proposal_id(requests, policy.identity) != review.id:
        raise UsageError(
            f"review {review.id} is not what was asked about, or the policy has changed: ask again"
        )
    if (command := command_arguments(requests)) is not None:
        texts = isinstance(command.get("command"), str) and isinstance(
            command.get("folder"), str
        )
        if len(requests) > 1 or not texts:
            raise UsageError(
                f"review {review.id} is not what can be asked about: ask again"
            )
        with context_for(repository, invocation, Snapshot.of({})) as context:
            denied = denied_now(requests, context)
        if denied:
            raise Denied(f"denied, and no approval changes that: {denied}")
    return requests


def command_arguments(requests: list[Action]) -> "Data | None":
    """Return the arguments of the command that requests run, None for no command: it is never beside a patch."""
    return next((each.arguments for each in requests if each.tool == "run_command"), None)


def describe_requests(repository: Repository, requests: list[Action]) -> str:
    """Describe what requests do, for the person who approves: the patch in full, the command, the arguments of a call.

    Raises UsageError for a patch that does not fit the files it was made for.
    """
    from cli_guard.graph.tools.tool import RUN_SECONDS

    parts = []
    for request in requests:
        tool = request.tool
        arguments = request.arguments
        if tool == "write_file":
            parts.append(shown_patch(repository, arguments, redact))
        elif tool == "run_command":
            folder = printable(arguments["folder"])
            parts += [
                f"runs  {printable(redact(arguments['command']))}",
                f"in    {folder}, with bash, on the files of the work tree as they are now",
                f"for   {RUN_SECONDS:g} seconds at most, without input; what it does cannot be undone",
            ]
        else:
            parts.append(
                f"calls {tool} with {redact(json.dumps(arguments, indent=2), 'arguments.json')}"
            )
    return "\n".join(parts)


def approve_request(
    repository: Repository,
    review: PendingReview,
    invocation: Invocation,
    reason: str,
    requests: list[Action] | None = None,
    *,
    servers: OpenServers | None = None,
    say: Callable[[str], None] | None = None,
    seconds: float | None = None,
) -> "State":
    """Carry out what was approved and return the state at the end of the graph: a patch is written, a command run.

    `requests` is what the person has seen of `find_requests`. `servers` opens the MCP servers of the user's
    configuration; without it none can be called. `say` gets the output of a command line by line,
    `seconds` is its time-out; a command that fails ends the run as `failed`. Raises UsageError if it does not fit any
    more, CliGuardError, OSError if it cannot be recorded; then nothing is written or run.
    """
    approval = RequestApproval(
        repository, Records(repository.state_folder), review, invocation, redact(reason)
    )
    if requests is None:
        requests = find_requests(repository, review, invocation)
    if command_arguments(requests) is not None:
        return approval.run_command(requests, say, seconds)
    # Two answers at once would each find the state that they rest on.
    with lock(approval.records.folder / "answers"):
        check_still_pending(approval.records, review)
        return approval.write(requests, servers)


@frozen
class RequestApproval:
    """An approval by a person, and what carries it out."""

    repository: Repository
    records: Records
    review: PendingReview
    invocation: Invocation
    reason: str

    def resume(self, requests: list[Action], context: "Context") -> "State":
        return resume(
            self.records, self.review, self.invocation, self.reason, context, requests
        )

    def record(self, **about: str) -> None:
        record_approval(self.records, self.review, self.invocation, self.reason, **about)

    def write(self, requests: list[Action], servers: OpenServers | None) -> "State":
        """Write the patch of a request, or call the tool of its server. Raises CliGuardError, OSError."""
        repository = self.repository
        review = self.review
        invocation = self.invocation
        with context_for(
            repository, invocation, Snapshot.of({}), servers=servers
        ) as context:
            state = self.resume(requests, context)
        at = invocation.now.isoformat(timespec="seconds")
        root = repository.root_name
        patches = [
            each.arguments["patch"] for each in requests if each.tool == "write_file"
        ]
        results = [each for each in state["tool_results"] if each["tool"] == "write_file"]
        written = [
            Applied(
                review.id, at, invocation.user, review.reason, patch, result["left"], root
            )
            for patch, result in zip(patches, results, strict=True)
        ]
        try:
            for each in written:
                self.records.keep_applied(each)
            self.record()
        except BaseException:
            # A patch that could not be undone later is not left in the work tree.
            for each in reversed(written):
                PatchWriter(repository).revert(each.patch, each.left)
                with suppress(OSError):
                    self.records.forget_applied(each.id)
            raise
        return state

    def run_command(
        self,
        requests: list[Action],
        say: Callable[[str], None] | None,
        seconds: float | None,
    ) -> "State":
        """Run the command of a request. Raises CliGuardError, Interrupted, OSError.

        The approval is used up as soon as the command starts: one that was interrupted is run again only after a new
        request. The audit log names the command before it starts, and how it ended afterwards.
        """
        from cli_guard.execution.approved import CommandRunner
        from cli_guard.graph.tools.tool import RUN_SECONDS

        records = self.records
        invocation = self.invocation
        root = self.repository.root_name
        arguments = command_arguments(requests) or {}
        command = printable(redact(arguments["command"]))
        folder = printable(arguments["folder"])
        about = {"command": command, "folder": folder}
        began = False

        def begin() -> None:
            nonlocal began
            with lock(records.folder / "answers"):
                check_still_pending(records, self.review)
                self.record(**about)
            began = True

        def log_end(**how: object) -> None:
            records.audit.append(
                entry("run", invocation, review_id=self.review.id, **about, **how)
            )

        runner = CommandRunner(
            root, invocation.env, records.folder, say, begin, seconds or RUN_SECONDS
        )
        try:
            with context_for(self.repository, invocation, Snapshot.of({})) as context:
                state = self.resume(requests, replace(context, runner=runner))
        except BaseException as error:
            if not began:
                raise
            with suppress(OSError):
                log_end(interrupted_by=type(error).__name__)
            if isinstance(error, KeyboardInterrupt):
                raise Interrupted(
                    "interrupted: the command and all its processes were killed; what it has done stays, and the"
                    " approval is used up: ask again to run it again"
                ) from None
            raise
        result = next(
            each for each in state["tool_results"] if each["tool"] == "run_command"
        )
        try:
            log_end(
                **{key: result.get(key) for key in ("exit_code", "duration", "timed_out")}
            )
        except OSError as error:
            note = records.not_recorded(error, waits=False)
            state = {**state, "final_output": f"{state['final_output']}\n{note}"}
        return state


def undo(repository: Repository, wanted: str | None, invocation: Invocation) -> Applied:
    """Take a patch back, the last one unless an id is given. Raises UsageError, CliGuardError, OSError."""
    records = Records(repository.state_folder)
    with lock(records.folder / "answers"):
        applied = choose_patch(repository, records, wanted)
        PatchWriter(repository).revert(applied.patch, applied.left)
        records.forget_applied(applied.id)
        records.audit.append(entry("undo", invocation, review_id=applied.id))
    return applied


def choose_patch(repository: Repository, records: Records, wanted: str | None) -> Applied:
    here = ("", repository.root_name)
    written = [each for each in records.applied_patches() if each.root in here]
    fitting = (
        [each for each in written if each.id.startswith(wanted)]
        if wanted
        else list(written[-1:])
    )
    if command := find_command_run_since(records, repository, wanted, fitting):
        before = (
            f"; `cli-guard undo {written[-1].id}` reverts the patch before it"
            if written
            else ""
        )
        raise UsageError(
            f"a command cannot be undone, and {command} was run: see `git status` for what it has changed{before}"
        )
    if not fitting:
        raise UsageError(
            f"no patch {wanted} was written"
            if wanted
            else "no patch was written: nothing to revert"
        )
    if len(fitting) > 1:
        raise UsageError(
            f"{wanted} is the beginning of {len(fitting)} patches: give more of the id"
        )
    return fitting[0]


def find_command_run_since(
    records: Records, repository: Repository, wanted: str | None, fitting: list[Applied]
) -> str | None:
    """Return the command that was approved under an id; without an id, one that was approved here after the patch."""
    found = None
    with suppress(OSError):
        for line in records.audit.entries():
            id = str(line.get("review_id"))
            command = line.get("command")
            if line.get("event") != "approve" or (wanted and not id.startswith(wanted)):
                continue
            if command and line.get("folder") == printable(repository.root_name):
                found = str(command)
            elif any(each.id == id for each in fitting):
                found = None
    return found
