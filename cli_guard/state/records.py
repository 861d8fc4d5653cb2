"""The state folder: approvals, pending reviews, the last report. All of it may be deleted at any time."""

import datetime
import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, field
from pathlib import Path
from typing import TypeVar

from cli_guard.errors import CliGuardError, NotARepository
from cli_guard.git.repository import GitRepository
from cli_guard.lazy import frozen
from cli_guard.runtime import Env, user_state
from cli_guard.secrets.printable import printable
from cli_guard.state.audit import AuditLog
from cli_guard.state.files import (
    lock,
    make_folder,
    read_lines,
    read_state,
    record_of,
    write_atomically,
)

KEPT_APPROVALS = 500
KEPT_PENDING = 100
KEPT_APPLIED = 20
# After that time the repository has changed too much.
PENDING_DAYS = 14
ASKED = "ask"
ID = re.compile(r"[0-9a-f]{1,64}")


@frozen
class PendingReview:
    """A review that needs a person: what `pending` lists.

    The findings of a change are those in its checkpoint; `findings` are the lines of a request, already redacted and
    printable. `at` is an ISO 8601 time in UTC. `bound` is the text of which the content of a push is the hash. `root`
    is the work tree that a request was asked in, or the Git folder of a change's, "" for any. `shared` is the policy,
    without the user's own part; `base` the commit that a range starts from, `remote` where a push goes, `partial` why
    some of its refs may be missing; `blobs` are the contents of the files with findings, by path, and `lines` the
    changed lines that each finding is shown with, by fingerprint (`approvals.counting`).
    """

    id: str
    event: str
    at: str
    reason: str
    content: str
    policy: str
    fingerprints: tuple[str, ...]
    findings: tuple[str, ...]
    root: str = ""
    bound: str = ""
    shared: str = ""
    base: str = ""
    remote: str = ""
    partial: str = ""
    blobs: Mapping[str, str] = field(default_factory=dict)
    lines: Mapping[str, str] = field(default_factory=dict)

    @property
    def how_to_ask(self) -> str:
        """Return what to do to get it once more."""
        return "ask again" if self.event == ASKED else "run the commit or push again"

    def has_expired(self, now: datetime.datetime) -> bool:
        """Return whether it is older than PENDING_DAYS, or its time unreadable."""
        try:
            age = now - datetime.datetime.fromisoformat(self.at)
            return age > datetime.timedelta(days=PENDING_DAYS)
        except (ValueError, TypeError):
            return True


@frozen
class Applied:
    """A patch that was written to a work tree; `left` is the result (path -> SHA-256, None for a removed file)."""

    id: str
    at: str
    by: str
    request: str
    patch: str
    left: Mapping[str, str | None]
    root: str = ""


