"""What is said while checks run: nothing in the first second, then one line, written anew or now and then."""

import time
from collections.abc import Callable, Collection
from typing import TextIO

from cli_guard.secrets.printable import clip, printable

QUIET_SECONDS = 1.0
# Between two lines where a line cannot be written anew.
PLAIN_SECONDS = 60.0
WIDTH = 79
ERASE = "\r\x1b[K"


class Progress:
    """Tells a stream how far the checks are. `clock` gives seconds; a `dumb` terminal writes no line anew."""

    def __init__(
        self, out: TextIO, total: int, *, clock: Callable[[], float] = time.monotonic, dumb: bool = False
    ) -> None:
        self._out = out
        self._total = total
        self._clock = clock
        self._begun = clock()
        self._terminal = out.isatty() and not dumb
        self._said_at: float | None = None
        self._shown = ""

    def tick(self, running: Collection[str], done: int) -> None:
        """Is called often, with the names of what runs and the number of what has ended."""
        now = self._clock()
        seconds = now - self._begun
        if seconds < QUIET_SECONDS or not running:
            return
        names = ", ".join(sorted(running))
        line = f"cli-guard: {done} of {self._total} checks done, running {names} ({seconds:.0f} s)"
        if self._terminal:
            self._replace(clip(printable(line), WIDTH))
        elif self._said_at is None or now - self._said_at >= PLAIN_SECONDS:
            self._said_at = now
            self._write(f"{printable(line)}\n")

    def end(self) -> None:
        """Leaves the line empty for what comes after."""
        if self._shown:
            self._replace("")

    def _replace(self, line: str) -> None:
        if line != self._shown:
            self._write(ERASE + line)
            self._shown = line

    def _write(self, text: str) -> None:
        encoding = getattr(self._out, "encoding", None) or "utf-8"
        try:
            self._out.write(text.encode(encoding, "backslashreplace").decode(encoding))
            self._out.flush()
        except (OSError, ValueError):
            # Whoever read it has gone: the checks count, not what is told of them.
            self._terminal, self._said_at = False, float("inf")
