"""A list of records in a JSON file of the user's own state, which counts only if nobody else can write it."""

import json
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, Generic, Protocol, cast

from cli_guard.errors import CliGuardError, UsageError
from cli_guard.runtime import is_own
from cli_guard.state.files import (
    Record,
    lock,
    open_state,
    record_of,
    write_atomically,
)


class Seals(Protocol):
    """Signatures of records, where policy wants them: the file itself can be written by any program of the user."""

    def make(self, payload: bytes) -> str:
        """Sign a record, "" if policy wants no signature. Raises CliGuardError."""

    def holds(self, payload: bytes, seal: str) -> bool:
        """Return whether a record has the signature that policy wants. Raises CliGuardError."""


class OwnedRecords(Generic[Record]):
    """The records of a kind under `key` in a file; `path` is None where the user has no home folder.

    `version` is the version of their shape; files of an older one count as empty. `again` is the command that makes
    them anew.
    """

    def __init__(
        self, kind: type[Record], path: Path | None, key: str, version: int, again: str
    ) -> None:
        self.path = path
        self._kind = kind
        self._key = key
        self._version = version
        self._again = again

    def read(self) -> list[Record]:
        """Return the records, oldest first, none for a missing file. Raises CliGuardError."""
        if self.path is None:
            return []
        try:
            descriptor = open_state(self.path, os.O_RDONLY)
        except OSError as error:
            if isinstance(error, FileNotFoundError | NotADirectoryError):
                return []
            raise CliGuardError(f"{self.path} cannot be read: {error.strerror}") from error
        with os.fdopen(descriptor, "rb") as file:
            about = os.fstat(descriptor)
            # A file that others can write does not speak for this user.
            writable = hasattr(os, "geteuid") and about.st_mode & (
                stat.S_IWGRP | stat.S_IWOTH
            )
            if writable or not is_own(about):
                raise CliGuardError(
                    f"{self.path} can be written by others: chmod 600 it, or delete it"
                )
            raw = file.read()
        try:
            data = json.loads(raw)
            version = data["version"]
            listed = data[self._key] if version == self._version else None
            if isinstance(version, int) and version < self._version:
                listed = []
        except (ValueError, KeyError, TypeError, RecursionError):
            listed = None
        if not isinstance(listed, list):
            raise CliGuardError(
                f"{self.path} is broken: delete it, and run `{self._again}` again"
            )
        found = []
        for each in listed:
            with suppress(TypeError, ValueError, AttributeError):
                found.append(record_of(self._kind, each))
        return found

    def change(self, change: Callable[[list[Record]], list[Record]]) -> None:
        """Replace the records under a lock. Raises UsageError if there is no home folder, CliGuardError, OSError."""
        if self.path is None:
            raise UsageError("it cannot be stored: set HOME or XDG_STATE_HOME")
        with lock(self.path):
            listed = [asdict(cast("Any", each)) for each in change(self.read())]
            kept = {"version": self._version, self._key: listed}
            write_atomically(self.path, json.dumps(kept, indent=1) + "\n")
