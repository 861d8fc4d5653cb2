"""What waits for a person: the review of an id, what a yes would set going, and how that is shown.

Nothing that lies beside the checkpoint is believed: what is shown is what the paused run holds, and what will be done.
"""

import json
from typing import TYPE_CHECKING

from cli_guard.errors import CliGuardError, UsageError
from cli_guard.git.proposals import shown_patch
from cli_guard.git.repository import Repository
from cli_guard.git.snapshot import Snapshot
from cli_guard.policy.approvals import review_id
from cli_guard.review.policy import policy_for
from cli_guard.review.request import Staged
from cli_guard.runtime import Invocation
from cli_guard.secrets.printable import printable
from cli_guard.secrets.redact import redact
from cli_guard.state.records import ASKED, WAITING_DAYS, Records, WaitingReview

if TYPE_CHECKING:
    from cli_guard.graph.state import Data


def waiting(records: Records, wanted: str, invocation: Invocation) -> WaitingReview:
    """The review of an id or the beginning of one, if it has not waited too long. Raises UsageError."""
    fitting = [review for review in records.waiting() if review.id.startswith(wanted)] if wanted else []
    if len(fitting) == 1:
        if fitting[0].expired(invocation.now):
            again = "ask again" if fitting[0].event == ASKED else "run the commit or push again"
            raise UsageError(f"review {fitting[0].id} waited longer than {WAITING_DAYS} days: {again}")
        if fitting[0].event != ASKED and not holds(fitting[0]):
            raise UsageError(f"review {fitting[0].id} is not what was reviewed: run the commit or push again")
        return fitting[0]
    if fitting:
        raise UsageError(f"{wanted} is the beginning of {len(fitting)} reviews: give more of the id")
    if wanted and any(approval.id.startswith(wanted) for approval in records.approvals()):
        raise UsageError(f"review {wanted} is approved already: run the commit or push again")
    raise UsageError(f"no review {wanted} waits: see `cli-guard reviews`")


def holds(review: WaitingReview) -> bool:
    """Is the id of a review that of its content, policy and findings?"""
    return review_id(review.content, review.policy, review.fingerprints) == review.id


def asked_for(repository: Repository, review: WaitingReview, invocation: Invocation) -> list["Data"]:
    """What an approval of a request sets going here: the requests that its paused run holds, nothing told of them.

    Raises UsageError where they are not those that were asked about here, under the policy in force.
    """
    from cli_guard.assistant.ask import context_for
    from cli_guard.graph.gate import denied_now, proposal_id
    from cli_guard.graph.run import waiting_requests

    if review.event != ASKED:
        return []
    if review.root and review.root != repository.root_name:
        raise UsageError(
            f"this was asked in another work tree: approve it in {review.root}, or ask again here"
        )
    requests = waiting_requests(Records(repository.state_folder).checkpoint(review.id))
    policy, _ = policy_for(Staged(), repository, invocation.env)
    if proposal_id(requests, policy.identity) != review.id:
        raise UsageError(
            f"review {review.id} is not what was asked about, or the policy has changed: ask again"
        )
    command = command_in(requests)
    if command is not None:
        texts = isinstance(command.get("command"), str) and isinstance(command.get("folder"), str)
        if len(requests) > 1 or not texts:
            raise UsageError(f"review {review.id} is not what can be asked about: ask again")
        with context_for(repository, invocation, Snapshot.of({}), servers=False) as context:
            denied = denied_now(requests, context)
        if denied:
            raise CliGuardError(f"denied, and no approval changes that: {denied}")
    return requests


def command_in(requests: list["Data"]) -> "Data | None":
    """The arguments of the command that requests run, None if they run none: it waits alone, never beside a patch."""
    return next((each["arguments"] for each in requests if each["tool"] == "run_command"), None)


def told_of(repository: Repository, requests: list["Data"]) -> str:
    """What requests do, for the person who approves them: a patch line for line, a command, the arguments of a call.

    Raises UsageError for a patch that does not fit what it rests on.
    """
    parts = []
    for request in requests:
        arguments = request["arguments"]
        if request["tool"] == "write_file":
            parts.append(shown_patch(repository, arguments, redact))
        elif request["tool"] == "run_command":
            parts.append(command_told(arguments))
        else:
            parts.append(
                f"calls {request['tool']} with {redact(json.dumps(arguments, indent=2), 'arguments.json')}"
            )
    return "\n".join(parts)


def command_told(arguments: "Data") -> str:
    """A command as it is approved: exactly what runs, where, and for how long."""
    from cli_guard.graph.tools.commands import RUN_SECONDS

    return (
        f"runs  {printable(redact(arguments['command']))}\n"
        f"in    {printable(arguments['folder'])}, with bash, on the files as they lie there now\n"
        f"for   {RUN_SECONDS:g} seconds at most, without input; what it does cannot be taken back"
    )
