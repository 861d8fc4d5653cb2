"""Watches over one command: passes its output on, ends its family when that is due, and says how it ended."""

import os
import select
import signal
import socket
import time
from collections.abc import Callable
from contextlib import suppress

from cli_guard.execution.processes.supervisor import family
from cli_guard.execution.processes.supervisor.ending import Ending, Steps
from cli_guard.execution.processes.supervisor.launching import Launched, NotStarted, launch
from cli_guard.execution.processes.supervisor.monitor_socket import Owner
from cli_guard.execution.processes.supervisor.output import Log
from cli_guard.execution.processes.supervisor.records import record_end, record_start
from cli_guard.execution.processes.supervisor.streams import Streams
from cli_guard.execution.processes.supervisor.wire import Frames, Message, parse_frame

REQUEST_BYTES = 65_536
# Nobody is left who could write; what a stranger holds open is not waited for.
DRAIN_SECONDS = 1.0
# Whoever ends together with the command (the rest of a pipe, a sandbox's own process) was not left behind.
SETTLE_SECONDS = 0.02
# Whoever is bound to an owner that is gone.
ORPHANED: Steps = [(signal.SIGTERM, 0.0), (signal.SIGKILL, 0.5)]
AT_ONCE: Steps = [(signal.SIGKILL, 0.0)]
# What the keeper is told: a command is bound to the owner, or outlives it; or there is none any more.
BOUND, FREE, IDLE = b"b", b"f", b"i"
# A guardian that was needed for commands at the same time is not needed for long.
IDLE_SECONDS = 5.0


class Guardian:
    """One command, from its start to the end of its family."""

    def __init__(self, request: Message, owner: Owner) -> None:
        self._request = request
        self._owner = owner
        self._log = Log(request["log"], request["log_bytes"])
        self._begun = time.monotonic()
        self._leader = 0
        self._code: int | None = None
        self._leader_ended = 0.0
        self._ending: Ending | None = None
        self._timed_out = False
        self._left_behind = 0

    def watch(self, stdin: int | None) -> bool:
        """Starts the command, and stays until nothing of it is left; False where something could not be ended."""
        woken, waker = os.pipe()
        for fd in (woken, waker):
            os.set_blocking(fd, False)
        signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
        for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGUSR1):
            signal.signal(number, lambda *_: None)
        try:
            run = launch(self._request, stdin)
        except (NotStarted, OSError) as failed:
            step = failed.step if isinstance(failed, NotStarted) else "start"
            self._owner.say({"event": "failed", "step": step, "errno": failed.errno or 0})
        else:
            self._attend(run, woken)
        self._owner.farewell()
        signal.set_wakeup_fd(-1)
        for fd in (woken, waker):
            os.close(fd)
        return self._reap()

    def _attend(self, run: Launched, woken: int) -> None:
        """Stays with a command that runs, and says how it ended."""
        self._leader = run.pid
        answers, terminal = self._request["respond"] or "", bool(self._request["terminal"])
        streams = Streams(run, self._log, answers, terminal=terminal)
        unknown = self._record()
        if unknown and self._request["keep"]:
            # Nobody would ever find it again.
            self._ending = Ending(AT_ONCE)
            self._stay(streams, woken)
            self._owner.say({"event": "failed", "step": "record", "errno": unknown})
        else:
            self._stay(streams, woken)
            self._end(streams)
        streams.close()

    def _stay(self, streams: Streams, woken: int) -> None:
        """Until the family is gone and its output is read."""
        drained_by: float | None = None
        self._hear(streams)
        while True:
            alone = self._reap()
            if alone and drained_by is None:
                drained_by = time.monotonic() + DRAIN_SECONDS
            if drained_by and (not streams.output or time.monotonic() > drained_by):
                return
            self._end_what_is_due(alone)
            if self._ending and self._ending.step(self._living):
                return
            self._turn(streams, woken, self._pause(drained_by))

    def _end_what_is_due(self, alone: bool) -> None:
        """The command that runs too long; and those whom one in the foreground has left behind."""
        timeout, grace = self._request["timeout"], self._request["grace"]
        if self._ending or alone:
            return
        if self._code is not None and not self._request["keep_family"]:
            if time.monotonic() - self._leader_ended < SETTLE_SECONDS:
                return
            self._left_behind = len(self._living())
            self._ending = Ending([(signal.SIGTERM, 0.0), (signal.SIGKILL, grace / 2)])
        elif timeout is not None and self._code is None and time.monotonic() - self._begun >= timeout:
            self._timed_out = True
            self._begin_ending()

    def _pause(self, drained_by: float | None) -> float | None:
        """How long the next turn may wait, in seconds."""
        if self._ending:
            return self._ending.pause
        if drained_by:
            return 0.01
        timeout = self._request["timeout"]
        if self._code is not None:
            return None if self._request["keep_family"] else SETTLE_SECONDS
        if timeout is None:
            return None
        return max(0.0, self._begun + float(timeout) - time.monotonic())

    def _turn(self, streams: Streams, woken: int, pause: float | None) -> None:
        """One round of reading and writing."""
        owner, answered = self._owner.descriptor, streams.input
        reads, writes, nothing = [woken], [answered] if answered is not None else [], list[int]()
        if not self._owner.lags:
            reads += streams.output
        if owner is not None:
            reads.append(owner)
            writes += [owner] if self._owner.waits_for_us else []
        ready, writable, _ = select.select(reads, writes, nothing, pause)
        if woken in ready:
            self._signalled(os.read(woken, 512))
        for fd in streams.output:
            if fd in ready:
                output = streams.read(fd)
                if self._request["forward"]:
                    self._owner.pass_on(output)
        if owner is not None and owner in ready:
            self._hear(streams)
        if owner is not None and owner in writable:
            self._owner.send()
        if answered in writable:
            streams.answer()

    def _hear(self, streams: Streams) -> None:
        """What the owner asks for; its silence for ever is the end of what is bound to it."""
        for asked in self._owner.hear():
            if asked.get("do") == "stop":
                self._begin_ending(AT_ONCE if asked.get("force") else None)
            elif asked.get("do") == "report":
                self._owner.say({"event": "report", **streams.as_message()})
            elif asked.get("do") == "input":
                streams.type(asked["text"].encode("latin-1"))
        if self._owner.descriptor is None and not self._request["keep"] and self._ending is None:
            self._begin_ending(ORPHANED)

    def _signalled(self, numbers: bytes) -> None:
        """What somebody asks for who knows us from our record."""
        if signal.SIGUSR1 in numbers:
            self._begin_ending(AT_ONCE)
        elif signal.SIGTERM in numbers and self._ending is None:
            self._begin_ending()

    def _begin_ending(self, steps: Steps | None = None) -> None:
        """Ends the family: by default as a person at a terminal would, each step a while after the one before."""
        grace = self._request["grace"]
        usual: Steps = [(signal.SIGINT, 0.0), (signal.SIGTERM, grace / 2), (signal.SIGKILL, grace)]
        self._ending = Ending(steps or usual)

    def _living(self) -> list[int]:
        return family.descendants(os.getpid())

    def _reap(self) -> bool:
        """Takes in the children that have ended; is nobody left?"""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return True
            if pid == 0:
                return False
            if pid == self._leader:
                self._code = os.waitstatus_to_exitcode(status)
                self._leader_ended = time.monotonic()

    def _record(self) -> int:
        """Writes down what runs; the errno, 0 if it is done or not wanted."""
        if self._request["record"] is None:
            return 0
        self._log.open()
        problem = record_start(self._request["run"], self._request["record"], self._leader)
        self._log.problem = self._log.problem or (os.strerror(problem) if problem else None)
        if not (problem and self._request["keep"]):
            self._owner.say({"event": "started", "pid": self._leader})
        return problem

    def _end(self, streams: Streams) -> None:
        """Writes down and says how it ended."""
        ended: Message = {
            "return_code": self._code,
            "timed_out": self._timed_out,
            "left_behind": self._left_behind,
            "not_ended": self._living() if self._ending else [],
            "duration": time.monotonic() - self._begun,
        }
        self._log.close()
        if self._request["record"] is not None:
            record_end(self._request["run"], ended)
        self._owner.say({"event": "ended", **ended, **streams.as_message()})


