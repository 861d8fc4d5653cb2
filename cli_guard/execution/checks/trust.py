"""The checks that this user trusts, kept in the user's own state, where no repository writes.

Trust belongs to one table of checks, by its SHA-256, in one repository, by its root commits: any change needs trust
again. Tables that were trusted before stay trusted, for people who switch branches.
"""

import json
from dataclasses import asdict, replace

from cli_guard.lazy import frozen
from cli_guard.repository.protocol import Repository
from cli_guard.runtime import Invocation, user_state
from cli_guard.state.audit import AuditLog, entry
from cli_guard.state.files import explain_write_errors
from cli_guard.state.owned import OwnedRecords, Seals

FILE = "trusted.json"
KEPT_TABLES = 50
KEPT = 5_000
VERSION = 2


@frozen
class CheckTrust:
    """A person's trust in a table of checks; `at` is an ISO 8601 time in UTC.

    `roots` are the root commits of the repository, separated by blanks: its history, wherever it lies.
    """

    digest: str
    by: str
    at: str
    roots: str
    seal: str = ""

    @property
    def payload(self) -> bytes:
        """Return what is sealed: all of it but the seal."""
        return json.dumps(asdict(replace(self, seal="")), sort_keys=True).encode("ascii")

    @property
    def words(self) -> str:
        """`trusted by ada on 2026-05-04`."""
        return f"trusted by {self.by} on {self.at[:10]}"


class Trusted:
    """The trust of this user. It counts in a repository with the same roots whose audit log has the event."""

    def __init__(self, invocation: Invocation) -> None:
        self._invocation = invocation
        folder = user_state(invocation.env)
        # Version 1 named a repository by its path.
        path = folder / FILE if folder else None
        self._records = OwnedRecords(
            CheckTrust, path, "trusted", VERSION, "cli-guard trust"
        )

    def find(self, repository: Repository, digest: str, seals: Seals) -> CheckTrust | None:
        """Return the trust in a table of checks, None if there is none. Raises CliGuardError."""
        given = [
            each
            for each in self._records.read()
            if each.digest == digest
            and repository.has_roots(each.roots.split())
            and seals.holds(each.payload, each.seal)
        ]
        return (
            given[-1] if given and digest in self._find_trusted_tables(repository) else None
        )

    @explain_write_errors()
    def give(self, repository: Repository, digest: str, seals: Seals) -> CheckTrust:
        """Trust a table of checks. Raises UsageError if it cannot be stored, CliGuardError."""
        at = self._invocation.now.isoformat(timespec="seconds")
        roots = " ".join(repository.root_commits())
        trust = CheckTrust(digest, self._invocation.user, at, roots)
        trust = replace(trust, seal=seals.make(trust.payload))
        # Recorded first: trust without an audit entry must not exist.
        self._note(repository, "trust", digest)

        def add(kept: list[CheckTrust]) -> list[CheckTrust]:
            own = [each for each in kept if each.roots == roots and each.digest != digest]
            others = (each for each in kept if each.roots != roots)
            return [*others, *own[1 - KEPT_TABLES :], trust][-KEPT:]

        self._records.change(add)
        return trust

    @explain_write_errors()
    def revoke(self, repository: Repository) -> int:
        """Withdraw all trust in a repository, and return how many tables had it. Raises as `give` does."""
        known = self._records.read()
        gone = [each for each in known if repository.has_roots(each.roots.split())]
        self._note(repository, "trust revoked", None)
        self._records.change(lambda kept: [each for each in kept if each not in gone])
        return len(gone)

    def _find_trusted_tables(self, repository: Repository) -> set[object]:
        """Return the tables that the repository's audit log says are trusted. Raises CliGuardError."""
        tables: set[object] = set()
        for each in AuditLog(repository.state_folder).events("trust", "trust revoked"):
            tables = {*tables, each.get("table")} if each["event"] == "trust" else set()
        return tables

    def _note(self, repository: Repository, event: str, digest: str | None) -> None:
        AuditLog(repository.state_folder).append(
            entry(event, self._invocation, table=digest)
        )
