"""What was reviewed and waits for an answer, as it was then: its request, its index, and whether it still stands.

`git commit -a`, `git commit PATH` and most editors review a temporary index, which is gone when a person answers; so a
copy of it waits beside the review, and Git reads that in place of the one of the work tree.
"""

import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from cli_guard.errors import CliGuardError, UsageError
from cli_guard.git.repository import GitRepository
from cli_guard.hooks import MESSAGE, PUSH, RANGE, STAGED, event_of
from cli_guard.model import RefUpdate
from cli_guard.repository.protocol import Repository
from cli_guard.review.push import PushPlan
from cli_guard.review.request import Message, Push, Range, Request, Staged
from cli_guard.runtime import Env, Invocation
from cli_guard.secrets.printable import printable
from cli_guard.state.files import read_state
from cli_guard.state.records import ASKED, PendingReview, Records


@contextmanager
def reviewed_index(
    records: Records, review: PendingReview, env: Env
) -> Iterator[Mapping[str, str]]:
    """Yield an environment in which Git reads the index that was reviewed, if a copy of one was kept.

    Any program of the user can write the copy: what is in it is reviewed once more, and must have the id of the review.
    So it is copied first, to where it stays the same until it is signed.
    """
    if event_of(review.event).request not in (STAGED, MESSAGE):
        yield env
        return
    with tempfile.TemporaryDirectory(prefix="cli-guard-") as folder:
        copy = Path(folder, "index")
        try:
            copy.write_bytes(read_state(records.kept_index(review.id)))
            # Newer than all of its entries, it would have Git take a file of the work tree of the same size for a blob.
            os.utime(copy, (1, 1))
        except FileNotFoundError:
            yield env
            return
        yield {**env, "GIT_INDEX_FILE": str(copy)}


def request_of(
    repository: Repository, review: PendingReview, message: Path | None = None
) -> Request:
    """Return the request of a pending review. Raises UsageError if it cannot be approved.

    `message` is the file of a commit message, by default the one that was kept with the review.
    """
    kind = event_of(review.event).request
    if review.root not in ("", str(repository.git_dir)):
        raise UsageError(
            f"review {review.id} is of another work tree ({printable(review.root)}): answer it there"
        )
    if kind == STAGED:
        return Staged(review.event)
    with suppress(ValueError, TypeError, KeyError, IndexError, OSError):
        if kind == MESSAGE:
            kept = Records(repository.state_folder).kept_message(review.id)
            return Message(message.read_bytes() if message else read_state(kept))
        commits, updates = json.loads(review.bound)
        if kind == PUSH:
            plan = PushPlan(
                tuple(RefUpdate(*each) for each in updates), review.partial or None
            )
            return Push(plan, review.remote)
        if kind == RANGE:
            return Range(review.base, commits[-1])
    raise UsageError(
        f"a review of this kind ({printable(review.event)}) cannot be approved: stage it, or give a range"
    )


def is_outdated(
    repository: Repository, review: PendingReview, invocation: Invocation
) -> bool:
    """Return whether what a review starts from has moved since, or what it found is gone. Raises CliGuardError."""
    from cli_guard.review.load import gather

    if review.event == ASKED or event_of(review.event).request == RANGE:
        return False
    if review.root not in ("", str(repository.git_dir)):
        return False
    records = Records(repository.state_folder)
    try:
        request = request_of(repository, review)
        if isinstance(request, Push):
            moved = (each for each in request.plan.updates if not each.deletes)
            return any(
                repository.resolve(e.local_ref) != repository.resolve(e.local_oid)
                for e in moved
            )
        with reviewed_index(records, review, invocation.env) as env:
            kept = replace(invocation, env=env)
            there = GitRepository.discover(kept.cwd, kept.env)
            with gather(request, there, kept) as gathered:
                if gathered.subject.changes.identity != review.content:
                    return True
        return not is_still_there(repository, review)
    except (CliGuardError, OSError):
        # What cannot be read any more cannot be approved.
        return True


def is_still_there(repository: Repository, review: PendingReview) -> bool:
    """Return whether the files with findings are as they were reviewed, in the index or in the work tree."""
    listed = repository.git.text("ls-files", "--stage", "-z", "--full-name", ":/")
    staged = {line.split(" ", 2)[1] for line in listed.split("\0") if line}
    left = {path: blob for path, blob in review.blobs.items() if blob not in staged}
    # A name that is not UTF-8 is kept with another character in its place.
    paths = [path for path in left if printable(path) == path and "\ufffd" not in path]
    folder = repository.at_top
    filters = repository.without_filters()
    return all(
        folder.optional(*filters, "hash-object", "--", path) == left[path] for path in paths
    )


def is_staged_now(
    repository: Repository, review: PendingReview, invocation: Invocation
) -> bool:
    """Return whether a review is of what the index holds now, under the policy of now. Raises CliGuardError."""
    from cli_guard.review.load import gather

    with gather(Staged(), repository, invocation) as gathered:
        content = gathered.subject.changes.identity
        return (content, gathered.policy.identity) == (review.content, review.policy)