def attend(door: socket.socket, lifeline: int, tell: Callable[[bytes], object]) -> None:
    """Watches over one command after the other; `tell` is told what the guardian is bound by.

    Whoever has watched over a recorded one is known by it, and takes no other.
    """
    patience = None
    while True:
        got = receive(door, lifeline, patience)
        if got is None or not serve(*got, tell):
            return
        tell(IDLE)
        patience = IDLE_SECONDS


def receive(
    door: socket.socket, lifeline: int, patience: float | None
) -> tuple[socket.socket, int | None] | None:
    """The next command's socket and its input; None where the owner of the door is gone, or nothing comes."""
    nothing: list[int] = []
    while True:
        ready, _, _ = select.select([door.fileno(), lifeline], nothing, nothing, patience)
        if door.fileno() in ready:
            with suppress(BlockingIOError):
                _, fds, _, _ = socket.recv_fds(door, 16, 2)
                for fd in fds:
                    # They come as they are (unix(7)); the command would hold them, and with them the owner's ear.
                    os.set_inheritable(fd, False)
                if fds:
                    return socket.socket(fileno=fds[0]), fds[1] if len(fds) > 1 else None
        else:
            return None


def serve(connection: socket.socket, stdin: int | None, tell: Callable[[bytes], object]) -> bool:
    """Reads the request for one command and watches over it; may one more be watched over?"""
    frames = Frames()
    with connection:
        for data in iter(lambda: connection.recv(REQUEST_BYTES), b""):
            for _, content in frames.feed(data):
                request = parse_frame(content)
                tell(FREE if request["keep"] else BOUND)
                return Guardian(request, Owner(connection, frames)).watch(stdin) and request["record"] is None
    return False
