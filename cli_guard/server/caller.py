"""A client of the server, and how far it has come."""

import os
import socket
import time
from contextlib import suppress
from dataclasses import dataclass, field

from cli_guard.server.request import Request


@dataclass
class Caller:
    """A client: what it has said, and the child that does its run once there is one."""

    connection: socket.socket
    received: bytearray = field(default_factory=bytearray)
    request: Request | None = None
    handed: list[int] = field(default_factory=list)
    child: int = 0
    since: float = field(default_factory=time.monotonic)
    gone: bool = False

    @property
    def waits(self) -> bool:
        """Is all there that its run needs, but no child yet?"""
        return bool(self.handed) and not self.child and not self.gone

    def say(self, word: bytes, value: int = 0) -> None:
        """Says a word, if it still listens."""
        with suppress(OSError):
            self.connection.send(word + bytes([value]))

    def let_go(self) -> None:
        """Closes what it has handed over: whoever reads at the other end waits for that."""
        for each in self.handed:
            os.close(each)
        self.handed = []
