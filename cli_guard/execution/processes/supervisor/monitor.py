"""Monitors one command: forwards its output, ends its process tree when that is due, and reports how it ended."""

import errno
import json
import os
import select
import signal
import socket
import time
from collections.abc import Mapping
from contextlib import suppress

from cli_guard.execution.processes.supervisor import process_tree
from cli_guard.execution.processes.supervisor.launching import (
    PR_SET_CHILD_SUBREAPER,
    Launched,
    NotStarted,
    launch,
    prctl,
)
from cli_guard.execution.processes.supervisor.process_tree import Ending, Steps
from cli_guard.execution.processes.supervisor.streams import Log, OutputStreams
from cli_guard.execution.processes.supervisor.wire import (
    Frames,
    Message,
    Owner,
    parse_frame,
)
from cli_guard.execution.shell import send_signal

REQUEST_BYTES = 65_536
# All processes of the tree have ended; a stranger that holds the pipe open is not waited for.
DRAIN_SECONDS = 1.0
# What ends together with the command (the rest of a pipe, a sandbox's own process) was not left behind.
SETTLE_SECONDS = 0.02
# For a command whose owner is gone.
ORPHANED: Steps = [(signal.SIGTERM, 0.0), (signal.SIGKILL, 0.5)]
AT_ONCE: Steps = [(signal.SIGKILL, 0.0)]


class Monitor:
    """One command, from its start to the end of its process tree."""

    def __init__(self, request: Message, owner: Owner) -> None:
        self._request = request
        self._owner = owner
        self._log = Log(request["log"])
        self._begun = time.monotonic()
        self._leader = 0
        self._code: int | None = None
        self._leader_ended = 0.0
        self._ending: Ending | None = None
        self._timed_out = False
        self._left_behind = 0

    def watch(self) -> None:
        """Start the command, and return when its process tree has ended, as far as it could be."""
        woken = process_tree.open_wakeup(signal.SIGCHLD, signal.SIGTERM, signal.SIGUSR1)
        try:
            run = launch(self._request)
        except (NotStarted, OSError) as failed:
            step = failed.step if isinstance(failed, NotStarted) else "start"
            self._owner.send_message(
                {"event": "failed", "step": step, "errno": failed.errno or 0}
            )
        else:
            self._follow(run, woken)
        self._owner.flush()
        if self._owner.is_gone and self._request["temporary"]:
            import shutil

            shutil.rmtree(self._request["temporary"], ignore_errors=True)

    def _follow(self, run: Launched, woken: int) -> None:
        """Follow a running command to its end, and report it."""
        assert run.process  # noqa: S101 - it was launched
        self._leader = run.process.pid
        answers = self._request["respond"] or ""
        terminal = bool(self._request["terminal"])
        streams = OutputStreams(run, self._log, answers, terminal=terminal)
        unknown = self._record()
        if unknown and self._request["keep"]:
            # No later process would find it.
            self._ending = Ending(AT_ONCE)
            self._wait_for_tree(streams, woken)
            self._owner.send_message(
                {"event": "failed", "step": "record", "errno": unknown}
            )
        else:
            self._wait_for_tree(streams, woken)
            self._report_end(streams)
        streams.close()

    def _wait_for_tree(self, streams: OutputStreams, woken: int) -> None:
        """Return once the process tree is gone and its output is read."""
        drained_by: float | None = None
        self._handle_messages(streams)
        while True:
            no_children = self._reap()
            if no_children and drained_by is None:
                drained_by = time.monotonic() + DRAIN_SECONDS
            if drained_by and (not streams.output or time.monotonic() > drained_by):
                return
            self._end_if_due(no_children)
            if self._ending and self._ending.step(self._find_living):
                return
            self._read_and_write(streams, woken, self._pause(drained_by))

    def _end_if_due(self, no_children: bool) -> None:
        """End a command that has timed out, and what a foreground command has left behind."""
        timeout = self._request["timeout"]
        grace = self._request["grace"]
        if self._ending or no_children:
            return
        if self._code is not None and not self._request["record"]:
            if time.monotonic() - self._leader_ended < SETTLE_SECONDS:
                return
            self._left_behind = len(self._find_living())
            self._ending = Ending([(signal.SIGTERM, 0.0), (signal.SIGKILL, grace / 2)])
        elif (
            timeout is not None
            and self._code is None
            and time.monotonic() - self._begun >= timeout
        ):
            self._timed_out = True
            self._begin_ending()

    def _pause(self, drained_by: float | None) -> float | None:
        """Return how long the next turn may wait, in seconds; None for no limit."""
        if self._ending:
            return self._ending.pause
        if drained_by:
            return 0.01
        timeout = self._request["timeout"]
        if self._code is not None:
            return None if self._request["record"] else SETTLE_SECONDS
        if timeout is None:
            return None
        return max(0.0, self._begun + float(timeout) - time.monotonic())

    def _read_and_write(
        self, streams: OutputStreams, woken: int, pause: float | None
    ) -> None:
        owner = self._owner.descriptor
        answered = streams.input
        reads = [woken]
        writes = [answered] if answered is not None else []
        nothing = list[int]()
        if not self._owner.lags:
            reads += streams.output
        if owner is not None:
            reads.append(owner)
            writes += [owner] if self._owner.has_unsent else []
        ready, writable, _ = select.select(reads, writes, nothing, pause)
        if woken in ready:
            self._handle_signals(os.read(woken, 512))
        for fd in streams.output:
            if fd in ready:
                output = streams.read(fd)
                if self._request["forward"]:
                    self._owner.queue(output)
        if owner is not None and owner in ready:
            self._handle_messages(streams)
        if owner is not None and owner in writable:
            self._owner.send()
        if answered in writable:
            streams.answer()

    def _handle_messages(self, streams: OutputStreams) -> None:
        """Handle the owner's messages; the end of its socket ends what is bound to it."""
        for request in self._owner.receive():
            if request.get("do") == "stop":
                self._begin_ending()
            elif request.get("do") == "leave":
                self._begin_ending(ORPHANED)
            elif request.get("do") == "report":
                self._owner.send_message({"event": "report", **streams.as_message()})
            elif request.get("do") == "input":
                streams.type(request["text"].encode("latin-1"))
        if (
            self._owner.descriptor is None
            and not self._request["keep"]
            and self._ending is None
        ):
            self._begin_ending(ORPHANED)

    def _handle_signals(self, numbers: bytes) -> None:
        """Handle the signals of a process that found us in the registry."""
        if signal.SIGUSR1 in numbers:
            self._begin_ending(AT_ONCE)
        elif signal.SIGTERM in numbers and self._ending is None:
            self._begin_ending()

    def _begin_ending(self, steps: Steps | None = None) -> None:
        """End the process tree, by default with SIGINT, SIGTERM and SIGKILL, as a person at a terminal would."""
        grace = self._request["grace"]
        usual: Steps = [
            (signal.SIGINT, 0.0),
            (signal.SIGTERM, grace / 2),
            (signal.SIGKILL, grace),
        ]
        self._ending = Ending(steps or usual)

    def _find_living(self) -> list[int]:
        return process_tree.descendants(os.getpid())

    def _reap(self) -> bool:
        """Reap the children that have ended; True if none is left."""
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
        """Write the record of a started command, if asked for; return the errno, 0 for success."""
        if self._request["record"] is None:
            return 0
        own = {
            "pid": self._leader,
            "identity": process_tree.identity(self._leader),
            "monitor": os.getpid(),
            "monitor_identity": process_tree.identity(os.getpid()),
            "started": time.time(),
        }
        problem = write_record(
            f"{self._request['run']}/run.json", {**self._request["record"], **own}
        )
        self._log.problem = self._log.problem or (os.strerror(problem) if problem else None)
        if not (problem and self._request["keep"]):
            self._owner.send_message({"event": "started", "pid": self._leader})
        return problem

    def _report_end(self, streams: OutputStreams) -> None:
        """Record and report how it ended."""
        ended: Message = {
            "return_code": self._code,
            "timed_out": self._timed_out,
            "left_behind": self._left_behind,
            "not_ended": self._find_living() if self._ending else [],
            "duration": time.monotonic() - self._begun,
        }
        self._log.close()
        if self._request["record"] is not None:
            kept = {
                "return_code": self._code,
                "ended": time.time(),
                "is_forced": self._ending is not None and self._ending.is_forced,
            }
            write_record(f"{self._request['run']}/ended.json", kept)
        self._owner.send_message({"event": "ended", **ended, **streams.as_message()})


