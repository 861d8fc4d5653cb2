"""Opens runs: a monitor for each command, and the socket to it."""

import os
import select
import shutil
import socket
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path

from cli_guard.errors import CliGuardError
from cli_guard.execution.processes.preparing import Prepared
from cli_guard.execution.processes.supervisor.wire import (
    JSON,
    STREAMS,
    Frames,
    Message,
    message,
    parse_frame,
)

# What a request asks for unless it is told.
USUAL: Message = {
    "timeout": None,
    "respond": None,
    "forward": False,
    "keep": False,
    "record": None,
}


def request_of(prepared: Prepared, run: str, *, grace: float, **asked: object) -> Message:
    """Return the request for one command, with all that was decided about it; `asked` is beside what is USUAL.

    `timeout` and `grace` are seconds: until the command is ended, and from the first signal to the last. `record` is
    what `ps` shows of it, None for a command in the foreground, which its process tree may not outlive. With `keep`
    it outlives its owner.
    """
    own = {"run": run, "log": f"{run}/log", "grace": grace}
    return {**asdict(prepared), **own, **USUAL, **asked}


LEAVE_SECONDS = 10.0
READ_BYTES = 4_096
RECEIVED_BYTES = 262_144
ENDS = ("ended", "failed")
PAUSE_SECONDS = 0.005
FORKS = hasattr(os, "fork") and hasattr(socket, "AF_UNIX")
PYTHON = (sys.executable, "-I", "-S", "-X", "utf8")
START = (
    "import sys; sys.path += sys.argv[2:]; from cli_guard.execution.processes.supervisor.monitor import main;"
    " main(int(sys.argv[1]))"
)


class Run:
    """The owner's end of one command; `seen` are its events so far: name -> data.

    The last one is `ended` or `failed`; `is_lost`: no more will come, the monitor is gone.
    """

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._frames = Frames()
        self.seen: dict[str, Message] = {}
        self.is_lost = False

    def wait(
        self,
        names: Collection[str] = ENDS,
        seconds: float | None = None,
        on_output: Callable[[str, bytes], None] | None = None,
        keyboard: int | None = None,
    ) -> bool:
        """Wait for one of these events, or the loss of the monitor; False if so many seconds have passed.

        `on_output` gets the name of a stream and its bytes. What can be read from `keyboard` is typed.
        """
        deadline = None if seconds is None else time.monotonic() + seconds
        while not self.is_lost and self.seen.keys().isdisjoint(names):
            ready = self._poll(deadline, keyboard)
            if not ready:
                return False
            if keyboard in ready:
                # The end of our input is a Ctrl-D of the terminal (termios(3), VEOF).
                typed = os.read(keyboard, READ_BYTES) or b"\x04"
                self.send(do="input", text=typed.decode("latin-1"))
            if self._connection.fileno() in ready:
                self._receive(on_output)
        return True

    def _poll(self, deadline: float | None, keyboard: int | None) -> list[int]:
        """Return the descriptors that can be read, none at the deadline."""
        # select(2) knows no descriptor above 1023, and an owner may have many.
        waiting = select.poll()
        for descriptor in (self._connection.fileno(), keyboard):
            if descriptor is not None:
                waiting.register(descriptor, select.POLLIN)
        pause = None
        if deadline is not None:
            pause = max(0.0, deadline - time.monotonic()) * 1_000
        return [descriptor for descriptor, _ in waiting.poll(pause)]

    def _receive(self, on_output: Callable[[str, bytes], None] | None) -> None:
        try:
            data = self._connection.recv(RECEIVED_BYTES)
        except OSError:
            data = b""
        self.is_lost = not data
        # With what an interrupted call has left.
        for kind, content in self._frames.feed(data):
            if kind == JSON:
                event = parse_frame(content)
                self.seen[event.pop("event")] = event
            elif on_output is not None:
                on_output(STREAMS[kind], content)

    def send(self, **request: object) -> None:
        """Send a request (`do`) to the monitor, if it still runs."""
        with suppress(OSError):
            self._connection.sendall(message(request))

    @property
    def is_gone(self) -> bool:
        """True once the monitor has ended, or the connection was closed."""
        if self._connection.fileno() < 0:
            return True
        # Registered for nothing: poll(2) reports a hang-up in any case.
        ended = select.poll()
        ended.register(self._connection.fileno(), 0)
        return bool(ended.poll(0))

    def close(self) -> None:
        """Close the connection, which ends a command that is bound to its owner."""
        self._connection.close()


class Launcher:
    """Starts the monitors of one owner's commands; `temporary` is its folder, removed with it, "" for none."""

    def __init__(self, temporary: str = "") -> None:
        self._temporary = temporary
        self._lock = threading.Lock()
        self._closed = False
        self._runs: weakref.WeakSet[Run] = weakref.WeakSet()

    def open(self, request: Message, stdin: int | None = None) -> Run:
        """Start a monitor with a command. Raises CliGuardError if no process can be started at all."""
        with self._lock:
            if self._closed:
                raise CliGuardError(
                    "this manager is closed, and its commands have been stopped"
                )
        run = open_run({**request, "temporary": self._temporary}, stdin)
        with self._lock:
            self._runs.add(run)
            late = self._closed
        if late:
            run.send(do="leave")
        return run

    def close(self) -> None:
        """Stop all that is bound to this owner; safe beside a concurrent `open`."""
        with self._lock:
            self._closed = True
            runs = list(self._runs)
        # A thread that waits for a command keeps its connection, and reads how it ended.
        for run in runs:
            run.send(do="leave")
        deadline = time.monotonic() + LEAVE_SECONDS
        while not all(run.is_gone for run in runs) and time.monotonic() < deadline:
            time.sleep(PAUSE_SECONDS)
        if self._temporary:
            shutil.rmtree(self._temporary, ignore_errors=True)


def open_run(request: Message, stdin: int | None) -> Run:
    """Start the monitor of a command, which gets its standard input, and send it the request. Raises CliGuardError."""
    if not FORKS:
        raise CliGuardError(
            "commands can be run on POSIX systems only: fork(2) and Unix sockets are needed"
        )
    ours, theirs = socket.socketpair()
    try:
        with theirs:
            subprocess.run(
                (*PYTHON, "-c", START, str(theirs.fileno()), *import_paths()),
                stdin=subprocess.DEVNULL if stdin is None else stdin,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                env={},
                start_new_session=True,
                check=True,
            )
        ours.sendall(message(request))
    except (OSError, subprocess.CalledProcessError) as error:
        ours.close()
        reason = error.strerror if isinstance(error, OSError) else "its monitor has failed"
        raise CliGuardError(
            f"no process can be started: {reason}; end some processes and try again"
        ) from error
    except BaseException:
        ours.close()
        raise
    return Run(ours)


def import_paths() -> list[str]:
    """Return where the monitor finds this package and psutil."""
    beside = find_spec("psutil")
    assert beside and beside.origin  # noqa: S101 - a dependency
    return [str(Path(__file__).parents[3]), str(Path(beside.origin).parents[1])]
