"""What a person's answer does to what waits: an approval, a rejection, and an approved patch taken back.

Whether a person answered is for the caller to know; here the answer is carried out, and written to the audit trail. A
patch is written before its approval is noted, a command run after: one yes never starts it twice.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from cli_guard.errors import CliGuardError, Interrupted, UsageError
from cli_guard.git.applying import PatchWriter
from cli_guard.git.repository import Repository
from cli_guard.git.snapshot import Snapshot
from cli_guard.policy.approvals import Approval
from cli_guard.review.pending import asked_for, command_in
from cli_guard.runtime import Invocation
from cli_guard.secrets.printable import printable
from cli_guard.secrets.redact import redact
from cli_guard.state.audit import locked
from cli_guard.state.records import ASKED, Applied, Records, WaitingReview

if TYPE_CHECKING:
    from cli_guard.graph.context import Context
    from cli_guard.graph.state import Data, State


def approve(
    repository: Repository,
    review: WaitingReview,
    invocation: Invocation,
    reason: str,
    shown: list["Data"] | None = None,
    *,
    say: Callable[[str], None] | None = None,
    seconds: float | None = None,
) -> "State":
    """Carries a yes out, and gives the end of the run: a change may be recorded now, a request's patch is written.

    `shown` is what the person has seen of `asked_for`. A request's command is run: `say` is given its output line by
    line, `seconds` is its time-out (RUN_SECONDS); one that fails ends the run as `failed`. Raises UsageError where it
    does not fit any more, CliGuardError, OSError where it cannot be written down; then nothing is written or run.
    """
    records, reason = Records(repository.state_folder), redact(reason)
    if review.event == ASKED:
        requests = asked_for(repository, review, invocation) if shown is None else shown
        if command_in(requests) is not None:
            return ran(repository, records, review, invocation, reason, requests, say, seconds)
    # Two answers at once would each find the state that they rest on.
    with locked(records.folder / "answers"):
        still_waits(records, review)
        if review.event == ASKED:
            return carried_out(repository, records, review, invocation, reason, requests)
        state = resumed(records, review, invocation, reason)
        at = invocation.now.isoformat(timespec="seconds")
        records.approve(
            Approval(
                review.id, review.content, review.policy, review.fingerprints, invocation.user, at, reason
            )
        )
        approved(records, review, invocation, reason)
    return state


def still_waits(records: Records, review: WaitingReview) -> None:
    """Raises UsageError for a review that somebody has answered meanwhile."""
    if all(each.id != review.id for each in records.waiting()):
        raise UsageError(f"review {review.id} waits no longer: it was answered")


def approved(
    records: Records, review: WaitingReview, invocation: Invocation, reason: str, **further: object
) -> None:
    """Writes an approval to the trail, and takes its review off the list. Raises OSError."""
    told = {
        "content": review.content,
        "policy": review.policy,
        "fingerprints": sorted(review.fingerprints),
        "reason": reason,
        **further,
    }
    note(records, "approve", review.id, invocation, **told)
    records.settle(review.id)


def carried_out(
    repository: Repository,
    records: Records,
    review: WaitingReview,
    invocation: Invocation,
    reason: str,
    requests: list["Data"],
) -> "State":
    """Does what a request waits for: writes its patch, calls a server's tool. Raises CliGuardError, OSError."""
    from cli_guard.assistant.ask import context_for

    with context_for(repository, invocation, Snapshot.of({})) as context:
        state = resumed(records, review, invocation, reason, context, requests)
    at, root = invocation.now.isoformat(timespec="seconds"), repository.root_name
    patches = [each["arguments"]["patch"] for each in requests if each["tool"] == "write_file"]
    results = [each for each in state["tool_results"] if each["tool"] == "write_file"]
    written = [
        Applied(review.id, at, invocation.user, review.reason, patch, result["left"], root)
        for patch, result in zip(patches, results, strict=True)
    ]
    try:
        for each in written:
            records.keep_applied(each)
        approved(records, review, invocation, reason)
    except BaseException:
        # What could not be taken back later is not left there.
        for each in reversed(written):
            PatchWriter(repository).take_back(each.patch, each.left)
            with suppress(OSError):
                records.forget_applied(each.id)
        raise
    return state


