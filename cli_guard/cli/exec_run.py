"""Run a permitted command in the foreground, or start it in the background; report and record how it ended."""

import contextlib
import errno
import math
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from cli_guard.cli.exec_options import ExecOptions
from cli_guard.cli.io import Io
from cli_guard.cli.prompt import NEEDED
from cli_guard.cli.streams import Streams, one_line, say_json
from cli_guard.errors import CliGuardError, ExitCode
from cli_guard.execution.command import CommandRequest, RunRecord
from cli_guard.execution.context import root_of
from cli_guard.execution.errors import ProcessError
from cli_guard.execution.permission import Permission, PermissionBasis
from cli_guard.execution.processes.manager import ProcessManager
from cli_guard.execution.processes.model import (
    STARTUP_TIMEOUT,
    TIMEOUT,
    ProcessLimits,
    Result,
    Started,
)
from cli_guard.execution.processes.sandbox import Sandbox
from cli_guard.execution.shell import NOT_EXECUTABLE, NOT_FOUND
from cli_guard.execution.verdicts import as_dict, render
from cli_guard.lazy import frozen
from cli_guard.secrets.printable import clip

# As in a shell (POSIX, "Exit Status for Commands") and timeout(1).
TIMED_OUT = 124
SIGNALLED = 128
SHOWN_ERRORS = 5
LINE = 200
IN_SIGHT = 20
# Colours and cursor movements are not shown, and a pager would wait for keys that nobody expects to press.
PLAIN_TERMINAL = {"PAGER": "cat", "GIT_PAGER": "cat"}


@frozen
class PermittedCommand:
    """A permitted command and everything needed to start it."""

    request: CommandRequest
    env: dict[str, str]
    limits: ProcessLimits
    sandbox: Sandbox | None
    permission: Permission
    run: RunRecord
    folder: Path


def run_in_foreground(io: Io, asked: ExecOptions, job: PermittedCommand) -> int:
    """Run a command to its end and show its output live. Raises OSError if the reader of the output is gone."""
    code: dict[str, object] = {"return_code": None, "ended": "interrupted"}
    try:
        with manager_for(job.folder) as manager:
            result = run_command(io, asked, job, manager)
        code = {
            "return_code": result.return_code,
            "timed_out": result.timed_out,
            "duration": result.duration,
        }
    except KeyboardInterrupt:
        io.warn("cli-guard: interrupted: the command and its process tree were killed")
        return ExitCode.INTERRUPTED
    finally:
        remove_scratch(job)
        job.run.note("exec-end", **code)
    if asked.format == "json":
        say_json(io, {**result.as_dict(), "permission": permission_as_dict(job.permission)})
    else:
        report_result(io, result)
    return TIMED_OUT if result.timed_out else result_code(result)


def run_command(
    io: Io, asked: ExecOptions, job: PermittedCommand, manager: ProcessManager
) -> Result:
    """Run the command and return its result. It reads our standard input unless --stdin is given."""
    timeout = TIMEOUT if asked.timeout is None else asked.timeout
    at_terminal = asked.format == "text" and all(
        each.isatty() for each in (io.stdin, io.stdout, io.stderr)
    )
    tty = at_terminal if asked.tty is None else asked.tty
    with contextlib.ExitStack() as stack:
        stdin = stack.enter_context(our_input(io)) if job.request.stdin is None else None
        show = None
        if asked.format == "text":
            show = stack.enter_context(Streams(io, raw=asked.raw, typed=tty))
        if tty and stdin is not None:
            stack.enter_context(pass_keys(stdin))
        return manager.run(
            job.request.command,
            cwd=job.request.folder,
            env={**PLAIN_TERMINAL, **job.env, "TERM": "dumb"}
            if tty and asked.tty is None
            else job.env,
            timeout=None if math.isinf(timeout) else timeout,
            respond=job.request.stdin,
            stdin=stdin,
            on_output=show,
            limits=job.limits,
            terminal=size_of_ours(stdin) if tty else False,
            sandbox=job.sandbox,
        )


