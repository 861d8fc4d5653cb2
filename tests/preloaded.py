"""A Python that has `cli-guard` loaded: each run is done by a fork of it, and so does not load the libraries again.

Git, the script of a hook, streams, folder, variables and exit code are real; only the interpreter is this one. To load
takes about a second of the processor, a fork that writes to its memory for the first time 25 ms to 70 ms, a hook 40.
So a fork that has done a hook or a command of ours waits for the next. What is about a start, a signal or a terminal
needs the real program (`repositories.GUARD`).
"""

import fcntl
import os
import posix
import runpy
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import termios
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

# What a chat, a server of tools and a framework of hooks need besides.
LIBRARIES = (
    "cli_guard.mcp.server.serving",
    "langchain.chat_models",
    "langchain_openai",
    "mcp_server_git.server",
    "pre_commit.main",
    "prompt_toolkit",
    "rich.live",
    "rich.markdown",
)
# A variable of who sits at a terminal (`terminals.Seat`): the program leads the session of it, as the client would.
ALONE = b"PRELOADED_AT_TERMINAL"
# What a hook may handle: to end as after Ctrl-C, to end in time, to hear of its children.
HANDLED = signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}
SERVER = b"CLI_GUARD_SERVER"
# The socket of who does the runs of one terminal: see `lead`.
SOCKET = b"PRELOADED_SOCKET"
# What a client runs, by its name; `python` says it itself.
PROGRAMS = {
    "cli-guard": "from cli_guard.__main__ import run; run()",
    "terminal": "import __main__; __main__.lead()",
}
# Hands over its words, folder, variables, group and streams, and exits as the fork does.
CLIENT = """#!{python} -IS
import _signal, _socket, marshal, os, sys

path = {path!r}
if "{socket}" in os.environ:
    path = os.environ["{socket}"]
    # Ctrl-C reaches the fork as well, which says with what it ends.
    _signal.signal(_signal.SIGINT, _signal.SIG_IGN)
door = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
door.connect(path)
mask = os.umask(0)
os.umask(mask)
words = sys.argv
program = {programs!r}.get(os.path.basename(words[0]))
if program:
    words = [words[0], "-P", "-c", program, *words[1:]]
said = marshal.dumps((words, os.getcwd(), dict(os.environb), mask, os.getpgrp()))
streams = b"".join(number.to_bytes(4, sys.byteorder) for number in (0, 1, 2))
door.sendmsg([len(said).to_bytes(8, "big")], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)])
while said:
    said = said[door.send(said):]
code = door.recv(1)
if not code:
    print("the preloaded Python died", file=sys.stderr)
os._exit(code[0] if code else 70)
"""