class Records:
    """The records of one repository in its state folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.audit = AuditLog(folder)
        self.report = folder / "last-report.json"
        self._approvals = folder / "approvals.jsonl"
        self._waiting = folder / "waiting"
        self._applied = folder / "applied"

    def prepare(self) -> None:
        """Create the folders, accessible only to their owner. Raises OSError."""
        for folder in (self.folder, self._waiting, self._applied):
            make_folder(folder)

    def not_recorded(self, error: Exception, *, waits: bool) -> str:
        """Return one line that says why nothing could be recorded; `waits`: nor can the review be approved."""
        words = getattr(error, "strerror", None) or str(error)
        return f"not recorded in {self.folder}: {words}{'; it cannot be approved' if waits else ''}"

    def approvals(self) -> list[str]:
        """Return the lines of the approvals that were given here, oldest first. Raises CliGuardError."""
        try:
            return list(read_lines(self._approvals))
        except OSError as error:
            raise CliGuardError(
                f"the approvals in {self._approvals} cannot be read: {error.strerror}; repair or delete the file"
            ) from error

    def add_approval(self, line: str) -> None:
        """Store the line of an approval, and drop the oldest beyond KEPT_APPROVALS. Raises OSError."""
        with lock(self._approvals):
            lines = [*read_lines(self._approvals), line][-KEPT_APPROVALS:]
            write_atomically(self._approvals, "\n".join(lines) + "\n")

    def pending(self) -> tuple[PendingReview, ...]:
        """Return the pending reviews, oldest first."""
        return read_records(self._waiting, PendingReview)

    def checkpoint(self, review_id: str) -> Path:
        """Return the path of the paused graph of a review (SQLite)."""
        return self._waiting / f"{review_id}.sqlite"

    def kept_index(self, review_id: str) -> Path:
        """Return the path of the copy of the index that was reviewed."""
        return self._waiting / f"{review_id}.index"

    def kept_message(self, review_id: str) -> Path:
        """Return the path of the commit message that was reviewed."""
        return self._waiting / f"{review_id}.message"

    def add_pending(
        self,
        review: PendingReview,
        index: bytes | None = None,
        message: bytes | None = None,
    ) -> tuple[str, ...]:
        """Store a pending review with what it is of, and drop the oldest others beyond KEPT_PENDING. Raises OSError.

        Return a line on each dropped one that somebody might still answer.
        """
        for path, data in (
            (self.kept_index(review.id), index),
            (self.kept_message(review.id), message),
        ):
            if data is not None:
                write_atomically(path, data)
        write_atomically(
            self._waiting / f"{review.id}.json", json.dumps(asdict(review), indent=1)
        )
        others = [each for each in self.pending() if each.id != review.id]
        dropped = others[: 1 - KEPT_PENDING]
        for old in dropped:
            self.remove_pending(old.id)
        now = datetime.datetime.fromisoformat(review.at)
        return tuple(
            printable(
                f"more than {KEPT_PENDING} reviews are pending, so {old.id} ({old.event}, {old.at}) no longer is:"
                f" {old.how_to_ask}"
            )
            for old in dropped
            if not old.has_expired(now)
        )

    def remove_pending(self, review_id: str) -> None:
        """Remove a review from the list, with all that is kept of it."""
        for path in self._waiting.glob(f"{review_id}.*"):
            path.unlink(missing_ok=True)

    def applied_patches(self) -> tuple[Applied, ...]:
        """Return the patches that were written and not reverted, oldest first."""
        return read_records(self._applied, Applied)

    def keep_applied(self, applied: Applied) -> None:
        """Store what is needed to revert a patch. Raises OSError."""
        self.prepare()
        write_atomically(self._applied / f"{applied.id}.json", json.dumps(asdict(applied)))
        for old in self.applied_patches()[:-KEPT_APPLIED]:
            self.forget_applied(old.id)

    def forget_applied(self, applied_id: str) -> None:
        """Remove a patch from the list of those that can be reverted."""
        (self._applied / f"{applied_id}.json").unlink(missing_ok=True)

    def keep_report(self, report: str) -> None:
        """Store the last report in full, as JSON. Raises OSError."""
        write_atomically(self.report, report)


Record = TypeVar("Record", PendingReview, Applied)


def read_records(folder: Path, kind: type[Record]) -> tuple[Record, ...]:
    """Return the records in a folder, oldest first, without those that are broken."""
    found = []
    # Path.is_dir() raises in another user's folder.
    paths = folder.glob("*.json") if os.path.isdir(folder) else ()  # noqa: PTH112
    for path in paths:
        with suppress(
            ValueError, TypeError, KeyError, AttributeError, OSError, RecursionError
        ):
            record = record_of(kind, json.loads(read_state(path).decode("utf-8")))
            # By its id its files are found and removed.
            if record.id == path.stem and ID.fullmatch(path.stem):
                # Several may be written in one second.
                written = path.stat().st_mtime_ns
                found.append((record.at, written, record.id, record))
    return tuple(record for *_, record in sorted(found, key=lambda each: each[:3]))


def state_folder(cwd: Path, env: Env) -> Path:
    """Return the state folder of a working folder: the repository's, or the user's own outside of any.

    Raises GitError where Git refuses to say, CliGuardError where there is no home.
    """
    try:
        return GitRepository.discover(cwd, env).state_folder
    except NotARepository:
        folder = user_state(env)
    if folder is None:
        raise CliGuardError(
            "there is no repository and no home folder here: set HOME or XDG_STATE_HOME to an absolute path"
        )
    return folder
