"""Starts a command as the leader of a new session."""

import ctypes
import fcntl
import os
import resource
import signal
import struct
import subprocess
import termios
from contextlib import suppress

from cli_guard.execution.processes.supervisor.process_tree import LINUX
from cli_guard.execution.processes.supervisor.wire import Message

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
# Fewer turns for much output; all pipes of a user may have 16,384 pages together (pipe(7)), which others need too.
PIPE_BYTES = 262_144
SIGNALS = signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}
LIMITS = {
    "cpu_seconds": resource.RLIMIT_CPU,
    "memory_bytes": resource.RLIMIT_AS,
    "file_bytes": resource.RLIMIT_FSIZE,
}


class NotStarted(Exception):
    """The step of a start that failed, and its errno."""

    def __init__(self, step: str, number: int) -> None:
        super().__init__(step, number)
        self.step = step
        self.errno = number


class Launched:
    """A running command and our ends of its streams; a terminal is output and input at once."""

    def __init__(self, stdout: int, stderr: int | None, stdin: int | None) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self.stdout = stdout
        self.stderr = stderr
        self.stdin = stdin


def prctl(option: int, value: int) -> None:
    """Set an attribute of this process (Linux only)."""
    if LINUX:
        with suppress(OSError, AttributeError):
            LIBC.prctl(option, value, 0, 0, 0)


LIBC = ctypes.CDLL(None, use_errno=True)


def launch(request: Message) -> Launched:
    """Start the command of a request. Raises NotStarted.

    Our standard input is handed to it and closed here, so that its writer learns when the command stops reading.
    """
    terminal = request["terminal"]
    if terminal:
        master, slave = os.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", *terminal, 0, 0))
        ours = Launched(master, None, master)
        theirs = (slave, slave, slave)
    else:
        ours, theirs = open_pipes(answered=request["respond"] is not None)
    try:
        ours.process = start_process(request, theirs)
    except NotStarted:
        for each in {ours.stdout, ours.stderr, ours.stdin} - {None}:
            os.close(each)  # type: ignore[arg-type]
        raise
    finally:
        for fd in set(theirs):
            os.close(fd)
    return ours


def start_process(
    request: Message, streams: tuple[int, int, int]
) -> "subprocess.Popen[bytes]":
    """Start a command on its ends of the streams. Raises NotStarted."""
    monitor = os.getpid()

    def become() -> None:
        """Prepare the forked process, which leads a session by now."""
        if request["terminal"]:
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != monitor:
            os._exit(1)
        for each in SIGNALS:
            signal.signal(each, signal.SIG_DFL)
        for name, value in request["limits"].items():
            if value is not None:
                resource.setrlimit(LIMITS[name], (value, value))

    try:
        return subprocess.Popen(
            request["words"],
            stdin=streams[0],
            stdout=streams[1],
            stderr=streams[2],
            cwd=request["folder"],
            env=request["env"],
            start_new_session=True,
            preexec_fn=become,
        )
    except subprocess.SubprocessError as error:
        raise NotStarted("limit", 0) from error
    except ValueError as error:
        raise NotStarted("environment", 0) from error
    except OSError as error:
        step = "folder" if error.filename == request["folder"] else "program"
        if error.filename is None:
            step = "start"
        raise NotStarted(step, error.errno or 0) from error


def open_pipes(*, answered: bool) -> tuple[Launched, tuple[int, int, int]]:
    """Open our ends and the command's ends of its streams, without a terminal."""
    out, its_out = os.pipe()
    err, its_err = os.pipe()
    for fd in (out, err):
        # The user's limit of pipe pages is no reason to fail.
        with suppress(OSError, AttributeError):
            fcntl.fcntl(fd, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
    answers: int | None = None
    its_in = 0
    if answered:
        its_in, answers = os.pipe()
    return Launched(out, err, answers), (its_in, its_out, its_err)
