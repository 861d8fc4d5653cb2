"""Opens runs: starts the supervisor of this process once, and hands it commands; one socket for each."""

import os
import select
import socket
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path

from cli_guard.errors import CliGuardError
from cli_guard.execution.processes.preparing import Prepared
from cli_guard.execution.processes.supervisor.streams import LOG_BYTES
from cli_guard.execution.processes.supervisor.wire import (
    JSON,
    STREAMS,
    Frames,
    Message,
    message,
    parse_frame,
)


@dataclass(frozen=True, slots=True)
class Request:
    """One command, with all that was decided about it; `record` is what `ps` shows of it, None to keep no record.

    `timeout` and `grace` are seconds: until the command is ended, and from the first signal to the last. `keep` lets
    it outlive its owner, `keep_family` lets its process tree outlive it.
    """

    prepared: Prepared
    run: str
    timeout: float | None = None
    grace: float = 5.0
    respond: str | None = None
    stdin: int | None = None
    forward: bool = False
    keep: bool = False
    keep_family: bool = False
    record: dict[str, object] | None = None
    log_bytes: int = LOG_BYTES

    def as_message(self) -> Message:
        own = {
            each: getattr(self, each)
            for each in self.__dataclass_fields__
            if each not in ("prepared", "stdin")
        }
        command = {
            each: getattr(self.prepared, each)
            for each in ("words", "folder", "env", "terminal")
        }
        return {
            **own,
            **command,
            "limits": asdict(self.prepared.limits),
            "log": f"{self.run}/log",
        }


LEAVE_SECONDS = 10.0
FORKS = hasattr(os, "fork") and hasattr(socket, "AF_UNIX")
START = (
    "import sys; sys.path += sys.argv[4:]; from cli_guard.execution.processes.supervisor.serving import main;"
    " main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])"
)
Event = tuple[str, Message | bytes]


def event_of(framed: tuple[bytes, bytes]) -> Event:
    kind, content = framed
    if kind != JSON:
        return STREAMS[kind], content
    data = parse_frame(content)
    return data.pop("event"), data


class Run:
    """The owner's end of one command."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._frames = Frames()

    def events(
        self, until: float | None = None, also: int | None = None
    ) -> Iterator[Event | None]:
        """Yield what happens, in order: (`stdout` or `stderr`, bytes), or the name of an event and its data.

        Yield None each time that `until` (of time.monotonic) has passed or the descriptor `also` can be read. End when
        the monitor is gone.
        """
        while True:
            # A caller that stopped iterating has left some.
            yield from map(event_of, self._frames.feed(b""))
            if not self._wait(until, also):
                yield None
                continue
            try:
                data = self._connection.recv(262_144)
            except OSError:
                data = b""
            if not data:
                return
            yield from map(event_of, self._frames.feed(data))

    def _wait(self, until: float | None, also: int | None) -> bool:
        """Wait for input; True if the monitor has sent something."""
        pause = None if until is None else max(0.0, until - time.monotonic())
        # select(2) knows no descriptor above 1023, and an owner may have many.
        waiting = select.poll()
        for descriptor in (self._connection.fileno(), also):
            if descriptor is not None:
                waiting.register(descriptor, select.POLLIN)
        ready = waiting.poll(None if pause is None else pause * 1_000)
        return self._connection.fileno() in dict(ready)

    def send(self, **request: object) -> None:
        """Send a request (`do`) to the monitor, if it still runs."""
        with suppress(OSError):
            self._connection.sendall(message(request))

    def close(self) -> None:
        """Close the connection, which ends a command that is bound to its owner."""
        self._connection.close()


class Launcher:
    """Hands commands to the supervisor, started with the first one. `folder` is removed with it, unless it is ""."""

    def __init__(self, folder: str = "") -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._closed = False
        self._runs: weakref.WeakSet[Run] = weakref.WeakSet()
        self._supervisor: subprocess.Popen[bytes] | None = None
        self._requests: socket.socket | None = None
        self._lifeline: socket.socket | None = None

    def open(self, request: Request) -> Run:
        """Hand a command over. Raises CliGuardError if no process can be started at all."""
        if not FORKS:
            raise CliGuardError(
                "commands can be run on POSIX systems only: fork(2) and Unix sockets are needed"
            )
        ours, theirs = socket.socketpair()
        try:
            data = message(request.as_message())
            # Sent before the monitor has the socket, so that it wakes once.
            sent = ours.send(data, socket.MSG_DONTWAIT)
            with theirs:
                self._hand_over(theirs, request.stdin)
            if sent < len(data):
                ours.sendall(data[sent:])
        except OSError as error:
            ours.close()
            raise CliGuardError(
                f"no process can be started: {error.strerror}; end some processes and try again"
            ) from error
        return self._register(ours)

    def _register(self, connection: socket.socket) -> Run:
        """Return a run that `close` stops, from whichever thread."""
        run = Run(connection)
        with self._lock:
            self._runs.add(run)
            late = self._closed
        if late:
            run.send(do="stop")
        return run

    def _hand_over(self, connection: socket.socket, stdin: int | None) -> None:
        fds = [connection.fileno(), *([stdin] if stdin is not None else [])]
        with self._lock:
            if self._closed:
                raise CliGuardError(
                    "this manager is closed, and its commands have been stopped"
                )
            if self._requests is None or (
                self._supervisor and self._supervisor.poll() is not None
            ):
                self._start()
            assert self._requests  # noqa: S101 - just started
            try:
                socket.send_fds(self._requests, [b"."], fds)
            except OSError:
                # The supervisor was killed just now; try once more.
                self._start()
                socket.send_fds(self._requests, [b"."], fds)

    def _start(self) -> None:
        self._shut()
        requests, their_requests = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        lifeline, their_lifeline = socket.socketpair()
        with their_requests, their_lifeline:
            fds = (their_requests.fileno(), their_lifeline.fileno())
            arguments = (*map(str, fds), self._folder, *import_paths())
            self._supervisor = subprocess.Popen(
                (sys.executable, "-I", "-S", "-X", "utf8", "-c", START, *arguments),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=fds,
                env={},
            )
        self._requests = requests
        self._lifeline = lifeline

    def _shut(self) -> None:
        for each in (self._requests, self._lifeline):
            if each is not None:
                each.close()

    def close(self) -> None:
        """Stop the supervisor, and with it all that is bound to this owner; safe beside a concurrent `open`."""
        with self._lock:
            self._closed = True
            runs = list(self._runs)
            self._shut()
            self._requests = self._lifeline = None
        # A thread that waits for a command keeps its connection open.
        for run in runs:
            run.send(do="stop")
        if self._supervisor is not None:
            with suppress(subprocess.TimeoutExpired):
                self._supervisor.wait(LEAVE_SECONDS)
            self._supervisor = None


def import_paths() -> list[str]:
    """Return where the supervisor finds this package and psutil."""
    beside = find_spec("psutil")
    assert beside and beside.origin  # noqa: S101 - a dependency
    return [str(Path(__file__).parents[3]), str(Path(beside.origin).parents[1])]
