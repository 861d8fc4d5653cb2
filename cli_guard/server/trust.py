"""Decide which clients may ask: the same user, and no process in a sandbox that the server is not in.

A child of the server is not in the sandbox of the client. A confined process that reaches the socket is therefore
refused, and does its run itself, inside the sandbox.
"""

import os
import socket
import sys

from cli_guard.server.client import peer

# proc(5): what a process can no longer do. Landlock and seccomp need NoNewPrivs or a capability.
FIELDS = (b"NoNewPrivs:", b"Seccomp:", b"CapEff:", b"CapBnd:", b"Groups:", b"Uid:", b"Gid:")
NAMESPACES = ("mnt", "user", "pid", "net")


def confinement(pid: int) -> tuple[bytes, ...] | None:
    """Return what a process is confined to, None if unknown."""
    folder = f"/proc/{pid}"
    try:
        with open(f"{folder}/status", "rb") as file:  # noqa: PTH123 - as short as it can be: every run waits for it
            lines = [line for line in file if line.startswith(FIELDS)]
        spaces = [os.fsencode(os.readlink(f"{folder}/ns/{name}")) for name in NAMESPACES]  # noqa: PTH115
        return (*lines, *spaces, os.fsencode(os.readlink(f"{folder}/root")))  # noqa: PTH115
    except OSError:
        return None


class ClientTrust:
    """Decides whether a client has the same rights as this process."""

    def __init__(self) -> None:
        self._user = os.geteuid()
        self._own = confinement(os.getpid())

    def __call__(self, connection: socket.socket) -> bool:
        """Return whether this client may ask."""
        try:
            user, pid = peer(connection)
        except OSError:
            return False
        if user != self._user:
            return False
        if sys.platform != "linux":
            return True
        return pid > 0 and self._own is not None and confinement(pid) == self._own
