"""Parse a client's request from the socket."""

import os
import socket
import time
from contextlib import suppress
from dataclasses import field

from cli_guard.lazy import dataclass, frozen
from cli_guard.server.client import is_preparation

# More than any command line and environment that Linux takes (execve(2): 6 MiB by the usual limit of the stack).
LONGEST = 16_777_216
HEAD = 4
FIXED = 12


@frozen
class Form:
    """How a standard stream is opened."""

    encoding: str
    errors: str
    line_buffering: bool
    write_through: bool


@frozen
class ServerRequest:
    """A run: its arguments and its environment. `forms` is None for a stream that is closed.

    `kind` is "run", or "status" and "stop", which are about the server and run nothing. `limits` are triples of
    getrlimit(2): number, soft, hard.
    """

    identity: str
    kind: str
    mask: int
    writes_no_bytecode: bool
    limits: tuple[tuple[int, int, int], ...]
    forms: tuple[Form | None, ...]
    folder: bytes
    interpreter: bytes
    program: bytes
    arguments: tuple[bytes, ...]
    environment: dict[bytes, bytes] = field(repr=False)

    @property
    def prepares(self) -> bool:
        """Return whether this run only prepares a review."""
        return is_preparation([os.fsdecode(each) for each in self.arguments])

    @property
    def variables(self) -> dict[str, str]:
        """Return the environment as text."""
        return {
            os.fsdecode(name): os.fsdecode(value)
            for name, value in self.environment.items()
        }


def length_of(received: bytes | bytearray) -> int | None:
    """Return the length of a request, head included; None while it is unknown."""
    return HEAD + int.from_bytes(received[:HEAD], "big") if len(received) >= HEAD else None


def parse(received: bytes) -> ServerRequest:
    """Parse a whole request. Raises ValueError."""
    texts = received[HEAD:].split(b"\0")
    if len(texts) < FIXED:
        raise ValueError("a request is longer")
    identity, kind, mask, bytecode, limits, *forms = (
        each.decode("utf-8", "surrogateescape") for each in texts[:8]
    )
    numbers = [int(each) for each in limits.split()]
    count = int(texts[11])
    if count < 0 or len(texts) < FIXED + count:
        raise ValueError("arguments are missing")
    return ServerRequest(
        identity=identity,
        kind=kind,
        mask=int(mask),
        writes_no_bytecode=bytecode == "1",
        limits=tuple(zip(numbers[::3], numbers[1::3], numbers[2::3], strict=True)),
        forms=tuple(form(each) for each in forms),
        folder=texts[8],
        interpreter=texts[9],
        program=texts[10],
        arguments=tuple(texts[FIXED : FIXED + count]),
        environment=dict(variable(each) for each in texts[FIXED + count :]),
    )


def form(text: str) -> Form | None:
    """Parse how a stream is opened. Raises ValueError."""
    if not text:
        return None
    encoding, errors, line_buffering, write_through = text.split(" ")
    return Form(encoding, errors, line_buffering == "True", write_through == "True")


def variable(text: bytes) -> tuple[bytes, bytes]:
    """Parse a variable's name and value. Raises ValueError."""
    name, between, value = text.partition(b"=")
    if not name or not between:
        raise ValueError("a variable has a name")
    return name, value


@dataclass
class ServerCaller:
    """A client: what it has sent, and the child of its run; `is_outdated`: files had changed when it came."""

    connection: socket.socket
    is_outdated: bool = False
    received: bytearray = field(default_factory=bytearray)
    request: ServerRequest | None = None
    handed: list[int] = field(default_factory=list)
    child: int = 0
    since: float = field(default_factory=time.monotonic)
    gone: bool = False

    @property
    def waits(self) -> bool:
        """Return whether its run can start but has no child yet."""
        return bool(self.handed) and not self.child and not self.gone

    def say(self, word: bytes, value: int = 0) -> None:
        """Send one message, if the client is still there."""
        with suppress(OSError):
            self.connection.send(word + bytes([value]))

    def let_go(self) -> None:
        """Close its streams: readers at the other end wait for that."""
        for each in self.handed:
            os.close(each)
        self.handed = []
