"""Stands in for systems that lack what Linux has: it is removed, in turn, and `cli-guard` runs through what is left.

`python tests/platforms.py` reads lists of arguments, one list of JSON for all systems, and prints what each of them
answered. The interpreter is that of Linux: the separator of paths and how a process starts stay as they are here.
"""

import ctypes
import io
import json
import os
import select
import signal
import socket
import stat
import subprocess
import sys
import sysconfig
import traceback
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

# What the standard library of Windows has not (the "Availability" notes of its documentation).
POSIX_MODULES = (
    "posix",
    "fcntl",
    "resource",
    "pwd",
    "grp",
    "termios",
    "tty",
    "pty",
    "syslog",
    "curses",
    "readline",
)
POSIX_CALLS = {
    os: "fork forkpty setsid setpgid getpgid killpg getuid geteuid getgid getgroups nice getpriority chown fchown"
    " lchown sched_getaffinity sched_setaffinity mkfifo openpty posix_spawn posix_fallocate pidfd_open statvfs uname"
    " initgroups register_at_fork set_blocking O_NOFOLLOW O_NONBLOCK O_CLOEXEC O_DIRECTORY O_NOCTTY memfd_create"
    " wait4 waitid getresuid ttyname fchmod fchdir tcgetpgrp setuid sysconf",
    signal: "SIGKILL SIGHUP SIGCHLD SIGALRM SIGUSR1 SIGUSR2 SIGPIPE SIGWINCH SIGQUIT SIGSTOP SIGTSTP setitimer alarm"
    " pthread_sigmask pthread_kill sigwait ITIMER_REAL SIG_BLOCK SIG_UNBLOCK pause",
}
LACKS = (
    *"nothing fcntl resource pwd termios fork inotify /proc macOS Windows".split(),
    "unix sockets",
)
# Loaded before anything is gone: what is written otherwise for another system, and is not ours.
FOREIGN = (
    "asyncio click concurrent.futures getpass langchain_core.messages.utils langgraph.checkpoint.sqlite langgraph.graph"
    " multiprocessing platform psutil pydantic selectors shutil sqlite3 subprocess tempfile urllib.request uuid"
)


select_any = select.select


class Refuse(MetaPathFinder):
    """Finds no module of these names, and lets nobody else find it."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names

    def find_spec(
        self, fullname: str, path: Any = None, target: Any = None
    ) -> ModuleSpec | None:
        if fullname in self.names:
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)
        return None


def refuse(*names: str) -> None:
    for name in names:
        sys.modules.pop(name, None)
    sys.meta_path.insert(0, Refuse(names))


def remove(module: Any, names: str) -> None:
    # Windows has these modules in two layers as well: `signal` over `_signal`, `os` over `nt`.
    below = "posix" if module is os else f"_{module.__name__}"
    layers = (module, sys.modules.get(below))
    for layer in layers:
        for name in names.split():
            if layer is not None and hasattr(layer, name):
                delattr(layer, name)


def hide_proc() -> None:
    """Let every call that names a path below /proc find nothing."""

    def deny(event: str, arguments: tuple[Any, ...]) -> None:
        if event in ("open", "os.listdir", "os.scandir") and arguments:
            path = arguments[0]
            text = os.fsdecode(path) if isinstance(path, str | bytes) else ""
            # psutil asks another system in another way.
            asker = (
                sys._getframe(1).f_globals.get("__package__")
                if text.startswith("/proc")
                else ""
            )
            if (text == "/proc" or text.startswith("/proc/")) and asker != "psutil":
                raise FileNotFoundError(2, "No such file or directory", text)

    sys.addaudithook(deny)


def hide_linux_calls() -> None:
    """Let libc have no inotify and no prctl."""

    class Library(ctypes.CDLL):
        def __getattr__(self, name: str) -> Any:
            if name.startswith(("inotify", "prctl", "malloc_trim")):
                raise AttributeError(name)
            return super().__getattr__(name)

    ctypes.CDLL = Library  # type: ignore[misc]


def pair_over_loopback(*_: Any) -> tuple[socket.socket, socket.socket]:
    """Make the pair of TCP sockets that Python makes where the system has no other."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        one = socket.create_connection(listener.getsockname())
        return one, listener.accept()[0]


def remove_unix_sockets() -> None:
    remove(socket, "AF_UNIX SO_PEERCRED SCM_RIGHTS")
    socket.socketpair = pair_over_loopback  # type: ignore[assignment]


def select_sockets(*arguments: Any) -> Any:
    """Wait as Windows does: for sockets alone, not for a pipe or a file."""
    for each in (each for group in arguments[:3] for each in group):
        if not stat.S_ISSOCK(
            os.fstat(each if isinstance(each, int) else each.fileno()).st_mode
        ):
            raise OSError(
                10038, "An operation was attempted on something that is not a socket"
            )
    return select_any(*arguments)


def take_away(what: str) -> None:
    """Remove one of LACKS from this process."""
    if what in ("fcntl", "resource", "pwd", "termios"):
        refuse(what)
    elif what == "fork":
        remove(os, "fork forkpty")
    elif what == "unix sockets":
        remove_unix_sockets()
    elif what == "inotify":
        hide_linux_calls()
    elif what == "/proc":
        hide_proc()
    elif what == "macOS":
        sys.platform = "darwin"
        hide_proc()
        hide_linux_calls()
        remove(os, "sched_getaffinity sched_setaffinity pidfd_open memfd_create getresuid")
        remove(socket, "SO_PEERCRED")
    elif what == "Windows":
        sys.platform = "win32"
        signal.SIGBREAK = 21  # type: ignore[attr-defined]
        hide_proc()
        refuse(*POSIX_MODULES)
        remove_unix_sockets()
        for module, names in POSIX_CALLS.items():
            remove(module, names)
        # TerminateProcess there.
        subprocess.Popen.kill = lambda self: self.send_signal(9)  # type: ignore[method-assign]
        remove(select, "poll epoll devpoll kqueue")
        select.select = select_sockets


def answer_all(what: str, runs: list[list[str]]) -> list[tuple[int, str, str]]:
    """Return the exit code, output and diagnostics of each run in this process, without what is taken away."""
    take_away(what)
    from cli_guard.__main__ import main

    answers = []
    for argv in runs:
        out = io.StringIO()
        err = io.StringIO()
        code = main(argv, io.StringIO(), out, err, Path.cwd(), dict(os.environ))
        answers.append((int(code), out.getvalue(), err.getvalue()))
    return answers


def fork_for(what: str, runs: list[list[str]]) -> list[tuple[int, str, str]]:
    """Do the same in a copy of this process."""
    take, give = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.write(give, json.dumps(answer_all(what, runs)).encode())
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(0)
    os.close(give)
    with open(take, "rb") as pipe:
        said = pipe.read()
    os.waitpid(pid, 0)
    return [tuple(each) for each in json.loads(said)] if said else []  # type: ignore[misc]


if __name__ == "__main__":
    sys.path.pop(0)
    for name in FOREIGN.split():
        import_module(name)
    sysconfig.get_config_vars()
    wanted: list[list[str]] = json.load(sys.stdin)
    print(json.dumps({what: fork_for(what, wanted) for what in LACKS}))
