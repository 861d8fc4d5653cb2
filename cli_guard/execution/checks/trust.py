"""Which checks of which repository this user trusts: kept in the user's own state, where no repository writes.

Trust is given to one table of checks in one repository, by its SHA-256. Another table, changed in any letter, is
another matter; tables that were trusted before stay so, for whoever goes from branch to branch.
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
    """A person's yes to a table of checks; `at` is an ISO 8601 time in UTC."""

    digest: str
    by: str
    at: str

    @property
    def words(self) -> str:
        """`trusted by ada on 2026-05-04`."""
        return f"trusted by {self.by} on {self.at[:10]}"


class Trusted:
    """What the user trusts."""

    def __init__(self, invocation: Invocation) -> None:
        self._invocation = invocation
        folder = user_state(invocation.env)
        self.path = folder / FILE if folder else None

    def given(self, repository: Repository, digest: str) -> Trust | None:
        """The trust in a table of checks of a repository, None if nobody gave it. Raises CliGuardError."""
        return next((each for each in self._tables(repository) if each.digest == digest), None)

    def give(self, repository: Repository, digest: str) -> Trust:
        """Trusts a table of checks. Raises UsageError where nothing can be kept, CliGuardError, OSError."""
        at = self._invocation.now.isoformat(timespec="seconds")
        trust = Trust(digest, self._invocation.user, at)
        # What is trusted stands in the trail, or is not trusted.
        self._note(repository, "trust", digest)
        self._change(repository, [trust])
        return trust

    def revoke(self, repository: Repository) -> int:
        """Takes all trust in a repository back, and gives how many tables had it. Raises as `give` does."""
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
        """Repository -> tables; nothing where the file is not there or holds something else."""
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
            # What others may write is not the word of this user.
            if about.st_uid != os.geteuid() or about.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
                raise CliGuardError(
                    f"others may write {self.path}: make it yours alone (chmod 600), or delete it"
                )
            try:
                data = json.loads(file.read())
                found = data["repositories"] if data["version"] == VERSION else None
            except (ValueError, KeyError, TypeError, RecursionError):
                found = None
        if not isinstance(found, dict):
            raise CliGuardError(f"{self.path} is broken: delete it, and trust again what it held")
        return found

    def _change(self, repository: Repository, added: list[Trust] | None) -> None:
        """Adds to the tables of a repository, or (None) takes them all out."""
        if self.path is None:
            raise UsageError("there is no place to remember it: set HOME or XDG_STATE_HOME")
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with lock(self.path):
            data = self._read()
            key = str(repository.common_dir)
            kept = [] if added is None else [*self._tables(repository), *added]
            # The last word on a table counts, and the oldest tables go.
            latest = {each.digest: asdict(each) for each in reversed(kept)}
            tables = list(latest.values())[:KEPT_TABLES][::-1]
            # The repository that is spoken of goes to the end: those that were long not, go.
            data.pop(key, None)
            data = dict([*data.items(), *([(key, tables)] if tables else [])][-KEPT_REPOSITORIES:])
            # mkstemp(3) makes it with mode 0600.
            write_atomically(
                self.path, json.dumps({"version": VERSION, "repositories": data}, indent=1) + "\n"
            )

    def _note(self, repository: Repository, event: str, digest: str | None) -> None:
        """One line of the audit trail of the repository."""
        repository.state_folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        AuditLog(repository.state_folder).append(entry(event, self._invocation, table=digest))
