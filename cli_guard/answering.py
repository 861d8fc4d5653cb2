"""What a person's answer does to what waits: an approval, a rejection, and an approved patch taken back.

Whether a person answered is for the caller to know; here the answer is carried out, and written to the audit trail.
"""

import json
from contextlib import suppress
from typing import TYPE_CHECKING

from cli_guard.audit import locked
from cli_guard.errors import CliGuardError, UsageError
from cli_guard.events.request import Staged
from cli_guard.git.applying import PatchWriter
from cli_guard.git.contents import BlobReader, decode, read_worktree_file
from cli_guard.git.proposals import masked
from cli_guard.git.repository import OID, Repository
from cli_guard.git.snapshot import Snapshot, SnapshotBounds
from cli_guard.in_force import policy_for
from cli_guard.place import Place
from cli_guard.policy.approvals import Approval, review_id
from cli_guard.records import ASKED, WAITING_DAYS, Applied, Records, WaitingReview
from cli_guard.redact import redact

if TYPE_CHECKING:
    from cli_guard.graph.context import Context
    from cli_guard.graph.state import Data, State


def waiting(records: Records, wanted: str, place: Place) -> WaitingReview:
    """The review of an id or the beginning of one, if it has not waited too long. Raises UsageError."""
    fitting = [review for review in records.waiting() if review.id.startswith(wanted)] if wanted else []
    if len(fitting) == 1:
        if fitting[0].expired(place.now):
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


def asked_for(repository: Repository, review: WaitingReview, place: Place) -> list["Data"]:
    """What an approval of a request sets going here: the requests that its paused run holds, nothing told of them.

    Raises UsageError where they are not those that were asked about here, under the policy in force.
    """
    from cli_guard.graph.gating import proposal_id
    from cli_guard.graph.run import waiting_requests

    if review.event != ASKED:
        return []
    if review.root and review.root != repository.root_name:
        raise UsageError(
            f"this was asked in another work tree: approve it in {review.root}, or ask again here"
        )
    requests = waiting_requests(Records(repository.state_folder).checkpoint(review.id))
    policy, _ = policy_for(Staged(), repository, place.env)
    if proposal_id(requests, policy.identity) != review.id:
        raise UsageError(
            f"review {review.id} is not what was asked about, or the policy has changed: ask again"
        )
    return requests


def told_of(repository: Repository, requests: list["Data"]) -> str:
    """What requests do, for the person who approves them: the patch line for line, the arguments of a call.

    Raises UsageError for a patch that does not fit what it rests on.
    """
    parts = []
    for request in requests:
        arguments = request["arguments"]
        if request["tool"] == "write_file":
            parts.append(patch_told(repository, arguments))
        else:
            parts.append(
                f"calls {request['tool']} with {redact(json.dumps(arguments, indent=2), 'arguments.json')}"
            )
    return "\n".join(parts)


def patch_told(repository: Repository, arguments: "Data") -> str:
    """A patch as it may be shown. Raises UsageError for one that does not fit what it rests on."""
    problem: Exception | None = None
    for read in (recorded_text, lying_text):
        try:
            bases = {path: blob for path, blob in arguments["bases"].items() if blob is not None}
            texts = {path: read(repository, path, blob) for path, blob in bases.items()}
            return masked(arguments["patch"], redact, texts)
        except (ValueError, TypeError, KeyError, AttributeError, IndexError) as error:
            # Asked about the work tree, a patch may have the line ends that the files have there.
            problem = error
    raise UsageError(f"this is no patch that is written here ({problem}): ask again")


def recorded_text(repository: Repository, path: str, blob: str) -> str:
    """The text of a blob. Raises ValueError for what is no blob id, MissingObject."""
    if not OID.fullmatch(blob):
        raise ValueError("it rests on no blob")
    with BlobReader(repository.git, blob_limit=SnapshotBounds().file_bytes) as reader:
        return decode(reader.read(blob) or b"") or ""


def lying_text(repository: Repository, path: str, blob: str) -> str:
    """The text of the file that lies there."""
    return decode(read_worktree_file(repository.root, path, SnapshotBounds().file_bytes) or b"") or ""