def run_in_background(io: Io, asked: ExecOptions, job: PermittedCommand) -> int:
    """Start a command that outlives us, and report how it started."""
    watched = STARTUP_TIMEOUT if asked.startup_timeout is None else asked.startup_timeout
    if io.stderr.isatty():
        io.warn(f"cli-guard: starting it, and watching it for up to {watched:g} s")
    try:
        with ProcessManager(job.folder, keep=True) as manager:
            begun = manager.start(
                job.request.command,
                cwd=job.request.folder,
                env=job.env,
                startup_timeout=watched,
                port=asked.port,
                respond=job.request.stdin,
                limits=job.limits,
                terminal=bool(asked.tty),
                sandbox=job.sandbox,
            )
    except KeyboardInterrupt:
        job.run.note("start", ended="interrupted")
        io.warn(
            "cli-guard: interrupted during start-up: the process may be running, see `cli-guard exec ps`"
        )
        return ExitCode.INTERRUPTED
    if begun.state not in ("ready", "starting"):
        remove_scratch(job)
    details = {
        "pid": begun.pid,
        "state": begun.state,
        "port": begun.port,
        "return_code": begun.return_code,
    }
    job.run.note("start", **details, duration=begun.duration)
    if asked.format == "json":
        say_json(io, {**begun.as_dict(), "permission": permission_as_dict(job.permission)})
    else:
        report_started(io, begun)
    return start_code(begun)


def sandbox_of(folder: Path) -> Sandbox:
    """Return the sandbox of a command that runs in a folder. Raises CliGuardError if its scratch cannot be created."""
    try:
        scratch = Path(tempfile.mkdtemp(prefix="cli-guard-scratch-"))
    except OSError as error:
        raise CliGuardError(
            f"cannot create a scratch folder in {tempfile.gettempdir()}: {error.strerror}"
        ) from error
    return Sandbox(root_of(folder) or folder, scratch)


def remove_scratch(job: PermittedCommand) -> None:
    """Remove the scratch folder of a sandbox whose command has ended."""
    if job.sandbox is not None:
        shutil.rmtree(job.sandbox.scratch, ignore_errors=True)


def manager_for(folder: Path) -> ProcessManager:
    """Return a manager that keeps logs in a folder, or in a temporary one if it cannot be written."""
    with contextlib.suppress(OSError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if os.access(folder, os.W_OK | os.X_OK):
            return ProcessManager(folder, keep=True)
    return ProcessManager()


@contextlib.contextmanager
def our_input(io: Io) -> Iterator[int]:
    """Return the descriptor of our standard input, or of the null device if it is not a file."""
    ours = None
    with contextlib.suppress(OSError, ValueError):
        ours = io.stdin.fileno()
    if ours is not None:
        yield ours
        return
    nothing = os.open(os.devnull, os.O_RDONLY)
    try:
        yield nothing
    finally:
        os.close(nothing)


def size_of_ours(stdin: int | None) -> tuple[int, int] | bool:
    """Return rows and columns of our terminal, True if there is none."""
    if stdin is None or not os.isatty(stdin):
        return True
    size = os.get_terminal_size(stdin)
    return (size.lines, size.columns) if size.lines and size.columns else True


@contextlib.contextmanager
def pass_keys(terminal: int) -> Iterator[None]:
    """Pass on each key as it is typed: the command's terminal echoes it, or not (a password)."""
    if not os.isatty(terminal):
        yield
        return
    import termios

    before = termios.tcgetattr(terminal)
    ours = termios.tcgetattr(terminal)
    ours[3] &= ~(termios.ICANON | termios.ECHO)
    termios.tcsetattr(terminal, termios.TCSADRAIN, ours)
    try:
        yield
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)


def report_refused(io: Io, permission: Permission, *, yes: bool) -> None:
    """Print why a command was not run, and what would allow it."""
    if permission.answer is PermissionBasis.NO:
        io.warn("cli-guard: not run")
        return
    io.warn(render(permission.verdict, color=io.colored("auto") and io.stderr.isatty()))
    if permission.answer is PermissionBasis.NEEDS_REVIEW:
        io.warn(
            f"cli-guard: not run: {'--yes is only valid at a terminal; ' if yes else ''}{NEEDED}"
        )