def main(connection: int) -> None:
    """Monitor the command of the owner at a socket; our standard input is for the command."""
    # Away from the owner's terminal and folder: Ctrl-C there is for the owner.
    os.chdir("/")
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    # What the owner's thread had blocked would be blocked for every command.
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    os.set_inheritable(connection, False)
    # The owner waits for this process alone.
    if os.fork():
        os._exit(0)
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    monitor = os.fork()
    if monitor == 0:
        prctl(PR_SET_CHILD_SUBREAPER, 1)
        serve(socket.socket(fileno=connection))
        return
    os.close(connection)
    os.close(0)
    _, status = os.waitpid(monitor, 0)
    # The process tree of a killed monitor has become ours.
    while os.WIFSIGNALED(status) and (left := process_tree.descendants(os.getpid())):
        send_signal(left, signal.SIGKILL)
        reap_one()


def reap_one() -> None:
    with suppress(ChildProcessError):
        os.wait()


def serve(connection: socket.socket) -> None:
    """Read the request, and monitor its command."""
    frames = Frames()
    with connection:
        for data in iter(lambda: connection.recv(REQUEST_BYTES), b""):
            for _, content in frames.feed(data):
                Monitor(parse_frame(content), Owner(connection, frames)).watch()
                return


def write_record(path: str, data: Mapping[str, object]) -> int:
    """Write a file whole or not at all; return the errno, 0 for success."""
    try:
        with open(f"{path}.new", "w", encoding="ascii") as file:  # noqa: PTH123 - pathlib is slow to load
            json.dump(data, file)
        os.replace(f"{path}.new", path)  # noqa: PTH105
    except OSError as error:
        with suppress(OSError):
            os.unlink(f"{path}.new")  # noqa: PTH108
        return error.errno or errno.EIO
    return 0
