"""TCP ports of this machine: which are free, who listens, and whether they answer."""

import errno
import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from functools import partial
from typing import TYPE_CHECKING

from cli_guard.errors import CliGuardError, UsageError

if TYPE_CHECKING:
    import psutil

FIRST = 1
LAST = 65535
# The range that seed 004 searches.
SEARCHED = (3000, 9999)
# Each is tested by itself: macOS lets a wildcard and a loopback socket share a port, Linux IPv4 and IPv6.
ADDRESSES = (
    (socket.AF_INET, "0.0.0.0"),  # noqa: S104 - bound to for a moment, never listened on
    (socket.AF_INET, "127.0.0.1"),
    (socket.AF_INET6, "::"),
    (socket.AF_INET6, "::1"),
)
LOOPBACKS = ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1"))
# The address family or the address does not exist here.
NO_SUCH_ADDRESS = frozenset(
    (errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL, errno.EPROTONOSUPPORT, errno.EINVAL)
)
FORBIDDEN = frozenset((errno.EACCES, errno.EPERM))

GRACE_SECONDS = 5.0
KILL_SECONDS = 5.0
POLL_FIRST = 0.01
POLL_MOST = 0.2
CONNECT_SECONDS = 0.5
# A relay (docker's, kubectl's) accepts before its target listens, and hangs up at once.
HANG_UP_SECONDS = 0.05


def is_port_available(port: int) -> bool:
    """Check that no process uses this TCP port: on IPv4 and IPv6, on all addresses and on loopback.

    A connection that is only closing (TIME_WAIT) does not count. For a port that this user may not bind (ip(7),
    EACCES), check that no process listens. Raises UsageError for an invalid port.
    """
    state = _state(check_port(port))
    return not _is_listened_on(port) if state == "forbidden" else state == "free"


def find_available_port(start: int = SEARCHED[0], end: int = SEARCHED[1]) -> int:
    """Return the first port from `start` to `end`, both included, that this user can bind.

    Raises UsageError for an invalid range, CliGuardError if no port in it is free.
    """
    if check_port(start) > check_port(end):
        raise UsageError(
            f"{start} to {end} is not a range of ports: give the lower one first"
        )
    for port in range(start, end + 1):
        if _state(port) == "free":
            return port
    raise CliGuardError(f"no port from {start} to {end} is free: give another range")


def find_process_on_port(port: int) -> int | None:
    """Return the process that listens on this TCP port; the eldest of several that share it.

    None if there is none, or if it is another user's and hidden. Raises UsageError for an invalid port.
    """
    eldest = _listener(check_port(port))
    return None if eldest is None else eldest.pid


def kill_process_on_port(port: int) -> bool:
    """End the process that listens on this TCP port: SIGTERM, after five seconds SIGKILL; True if it is free then.

    False if no process listened, or if it may not be ended: another user's, process 1, this process or its ancestors.
    Raises UsageError for an invalid port.
    """
    import psutil

    ended = False
    deadline = time.monotonic() + GRACE_SECONDS
    last = deadline + KILL_SECONDS
    # The workers of a server may outlive it, or be restarted before it ends.
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


def wait_until_answers(port: int, seconds: float, alive: Callable[[], bool]) -> bool:
    """Poll until this TCP port answers on loopback, as long as `alive()`; False after `seconds`.

    It answers if a connection is accepted and stays open: a relay without a target hangs up. No request is sent: the
    protocol is unknown, and a first request may start a long compilation. Raises UsageError for an invalid port.
    """
    check_port(port)
    deadline = time.monotonic() + seconds
    running = True

    def has_settled() -> bool:
        nonlocal running
        running = alive()
        return not running or any(
            _answers(family, host, port, deadline) for family, host in LOOPBACKS
        )

    return _until(has_settled, deadline) and running


def check_port(port: int) -> int:
    """Return the port itself. Raises UsageError for an invalid one."""
    if isinstance(port, bool) or not isinstance(port, int):
        raise UsageError(
            f"a port is a whole number from {FIRST} to {LAST}, not a {type(port).__name__}"
        )
    if not FIRST <= port <= LAST:
        # A larger number may have any number of digits.
        shown = f", not {port}" if abs(port) < 10**9 else ""
        raise UsageError(f"a port is a whole number from {FIRST} to {LAST}{shown}")
    return port


