"""Fork children in advance, so that a run does not wait for a fork and its first steps.

A fork shares all memory until it writes, and Python writes to every object it reads (reference counts). So a spare
reviews the samples once more: then it owns the pages that a run needs, and the run does not wait for a thousand copies.
They are 25 MB, twice (the server has the originals to itself), so one that is kept while nothing is asked does not.
"""

import os
import socket
import time
from collections.abc import Callable
from contextlib import suppress

from cli_guard.lazy import dataclass
from cli_guard.server import child
from cli_guard.server.request import HEAD, length_of, parse
from cli_guard.server.warming import rehearse

READY = b"."
# A connection, a ticket and three streams.
HANDED = 5
# `git commit` runs two hooks, one right after the other.
KEPT = 2
# The next hook of a commit comes within a few milliseconds of the last one.
QUIET_SECONDS = 0.1
# If there is no memory for another now, there will hardly be some in a moment.
REFUSED_SECONDS = 30.0


@dataclass
class Spare:
    """A child that waits for a run, once it has reported that it is ready."""

    pid: int
    door: socket.socket
    ready: bool = False


class Spares:
    """The waiting children. `forget` closes in each what belongs to the server alone."""

    def __init__(self, forget: Callable[[], None], run: child.Run) -> None:
        self._forget = forget
        self._run = run
        self._waiting: list[Spare] = []
        self._quiet_since = 0.0
        self._kept = KEPT

    @property
    def pause(self) -> float | None:
        """Return the seconds until another should be forked, None if there are enough or one is not ready."""
        if len(self._waiting) >= self._kept or not all(
            spare.ready for spare in self._waiting
        ):
            return None
        return max(0.0, self._quiet_since + QUIET_SECONDS - time.monotonic())

    def busy(self) -> None:
        """Note a request: a fork now would slow it down."""
        self._quiet_since = time.monotonic()
        self._kept = KEPT

    def rest(self, kept: int) -> bool:
        """Keep fewer until the next request; False if no more are kept already.

        A spare that is kept then shares all memory, so that it takes nearly none.
        """
        if kept >= self._kept:
            return False
        self._kept = kept
        self.close()
        return True

    def fork(self) -> socket.socket | None:
        """Fork a spare, and return the descriptor of its messages; None if that fails."""
        ours, theirs = socket.socketpair()
        try:
            pid = os.fork()
        except OSError:
            ours.close()
            theirs.close()
            self._quiet_since = time.monotonic() + REFUSED_SECONDS
            return None
        if pid == 0:
            try:
                child.reset_signals()
                ours.close()
                self.close()
                self._forget()
                if self._kept == KEPT:
                    rehearse()
                wait(theirs, self._run)
            finally:
                os._exit(0)
        theirs.close()
        self._waiting.append(Spare(pid, ours))
        return ours

    def handle(self, descriptor: int) -> bool:
        """Handle a spare that is ready or gone; False if the descriptor is not a spare's."""
        for spare in self._waiting:
            if spare.door.fileno() == descriptor:
                with suppress(OSError):
                    spare.ready = spare.door.recv(1) == READY
                if not spare.ready:
                    self._drop(spare)
                return True
        return False

    def take(self, received: bytes, descriptors: list[int]) -> int:
        """Hand a run to a spare that is ready, and return its process; 0 if there is none."""
        for spare in [each for each in self._waiting if each.ready]:
            self._waiting.remove(spare)
            with spare.door, suppress(OSError):
                socket.send_fds(spare.door, [READY], descriptors)
                spare.door.sendall(received)
                return spare.pid
        return 0

    def remove(self, pid: int) -> None:
        for spare in [each for each in self._waiting if each.pid == pid and each.ready]:
            self._drop(spare)

    def close(self) -> None:
        """Close all spares; one without a run ends by itself."""
        for spare in list(self._waiting):
            self._drop(spare)

    def _drop(self, spare: Spare) -> None:
        spare.door.close()
        self._waiting.remove(spare)


def wait(door: socket.socket, run: child.Run) -> None:
    """Run in the spare: wait for a run, and do it."""
    door.sendall(READY)
    data, descriptors, _, _ = socket.recv_fds(door, 1, HANDED)
    if not data:
        return
    received = b""
    while (length := length_of(received)) is None or len(received) < length:
        more = door.recv(max(HEAD, (length or 0) - len(received)))
        if not more:
            return
        received += more
    door.close()
    connection = socket.socket(fileno=descriptors[0])
    with suppress(OSError, ValueError):
        child.answer(parse(received), list(descriptors[1:]), connection, run)
