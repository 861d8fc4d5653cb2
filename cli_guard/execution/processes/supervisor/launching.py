"""Starts a command as the leader of a new session."""

import ctypes
import errno
import fcntl
import os
import resource
import signal
import struct
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
        self.pid = 0
        self.stdout = stdout
        self.stderr = stderr
        self.stdin = stdin


def prctl(option: int, value: int) -> None:
    """Set an attribute of this process (Linux only)."""
    if LINUX:
        with suppress(OSError, AttributeError):
            LIBC.prctl(option, value, 0, 0, 0)


LIBC = ctypes.CDLL(None, use_errno=True)


def launch(request: Message, stdin: int | None) -> Launched:
    """Start the command of a request. Raises NotStarted, OSError.

    `stdin` is handed to the command and closed here, so that its writer learns when the command stops reading.
    """
    terminal = request["terminal"]
    if terminal:
        master, slave = os.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", *terminal, 0, 0))
        ours = Launched(master, None, master)
        theirs = (slave, slave, slave)
    else:
        ours, theirs = open_pipes(stdin, answered=request["respond"] is not None)
    try:
        ours.pid = (
            spawn_command(request, theirs)
            if is_plain(request)
            else fork_command(request, theirs)
        )
    except (NotStarted, OSError):
        for each in {ours.stdout, ours.stderr, ours.stdin} - {None}:
            os.close(each)  # type: ignore[arg-type]
        raise
    finally:
        for fd in set(theirs):
            os.close(fd)
    return ours


def is_plain(request: Message) -> bool:
    """Check whether posix_spawn(3) can start it, which shares our memory until the command runs.

    That takes a third of the time of fork(2), but knows no limits, no terminal and no parent-death signal. A command
    that may outlive the supervisor is forked.
    """
    limited = any(value is not None for value in request["limits"].values())
    return LINUX and not (limited or request["terminal"] or request["record"])


def spawn_command(request: Message, streams: tuple[int, int, int]) -> int:
    """Start a command without forking. Raises NotStarted."""
    step = "folder"
    try:
        os.chdir(as_bytes(request["folder"]))
        step = "program"
        words, env = words_of(request)
        return os.posix_spawn(
            program(words[0], env),
            words,
            env,
            file_actions=[
                (os.POSIX_SPAWN_DUP2, fd, number) for number, fd in enumerate(streams)
            ],
            setsid=True,
            setsigmask=(),
            setsigdef=SIGNALS,
        )
    except OSError as error:
        raise NotStarted(step, error.errno or 0) from error
    except ValueError as error:
        raise NotStarted("environment", 0) from error
    finally:
        os.chdir("/")


def fork_command(request: Message, streams: tuple[int, int, int]) -> int:
    """Start a command by fork(2). Raises NotStarted, OSError."""
    problems, report = os.pipe()
    monitor = os.getpid()
    pid = os.fork()
    if pid == 0:
        become(request, streams, report, monitor)
    os.close(report)
    problem = b"".join(iter(lambda: os.read(problems, 256), b""))
    os.close(problems)
    if problem:
        os.waitpid(pid, 0)
        step, _, number = problem.decode("ascii").partition(" ")
        raise NotStarted(step, int(number))
    return pid


def open_pipes(
    stdin: int | None, *, answered: bool
) -> tuple[Launched, tuple[int, int, int]]:
    """Open our ends and the command's ends of its streams, without a terminal."""
    out, its_out = os.pipe()
    err, its_err = os.pipe()
    for fd in (out, err):
        # The user's limit of pipe pages is no reason to fail.
        with suppress(OSError, AttributeError):
            fcntl.fcntl(fd, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
    answers: int | None = None
    if answered:
        its_in, answers = os.pipe()
    else:
        its_in = stdin if stdin is not None else os.open(os.devnull, os.O_RDONLY)
    return Launched(out, err, answers), (its_in, its_out, its_err)


def become(
    request: Message, streams: tuple[int, int, int], report: int, monitor: int
) -> None:
    """Turn a forked process into the command; never return."""
    step = "start"
    try:
        os.setsid()
        for number, fd in enumerate(streams):
            os.dup2(fd, number)
        if request["terminal"]:
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != monitor:
            os._exit(1)
        for each in SIGNALS:
            signal.signal(each, signal.SIG_DFL)
        step = "limit"
        for name, value in request["limits"].items():
            if value is not None:
                resource.setrlimit(LIMITS[name], (value, value))
        step = "folder"
        os.chdir(as_bytes(request["folder"]))
        step = "program"
        words, env = words_of(request)
        os.execve(program(words[0], env), words, env)  # noqa: S606 - what is run here is what was decided on
    except OSError as error:
        os.write(report, f"{step} {error.errno}".encode("ascii"))
    except ValueError:
        os.write(report, b"environment 0")
    except BaseException:
        os.write(report, f"{step} 0".encode("ascii"))
    finally:
        os._exit(127)


def words_of(request: Message) -> tuple[list[bytes], dict[bytes, bytes]]:
    words = [as_bytes(word) for word in request["words"]]
    return words, {
        as_bytes(name): as_bytes(value) for name, value in request["env"].items()
    }


def program(name: bytes, env: dict[bytes, bytes]) -> bytes:
    """Find a program by the rules of execvp(3) and the PATH of its own environment. Raises OSError."""
    if b"/" in name:
        return name
    problem = errno.ENOENT
    for folder in env.get(b"PATH", os.defpath.encode("ascii")).split(b":"):
        path = os.path.join(folder or b".", name)  # noqa: PTH118
        if os.access(path, os.X_OK) and not os.path.isdir(path):  # noqa: PTH112
            return path
        if os.path.exists(path):  # noqa: PTH110
            problem = errno.EACCES
    raise OSError(problem, os.strerror(problem))


def as_bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