def _state(port: int) -> str:
    """Return "free", "taken" or "forbidden" (to this user)."""
    forbidden = False
    for family, host in ADDRESSES:
        code = _bind(family, host, port)
        if code == 0 or code in NO_SUCH_ADDRESS:
            continue
        if code not in FORBIDDEN:
            return "taken"
        forbidden = True
    return "forbidden" if forbidden else "free"


def _bind(family: int, host: str, port: int) -> int:
    """Bind for a moment; return the errno, 0 for success."""
    try:
        with closing(socket.socket(family, socket.SOCK_STREAM)) as probe:
            if os.name == "nt":
                # Not tested here: on Windows SO_REUSEADDR would take over a port in use.
                probe.setsockopt(
                    socket.SOL_SOCKET, getattr(socket, "SO_EXCLUSIVEADDRUSE", -5), 1
                )
            else:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                probe.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            probe.bind((host, port))
    except OSError as error:
        return error.errno or errno.EIO
    return 0


def _is_listened_on(port: int) -> bool:
    """Check for a listener without the right to bind."""
    import psutil

    try:
        return any(_is_on(each, port) for each in psutil.net_connections(kind="tcp"))
    except psutil.Error:
        deadline = time.monotonic() + CONNECT_SECONDS
        return any(_answers(family, host, port, deadline) for family, host in LOOPBACKS)


def _is_on(connection: "psutil._ntuples.sconn | psutil._ntuples.pconn", port: int) -> bool:
    """Check that it listens on the port: a client's connection has a local port too."""
    import psutil

    return (
        connection.status == psutil.CONN_LISTEN
        and getattr(connection.laddr, "port", None) == port
    )


def _listener(port: int) -> "psutil.Process | None":
    """Return the eldest listening process; workers that inherited the socket are its children."""
    import psutil

    for pid in _listeners(port):
        with suppress(psutil.Error):
            process = psutil.Process(pid)
            # The number may belong to another process by now.
            if not _listens(process, port):
                continue
            while (
                (parent := process.parent()) is not None
                and parent.pid > 1
                and _listens(parent, port)
            ):
                process = parent
            return process
    return None


def _listeners(port: int) -> Iterator[int]:
    import psutil

    try:
        connections = psutil.net_connections(kind="tcp")
    except psutil.Error:
        # macOS shows all connections only to root; one's own processes can be read one by one.
        for process in psutil.process_iter():
            if _listens(process, port):
                yield process.pid
        return
    yield from sorted(
        {each.pid for each in connections if each.pid is not None and _is_on(each, port)}
    )


def _listens(process: "psutil.Process", port: int) -> bool:
    import psutil

    try:
        return any(_is_on(each, port) for each in process.net_connections(kind="tcp"))
    except (psutil.Error, OSError):
        return False


def _never_killed() -> set[int]:
    import psutil

    return {0, 1, os.getpid(), *(parent.pid for parent in psutil.Process().parents())}


def _is_gone(process: "psutil.Process") -> bool:
    """Check that it has ended; a zombie has."""
    import psutil

    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def _until(holds: Callable[[], bool], deadline: float) -> bool:
    """Poll until it holds; at least once."""
    pause = POLL_FIRST
    while not holds():
        left = deadline - time.monotonic()
        if not left > 0:
            return False
        time.sleep(min(pause, left))
        pause = min(pause * 1.5, POLL_MOST)
    return True


def _answers(family: int, host: str, port: int, deadline: float) -> bool:
    try:
        with closing(socket.socket(family, socket.SOCK_STREAM)) as caller:
            caller.settimeout(max(0.01, min(CONNECT_SECONDS, deadline - time.monotonic())))
            caller.bind((host, 0))
            # In the range of callers' ports (ip(7), ip_local_port_range) a socket may connect to itself (RFC 9293,
            # simultaneous open).
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
