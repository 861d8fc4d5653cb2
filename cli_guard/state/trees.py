"""The work trees that this user trusts, kept in the user's own state, where no repository writes.

A record counts for one path, in a repository with the same root commits whose audit log has it: neither a copy of the
record nor another repository at the same path is enough.
"""

import datetime
import hashlib
import json
from dataclasses import asdict, replace
from pathlib import Path

from cli_guard.errors import UsageError
from cli_guard.lazy import frozen
from cli_guard.repository.protocol import Repository
from cli_guard.runtime import Env, Invocation, user_state
from cli_guard.state.audit import AuditLog, entry
from cli_guard.state.files import explain_write_errors
from cli_guard.state.owned import OwnedRecords, Seals

FILE = "trees.json"
VERSION = 2
MOST = 2_000
EVENT = "tree"


@frozen
class Tree:
    """What a person answered once for a work tree.

    `path` is its top folder with all links resolved; `roots` are the repository's root commits and `commit` is the one
    at HEAD, all as ids; `profile` is strict, workspace or floors. `at` is an ISO 8601 time in UTC; `expires` is a date,
    "" for none. `allow` are command patterns. `seal` is the signature, "" if policy wanted none. `agents`: the question
    was about coding agents. `installs` are the lock files by which installs are allowed, `<SHA-256> <path>` each, as
    they are in the commit `installs_at`.
    """

    path: str
    roots: tuple[str, ...] = ()
    commit: str = ""
    profile: str = "strict"
    by: str = ""
    at: str = ""
    expires: str = ""
    allow: tuple[str, ...] = ()
    seal: str = ""
    agents: bool = False
    installs: tuple[str, ...] = ()
    installs_at: str = ""

    @property
    def payload(self) -> bytes:
        """Return what is sealed: all of it but the seal."""
        return json.dumps(asdict(replace(self, seal="")), sort_keys=True).encode("ascii")

    @property
    def digest(self) -> str:
        """Return the SHA-256 of all of it, as the audit log names it."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()

    @property
    def profile_in_force(self) -> str:
        """Return how far coding agents are trusted: `strict` if nobody was asked about them."""
        return self.profile if self.agents else "strict"

    @property
    def words(self) -> str:
        """`trusted by ada on 2026-05-04: workspace`."""
        until = f" until {self.expires}" if self.expires else ""
        return f"trusted by {self.by} on {self.at[:10]}: {self.profile}{until}"

    def is_valid(self, now: datetime.datetime) -> bool:
        return not self.expires or now.date().isoformat() <= self.expires


class TrustedTrees:
    """The trusted work trees of this user."""

    def __init__(self, env: Env) -> None:
        folder = user_state(env)
        path = folder / FILE if folder else None
        self._records = OwnedRecords(Tree, path, "trees", VERSION, "cli-guard trust")

    def all(self) -> list[Tree]:
        """Return every record, oldest first. Raises CliGuardError."""
        return self._records.read()

    def at(self, root: Path) -> Tree | None:
        """Return the record of a path, whether it counts or not. Raises CliGuardError."""
        path = str(root.resolve())
        return next((each for each in self.all() if each.path == path), None)

    def find(
        self, repository: Repository, now: datetime.datetime, seals: Seals
    ) -> Tree | None:
        """Return the record that counts for a work tree, None if there is none. Raises CliGuardError."""
        tree = None if repository.bare else self.at(repository.root)
        found = (
            tree and counts(tree, repository, now) and seals.holds(tree.payload, tree.seal)
        )
        return tree if found else None

    @explain_write_errors()
    def keep(
        self, tree: Tree, repository: Repository, invocation: Invocation, seals: Seals
    ) -> Tree:
        """Store what a person answered for the work tree of a repository; return the record.

        Raises UsageError if it cannot be stored, CliGuardError.
        """
        tree = replace(
            tree,
            path=str(repository.root.resolve()),
            roots=tuple(repository.root_commits()),
            commit=repository.git.text("rev-parse", "HEAD"),
            by=invocation.user,
            at=invocation.now.isoformat(timespec="seconds"),
        )
        tree = replace(tree, seal=seals.make(tree.payload))
        # Recorded first: trust without an audit entry must not exist.
        details = {
            "path": tree.path,
            "record": tree.digest,
            "profile": tree.profile_in_force,
        }
        AuditLog(repository.state_folder).append(entry(EVENT, invocation, **details))
        self._change(tree.path, tree)
        return tree

    @explain_write_errors()
    def revoke(self, repository: Repository, invocation: Invocation) -> bool:
        """Remove the record of a work tree; return whether there was one. Raises as `keep` does."""
        path = str(repository.root.resolve())
        known = self.at(repository.root) is not None
        if known:
            AuditLog(repository.state_folder).append(
                entry(EVENT, invocation, path=path, record=None)
            )
            self._change(path)
        return known

    def _change(self, path: str, *new: Tree) -> None:
        self._records.change(
            lambda kept: [*(each for each in kept if each.path != path), *new][-MOST:]
        )


def counts(tree: Tree, repository: Repository, now: datetime.datetime) -> bool:
    """Return whether a record is about the work tree of this repository, and was made here. Raises CliGuardError."""
    here = not repository.bare and tree.path == str(repository.root.resolve())
    if not (here and tree.is_valid(now) and repository.has_roots(tree.roots)):
        return False
    events = AuditLog(repository.state_folder).events(EVENT)
    own = [each for each in events if each.get("path") == tree.path]
    return bool(own) and own[-1].get("record") == tree.digest


def require_commit(repository: Repository) -> None:
    """Raise UsageError for a repository without a commit: nothing would bind the trust to it."""
    if repository.head is None:
        raise UsageError(
            "there is no commit here yet: commit first, then trust the work tree"
        )
