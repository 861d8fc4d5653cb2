"""One command of a check: a session of its own, ended at the limit, at an interrupt, and when this process is gone.

What starts a session of its own (setsid(1)) is not found again; `cli-guard exec` ends that too, by a supervisor.
"""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Self

from cli_guard.errors import CliGuardError
from cli_guard.execution.shell import send_signal, shell_words

TAIL_BYTES = 256_000
READ_BYTES = 65_536
TICK_SECONDS = 0.1
# From SIGTERM to SIGKILL.
GRACE_SECONDS = 1.0
PAUSE_SECONDS = 0.01
# A process that has left the session may hold the output open.
DRAIN_SECONDS = 1.0
# Reading ends when this process is gone, even by SIGKILL; then nobody else would end the process group.
GUARD = ("/bin/sh", "-c", 'read -r line; kill -s KILL -- "-$1"', "sh")


class CheckProcess:
    """A running command; leaving the `with` block ends its session. Raises OSError if it cannot start."""

    def __init__(self, command: str, folder: Path, env: Mapping[str, str]) -> None:
        if not hasattr(os, "getsid"):
            raise CliGuardError("checks run on POSIX systems only: sessions are needed")
        self.began = time.monotonic()
        self._tail = bytearray()
        self._is_cut = False
        self._process = subprocess.Popen(
            shell_words(command, env),
            bufsize=0,
            cwd=folder,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self.pid = self._process.pid
        try:
            self._guard = subprocess.Popen(
                (*GUARD, str(self.pid)),
                stdin=subprocess.PIPE,
                # Git, or a framework, reads ours until every process has closed them.
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError:
            self._process.kill()
            self._process.wait()
            raise
        self._ended = threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        threading.Thread(target=self._reap, daemon=True).start()

    def _reap(self) -> None:
        # At once: a check may wait until its server is gone.
        self._process.wait()
        self._ended.set()

    def _read(self) -> None:
        assert self._process.stdout  # noqa: S101 - a pipe
        with self._process.stdout as output:
            while data := output.read(READ_BYTES):
                self._tail += data
                if len(self._tail) > 2 * TAIL_BYTES:
                    del self._tail[:-TAIL_BYTES]
                    self._is_cut = True

    @property
    def code(self) -> int | None:
        """The exit code, minus the signal that ended it, None while it runs."""
        return self._process.returncode

    @property
    def seconds(self) -> float:
        """The seconds since it began."""
        return time.monotonic() - self.began

    @property
    def output(self) -> str:
        """The end of its output, both streams, without a line that is cut at its beginning; whole once it has ended."""
        raw = bytes(self._tail)
        if self._is_cut:
            raw = raw.partition(b"\n")[2] or raw
        return raw.decode("utf-8", "replace")

    def wait(self, seconds: float, is_stopped: Callable[[], bool]) -> bool:
        """Wait for the end of the command; False if it still runs after so long or once `is_stopped`."""
        while not is_stopped():
            left = seconds - self.seconds
            if left <= 0:
                break
            if self._ended.wait(min(left, TICK_SECONDS)):
                break
        return self._ended.is_set()

    def end(self) -> None:
        """End all of the session: SIGTERM, then SIGKILL."""
        send_signal(self._members(), signal.SIGTERM)
        deadline = time.monotonic() + GRACE_SECONDS
        while self._members() and time.monotonic() < deadline:
            time.sleep(PAUSE_SECONDS)
        deadline += GRACE_SECONDS
        # Again, for those that were forked in between.
        while (left := self._members()) and time.monotonic() < deadline:
            send_signal(left, signal.SIGKILL)
            time.sleep(PAUSE_SECONDS)
        with self._guard:
            self._guard.kill()
        self._ended.wait(DRAIN_SECONDS)
        self._reader.join(DRAIN_SECONDS)

    def _members(self) -> list[int]:
        """Return the running processes of the session."""
        import psutil

        found = []
        for pid in psutil.pids():
            try:
                if (
                    os.getsid(pid) == self.pid
                    and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
                ):
                    found.append(pid)
            except (OSError, psutil.Error):
                continue
        return found

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.end()
