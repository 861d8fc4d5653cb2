"""Keep the review of what is staged until the commit: a hook that would review exactly that has its result.

Only what passes is kept, with advice at most, and only what the same warm server has reviewed counts: it seals the
file with a key that is in its memory alone. So no other program can write a review, and the code is the same.
"""

import datetime
import hashlib
import secrets
from contextlib import suppress
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from cli_guard.errors import CliGuardError
from cli_guard.hooks import event_of
from cli_guard.model import OVER_ADVICE, Decision, Disposition
from cli_guard.review.render import as_json
from cli_guard.review.render.review import Review
from cli_guard.state.files import make_folder, read_state, write_atomically
from cli_guard.state.records import Records

if TYPE_CHECKING:
    from cli_guard.review.load import Gathered

NAME = "prepared.json"


@cache
def sealing_key() -> bytes:
    """Return the key of this process and its copies, made at the first call."""
    return secrets.token_bytes(32)


def seal_of(gathered: "Gathered", today: datetime.date, body: bytes) -> bytes | None:
    """Return the seal of a review of a change; None where none is kept, as in a process that serves one run.

    The tree before the change and the change itself identify the tree after it, in which some reviewers search. A
    merge is compared with more than that, and checks run each time.
    """
    changes = gathered.subject.changes
    event = gathered.subject.event
    if (
        not sealing_key.cache_info().currsize
        or not event_of(event).is_before_commit
        or changes.is_merge
        or gathered.policy.checks
    ):
        return None
    known = (
        event,
        changes.identity,
        changes.parents,
        changes.people,
        gathered.policy.identity,
        gathered.notes,
        # An answer to a finding may have a last day.
        today,
    )
    seal = hashlib.blake2b(
        repr(known).encode("utf-8", "backslashreplace"), key=sealing_key()
    )
    seal.update(b"\0" + body)
    return seal.hexdigest().encode("ascii")


def keep_prepared(
    review: Review, gathered: "Gathered", records: Records, today: datetime.date
) -> None:
    """Keep a review that no person has to see before the commit, and that left nothing unread that is there."""
    known = gathered.subject.changes.skipped
    is_whole = all(each in known or each.reason == OVER_ADVICE for each in review.skipped)
    is_clear = review.decision is Decision.ALLOW and all(
        each.disposition is Disposition.ADVISE for each in review.findings
    )
    if not (is_whole and is_clear):
        return
    kept = replace(review, left=gathered.subject.changes.identity)
    body = as_json.render(kept, indent=None).encode("ascii")
    seal = seal_of(gathered, today, body)
    if seal:
        # Without it, the commit takes longer.
        with suppress(CliGuardError, OSError):
            make_folder(records.folder)
            write_atomically(records.folder / NAME, seal + b"\n" + body)


def recall_prepared(
    gathered: "Gathered", records: Records, today: datetime.date
) -> Review | None:
    """Return the review of exactly this change, None if it is not known. `gathered` needs no lines."""
    # Questions on the commit before are only repeated if its lines stay.
    if (records.folder / "advice/latest.json").exists():
        return None
    try:
        seal, _, body = read_state(records.folder / NAME).partition(b"\n")
    except (CliGuardError, OSError):
        return None
    if seal != seal_of(gathered, today, body):
        return None
    _, review = as_json.read_report(body.decode("ascii"))
    return replace(review, left="", timings_ms={"load": 0.0, "review": 0.0})
