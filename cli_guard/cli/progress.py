"""A line on a terminal that says how far a long review has come, and is gone when it is done."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

AFTER_SECONDS = 1.0
EVERY_SECONDS = 0.1


class Progress:
    """Told how many files are done, it says so from time to time."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._clock = clock
        self._next = clock() + AFTER_SECONDS
        self._shown = 0

    def told(self, done: int, of: int) -> None:
        """So many files of so many are done; with the last of them the line goes."""
        if done == of:
            self.remove()
            return
        now = self._clock()
        if now < self._next:
            return
        self._next = now + EVERY_SECONDS
        text = f"cli-guard: {done * 100 // of} % of {of:,} files"
        self._write("\r" + text.ljust(self._shown))
        self._shown = len(text)

    def remove(self) -> None:
        """Takes the line away."""
        if self._shown:
            self._write("\r" + " " * self._shown + "\r")
            self._shown = 0

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except OSError:  # the terminal is gone; the review is not
            self._shown, self._next = 0, float("inf")


@contextmanager
def progress(stream: TextIO) -> Iterator[Callable[[int, int], None] | None]:
    """Whom to tell; None where the stream is no terminal."""
    if not stream.isatty():
        yield None
        return
    line = Progress(stream)
    try:
        yield line.told
    finally:
        line.remove()
