"""What stands in for the keeper where no process can be forked (Windows): a thread of the owner watches over a command.

It speaks the keeper's frames, so that nobody above sees a difference but these: a command does not outlive its owner,
limits and terminals are refused, and who leaves the process tree is not found again. Ends of an owner that runs no
code any more (TerminateProcess) leave the command running. The thread is tested on every system; what is marked
`Windows` below could not be tested where this was written.
"""

import os
import signal
import socket
import subprocess
import threading
import time
from contextlib import suppress
from typing import IO

from cli_guard.errors import CliGuardError
from cli_guard.execution.processes.request import Request
from cli_guard.execution.processes.supervisor.output import Kept, Log
from cli_guard.execution.processes.supervisor.records import record_end, record_start
from cli_guard.execution.processes.supervisor.wire import (
    STDERR,
    STDOUT,
    Frames,
    Message,
    frame,
    message,
    parsed,
)

READ_BYTES = 65_536
DRAIN_SECONDS = 1.0
WINDOWS = os.name == "nt"


class Watcher:
    """One command, and the threads that read and hear for it."""

    def __init__(self, request: Request, connection: socket.socket) -> None:
        self._request = request
        self._connection = connection
        self._sending = threading.Lock()
        self._log = Log(f"{request.run}/log", request.log_bytes)
        self._kept = {STDOUT: Kept(), STDERR: Kept()}
        self._stopping = threading.Event()

    def watch(self) -> None:
        """Runs the command to its end, and says how it ended."""
        begun = time.monotonic()
        try:
            process = self._started()
        except OSError as error:
            self._say({"event": "failed", "step": "program", "errno": error.errno or 0})
            self._connection.close()
            return
        if self._request.record is not None:
            self._log.open()
            record_start(self._request.run, self._request.record, process.pid)
        self._say({"event": "started", "pid": process.pid})
        streams = ((process.stdout, STDOUT), (process.stderr, STDERR))
        readers = [threading.Thread(target=self._read, args=each, daemon=True) for each in streams]
        for thread in (*readers, threading.Thread(target=self._hear, args=(process,), daemon=True)):
            thread.start()
        self._answer(process)
        timed_out = False
        try:
            process.wait(self._request.timeout)
        except subprocess.TimeoutExpired:
            timed_out = True
            self._end(process)
        process.wait()
        for reader in readers:
            reader.join(DRAIN_SECONDS)
        self._log.close()
        ended: Message = {
            "return_code": process.returncode,
            "timed_out": timed_out,
            "left_behind": 0,
            "not_ended": [],
            "duration": time.monotonic() - begun,
        }
        if self._request.record is not None:
            record_end(self._request.run, ended)
        self._say({"event": "ended", **ended, **self._told()})
        with suppress(OSError):
            self._connection.shutdown(socket.SHUT_WR)

    def _started(self) -> "subprocess.Popen[bytes]":
        # Windows: a group of its own, so that a Ctrl-Break reaches it and not us.
        flags = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
        given = subprocess.PIPE if self._request.respond is not None else subprocess.DEVNULL
        return subprocess.Popen(
            self._request.words,
            cwd=self._request.folder,
            env=self._request.env,
            stdin=given if self._request.stdin is None else self._request.stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            creationflags=flags,
            start_new_session=not WINDOWS,
        )

    def _answer(self, process: "subprocess.Popen[bytes]") -> None:
        answers = process.stdin
        if answers is None:
            return

        def write() -> None:
            with suppress(OSError), answers:
                answers.write((self._request.respond or "").encode("utf-8", "surrogateescape"))

        threading.Thread(target=write, daemon=True).start()

    def _read(self, stream: IO[bytes], kind: bytes) -> None:
        with suppress(OSError, ValueError):
            while data := os.read(stream.fileno(), READ_BYTES):
                with self._sending:
                    self._log.write(data)
                    self._kept[kind].add(data)
                if self._request.forward:
                    self._send(frame(kind, data))

    def _hear(self, process: "subprocess.Popen[bytes]") -> None:
        """What the owner asks for; its end is the end of the command."""
        frames = Frames()
        with suppress(OSError):
            while data := self._connection.recv(READ_BYTES):
                for _, content in frames.feed(data):
                    asked = parsed(content)
                    if asked.get("do") == "report":
                        self._say({"event": "report", **self._told()})
                    elif asked.get("do") == "stop":
                        self._end(process, force=bool(asked.get("force")))
        self._end(process, force=True)

    def _end(self, process: "subprocess.Popen[bytes]", *, force: bool = False) -> None:
        """Asks the command to end, then kills its tree."""
        import psutil

        if process.poll() is not None or (self._stopping.is_set() and not force):
            return
        self._stopping.set()
        with suppress(psutil.Error, OSError):
            leader = psutil.Process(process.pid)
            family = [leader, *leader.children(recursive=True)]
            if not force:
                # Windows: the one signal that a group of its own can be sent.
                process.send_signal(getattr(signal, "CTRL_BREAK_EVENT", signal.SIGINT))
                _, family = psutil.wait_procs(family, self._request.grace)
            for each in family:
                with suppress(psutil.Error):
                    each.kill()

    def _told(self) -> Message:
        return {
            "stdout": self._kept[STDOUT].as_message(),
            "stderr": self._kept[STDERR].as_message(),
            "held": self._log.held,
            "log_problem": self._log.problem,
            "log_rotated": self._log.rotated,
        }

    def _say(self, data: Message) -> None:
        self._send(message(data))

    def _send(self, data: bytes) -> None:
        with self._sending, suppress(OSError):
            self._connection.sendall(data)


def watched(request: Request) -> socket.socket:
    """Starts a command under a thread; the owner's end of its socket. Raises CliGuardError for what it cannot do."""
    wanted = {
        "to outlive its owner": request.keep,
        "a terminal of its own": request.terminal,
        "limits": any(
            value is not None for value in (request.limits.cpu_seconds, request.limits.memory_bytes)
        ),
    }
    missing = [name for name, is_wanted in wanted.items() if is_wanted]
    if missing:
        raise CliGuardError(f"on this system a command cannot be given {' or '.join(missing)}")
    ours, theirs = socket.socketpair()
    threading.Thread(target=Watcher(request, theirs).watch, daemon=True).start()
    return ours