def permission_as_dict(permission: Permission) -> dict[str, object]:
    """Return the verdict and the answer as data."""
    verdict = as_dict(permission.verdict)
    kept = ("verdict", "reason", "effects", "alternative", "rule")
    return {**{key: verdict[key] for key in kept}, "answer": str(permission.answer)}


def refused_as_dict(request: CommandRequest, permission: Permission) -> dict[str, object]:
    """Return the result of a command that was not run, with the keys of one that was."""
    data = permission_as_dict(permission)
    error = f"not run ({permission.answer}): {data['reason']}"
    result = Result(request.text, str(request.folder), error=error)
    return {**result.as_dict(), "permission": data}


def result_code(result: Result | Started) -> int:
    """Return the exit code of a command as a shell would."""
    code = result.return_code
    if code is None:
        return not_started_code(result.details.get("errno"))
    return SIGNALLED - code if code < 0 else code


def not_started_code(number: object) -> int:
    """Return the exit code of a command that did not start, by the error of the system."""
    if number in (errno.ENOENT, errno.ENOTDIR):
        return NOT_FOUND
    return NOT_EXECUTABLE if number in (errno.EACCES, errno.ENOEXEC) else ExitCode.DENIED


def start_code(begun: Started) -> int:
    """Return the exit code of a start: that of a command that has already ended, 1 for one that is not ready."""
    if begun.return_code is not None or begun.pid is None:
        return result_code(begun)
    return 0 if begun.state == "ready" else ExitCode.DENIED


def report_result(io: Io, result: Result) -> None:
    """Print what went wrong beyond the command's own output; nothing if it succeeded."""
    code = result.return_code
    if result.timed_out or code is None or code < 0 or code in (NOT_EXECUTABLE, NOT_FOUND):
        io.warn(f"cli-guard: {one_line(result.error or 'it failed')}")
    for note in result.notes:
        io.warn(f"cli-guard: {one_line(note)}")
    if result.success:
        return
    # A person has just read a short output.
    if any(each.line > IN_SIGHT for each in result.errors):
        report_errors(io, result.errors)
    if result.sandbox:
        io.warn(f"cli-guard: sandbox: {one_line(result.sandbox)}")
    if result.log_file:
        io.warn(f"cli-guard: output kept in {one_line(result.log_file)}")


def report_errors(io: Io, errors: Sequence[ProcessError]) -> None:
    """Print the errors that were found in its output, each with its line."""
    for each in errors[:SHOWN_ERRORS]:
        io.warn(f"cli-guard: line {each.line}: {clip(one_line(each.message), LINE)}")
    if len(errors) > SHOWN_ERRORS:
        io.warn(f"cli-guard: and {len(errors) - SHOWN_ERRORS} more errors")


def report_started(io: Io, begun: Started) -> None:
    """Print one line on the started process, or why it did not start."""
    if begun.pid is None:
        io.warn(f"cli-guard: {one_line(begun.error or 'it did not start')}")
        if blocking := begun.details.get("blocking_pid"):
            io.warn(f"cli-guard: process {blocking} listens on that port")
        return
    where = f" on port {begun.port}" if begun.port is not None else ""
    if begun.state in ("ready", "starting"):
        waits = "" if begun.state == "ready" else " (it does not answer yet)"
        io.say(
            f"{begun.state}{where}{waits}: process {begun.pid}, log {one_line(begun.log_file or '')};"
            f" stop it with: cli-guard exec stop {begun.pid}"
        )
        return
    code = "" if begun.return_code is None else f" with {begun.return_code}"
    line = f"{begun.state}{code}: process {begun.pid}, log {one_line(begun.log_file or '')}"
    if begun.return_code == 0:
        io.say(line)
        return
    io.warn(f"cli-guard: {line}")
    if begun.error:
        io.warn(f"cli-guard: {one_line(begun.error)}")
    report_errors(io, begun.errors)
