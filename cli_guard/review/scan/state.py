"""Keep the parts of a scan, one line each, so that a run that was ended goes on where it was.

They save time and prove nothing: whoever can write the folder could write any result. A line that was cut counts as
none.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from cli_guard.errors import CliGuardError
from cli_guard.state.files import explain_write_errors, make_folder, open_state

MOST_BYTES = 64 << 20


class KeptParts:
    """The file of one repository, or none if it cannot be written: `problem` says why."""

    def __init__(self, path: Path, *, required: bool) -> None:
        self._path = path
        self._file: int | None = None
        self.problem = ""
        try:
            with explain_write_errors("the state of the scan"):
                make_folder(path.parent)
                self._file = open_state(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
                if os.fstat(self._file).st_size > MOST_BYTES:
                    os.ftruncate(self._file, 0)
        except CliGuardError as error:
            if required:
                raise
            self.problem = f"{error}; a scan that is ended begins anew (--state FOLDER names another place)"

    def read(self) -> Iterator[tuple[str, str]]:
        """Yield key and part of each whole line."""
        if self._file is None:
            return
        with open(self._path, "rb") as file:  # noqa: PTH123 - line by line
            for line in file:
                key, _, part = line.decode("utf-8", "replace").partition(" ")
                if line.endswith(b"\n"):
                    yield key, part

    def add(self, key: str, part: str) -> None:
        """Write a part at once. A disk that is full ends the writing, not the scan."""
        if self._file is None:
            return
        try:
            # After a line that was cut, this one begins anew.
            data = f"\n{key} {part}\n".encode()
            if os.write(self._file, data) < len(data):
                raise OSError(28, "No space left on device")
        except OSError as error:
            self.problem = f"the state of the scan cannot be written to {self._path}: {error.strerror}"
            self.close()

    def clear(self) -> None:
        """Forget everything."""
        if self._file is not None:
            os.ftruncate(self._file, 0)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            with suppress(OSError):
                os.close(self._file)
            self._file = None