def ran(
    repository: Repository,
    records: Records,
    review: WaitingReview,
    invocation: Invocation,
    reason: str,
    requests: list["Data"],
    say: Callable[[str], None] | None,
    seconds: float | None,
) -> "State":
    """Runs the command that a request waits for. Raises CliGuardError, Interrupted, OSError.

    The yes is used up as soon as the command starts: one that was half run is not run again before somebody has asked
    again. The trail says what was about to run before it starts, and how it ended afterwards.
    """
    from cli_guard.assistant.ask import context_for
    from cli_guard.graph.tools.commands import RUN_SECONDS, CommandRunner, unheard

    arguments = command_in(requests) or {}
    about = {
        "command": printable(redact(arguments["command"])),
        "folder": printable(arguments["folder"]),
    }
    began: list[str] = []

    def begin() -> None:
        with locked(records.folder / "answers"):
            still_waits(records, review)
            approved(records, review, invocation, reason, **about)
        began.append(review.id)

    runner = CommandRunner(
        repository.root_name, invocation.env, records.folder, say or unheard, begin, seconds or RUN_SECONDS
    )
    try:
        with context_for(repository, invocation, Snapshot.of({}), servers=False) as context:
            state = resumed(records, review, invocation, reason, replace(context, runner=runner), requests)
    except BaseException as error:
        if began:
            with suppress(OSError):
                note(records, "run", review.id, invocation, **about, broken_off=type(error).__name__)
        if began and isinstance(error, KeyboardInterrupt):
            raise Interrupted(
                "interrupted: the command was ended with all that it had started; what it has done stays done, and the"
                " approval is used up: ask again to run it again"
            ) from None
        raise
    result = next(each for each in state["tool_results"] if each["tool"] == "run_command")
    how = {key: result.get(key) for key in ("exit_code", "duration", "timed_out")}
    try:
        note(records, "run", review.id, invocation, **about, **how)
    except OSError as error:
        told = f"{state['final_output']}\n{records.not_recorded(error, waits=False)}"
        state = {**state, "final_output": told}
    return state


def resumed(
    records: Records,
    review: WaitingReview,
    invocation: Invocation,
    reason: str,
    context: "Context | None" = None,
    requests: list["Data"] | None = None,
) -> "State":
    """The graph of a review, gone on to its end. Raises UsageError, CliGuardError."""
    from cli_guard.graph.run import resume_review

    path = records.checkpoint(review.id)
    state = resume_review(path, by=invocation.user, reason=reason, context=context, requests=requests)
    # What a command came to is an answer; that it was not run is none.
    if state["status"] != "ok" and all(each["tool"] != "run_command" for each in state["tool_results"]):
        raise CliGuardError(f"review {review.id} did not go on: {state['review_reason']}")
    return state


def reject(repository: Repository, review: WaitingReview, invocation: Invocation, reason: str) -> None:
    """Ends a review and its graph with a no: nothing is done, and it waits no longer. Raises OSError."""
    from cli_guard.graph.run import resume_review

    records, reason = Records(repository.state_folder), redact(reason)
    # A checkpoint that is broken or locked is no reason to go on asking about it.
    with suppress(UsageError):
        resume_review(records.checkpoint(review.id), by=invocation.user, reason=reason, approved=False)
    note(records, "reject", review.id, invocation, reason=reason)
    records.settle(review.id)


def undo(repository: Repository, wanted: str | None, invocation: Invocation) -> Applied:
    """Takes a patch back, the last one unless an id is given. Raises UsageError, CliGuardError, OSError."""
    records = Records(repository.state_folder)
    with locked(records.folder / "answers"):
        return taken_back(repository, records, wanted, invocation)


def taken_back(
    repository: Repository, records: Records, wanted: str | None, invocation: Invocation
) -> Applied:
    """The same, while nobody else answers."""
    here = ("", repository.root_name)
    written = [each for each in records.applied() if each.root in here]
    fitting = [each for each in written if each.id.startswith(wanted)] if wanted else list(written[-1:])
    command = run_instead(records, repository, wanted, fitting)
    if command:
        before = f"; `cli-guard undo {written[-1].id}` takes back the patch before it" if written else ""
        raise UsageError(
            f"a command cannot be taken back, and {command} was run: see `git status` for what it has changed{before}"
        )
    if not fitting:
        none = f"no patch {wanted} was written" if wanted else "no patch was written: nothing to take back"
        raise UsageError(none)
    if len(fitting) > 1:
        raise UsageError(f"{wanted} is the beginning of {len(fitting)} patches: give more of the id")
    [applied] = fitting
    PatchWriter(repository).take_back(applied.patch, applied.left)
    records.forget_applied(applied.id)
    note(records, "undo", applied.id, invocation)
    return applied


def run_instead(
    records: Records, repository: Repository, wanted: str | None, fitting: list[Applied]
) -> str | None:
    """The command that was approved under an id; without one, the command that was approved here after the patch."""
    found = None
    with suppress(OSError):
        for entry in records.audit.entries():
            id, command = str(entry.get("review_id")), entry.get("command")
            if entry.get("event") != "approve" or (wanted and not id.startswith(wanted)):
                continue
            if command and entry.get("folder") == printable(repository.root_name):
                found = str(command)
            elif any(each.id == id for each in fitting):
                found = None
    return found


def note(records: Records, event: str, review_id: str, invocation: Invocation, **details: object) -> None:
    """One line of the audit trail. Raises OSError."""
    at = invocation.now.isoformat(timespec="seconds")
    records.audit.append(
        {"at": at, "user": invocation.user, "event": event, "review_id": review_id, **details}
    )
