"""Turn a fork of the server into the process that a client would have been, and do its run."""

import io
import locale
import os
import resource
import signal
import socket
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import TextIO

from cli_guard.errors import ExitCode
from cli_guard.hooks import MESSAGE, find_hook
from cli_guard.server.client import BEGUN, ENDED, take_ticket
from cli_guard.server.request import Form, ServerRequest

# Does a run in this process: takes its arguments, returns its exit code. Passed in by the server's entry point.
Run = Callable[[list[str]], int]
STANDARD = ("stdin", "stdout", "stderr")


def answer(
    request: ServerRequest, handed: list[int], connection: socket.socket, run: Run
) -> None:
    """Do a run and send its exit code; return early if it cannot be done as the client would have done it.

    `handed` are the ticket and then the streams that are not closed. Raises OSError, ValueError, both before it begins.
    """
    surround(request)
    ticket, *streams = handed
    opened = iter(streams)
    for number, form in enumerate(request.forms):
        open_stream(number, form, next(opened) if form else None)
    for each in streams:
        os.close(each)
    sys.argv = [os.fsdecode(each) for each in (request.program, *request.arguments)]
    if not take_ticket(ticket):
        return
    os.close(ticket)
    connection.sendall(BEGUN + b"\0")
    code = exit_code(run)
    hook = find_hook(sys.argv[1:])
    if code == 0 and hook and hook.request == MESSAGE:
        from cli_guard.server.control import ask_model_later

        # Before the client knows: when it is gone, the server ends what is left of this child's process group.
        with suppress(OSError):
            ask_model_later()
    # Who reads our output waits for its end, and at the exit of a process the kernel gives back its memory first: 6 ms.
    for number in range(len(STANDARD)):
        with suppress(OSError):
            os.close(number)
    with suppress(OSError):
        connection.sendall(ENDED + bytes([code & 0xFF]))


def surround(request: ServerRequest) -> None:
    """Adopt a client's environment. Raises OSError, ValueError."""
    # A group of its own, as a process of a shell has: what it starts is interrupted and ended with it.
    os.setpgid(0, 0)
    for number, soft, hard in request.limits:
        if resource.getrlimit(number) != (soft, hard):
            resource.setrlimit(number, (soft, hard))
    os.umask(request.mask)
    os.chdir(request.folder)
    if os.getcwdb() != request.folder:  # noqa: PTH109 - a folder's name is bytes
        raise ValueError("the folder is another one")
    os.environ.clear()
    os.environb.update(request.environment)
    time.tzset()
    # Looked up once, from the environment.
    tempfile.tempdir = None
    # As at the start of Python: where a locale is not there, the old one stays.
    with suppress(locale.Error):
        locale.setlocale(locale.LC_CTYPE, "")
    sys.executable = os.fsdecode(request.interpreter)
    sys.dont_write_bytecode = request.writes_no_bytecode


def open_stream(number: int, form: Form | None, source: int | None) -> None:
    """Set up a standard stream as Python does at its start (`create_stdio`)."""
    stream: TextIO | None = None
    if form is None or source is None:
        os.close(number)
    else:
        os.dup2(source, number)
        raw = io.FileIO(number, "r" if number == 0 else "w", closefd=False)
        buffer = io.BufferedReader(raw) if number == 0 else io.BufferedWriter(raw)
        stream = io.TextIOWrapper(
            buffer,
            form.encoding,
            form.errors,
            newline="\n",
            line_buffering=form.line_buffering,
            write_through=form.write_through,
        )
    for name in (STANDARD[number], f"__{STANDARD[number]}__"):
        setattr(sys, name, stream)


def exit_code(run: Run) -> int:
    """Do the run and return its exit code; an uncaught error is printed, as Python would."""
    try:
        return run(sys.argv[1:])
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        traceback.print_exc()
        return ExitCode.INTERNAL


def reset_signals() -> None:
    """Handle signals as a newly started Python does."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
