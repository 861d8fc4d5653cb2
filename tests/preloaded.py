"""A Python that has `cli-guard` loaded: each run is a fork of it, and so does not load the libraries again.

Git, the script of a hook, streams, folder, variables and exit code are real; only the interpreter is this one. To load
takes about a second of the processor, most of what a hook does takes a tenth. What is about a start, a signal or a
terminal needs the real program (`repositories.GUARD`).
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
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

# What a chat, a server of tools and a framework of hooks need besides.
LIBRARIES = (
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
SERVER = b"CLI_GUARD_SERVER"
# Hands over its words, folder, variables and streams, and exits as the fork does.
CLIENT = """#!{python} -IS
import _socket, marshal, os, sys

door = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
door.connect({path!r})
mask = os.umask(0)
os.umask(mask)
words = sys.argv
if os.path.basename(sys.argv[0]) == "cli-guard":
    words = [sys.argv[0], "-P", "-c", "from cli_guard.__main__ import run; run()", *sys.argv[1:]]
said = marshal.dumps((words, os.getcwd(), dict(os.environb), mask))
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
    for name in ("python", "cli-guard"):
        client = folder / name
        client.write_text(CLIENT.format(python=sys.executable, path=str(path)))
        client.chmod(0o755)
    (base / "folder").write_text(str(folder))


def folder_of(base: Path) -> Path:
    """A folder with what stands in for `python [OPTION...] -c|-m WHAT ...` and for `cli-guard`."""
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


def serve(path: str, owner: int) -> None:
    """Fork for each connection until the owner has ended."""
    import gc

    with socket.socket(socket.AF_UNIX) as door:
        door.bind(path)
        door.listen(64)
        gc.freeze()
        os.write(1, b"ready\n")
        os.dup2(2, 1)
        running: set[int] = set()
        while True:
            if not select.select([door], [], [], 1.0)[0]:
                if is_running(owner):
                    continue
                break
            connection, _ = door.accept()
            head, streams, _, _ = socket.recv_fds(connection, 8, 3)
            if not (pid := os.fork()):
                door.close()
                answer(connection, int.from_bytes(head, "big"), streams)
            running.add(pid)
            for descriptor in streams:
                os.close(descriptor)
            connection.close()
            running -= {each for each in running if os.waitpid(each, os.WNOHANG)[0]}
        for each in running:
            with suppress(ProcessLookupError):
                os.kill(each, signal.SIGKILL)
            os.waitpid(each, 0)
    shutil.rmtree(Path(path).parent, ignore_errors=True)


def is_running(pid: int) -> bool:
    with suppress(ProcessLookupError):
        os.kill(pid, 0)
        return True
    return False


def answer(connection: socket.socket, length: int, streams: list[int]) -> None:
    """Be the process that was asked for, to its end."""
    import marshal

    said = b""
    while len(said) < length:
        said += connection.recv(length - len(said))
    words, folder, variables, mask = marshal.loads(said)
    for number, descriptor in enumerate(streams):
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.chdir(folder)
    os.umask(mask)
    if variables.pop(ALONE, None):
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
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
    leave, own = os._exit, os.getpid()

    def end(code: int) -> Any:
        if os.getpid() == own:  # not a worker that the program forks
            # Who started it may have ended, as with a server that goes on.
            with suppress(BrokenPipeError):
                connection.sendall(bytes([code & 0xFF]))
        leave(code)

    # The client of the server knows the second name alone.
    os._exit = posix._exit = end  # type: ignore[assignment]
    code = 1
    try:
        run()
        code = 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    end(code)


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
    load()
    serve(sys.argv[1], int(sys.argv[2]))
