"""TCP ports of this machine: is one free, who listens on it, does it answer.

UDP is another matter: its ports have the same numbers and nothing to do with these.
"""

import errno
import os
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from functools import partial
from typing import TYPE_CHECKING

from cli_guard.errors import CliGuardError, UsageError

if TYPE_CHECKING:
    import psutil

FIRST, LAST = 1, 65535
# The range that seed 004 searches.
SEARCHED = (3000, 9999)
# Each is asked by itself: macOS lets a wildcard and a loopback socket share a port, Linux IPv4 and IPv6.
PLACES = (
    (socket.AF_INET, "0.0.0.0"),  # noqa: S104 - bound to for a moment, never listened on
    (socket.AF_INET, "127.0.0.1"),
    (socket.AF_INET6, "::"),
    (socket.AF_INET6, "::1"),
)
LOOPBACKS = ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1"))
# The address family is not there, or has no such address.
NO_SUCH_PLACE = frozenset((errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL, errno.EPROTONOSUPPORT, errno.EINVAL))
FORBIDDEN = frozenset((errno.EACCES, errno.EPERM))

GRACE_SECONDS = 5.0
KILL_SECONDS = 5.0
POLL_FIRST, POLL_MOST = 0.01, 0.2
CONNECT_SECONDS = 0.5
# A relay (docker's, kubectl's) accepts before there is anybody behind it, and hangs up at once.
HANG_UP_SECONDS = 0.05


def is_port_available(port: int) -> bool:
    """Is nobody on this TCP port: on IPv4 and IPv6, on all addresses and on loopback?

    What a server that sets SO_REUSEADDR could have is available, so a connection that is only winding down
    (TIME_WAIT) does not count. Of a port that this user may not have (ip(7), EACCES) it tells whether somebody listens.
    Raises UsageError for what is no port.
    """
    state = _state(check_port(port))
    return not _is_listened_on(port) if state == "forbidden" else state == "free"


def find_available_port(start: int = SEARCHED[0], end: int = SEARCHED[1]) -> int:
    """The first port from `start` to `end`, both included, that is free and that this user may have.

    Raises UsageError for a range that is none, CliGuardError if no port in it is free.
    """
    if check_port(start) > check_port(end):
        raise UsageError(f"{start} to {end} is no range of ports: name the lower one first")
    for port in range(start, end + 1):
        if _state(port) == "free":
            return port
    raise CliGuardError(f"no port from {start} to {end} is free: name another range")


def find_process_on_port(port: int) -> int | None:
    """The process that listens on this TCP port; of a family that shares the port, the eldest.

    None if nobody does, or if the process is one of another user's and cannot be seen. Raises UsageError for what is
    no port.
    """
    eldest = _listener(check_port(port))
    return None if eldest is None else eldest.pid


def kill_process_on_port(port: int) -> bool:
    """Ends who listens on this TCP port: SIGTERM, after five seconds SIGKILL. Is the port free now?

    False as well if nobody listened, or if the process may not be ended: another user's, the first one, ourselves or
    one that we run under. Raises UsageError for what is no port.
    """
    import psutil

    ended = False
    deadline = time.monotonic() + GRACE_SECONDS
    last = deadline + KILL_SECONDS
    # The workers of a server may outlive it, or be started anew before it ends.
    while (process := _listener(check_port(port))) is not None and time.monotonic() < last:
        if process.pid in _never_killed():
            return False
        try:
            if time.monotonic() < deadline:
                process.terminate()
            else:
                process.kill()
        except psutil.NoSuchProcess:
            pass
        except psutil.AccessDenied:
            return False
        ended = True
        if not _until(partial(_is_gone, process), deadline):
            with suppress(psutil.Error):
                process.kill()
            _until(partial(_is_gone, process), last)
    return ended and _until(lambda: is_port_available(port), last)


def expected_port(command: str | Sequence[str]) -> int | None:
    """Return the port that a command will listen on, by the options of common servers; None if it names none.

    A text is split as a shell splits it, words are one command.
    """
    from cli_guard.execution.processes.servers import find_expected_port

    found = find_expected_port(command)
    return None if found is None else found.port


def wait_until_answers(port: int, seconds: float, alive: Callable[[], bool]) -> bool:
    """Does this TCP port answer on loopback within so many seconds? Asked again and again, as long as `alive()`.

    It answers when a connection is accepted and stands: a socket that is bound and does not listen yet refuses it, and
    a relay with nobody behind it hangs up. No request is made: what a server speaks is not known, and one that compiles
    when it is first asked is ready before it has a reply. Raises UsageError for what is no port.
    """
    check_port(port)
    deadline = time.monotonic() + seconds
    pause = POLL_FIRST
    while alive():
        if any(_answers(family, host, port, deadline) for family, host in LOOPBACKS):
            return True
        left = deadline - time.monotonic()
        if not left > 0:
            return False
        time.sleep(min(pause, left))
        pause = min(pause * 1.5, POLL_MOST)
    return False


