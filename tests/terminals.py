"""A person at a real terminal: sees what a program shows, types, waits for its end."""

import fcntl
import os
import pty
import select
import subprocess
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from preloaded import ALONE

WAIT = 60.0


def take_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


class Seat:
    """A terminal of its own, which a program has for all its streams, and as the leader of its session.

    A `preloaded` program (preloaded.py) does what is started here in a session that it makes itself.
    """

    def __init__(
        self,
        argv: Sequence[str],
        cwd: Path,
        env: Mapping[str, str],
        *,
        preloaded: bool = False,
    ) -> None:
        self._ours, theirs = pty.openpty()
        self.process = subprocess.Popen(
            argv,
            cwd=cwd,
            env={**env, "NO_COLOR": "1", **({ALONE.decode(): "1"} if preloaded else {})},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            preexec_fn=None if preloaded else take_terminal,
        )
        os.close(theirs)
        self.seen = ""
        self._looked = 0

    def __enter__(self) -> "Seat":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(WAIT)
        os.close(self._ours)

    def until(self, text: str) -> str:
        """Looks until a text is shown; gives what was shown since the last look, up to its end."""
        start = self._looked
        deadline = time.monotonic() + WAIT
        while (found := self.seen.find(text, start)) < 0:
            data = self._look(0.5)
            if data is None or time.monotonic() > deadline:
                raise AssertionError(f"{text!r} was not shown: {self.seen}")
            self.seen += data
        self._looked = found + len(text)
        return self.seen[start : self._looked]

    def type(self, text: str) -> None:
        """Types."""
        os.write(self._ours, text.encode())

    def end(self) -> tuple[int, str]:
        """The exit code, and all that was shown."""
        deadline = time.monotonic() + WAIT
        while time.monotonic() < deadline and (data := self._look(0.5)) is not None:
            self.seen += data
        return self.process.wait(WAIT), self.seen

    def _look(self, seconds: float) -> str | None:
        """What comes, "" for nothing yet, None once nobody is there who could show anything."""
        if not select.select([self._ours], [], [], seconds)[0]:
            return ""
        data = b""
        with suppress(OSError):
            data = os.read(self._ours, 65_536)
        return data.decode("utf-8", "replace").replace("\r\n", "\n") if data else None


def waited_for(condition: Callable[[], object]) -> bool:
    """Does it become true before long?"""
    deadline = time.monotonic() + WAIT
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.05)
    return bool(condition())
