"""Decides whether a command may run: the engine judges; for a review a person answers, once or for the session.

Deny beats every allowance. An allowance replaces the question, so it counts only where one can be asked.
"""

import hashlib
import json
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, replace
from enum import StrEnum
from pathlib import Path
from typing import Literal

from cli_guard.commands import Context, judge
from cli_guard.commands.model import Verdict
from cli_guard.errors import CliGuardError
from cli_guard.execution.processes.supervisor.process_tree import identity
from cli_guard.lazy import frozen
from cli_guard.model import Decision
from cli_guard.runtime import is_own
from cli_guard.state.files import lock, read_state, write_atomically

KEPT = 500

Reply = Literal["yes", "session", "no"]


class PermissionBasis(StrEnum):
    """How it was decided, in the words of the audit log."""

    ALLOWED = "allowed"
    BY_CONFIG = "by config"
    YES = "yes"
    SESSION = "session"
    NO = "no"
    NEEDS_REVIEW = "needs review"
    DENIED = "denied"


@frozen
class Session:
    """A terminal session by its leader (setsid(2)); a later process of the same number is another session."""

    leader: int
    identity: str

    @classmethod
    def current(cls) -> "Session | None":
        """Return our session, None if its leader is gone or the system has none (Windows)."""
        getsid = getattr(os, "getsid", None)
        leader = getsid(0) if getsid else 0
        known = identity(leader) if leader else None
        return cls(leader, known) if known else None

    @property
    def alive(self) -> bool:
        return identity(self.leader) == self.identity


GRANTS = frozenset(
    (
        PermissionBasis.ALLOWED,
        PermissionBasis.BY_CONFIG,
        PermissionBasis.YES,
        PermissionBasis.SESSION,
    )
)


@frozen
class Permission:
    """The verdict on a command and the answer to it; `note` explains an answer that could not be kept."""

    verdict: Verdict
    answer: PermissionBasis
    note: str | None = None

    @property
    def granted(self) -> bool:
        return self.answer in GRANTS


class Allowances:
    """What was allowed for one terminal session, in a folder; entries of ended sessions are dropped."""

    def __init__(self, folder: Path, session: Session | None) -> None:
        self.path = folder / "allowances.json"
        self.session = session

    def holds(self, digest: str) -> bool:
        """Check whether this is allowed in our session."""
        return self.session is not None and (self.session, digest) in self._read()

    def keep(self, digest: str) -> None:
        """Allow it for our session. Raises OSError."""
        if self.session is None:
            return
        with lock(self.path):
            alive: dict[Session, bool] = {}
            kept = [
                (session, each)
                for session, each in self._read()
                if alive.setdefault(session, session.alive)
                and (session, each) != (self.session, digest)
            ]
            entries = [
                {**asdict(session), "digest": each}
                for session, each in (*kept, (self.session, digest))
            ]
            write_atomically(self.path, json.dumps(entries[-KEPT:], indent=1) + "\n")

    def _read(self) -> list[tuple[Session, str]]:
        """Return what is kept; a broken file, or another user's, allows nothing."""
        found = []
        with suppress(OSError, ValueError, TypeError, KeyError, RecursionError):
            if not is_own(self.path.stat()):
                return []
            for entry in json.loads(read_state(self.path)):
                session = Session(int(entry["leader"]), str(entry["identity"]))
                found.append((session, str(entry["digest"])))
        return found


def digest_of(command: str, folder: Path, *details: str) -> str:
    """Return the key of an allowance: the exact text, the folder, and further details that must be the same."""
    return hashlib.sha256(json.dumps([command, str(folder), *details]).encode()).hexdigest()


def permission(
    command: str,
    context: Context,
    ask: Callable[[Verdict], Reply] | None,
    allowances: Allowances,
    digest: str,
) -> Permission:
    """Decide about one command; `ask` is None if no person can be asked."""
    verdict = judge(command, context)
    if verdict.verdict is Decision.DENY:
        return Permission(verdict, PermissionBasis.DENIED)
    if verdict.verdict is Decision.ALLOW:
        return Permission(
            verdict,
            PermissionBasis.BY_CONFIG
            if lifted(command, context)
            else PermissionBasis.ALLOWED,
        )
    if ask is None:
        return Permission(verdict, PermissionBasis.NEEDS_REVIEW)
    if allowances.holds(digest):
        return Permission(verdict, PermissionBasis.SESSION)
    reply = ask(verdict)
    if reply != "session":
        return Permission(
            verdict, PermissionBasis.YES if reply == "yes" else PermissionBasis.NO
        )
    try:
        allowances.keep(digest)
    except (OSError, CliGuardError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        note = f"allowed once: it cannot be stored in {allowances.path} ({reason})"
        return Permission(verdict, PermissionBasis.YES, note)
    return Permission(verdict, PermissionBasis.SESSION)


def lifted(command: str, context: Context) -> bool:
    """Check whether a command is allowed only by the user's own configuration."""
    own = tuple(each for each in context.patterns if each.decision is not Decision.ALLOW)
    return (
        own != context.patterns
        and judge(command, replace(context, patterns=own)).verdict is not Decision.ALLOW
    )