def check_port(port: int) -> int:
    """The port itself. Raises UsageError for what is none."""
    if isinstance(port, bool) or not isinstance(port, int):
        raise UsageError(f"a port is a whole number from {FIRST} to {LAST}, not a {type(port).__name__}")
    if not FIRST <= port <= LAST:
        # The digits of a number may be endless.
        shown = f", not {port}" if abs(port) < 10**9 else ""
        raise UsageError(f"a port is a whole number from {FIRST} to {LAST}{shown}")
    return port


def _state(port: int) -> str:
    """Whether a server could have the port: "free", "taken" or "forbidden"."""
    forbidden = False
    for family, host in PLACES:
        code = _bind(family, host, port)
        if code == 0 or code in NO_SUCH_PLACE:
            continue
        if code not in FORBIDDEN:
            return "taken"
        forbidden = True
    return "forbidden" if forbidden else "free"


def _bind(family: int, host: str, port: int) -> int:
    """The errno of binding for a moment, 0 if that works."""
    try:
        with closing(socket.socket(family, socket.SOCK_STREAM)) as probe:
            if os.name == "nt":
                # Not tested here: there SO_REUSEADDR would take a port away from who has it.
                probe.setsockopt(socket.SOL_SOCKET, getattr(socket, "SO_EXCLUSIVEADDRUSE", -5), 1)
            else:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                probe.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            probe.bind((host, port))
    except OSError as error:
        return error.errno or errno.EIO
    return 0


def _is_listened_on(port: int) -> bool:
    """Does somebody listen, as far as that is to be seen without the right to bind?"""
    import psutil

    try:
        return any(_is_on(each, port) for each in psutil.net_connections(kind="tcp"))
    except psutil.Error:
        deadline = time.monotonic() + CONNECT_SECONDS
        return any(_answers(family, host, port, deadline) for family, host in LOOPBACKS)


def _is_on(connection: "psutil._ntuples.sconn | psutil._ntuples.pconn", port: int) -> bool:
    """Does it listen on the port? A client's connection has a local port too."""
    import psutil

    return connection.status == psutil.CONN_LISTEN and getattr(connection.laddr, "port", None) == port


def _listener(port: int) -> "psutil.Process | None":
    """The eldest process that listens; its workers, who inherited the socket, are its children."""
    import psutil

    for pid in _listeners(port):
        with suppress(psutil.Error):
            process = psutil.Process(pid)
            # Since the list was made the number may have gone to another process.
            if not _listens(process, port):
                continue
            while (parent := process.parent()) is not None and parent.pid > 1 and _listens(parent, port):
                process = parent
            return process
    return None


def _listeners(port: int) -> Iterator[int]:
    import psutil

    try:
        connections = psutil.net_connections(kind="tcp")
    except psutil.Error:
        # macOS shows the connections of all only to root; one's own processes can be asked one by one.
        for process in psutil.process_iter():
            if _listens(process, port):
                yield process.pid
        return
    yield from sorted({each.pid for each in connections if each.pid is not None and _is_on(each, port)})


def _listens(process: "psutil.Process", port: int) -> bool:
    import psutil

    try:
        return any(_is_on(each, port) for each in process.net_connections(kind="tcp"))
    except (psutil.Error, OSError):
        return False


def _never_killed() -> set[int]:
    """The processes that are never ended: the first, ourselves, and all that we run under."""
    import psutil

    return {0, 1, os.getpid(), *(parent.pid for parent in psutil.Process().parents())}


def _is_gone(process: "psutil.Process") -> bool:
    """Has it ended? One whose parent has not asked for its end yet, a zombie, has."""
    import psutil

    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def _until(holds: Callable[[], bool], deadline: float) -> bool:
    """Asks until it holds; at least once."""
    pause = POLL_FIRST
    while not holds():
        if time.monotonic() >= deadline:
            return False
        time.sleep(pause)
        pause = min(pause * 1.5, POLL_MOST)
    return True


def _answers(family: int, host: str, port: int, deadline: float) -> bool:
    try:
        with closing(socket.socket(family, socket.SOCK_STREAM)) as caller:
            caller.settimeout(max(0.01, min(CONNECT_SECONDS, deadline - time.monotonic())))
            caller.bind((host, 0))
            # A port of the range that callers get theirs from (ip(7), ip_local_port_range): a socket that calls
            # itself is answered, by itself (RFC 9293, simultaneous open).
            if caller.getsockname()[1] == port:
                return False
            caller.connect((host, port))
            caller.settimeout(HANG_UP_SECONDS)
            try:
                return bool(caller.recv(1))
            except TimeoutError:
                return True
    except OSError:
        return False
