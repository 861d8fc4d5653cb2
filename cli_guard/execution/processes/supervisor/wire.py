"""What an owner and a guardian say to each other: frames over a stream socket.

A frame is one byte of kind, four bytes of length (big-endian), and that many bytes: JSON, or output as it came.
"""

import json
import struct
from collections.abc import Iterator
from typing import Any

JSON, STDOUT, STDERR = b"J", b"O", b"E"
STREAMS = {STDOUT: "stdout", STDERR: "stderr"}
HEAD = struct.Struct(">cI")

Message = dict[str, Any]


def frame(kind: bytes, data: bytes) -> bytes:
    """One frame."""
    return HEAD.pack(kind, len(data)) + data


def message(data: Message) -> bytes:
    """A frame of JSON; names that are no UTF-8 come through as lone surrogates."""
    return frame(JSON, json.dumps(data).encode("ascii"))


class Frames:
    """Puts frames together from bytes as they arrive."""

    def __init__(self) -> None:
        self._rest = bytearray()

    def feed(self, data: bytes) -> Iterator[tuple[bytes, bytes]]:
        """The frames that are whole now: kind and content."""
        self._rest += data
        while len(self._rest) >= HEAD.size:
            kind, length = HEAD.unpack_from(self._rest)
            if len(self._rest) < HEAD.size + length:
                return
            content = bytes(self._rest[HEAD.size : HEAD.size + length])
            del self._rest[: HEAD.size + length]
            yield kind, content


def parse_frame(content: bytes) -> Message:
    """The message of a JSON frame. Raises ValueError."""
    data = json.loads(content)
    if not isinstance(data, dict):
        raise ValueError("a message is an object")
    return data
