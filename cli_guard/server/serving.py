"""The server: accepts clients, forks a child for each run, forwards signals and ends, and exits in time."""

import array
import os
import select
import signal
import socket
import time
from collections.abc import Callable, Mapping
from contextlib import suppress

from cli_guard.server import child
from cli_guard.server.client import (
    ENDED,
    HANG_UP,
    INTERRUPT,
    KILLED,
    READY,
    REFUSED,
    TERMINATE,
)
from cli_guard.server.leaving import Stay, give_back_memory, peak_bytes
from cli_guard.server.request import LONGEST, ServerCaller, ServerRequest, length_of, parse
from cli_guard.server.spare import Spares
from cli_guard.server.trust import ClientTrust

READ_BYTES = 1_048_576
BACKLOG = 128
# The most runs at once: more would only take turns, so the others wait.
RUNS = max(8, 4 * (os.cpu_count() or 1))
CALLERS = 512
# A client sends its request at once, so one that is silent for longer is dropped.
SILENCE_SECONDS = 5.0
# The time that a child has to end after a signal.
END_SECONDS = 2.0
SIGNALS = {INTERRUPT: signal.SIGINT, TERMINATE: signal.SIGTERM, HANG_UP: signal.SIGHUP}
# How many spares a server keeps that nobody has asked for this long. The last one holds 35 MB of its own.
RESTS = ((300.0, 0), (30.0, 1))
# A preparation begins this long after it was asked for: the next change of the index may follow at once, and
# `git commit` itself writes the index just before its first hook.
SETTLE_SECONDS = 0.2
# The exit code of a child that could not take its client's place: the client does the run itself.
NOT_DONE = 75


