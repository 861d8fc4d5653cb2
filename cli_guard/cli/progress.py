"""A progress line for long reviews on a terminal, removed at the end."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from cli_guard.repository.protocol import OnProgress

AFTER_SECONDS = 1.0
EVERY_SECONDS = 0.1


class Progress:
    """A progress line that is updated at most every EVERY_SECONDS."""

    def __init__(
        self, stream: TextIO, clock: Callable[[], float] = time.monotonic, what: str = ""
    ) -> None:
        self._stream = stream
        self._what = what
        self._first = (0.0, 0)
        self._clock = clock
        self._next = clock() + AFTER_SECONDS
        self._shown = 0

    def update(self, done: int, of: int, unit: str = "files") -> None:
        """Show that `done` of `of` are done, with another `what` also rate and time left; remove it at the end."""
        if done == of:
            self.remove()
            return
        now = self._clock()
        self._first = self._first if self._first[0] else (now, done)
        if now < self._next:
            return
        self._next = now + EVERY_SECONDS
        text = f"cli-guard: {done * 100 // of} % of {of:,} {self._what or unit}"
        if self._what and (rate := (done - self._first[1]) / (now - self._first[0] or 1)):
            text += f", {rate:,.0f} a second, {(of - done) / rate:,.0f} s left"
        self._write("\r" + text.ljust(self._shown))
        self._shown = len(text)

    def remove(self) -> None:
        if self._shown:
            self._write("\r" + " " * self._shown + "\r")
            self._shown = 0

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except OSError:  # the terminal is gone; the review is not
            self._shown = 0
            self._next = float("inf")


@contextmanager
def progress(stream: TextIO, what: str = "") -> "Iterator[OnProgress | None]":
    """Yield a progress callback; None if the stream is not a terminal."""
    if not stream.isatty():
        yield None
        return
    line = Progress(stream, what=what)
    try:
        yield line.update
    finally:
        line.remove()
