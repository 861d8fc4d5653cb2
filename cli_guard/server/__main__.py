"""`python -m cli_guard.server FOLDER [IDLE_SECONDS [MEGABYTES]]`: serves its identity, if no other server does.

It is started by control.py or by another server when files have changed, and exits silently if it cannot serve.
"""

import fcntl
import os
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress

from cli_guard.__main__ import run_in_process
from cli_guard.server import address
from cli_guard.server.control import AFTER, is_enabled
from cli_guard.server.leaving import IDLE_SECONDS, MEMORY_BYTES, Stay
from cli_guard.server.serving import BACKLOG, Server
from cli_guard.server.trust import confinement

# An installation writes for some seconds; what loads in between may be half of it.
INSTALL_SECONDS = 2.0
# A commit takes two runs without a server; then one in whose editor somebody writes has time for a server to load.
COMMIT_SECONDS = 6.0


def lock(path: str) -> int | None:
    """Take the lock of a server and write down who has it, for its clients; None if another one has it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    for _ in range(5):
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.ftruncate(descriptor, 0)
            os.write(descriptor, os.fsencode(address.describe_process(os.getpid())))
            return descriptor
        # Somebody may only have looked whether it is held.
        time.sleep(0.02)
    os.close(descriptor)
    return None


def wait_for_end(process: int) -> None:
    """Wait until a process has ended, 0 for none, but no longer than a commit without an editor takes."""
    until = time.monotonic() + COMMIT_SECONDS
    while process and time.monotonic() < until:
        try:
            os.kill(process, 0)
        except OSError:
            return
        time.sleep(0.05)


def listen(path: str) -> socket.socket:
    """Listen on a socket path, replacing a stale one. Raises OSError."""
    with suppress(FileNotFoundError):
        os.unlink(path)  # noqa: PTH108
    door = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    door.bind(path)
    door.listen(BACKLOG)
    return door


def main(arguments: list[str]) -> int:
    """Serve until it is time to exit."""
    inside = arguments[0]
    idle = float(arguments[1]) if len(arguments) > 1 else IDLE_SECONDS
    memory = int(arguments[2]) * 1_048_576 if len(arguments) > 2 else MEMORY_BYTES
    os.umask(0o077)
    identity = address.identity()
    if identity is None or not address.is_own_folder(inside):
        return 1
    name = address.name_of(identity)
    if sys.platform == "linux" and confinement(os.getpid()) is None:
        # Without /proc no client can be checked.
        return 1
    held = lock(f"{inside}/{name}.lock")
    if held is None:
        return 1
    wait_for_end(int(os.environ.pop(AFTER, "0")))
    # Watch from here on, so that a change of a file during loading is noticed.
    stay = Stay(idle, memory)
    # Listen from here on: for a client it is quicker to wait than to load the same.
    path = address.socket_path(inside, name)
    door = listen(path)
    from cli_guard.graph.deferred import defer
    from cli_guard.server.warming import warm

    defer()
    warm()
    if threading.active_count() > 1:
        # A lock that another thread holds at a fork would stay locked in the child.
        return 1
    stay.settle(path)
    server = Server(door, held, identity, stay, is_enabled, run_in_process)
    if server.serve() == "files":
        time.sleep(INSTALL_SECONDS)
        subprocess.Popen((sys.executable, *sys.orig_argv[1:]), start_new_session=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