def approve(
    repository: Repository,
    review: WaitingReview,
    place: Place,
    reason: str,
    shown: list["Data"] | None = None,
) -> "State":
    """Carries a yes out, and gives the end of the run: a change may be recorded now, a request's patch is written.

    `shown` is what the person has seen of `asked_for`. Raises UsageError where it does not fit any more, CliGuardError,
    OSError where it cannot be written down; then nothing is written.
    """
    records, reason = Records(repository.state_folder), redact(reason)
    # Two answers at once would each find the state that they rest on.
    with locked(records.folder / "answers"):
        if all(each.id != review.id for each in records.waiting()):
            raise UsageError(f"review {review.id} waits no longer: it was answered")
        if review.event == ASKED:
            return carried_out(repository, records, review, place, reason, shown)
        state = resumed(records, review, place, reason)
        at = place.now.isoformat(timespec="seconds")
        records.approve(
            Approval(review.id, review.content, review.policy, review.fingerprints, place.user, at, reason)
        )
        approved(records, review, place, reason)
    return state


def approved(records: Records, review: WaitingReview, place: Place, reason: str) -> None:
    """Writes an approval to the trail, and takes its review off the list. Raises OSError."""
    told = {
        "content": review.content,
        "policy": review.policy,
        "fingerprints": sorted(review.fingerprints),
        "reason": reason,
    }
    note(records, "approve", review.id, place, **told)
    records.settle(review.id)


def carried_out(
    repository: Repository,
    records: Records,
    review: WaitingReview,
    place: Place,
    reason: str,
    shown: list["Data"] | None,
) -> "State":
    """Does what a request waits for: writes its patch, calls a server's tool. Raises CliGuardError, OSError."""
    from cli_guard.ask import context_for

    requests = asked_for(repository, review, place) if shown is None else shown
    with context_for(repository, place, Snapshot.of({})) as context:
        state = resumed(records, review, place, reason, context, requests)
    at, root = place.now.isoformat(timespec="seconds"), repository.root_name
    patches = [each["arguments"]["patch"] for each in requests if each["tool"] == "write_file"]
    results = [each for each in state["tool_results"] if each["tool"] == "write_file"]
    written = [
        Applied(review.id, at, place.user, review.reason, patch, result["left"], root)
        for patch, result in zip(patches, results, strict=True)
    ]
    try:
        for each in written:
            records.keep_applied(each)
        approved(records, review, place, reason)
    except BaseException:
        # What could not be taken back later is not left there.
        for each in reversed(written):
            PatchWriter(repository).take_back(each.patch, each.left)
            with suppress(OSError):
                records.forget_applied(each.id)
        raise
    return state


def resumed(
    records: Records,
    review: WaitingReview,
    place: Place,
    reason: str,
    context: "Context | None" = None,
    requests: list["Data"] | None = None,
) -> "State":
    """The graph of a review, gone on to its end. Raises UsageError, CliGuardError."""
    from cli_guard.graph.run import resume_review

    path = records.checkpoint(review.id)
    state = resume_review(path, by=place.user, reason=reason, context=context, requests=requests)
    if state["status"] != "ok":
        raise CliGuardError(f"review {review.id} did not go on: {state['review_reason']}")
    return state


def reject(repository: Repository, review: WaitingReview, place: Place, reason: str) -> None:
    """Ends a review and its graph with a no: nothing is done, and it waits no longer. Raises OSError."""
    from cli_guard.graph.run import resume_review

    records, reason = Records(repository.state_folder), redact(reason)
    # A checkpoint that is broken or locked is no reason to go on asking about it.
    with suppress(UsageError):
        resume_review(records.checkpoint(review.id), by=place.user, reason=reason, approved=False)
    note(records, "reject", review.id, place, reason=reason)
    records.settle(review.id)


def undo(repository: Repository, wanted: str | None, place: Place) -> Applied:
    """Takes a patch back, the last one unless an id is given. Raises UsageError, CliGuardError, OSError."""
    records = Records(repository.state_folder)
    with locked(records.folder / "answers"):
        return taken_back(repository, records, wanted, place)


def taken_back(repository: Repository, records: Records, wanted: str | None, place: Place) -> Applied:
    """The same, while nobody else answers."""
    here = ("", repository.root_name)
    written = [each for each in records.applied() if each.root in here]
    fitting = [each for each in written if each.id.startswith(wanted)] if wanted else list(written[-1:])
    if not fitting:
        none = f"no patch {wanted} was written" if wanted else "no patch was written: nothing to take back"
        raise UsageError(none)
    if len(fitting) > 1:
        raise UsageError(f"{wanted} is the beginning of {len(fitting)} patches: give more of the id")
    [applied] = fitting
    PatchWriter(repository).take_back(applied.patch, applied.left)
    records.forget_applied(applied.id)
    note(records, "undo", applied.id, place)
    return applied


def note(records: Records, event: str, review_id: str, place: Place, **details: object) -> None:
    """One line of the audit trail. Raises OSError."""
    at = place.now.isoformat(timespec="seconds")
    records.audit.append({"at": at, "user": place.user, "event": event, "review_id": review_id, **details})
