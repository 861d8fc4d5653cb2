"""The frames between an owner and a monitor, over a stream socket.

A frame is one byte of kind, four bytes of length (big-endian), and that many bytes: JSON or raw output.
"""

import json
import select
import socket
import struct
import time
from collections.abc import Iterator
from typing import Any

JSON = b"J"
STDOUT = b"O"
STDERR = b"E"
STREAMS = {STDOUT: "stdout", STDERR: "stderr"}
HEAD = struct.Struct(">cI")
READ_BYTES = 65_536
# Beyond this, an owner that does not read makes the command wait, as a pipe would.
UNREAD_BYTES = 1_048_576
FLUSH_SECONDS = 2.0

Message = dict[str, Any]


def frame(kind: bytes, data: bytes) -> bytes:
    return HEAD.pack(kind, len(data)) + data


def message(data: Message) -> bytes:
    """Encode JSON as a frame; bytes that are not UTF-8 stay lone surrogates."""
    return frame(JSON, json.dumps(data).encode("ascii"))


class Frames:
    """Assembles frames from bytes as they arrive."""

    def __init__(self) -> None:
        self._rest = bytearray()

    def feed(self, data: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Yield the kind and content of the frames that are whole now."""
        self._rest += data
        while len(self._rest) >= HEAD.size:
            kind, length = HEAD.unpack_from(self._rest)
            if len(self._rest) < HEAD.size + length:
                return
            content = bytes(self._rest[HEAD.size : HEAD.size + length])
            del self._rest[: HEAD.size + length]
            yield kind, content


def parse_frame(content: bytes) -> Message:
    """Decode a JSON frame. Raises ValueError."""
    data = json.loads(content)
    if not isinstance(data, dict):
        raise ValueError("a message is an object")
    return data


class Owner:
    """The monitor's end of the socket to the owner; it never blocks."""

    def __init__(self, connection: socket.socket, frames: Frames) -> None:
        connection.setblocking(False)
        self._connection = connection
        self._frames = frames
        self._outgoing = bytearray()
        self.is_gone = False

    @property
    def descriptor(self) -> int | None:
        """The descriptor to wait for, None once the owner is gone."""
        return None if self.is_gone else self._connection.fileno()

    @property
    def has_unsent(self) -> bool:
        return bool(self._outgoing)

    @property
    def lags(self) -> bool:
        """True while so much is unsent that no more output should be read."""
        return len(self._outgoing) > UNREAD_BYTES

    def send_message(self, data: Message) -> None:
        self.queue(message(data))
        self.send()

    def queue(self, framed: bytes) -> None:
        """Queue a frame for sending."""
        if not self.is_gone:
            self._outgoing += framed

    def send(self) -> None:
        """Send what the socket takes now; a closed one is noticed in `receive`."""
        try:
            del self._outgoing[: self._connection.send(self._outgoing)]
        except BlockingIOError:
            return
        except OSError:
            self._outgoing.clear()

    def receive(self) -> Iterator[Message]:
        """Yield the messages that have come; afterwards `descriptor` is None if the owner is gone."""
        data = b""
        try:
            data = self._connection.recv(READ_BYTES)
            self.is_gone = not data
        except BlockingIOError:
            pass  # what came together with the request is read already
        except OSError:
            self.is_gone = True
        if self.is_gone:
            self._outgoing.clear()
        yield from (
            parse_frame(content)
            for kind, content in self._frames.feed(data)
            if kind == JSON
        )

    def flush(self) -> None:
        """Send what is queued, for at most FLUSH_SECONDS."""
        until = time.monotonic() + FLUSH_SECONDS
        nothing: list[int] = []
        while self._outgoing and time.monotonic() < until:
            select.select(nothing, [self._connection.fileno()], nothing, 0.1)
            self.send()
