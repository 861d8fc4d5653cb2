"""The checks that this user trusts, kept in the user's own state, where no repository writes.

Trust belongs to one table of checks in one repository, by its SHA-256: any change needs trust again. Tables that were
trusted before stay trusted, for people who switch branches.
"""

import json
import os
import stat
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

from cli_guard.errors import CliGuardError, UsageError
from cli_guard.git.repository import Repository
from cli_guard.runtime import Invocation, user_state
from cli_guard.state.audit import AuditLog, entry, lock
from cli_guard.state.records import write_atomically

FILE = "trusted.json"
KEPT_TABLES = 50
KEPT_REPOSITORIES = 1_000
VERSION = 1


@dataclass(frozen=True, slots=True)
class Trust:
    """A person's trust in a table of checks; `at` is an ISO 8601 time in UTC."""

    digest: str
    by: str
    at: str

    @property
    def words(self) -> str:
        """`trusted by ada on 2026-05-04`."""
        return f"trusted by {self.by} on {self.at[:10]}"


class Trusted:
    def __init__(self, invocation: Invocation) -> None:
        self._invocation = invocation
        folder = user_state(invocation.env)
        self.path = folder / FILE if folder else None

    def find(self, repository: Repository, digest: str) -> Trust | None:
        """Return the trust in a table of checks, None if there is none. Raises CliGuardError."""
        return next((each for each in self._tables(repository) if each.digest == digest), None)

    def give(self, repository: Repository, digest: str) -> Trust:
        """Trust a table of checks. Raises UsageError if it cannot be stored, CliGuardError, OSError."""
        at = self._invocation.now.isoformat(timespec="seconds")
        trust = Trust(digest, self._invocation.user, at)
        # Recorded first: trust without an audit entry must not exist.
        self._note(repository, "trust", digest)
        self._change(repository, [trust])
        return trust

    def revoke(self, repository: Repository) -> int:
        """Withdraw all trust in a repository, and return how many tables had it. Raises as `give` does."""
        before = len(self._tables(repository))
        self._note(repository, "trust revoked", None)
        self._change(repository, None)
        return before

    def _tables(self, repository: Repository) -> list[Trust]:
        found = self._read().get(str(repository.common_dir), [])
        tables = []
        for each in found if isinstance(found, list) else []:
            with suppress(TypeError):
                trust = Trust(**each)
                if all(isinstance(word, str) for word in asdict(trust).values()):
                    tables.append(trust)
        return tables

    def _read(self) -> dict[str, Any]:
        """Return repository -> tables, empty for a missing file. Raises CliGuardError."""
        if self.path is None:
            return {}
        try:
            descriptor = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK)
        except (FileNotFoundError, NotADirectoryError):
            return {}
        except OSError as error:
            raise CliGuardError(f"{self.path} cannot be read: {error.strerror}") from error
        with open(descriptor, "rb") as file:  # noqa: PTH123 - a descriptor, not a path
            about = os.fstat(descriptor)
            # A file that others can write does not speak for this user.
            if about.st_uid != os.geteuid() or about.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
                raise CliGuardError(f"{self.path} can be written by others: chmod 600 it, or delete it")
            try:
                data = json.loads(file.read())
                found = data["repositories"] if data["version"] == VERSION else None
            except (ValueError, KeyError, TypeError, RecursionError):
                found = None
        if not isinstance(found, dict):
            raise CliGuardError(f"{self.path} is broken: delete it, and run `cli-guard trust` again")
        return found

    def _change(self, repository: Repository, added: list[Trust] | None) -> None:
        """Add to the tables of a repository, or (None) remove all."""
        if self.path is None:
            raise UsageError("trust cannot be stored: set HOME or XDG_STATE_HOME")
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with lock(self.path):
            data = self._read()
            key = str(repository.common_dir)
            kept = [] if added is None else [*self._tables(repository), *added]
            # The last entry of a table counts; the oldest tables are dropped.
            latest = {each.digest: asdict(each) for each in reversed(kept)}
            tables = list(latest.values())[:KEPT_TABLES][::-1]
            # This repository goes last; the first ones are dropped.
            data.pop(key, None)
            data = dict([*data.items(), *([(key, tables)] if tables else [])][-KEPT_REPOSITORIES:])
            # mkstemp(3) makes it with mode 0600.
            write_atomically(
                self.path, json.dumps({"version": VERSION, "repositories": data}, indent=1) + "\n"
            )

    def _note(self, repository: Repository, event: str, digest: str | None) -> None:
        repository.state_folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        AuditLog(repository.state_folder).append(entry(event, self._invocation, table=digest))