class Server:
    """Accepts clients until it is time to exit; `allows` checks the environment of each run.

    `lock` is the descriptor of the lock that keeps other servers from starting; it is closed at the exit.
    """

    def __init__(
        self,
        listener: socket.socket,
        lock: int,
        identity: str,
        stay: Stay,
        allows: Callable[[Mapping[str, str]], bool],
        run: child.Run,
    ) -> None:
        self._listener = listener
        self._lock = lock
        self._identity = identity
        self._stay = stay
        self._allows = allows
        self._run = run
        self._trusts = ClientTrust()
        self._callers: dict[int, ServerCaller] = {}
        self._poll = select.poll()
        self._begun = time.time()
        self._runs = 0
        self._leaving = ""
        self._woken, self._waker = os.pipe()
        self._spares = Spares(self._forget, run)

    def serve(self) -> str:
        """Serve until it is time to exit, and return the reason."""
        for each in (self._woken, self._waker):
            os.set_blocking(each, False)
        signal.set_wakeup_fd(self._waker, warn_on_full_buffer=False)
        for number in (signal.SIGCHLD, signal.SIGTERM):
            signal.signal(number, lambda *_: None)
        for number in (signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        self._listener.setblocking(False)
        self._poll.register(self._listener, select.POLLIN)
        self._poll.register(self._woken, select.POLLIN)
        while not self._leaving or self._callers:
            for descriptor, _ in self._poll.poll(self._pause() * 1_000):
                if descriptor == self._woken:
                    self._handle_signals(os.read(self._woken, 512))
                elif descriptor == self._listener.fileno():
                    self._accept()
                elif descriptor in self._callers:
                    self._receive(self._callers[descriptor])
                elif self._spares.handle(descriptor):
                    self._poll.unregister(descriptor)
            self._end_late()
            if not self._leaving and self._stay.pause == 0:
                self._leave(self._stay.reason_to_leave())
            if any(
                self._stay.idle > seconds and self._spares.rest(kept)
                for seconds, kept in RESTS
            ):
                give_back_memory()
            self._fork_the_next()
            self._hold_ready()
        return self._leaving

    def _pause(self) -> float:
        """Return the seconds until there is something to do without a message."""
        if self._callers:
            waiting = filter(None, map(seconds_to_wait, self._callers.values()))
            return min((END_SECONDS, *waiting))
        spares = self._spares.pause
        return self._stay.pause if spares is None else min(self._stay.pause, spares)

    def _hold_ready(self) -> None:
        """Fork a spare child while no client waits."""
        if self._spares.pause == 0 and not self._callers and not self._leaving:
            listener = self._spares.fork()
            if listener is not None:
                self._poll.register(listener, select.POLLIN)

    def _leave(self, reason: str) -> None:
        """Stop accepting; finish the current runs."""
        if not reason or self._leaving:
            return
        self._leaving = reason
        self._poll.unregister(self._listener)
        self._listener.close()
        self._stay.remove_socket()
        os.close(self._lock)

    def _accept(self) -> None:
        try:
            connection, _ = self._listener.accept()
        except OSError:
            return
        if len(self._callers) >= CALLERS or not self._trusts(connection):
            connection.close()
            return
        connection.setblocking(False)
        # While the client still puts its request together: it takes a millisecond.
        is_outdated = self._stay.outdated()
        self._callers[connection.fileno()] = ServerCaller(connection, is_outdated)
        self._poll.register(connection, select.POLLIN)

    def _receive(self, caller: ServerCaller) -> None:
        """Read from a client: its request, then its streams, then an interrupt or its end."""
        try:
            if caller.request is not None and not caller.handed and not caller.child:
                data = self._take_streams(caller)
            else:
                data = caller.connection.recv(READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._drop(caller)
        elif caller.child:
            for word, number in SIGNALS.items():
                if word in data:
                    end(caller.child, number)
        elif caller.request is None:
            caller.received += data
            length = length_of(caller.received)
            if length is not None and (length > LONGEST or len(caller.received) >= length):
                self._answer(caller, bytes(caller.received) if length <= LONGEST else b"")

    def _take_streams(self, caller: ServerCaller) -> bytes:
        size = array.array("i").itemsize
        space = socket.CMSG_SPACE(4 * size)
        data, ancillary, _, _ = caller.connection.recvmsg(
            1, space, getattr(socket, "MSG_CMSG_CLOEXEC", 0)
        )
        for level, kind, raw in ancillary:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                numbers = array.array("i")
                numbers.frombytes(raw[: len(raw) - len(raw) % size])
                caller.handed += numbers
        if (
            data
            and caller.request
            and len(caller.handed) != 1 + sum(map(bool, caller.request.forms))
        ):
            return b""
        return data

    def _answer(self, caller: ServerCaller, received: bytes) -> None:
        """Answer a request: ask for its streams, or refuse it."""
        try:
            request = parse(received)
        except ValueError:
            self._drop(caller)
            return
        if request.kind == "status":
            with suppress(OSError):
                caller.connection.send(self._status())
            self._drop(caller)
        elif request.kind == "stop":
            self._drop(caller)
            self._leave("stopped")
        elif (
            self._leaving
            or request.identity != self._identity
            or not self._allows(request.variables)
        ):
            self._refuse(caller)
        elif caller.is_outdated:
            self._leave("files")
            self._refuse(caller)
        elif self._end_preparations(request) and request.prepares:
            # The review itself has begun.
            caller.say(ENDED)
            self._drop(caller)
        else:
            caller.request = request
            caller.say(READY)

    def _end_preparations(self, request: ServerRequest) -> bool:
        """End those in the folder of a new run, which are outdated now; return whether another run is there."""
        others = False
        for each in [each for each in self._callers.values() if not each.gone]:
            if each.request and each.request.folder == request.folder:
                others |= not each.request.prepares
                if each.request.prepares:
                    if not each.child:
                        each.say(ENDED)
                    self._drop(each)
        return others

    def _status(self) -> bytes:
        return f"{os.getpid()} {self._begun:.0f} {self._runs} {peak_bytes()}\n".encode(
            "ascii"
        )

    def _refuse(self, caller: ServerCaller) -> None:
        caller.say(REFUSED)
        self._drop(caller)

    def _drop(self, caller: ServerCaller) -> None:
        """Drop a client, and end its child."""
        if caller.gone:
            return
        caller.gone = True
        caller.let_go()
        self._poll.unregister(caller.connection)
        self._spares.busy()
        if caller.child:
            end(caller.child, signal.SIGTERM)
            caller.since = time.monotonic()
        else:
            del self._callers[caller.connection.fileno()]
            caller.connection.close()

    def _fork_the_next(self) -> None:
        """Fork children for the longest waiting clients, at most `RUNS` at once."""
        waiting = [each for each in self._callers.values() if each.waits]
        for caller in [each for each in waiting if seconds_to_wait(each) == 0]:
            if sum(bool(each.child) for each in self._callers.values()) >= RUNS:
                return
            self._fork(caller)

    def _fork(self, caller: ServerCaller) -> None:
        streams = [caller.connection.fileno(), *caller.handed]
        caller.child = self._spares.take(bytes(caller.received), streams)
        try:
            caller.child = caller.child or os.fork()
        except OSError:
            self._refuse(caller)
            return
        if caller.child == 0:
            self._become(caller)
        # Both do it, so that it is done before either needs it.
        with suppress(OSError):
            os.setpgid(caller.child, caller.child)
        caller.let_go()
        self._spares.busy()
        self._runs += 1
        self._stay.note_request()

    def _become(self, caller: ServerCaller) -> None:
        """Turn a child into the run; never return."""
        code = NOT_DONE
        try:
            child.reset_signals()
            del self._callers[caller.connection.fileno()]
            self._forget()
            self._spares.close()
            assert caller.request  # noqa: S101 - it waits with one
            child.answer(caller.request, caller.handed, caller.connection, self._run)
            code = 0
        finally:
            os._exit(code)

    def _forget(self) -> None:
        """Close in a child what belongs to the server and to other clients."""
        if not self._leaving:
            self._listener.close()
            os.close(self._lock)
        for other in self._callers.values():
            other.connection.close()
            other.let_go()
        for each in (self._woken, self._waker):
            os.close(each)
        self._stay.forget()

    def _handle_signals(self, numbers: bytes) -> None:
        if signal.SIGTERM in numbers:
            self._leave("stopped")
        with suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    return
                self._spares.remove(pid)
                for caller in [
                    each for each in self._callers.values() if each.child == pid
                ]:
                    self._finish(caller, status)

    def _finish(self, caller: ServerCaller, status: int) -> None:
        """Report a child that a signal has ended, and drop its client."""
        if os.WIFSIGNALED(status):
            caller.say(KILLED, os.WTERMSIG(status))
        caller.child = 0
        if caller.gone:
            del self._callers[caller.connection.fileno()]
            caller.connection.close()
        else:
            self._drop(caller)

    def _end_late(self) -> None:
        """Drop silent clients, and kill children that do not end."""
        now = time.monotonic()
        for caller in list(self._callers.values()):
            if caller.gone and now - caller.since > END_SECONDS:
                end(caller.child, signal.SIGKILL)
            elif (
                not caller.child
                and not caller.handed
                and now - caller.since > SILENCE_SECONDS
            ):
                self._drop(caller)


def seconds_to_wait(caller: ServerCaller) -> float:
    """Return the seconds until the run of a client may begin: of a preparation some, of any other none."""
    if not (caller.waits and caller.request and caller.request.prepares):
        return 0.0
    return max(0.0, caller.since + SETTLE_SECONDS - time.monotonic())


def end(pid: int, number: int) -> None:
    """Signal a child and its process group."""
    with suppress(OSError):
        os.killpg(pid, number)
