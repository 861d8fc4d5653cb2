"""The guardian's end of the socket to its owner: what is said and heard, never waiting for either."""

import select
import socket
import time
from collections.abc import Iterator

from cli_guard.execution.processes.supervisor.wire import JSON, Frames, Message, message, parse_frame

READ_BYTES = 65_536
# An owner that does not read what it asked for makes the command wait, as a pipe would.
UNREAD_BYTES = 1_048_576
FAREWELL_SECONDS = 2.0


class Owner:
    """Who has asked for the command, until it is gone."""

    def __init__(self, connection: socket.socket, frames: Frames) -> None:
        connection.setblocking(False)
        self._connection: socket.socket | None = connection
        self._frames = frames
        self._outgoing = bytearray()

    @property
    def descriptor(self) -> int | None:
        """What can be waited for, None once it is gone."""
        return None if self._connection is None else self._connection.fileno()

    @property
    def waits_for_us(self) -> bool:
        """Is there something that it has not yet been told?"""
        return bool(self._outgoing)

    @property
    def lags(self) -> bool:
        """Is so much not yet told that nothing more should be read?"""
        return len(self._outgoing) > UNREAD_BYTES

    def say(self, data: Message) -> None:
        """Tells a message."""
        self.pass_on(message(data))
        self.send()

    def pass_on(self, framed: bytes) -> None:
        """Tells a frame as soon as it is taken."""
        if self._connection is not None:
            self._outgoing += framed

    def send(self) -> None:
        """Writes what is taken now; a stream that has ended is met where it is read."""
        if self._connection is None:
            return
        try:
            del self._outgoing[: self._connection.send(self._outgoing)]
        except BlockingIOError:
            return
        except OSError:
            self._outgoing.clear()

    def hear(self) -> Iterator[Message]:
        """What it asks for now; afterwards `descriptor` is None if it is gone."""
        if self._connection is None:
            return
        try:
            data = self._connection.recv(READ_BYTES)
            ended = not data
        except BlockingIOError:
            # What came together with the request is here already.
            data, ended = b"", False
        except OSError:
            data, ended = b"", True
        if ended:
            self._connection.close()
            self._connection = None
            self._outgoing.clear()
            return
        yield from (parse_frame(content) for kind, content in self._frames.feed(data) if kind == JSON)

    def farewell(self) -> None:
        """Waits a little until it has taken what was said."""
        until = time.monotonic() + FAREWELL_SECONDS
        nothing: list[int] = []
        while self._connection is not None and self._outgoing and time.monotonic() < until:
            select.select(nothing, [self._connection.fileno()], nothing, 0.1)
            self.send()
