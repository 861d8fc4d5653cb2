"""Opens a run: starts the keeper of this process once, and hands it commands; one socket for each."""

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
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from pathlib import Path

from cli_guard.errors import CliGuardError
from cli_guard.execution.processes.model import Limits
from cli_guard.execution.processes.supervisor.output import LOG_BYTES
from cli_guard.execution.processes.supervisor.wire import JSON, STREAMS, Frames, Message, message, parse_frame


@dataclass(frozen=True, slots=True)
class Request:
    """One command, with all that was decided about it; `record` is what other processes find of it, None for nothing.

    `timeout` and `grace` are seconds: until the command is ended, and from the first signal to the last. `keep` lets
    it outlive its owner, `keep_family` lets those whom it leaves behind go on. `terminal` is rows and columns.
    """

    words: tuple[str, ...]
    folder: str
    env: dict[str, str]
    run: str
    timeout: float | None = None
    grace: float = 5.0
    respond: str | None = None
    stdin: int | None = None
    terminal: tuple[int, int] | None = None
    limits: Limits = field(default_factory=Limits)
    forward: bool = False
    keep: bool = False
    keep_family: bool = False
    record: dict[str, object] | None = None
    log_bytes: int = LOG_BYTES

    def as_message(self) -> Message:
        """What the guardian is told."""
        data = {each: getattr(self, each) for each in self.__dataclass_fields__ if each != "stdin"}
        return {**data, "limits": asdict(self.limits), "log": f"{self.run}/log"}


LEAVE_SECONDS = 10.0
FORKS = hasattr(os, "fork")
START = (
    "import sys; sys.path += sys.argv[4:]; from cli_guard.execution.processes.supervisor.serving import main;"
    " main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])"
)


Event = tuple[str, Message | bytes]


def event_of(framed: tuple[bytes, bytes]) -> Event:
    """A frame as what has happened."""
    kind, content = framed
    if kind != JSON:
        return STREAMS[kind], content
    told = parse_frame(content)
    return told.pop("event"), told


class Run:
    """The owner's end of one command."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._frames = Frames()

    def events(self, until: float | None = None, also: int | None = None) -> Iterator[Event | None]:
        """What happens, in order: (`stdout`, bytes), (`stderr`, bytes), or a name and what is told of it.

        None each time that `until` (of time.monotonic) has passed or the descriptor `also` can be read. It ends where
        the guardian is gone.
        """
        while True:
            # A caller that went away in between has left some.
            yield from map(event_of, self._frames.feed(b""))
            if not self._answers(until, also):
                yield None
                continue
            try:
                data = self._connection.recv(262_144)
            except OSError:
                data = b""
            if not data:
                return
            yield from map(event_of, self._frames.feed(data))

    def _answers(self, until: float | None, also: int | None) -> bool:
        """Waits; is there something to hear?"""
        pause = None if until is None else max(0.0, until - time.monotonic())
        if not hasattr(select, "poll"):
            return bool(select.select([self._connection], (), (), pause)[0])
        # select(2) knows no descriptor above 1023, and an owner may have many.
        waiting = select.poll()
        for descriptor in (self._connection.fileno(), also):
            if descriptor is not None:
                waiting.register(descriptor, select.POLLIN)
        ready = waiting.poll(None if pause is None else pause * 1_000)
        return self._connection.fileno() in dict(ready)

    def tell(self, **asked: object) -> None:
        """Asks the guardian for something (`do`); one that is gone has nothing to do any more."""
        with suppress(OSError):
            self._connection.sendall(message(asked))

    def close(self) -> None:
        """Lets go: what is bound to its owner is ended."""
        self._connection.close()


class Door:
    """The way to the keeper, which is started with the first command. `folder` is removed with it, unless it is ""."""

    def __init__(self, folder: str = "") -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._closed = False
        self._runs: weakref.WeakSet[Run] = weakref.WeakSet()
        self._keeper: subprocess.Popen[bytes] | None = None
        self._door: socket.socket | None = None
        self._lifeline: socket.socket | None = None

    def open(self, request: Request) -> Run:
        """Hands a command over. Raises CliGuardError where no process can be started at all."""
        if not FORKS:
            raise CliGuardError("commands can be run on POSIX systems only: fork(2) is needed")
        ours, theirs = socket.socketpair()
        try:
            asked = message(request.as_message())
            # What the socket takes is there before the guardian looks: it is woken once.
            sent = ours.send(asked, socket.MSG_DONTWAIT)
            with theirs:
                self._hand_over(theirs, request.stdin)
            if sent < len(asked):
                ours.sendall(asked[sent:])
        except OSError as error:
            ours.close()
            raise CliGuardError(
                f"no process can be started: {error.strerror}; end some and try again"
            ) from error
        return self._opened(ours)

    def _opened(self, connection: socket.socket) -> Run:
        """A run that ends with this door, whichever thread waits for it."""
        run = Run(connection)
        with self._lock:
            self._runs.add(run)
            late = self._closed
        if late:
            run.tell(do="stop")
        return run

    def _hand_over(self, connection: socket.socket, stdin: int | None) -> None:
        fds = [connection.fileno(), *([stdin] if stdin is not None else [])]
        with self._lock:
            if self._closed:
                raise CliGuardError("this manager is closed: what it started has been ended")
            if self._door is None or (self._keeper and self._keeper.poll() is not None):
                self._start()
            assert self._door  # noqa: S101 - just started
            try:
                socket.send_fds(self._door, [b"."], fds)
            except OSError:
                # The keeper was killed since it was asked for; one more is started, once.
                self._start()
                socket.send_fds(self._door, [b"."], fds)

    def _start(self) -> None:
        self._shut()
        door, its_door = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        lifeline, its_lifeline = socket.socketpair()
        with its_door, its_lifeline:
            fds = (its_door.fileno(), its_lifeline.fileno())
            arguments = (*map(str, fds), self._folder, *import_paths())
            self._keeper = subprocess.Popen(
                (sys.executable, "-I", "-S", "-X", "utf8", "-c", START, *arguments),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=fds,
                env={},
            )
        self._door, self._lifeline = door, lifeline

    def _shut(self) -> None:
        for each in (self._door, self._lifeline):
            if each is not None:
                each.close()

    def close(self) -> None:
        """Ends the keeper, and with it all that is bound to this owner; another thread may be about to hand over."""
        with self._lock:
            self._closed = True
            runs = list(self._runs)
            self._shut()
            self._door = self._lifeline = None
        # A thread that waits for a command keeps its end of the connection open.
        for run in runs:
            run.tell(do="stop")
        if self._keeper is not None:
            with suppress(subprocess.TimeoutExpired):
                self._keeper.wait(LEAVE_SECONDS)
            self._keeper = None


def import_paths() -> list[str]:
    """Where the keeper finds this package, and what stands in for /proc elsewhere."""
    beside = find_spec("psutil")
    assert beside and beside.origin  # noqa: S101 - a dependency
    return [str(Path(__file__).parents[3]), str(Path(beside.origin).parents[1])]