def start_python(base: Path, owner: int) -> None:
    """Run one as long as the process `owner`, and write down its folder: see `folder_of`."""
    base.mkdir()
    # Not below `base`: the path of a socket must be short.
    folder = Path(tempfile.mkdtemp(prefix="cg-python-"))
    path = folder / "socket"
    process = subprocess.Popen(
        (sys.executable, __file__, str(path), str(owner)),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    process.stdout.close()
    text = CLIENT.format(
        python=sys.executable, path=str(path), socket=SOCKET.decode(), programs=PROGRAMS
    )
    for name in ("python", *PROGRAMS):
        client = folder / name
        client.write_text(text)
        client.chmod(0o755)
    (base / "folder").write_text(str(folder))


def folder_of(base: Path) -> Path:
    """A folder with what stands in for `python [OPTION...] -c|-m WHAT ...` and for `cli-guard`, and `terminal`.

    `terminal PROGRAM...` runs a program at a terminal (`terminals.Seat`), where the hooks that it starts are forks too.
    """
    return Path((base / "folder").read_text())


def use_preloaded(hook: Path, folder: Path) -> None:
    """Have the script of an installed hook call the Python of a folder, but where a server must do each run."""
    if os.environ.get(SERVER.decode()) == "require":
        return
    text = hook.read_text()
    before = [line for line in text.splitlines() if line.startswith("python=")]
    assert len(before) == 1, text
    hook.write_text(text.replace(before[0], f'python="{folder / "python"}"'))


def load() -> None:
    """Load what a hook needs, by reviewing a little."""
    for name in LIBRARIES:
        import_module(name)
    from cli_guard.server.warming import warm

    warm()


def open_door(path: str) -> socket.socket:
    door = socket.socket(socket.AF_UNIX)
    door.bind(path)
    door.listen(64)
    return door


def lead() -> None:
    """Run a program in the session that this process leads, and its hooks in forks that belong to the session too."""
    folder = tempfile.mkdtemp(prefix="cg-seat-")
    path = os.environ[SOCKET.decode()] = f"{folder}/socket"
    # Caught and not ignored, so that the program does with it what it always does.
    signal.signal(signal.SIGINT, lambda *_: None)
    door = open_door(path)
    own = os.getpid()
    if not (helper := os.fork()):
        serve(door, own)
        os._exit(0)
    door.close()
    words = sys.argv[1:]
    status = os.waitpid(os.posix_spawnp(words[0], words, os.environ), 0)[1]
    os.kill(helper, signal.SIGKILL)
    shutil.rmtree(folder)
    raise SystemExit(abs(os.waitstatus_to_exitcode(status)))


def serve(door: socket.socket, owner: int) -> None:
    """Hand each connection to a fork that waits for one, or to a new one, until the owner has ended."""
    with door:
        # The forks by the line to each: a byte says that it waits, the end of the line that it has ended.
        running: dict[socket.socket, int] = {}
        waiting: list[socket.socket] = []
        while True:
            ready = select.select([door, *running], [], [], 1.0)[0]
            for line in ready:
                if line is door:
                    continue
                if line.recv(1):
                    waiting.append(line)
                else:
                    forget(line, running, waiting)
            if door in ready:
                connection, _ = door.accept()
                head, streams, _, _ = socket.recv_fds(connection, 8, 3)
                given = (connection.fileno(), *streams)
                if not (waiting and hand_over(waiting.pop(), head, given)):
                    ours, theirs = socket.socketpair()
                    if not (pid := os.fork()):
                        for each in (door, ours, *running):
                            each.close()
                        work(theirs, head, given)
                    theirs.close()
                    running[ours] = pid
                connection.close()
                for descriptor in streams:
                    os.close(descriptor)
            elif not ready and not is_running(owner):
                break
        for pid in running.values():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def forget(
    line: socket.socket, running: dict[socket.socket, int], waiting: list[socket.socket]
) -> None:
    """Bury a fork that has ended, or that has left its line to what goes on without it."""
    if line in waiting:
        waiting.remove(line)
    line.close()
    os.waitpid(running.pop(line), 0)


def hand_over(line: socket.socket, head: bytes, given: Sequence[int]) -> bool:
    """Give a connection and its streams to a fork; return whether it is still there."""
    try:
        socket.send_fds(line, [head], given)
    except OSError:
        return False
    return True


def work(line: socket.socket, head: bytes, given: Sequence[int]) -> NoReturn:
    """Do a run, and others as long as each leaves this process as it was; end."""
    path, interpreter = list(sys.path), sys.executable
    handlers = {number: signal.getsignal(number) for number in HANDLED}
    while head:
        connection = socket.socket(fileno=given[0])
        answer(connection, int.from_bytes(head, "big"), given[1:], line)
        sys.path[:] = path
        sys.executable = interpreter
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in handlers.items():
            if handler is not None:
                signal.signal(number, handler)
        head, given, _, _ = socket.recv_fds(line, 8, 4)
    os._exit(0)


def is_running(pid: int) -> bool:
    with suppress(ProcessLookupError):
        os.kill(pid, 0)
        return True
    return False


def answer(
    connection: socket.socket, length: int, streams: Sequence[int], line: socket.socket
) -> None:
    """Be the process that was asked for, to its end; return only if the next run can be done here."""
    import marshal

    said = b""
    while len(said) < length:
        said += connection.recv(length - len(said))
    words, folder, variables, mask, group = marshal.loads(said)
    for number, descriptor in enumerate(streams):
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.chdir(folder)
    os.umask(mask)
    is_leader = variables.pop(ALONE, None) is not None
    if is_leader:
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    if SOCKET in variables:
        # Of the same session: it is in the foreground where its client is.
        os.setpgid(0, group)
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if variables.get(SERVER) == b"1":
        # All that a warm server would save is loaded here.
        variables[SERVER] = b"0"
    os.environ.clear()
    os.environb.update(variables)
    # What a client of the server reads, which does not load `os`.
    posix.environ.clear()
    posix.environ.update(variables)
    time.tzset()
    tempfile.tempdir = None
    for number, (name, way) in enumerate(
        (("stdin", "r"), ("stdout", "w"), ("stderr", "w"))
    ):
        errors = "backslashreplace" if name == "stderr" else "surrogateescape"
        stream = open(number, way, encoding="utf-8", errors=errors, closefd=False)  # noqa: SIM115
        setattr(sys, name, stream)
    run = find_program(words, variables)
    # Who leads a session cannot lead another; who watches over processes goes on to do so.
    again = is_own(words) and not is_leader and sys.argv[1:2] != ["exec"]
    niceness = os.nice(0)
    descriptors = os.listdir("/dev/fd")
    leave, own = os._exit, os.getpid()

    def end(code: int) -> Any:
        if os.getpid() == own:  # not a worker that the program forks
            # A thread that reads the input would have it never closed.
            if again and threading.active_count() == 1:
                raise Ended(code)
            say(connection, code)
        leave(code)

    # The client of the server knows the second name alone.
    os._exit = posix._exit = end  # type: ignore[assignment]
    code = 1
    try:
        run()
        code = 0
    except Ended as ended:
        code = ended.code
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        traceback.print_exc()
        again = False
    os._exit = posix._exit = leave
    for stream in (sys.stdout, sys.stderr, sys.stdin):
        # What a reader that has gone did not take must not reach the next one.
        with suppress(OSError, ValueError):
            stream.close()
    # What reviews ahead has made itself slower, for good.
    again = again and os.nice(0) == niceness
    again = again and threading.active_count() == 1 and not has_children()
    again = again and os.listdir("/dev/fd") == descriptors
    if again:
        with open(os.devnull, "r+b", buffering=0) as nothing:
            for number in (0, 1, 2):
                os.dup2(nothing.fileno(), number)
        os.chdir("/")
        line.send(b"w")
    say(connection, code)
    if not again:
        leave(code)


class Ended(BaseException):
    """In place of the end of a process that does another run."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


def say(connection: socket.socket, code: int) -> None:
    # Who started it may have ended, as with a server that goes on.
    with suppress(BrokenPipeError), connection:
        connection.sendall(bytes([code & 0xFF]))


def is_own(words: list[str]) -> bool:
    """Whether this is `cli-guard` or a hook, ours or pre-commit's, which leave a process as it was."""
    from cli_guard.hooks import find_hook

    if "-mpre_commit" in words:
        return sys.argv[1] == "hook-impl"
    # An installed hook names the folder of the package first.
    return PROGRAMS["cli-guard"] in words or (
        words[-len(sys.argv) - 1] == "-c" and any(find_hook(sys.argv[at:]) for at in (1, 2))
    )


def has_children() -> bool:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            continue
    except ChildProcessError:
        return False
    return True


def find_program(words: list[str], variables: dict[bytes, bytes]) -> Callable[[], object]:
    """Find what a command line of Python runs, and prepare the path of modules and `sys.argv` for it."""
    at = next(at for at, word in enumerate(words) if word[:2] in ("-c", "-m"))
    options = words[1:at]
    kind = words[at][:2]
    # `-m NAME` or `-mNAME`.
    attached = [words[at][2:]] if words[at][2:] else []
    what, *rest = [*attached, *words[at + 1 :]]
    here = (
        []
        if "-P" in options or variables.get(b"PYTHONSAFEPATH")
        else [os.getcwd() if kind == "-m" else ""]
    )
    more = "" if "-E" in options else os.fsdecode(variables.get(b"PYTHONPATH", b""))
    sys.path[:1] = [*here, *filter(None, more.split(os.pathsep))]
    sys.argv = [kind, *rest]
    if kind == "-c":
        return lambda: exec(what, {"__name__": "__main__"})
    # What it starts with its own interpreter is a fork as well.
    sys.executable = words[0]
    return lambda: runpy.run_module(what, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    import gc

    # Of what is loaded nothing is garbage: `warm` looks once, at the end.
    gc.disable()
    load()
    place = Path(sys.argv[1])
    door = open_door(str(place))
    gc.freeze()
    os.write(1, b"ready\n")
    os.dup2(2, 1)
    serve(door, int(sys.argv[2]))
    shutil.rmtree(place.parent, ignore_errors=True)
