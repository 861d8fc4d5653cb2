"""The output of a command: whole in a log, and the beginning and the end of each stream in memory."""

import os
from contextlib import suppress

LOG_BYTES = 50_000_000
KEPT_BYTES = 40_000
# Shown whole whatever it is (SHOWN_CHARS), so that nobody looks for a file.
HELD_BYTES = 10_000


class Log:
    """A log file that is moved to `<name>.1` at its limit; what was there before is let go.

    Little output is held back, and the file is made with more. A disk that is full or a folder that is gone ends the
    log and not the command: `problem` says why.
    """

    def __init__(self, path: str, limit: int = LOG_BYTES) -> None:
        self.path = path
        self.problem: str | None = None
        self.rotated = False
        self._limit = limit
        self._size = 0
        self._fd: int | None = None
        self._held: bytearray | None = bytearray()

    @property
    def held(self) -> str | None:
        """All the output, a character for each byte; None where it is in the file."""
        return None if self._held is None else self._held.decode("latin-1")

    def write(self, data: bytes) -> None:
        """Adds output."""
        if self._held is None:
            self._append(data)
            return
        self._held += data
        if len(self._held) > HELD_BYTES:
            self.open()

    def open(self) -> None:
        """Makes the file, with what was held back, and the folder of the run."""
        held, self._held = self._held or bytearray(), None
        try:
            with suppress(FileExistsError):
                os.mkdir(os.path.dirname(self.path), 0o700)  # noqa: PTH102, PTH120 - pathlib is slow to load
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
            self._fd = os.open(self.path, flags, 0o600)
            self._size = os.fstat(self._fd).st_size
        except OSError as error:
            self.problem = error.strerror
        self._append(held)

    def close(self) -> None:
        """Nothing more is written."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def _append(self, data: bytes | bytearray) -> None:
        if self._fd is None:
            return
        try:
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(self._fd, rest) :]
            self._size += len(data)
            if self._size >= self._limit:
                self.close()
                os.replace(self.path, f"{self.path}.1")  # noqa: PTH105 - as above
                self.rotated = True
                self.open()
        except OSError as error:
            self.problem = error.strerror
            self.close()


class Kept:
    """The beginning and the end of one stream, and how much there was."""

    def __init__(self) -> None:
        self.total = 0
        self.head = bytearray()
        self.tail = bytearray()

    def add(self, data: bytes) -> None:
        """Takes in what came."""
        self.total += len(data)
        room = KEPT_BYTES - len(self.head)
        if room > 0:
            self.head += data[:room]
            data = data[room:]
        if data:
            self.tail += data[-KEPT_BYTES:]
            if len(self.tail) > 2 * KEPT_BYTES:
                del self.tail[:-KEPT_BYTES]

    def as_message(self) -> dict[str, object]:
        """The same for JSON, a character for each byte."""
        return {
            "total": self.total,
            "head": self.head.decode("latin-1"),
            "tail": self.tail[-KEPT_BYTES:].decode("latin-1"),
        }
