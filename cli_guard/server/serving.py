"""The server: hears clients, forks a child for each run, passes on what happens to either, and leaves in time."""

import array
import os
import select
import signal
import socket
import time
from collections.abc import Callable, Mapping
from contextlib import suppress

from cli_guard.server import child
from cli_guard.server.client import HANG_UP, INTERRUPT, KILLED, READY, REFUSED, TERMINATE
from cli_guard.server.leaving import Stay, peak_bytes
from cli_guard.server.request import LONGEST, Caller, length_of, parse
from cli_guard.server.spare import Spares
from cli_guard.server.trust import Trust

READ_BYTES = 1_048_576
BACKLOG = 128
# More at once would only take turns; the others wait until one has ended.
RUNS = max(8, 4 * (os.cpu_count() or 1))
CALLERS = 512
# A client says what it wants at once.
SILENCE_SECONDS = 5.0
# A child that does not end when it is told to is given no more time than this.
END_SECONDS = 2.0
SIGNALS = {INTERRUPT: signal.SIGINT, TERMINATE: signal.SIGTERM, HANG_UP: signal.SIGHUP}
# A child that could not become what its client is; the client does the run itself.
NOT_DONE = 75


class Server:
    """Hears clients at a socket until it is time to leave. `allows` is asked about the environment of each run.

    `lock` is a descriptor that keeps others from taking our place; it is closed when somebody may.
    """

    def __init__(
        self,
        door: socket.socket,
        lock: int,
        identity: str,
        stay: Stay,
        allows: Callable[[Mapping[str, str]], bool],
        run: child.Run,
    ) -> None:
        self._door = door
        self._lock = lock
        self._identity = identity
        self._stay = stay
        self._allows = allows
        self._run = run
        self._trusts = Trust()
        self._callers: dict[int, Caller] = {}
        self._poll = select.poll()
        self._begun = time.time()
        self._runs = 0
        self._leaving = ""
        self._woken, self._waker = os.pipe()
        self._spares = Spares(self._forget, run)

    def serve(self) -> str:
        """Stays until it is time to leave, and says why it left."""
        for each in (self._woken, self._waker):
            os.set_blocking(each, False)
        signal.set_wakeup_fd(self._waker, warn_on_full_buffer=False)
        for number in (signal.SIGCHLD, signal.SIGTERM):
            signal.signal(number, lambda *_: None)
        for number in (signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        self._door.setblocking(False)
        self._poll.register(self._door, select.POLLIN)
        self._poll.register(self._woken, select.POLLIN)
        while not self._leaving or self._callers:
            for descriptor, _ in self._poll.poll(self._pause() * 1_000):
                if descriptor == self._woken:
                    self._signalled(os.read(self._woken, 512))
                elif descriptor == self._door.fileno():
                    self._accept()
                elif descriptor in self._callers:
                    self._hear(self._callers[descriptor])
                elif self._spares.heard(descriptor):
                    self._poll.unregister(descriptor)
            self._end_the_late()
            if not self._leaving and self._stay.pause == 0:
                self._leave(self._stay.reason_to_leave())
            self._fork_the_next()
            self._hold_ready()
        return self._leaving

    def _pause(self) -> float:
        """Seconds until there is something to do though nobody says anything."""
        if self._callers:
            return END_SECONDS
        spares = self._spares.pause
        return self._stay.pause if spares is None else min(self._stay.pause, spares)

    def _hold_ready(self) -> None:
        """Forks the next child while nobody waits for anything."""
        if self._spares.pause == 0 and not self._callers and not self._leaving:
            door = self._spares.fork()
            if door is not None:
                self._poll.register(door, select.POLLIN)

    def _leave(self, reason: str) -> None:
        """Hears nobody new; what runs already is seen to its end."""
        if not reason or self._leaving:
            return
        self._leaving = reason
        self._poll.unregister(self._door)
        self._door.close()
        self._stay.remove_socket()
        os.close(self._lock)

    def _accept(self) -> None:
        try:
            connection, _ = self._door.accept()
        except OSError:
            return
        if len(self._callers) >= CALLERS or not self._trusts(connection):
            connection.close()
            return
        connection.setblocking(False)
        self._callers[connection.fileno()] = Caller(connection)
        self._poll.register(connection, select.POLLIN)

    def _hear(self, caller: Caller) -> None:
        """Takes in what a client says: its request, then its streams, then that it was interrupted or is gone."""
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
            self._gone(caller)
        elif caller.child:
            for word, number in SIGNALS.items():
                if word in data:
                    end(caller.child, number)
        elif caller.request is None:
            caller.received += data
            length = length_of(caller.received)
            if length is not None and (length > LONGEST or len(caller.received) >= length):
                self._asked(caller, bytes(caller.received) if length <= LONGEST else b"")

    def _take_streams(self, caller: Caller) -> bytes:
        size = array.array("i").itemsize
        space = socket.CMSG_SPACE(4 * size)
        data, told, _, _ = caller.connection.recvmsg(1, space, getattr(socket, "MSG_CMSG_CLOEXEC", 0))
        for level, kind, raw in told:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                numbers = array.array("i")
                numbers.frombytes(raw[: len(raw) - len(raw) % size])
                caller.handed += numbers
        if data and caller.request and len(caller.handed) != 1 + sum(map(bool, caller.request.forms)):
            return b""
        return data

    def _asked(self, caller: Caller, received: bytes) -> None:
        """Answers a request: with the wish for its streams, or with a refusal."""
        try:
            request = parse(received)
        except ValueError:
            self._gone(caller)
            return
        if request.kind == "status":
            with suppress(OSError):
                caller.connection.send(self._status())
            self._gone(caller)
        elif request.kind == "stop":
            self._gone(caller)
            self._leave("stopped")
        elif self._leaving or request.identity != self._identity or not self._allows(request.variables):
            self._refuse(caller)
        elif self._stay.outdated():
            self._leave("files")
            self._refuse(caller)
        else:
            caller.request = request
            caller.say(READY)

    def _status(self) -> bytes:
        """One line: process, start (seconds since 1970), runs, bytes of memory."""
        return f"{os.getpid()} {self._begun:.0f} {self._runs} {peak_bytes()}\n".encode("ascii")

    def _refuse(self, caller: Caller) -> None:
        caller.say(REFUSED)
        self._gone(caller)

    def _gone(self, caller: Caller) -> None:
        """A client has left, or we let it go; a child of it is ended."""
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
        """Forks a child for whoever waits longest, as long as there are not too many."""
        for caller in [each for each in self._callers.values() if each.waits]:
            if sum(bool(each.child) for each in self._callers.values()) >= RUNS:
                return
            self._fork(caller)

    def _fork(self, caller: Caller) -> None:
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
        self._stay.asked()

    def _become(self, caller: Caller) -> None:
        """In the child: forgets the server and does the run; never returns."""
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
        """In a child: closes what is the server's, and what others have handed over."""
        if not self._leaving:
            self._door.close()
            os.close(self._lock)
        for other in self._callers.values():
            other.connection.close()
            other.let_go()
        for each in (self._woken, self._waker):
            os.close(each)
        self._stay.forget()

    def _signalled(self, numbers: bytes) -> None:
        if signal.SIGTERM in numbers:
            self._leave("stopped")
        with suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    return
                self._spares.ended(pid)
                for caller in [each for each in self._callers.values() if each.child == pid]:
                    self._ended(caller, status)

    def _ended(self, caller: Caller, status: int) -> None:
        """A child has ended; what it could not say itself is said for it."""
        if os.WIFSIGNALED(status):
            caller.say(KILLED, os.WTERMSIG(status))
        caller.child = 0
        if caller.gone:
            del self._callers[caller.connection.fileno()]
            caller.connection.close()
        else:
            self._gone(caller)

    def _end_the_late(self) -> None:
        """Those who say nothing, and children that were told to end and have not."""
        now = time.monotonic()
        for caller in list(self._callers.values()):
            if caller.gone and now - caller.since > END_SECONDS:
                end(caller.child, signal.SIGKILL)
            elif not caller.child and not caller.handed and now - caller.since > SILENCE_SECONDS:
                self._gone(caller)


def end(pid: int, number: int) -> None:
    """Sends a signal to a child and to what it has started."""
    with suppress(OSError):
        os.killpg(pid, number)
