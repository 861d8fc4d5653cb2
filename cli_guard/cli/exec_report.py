"""Report for `cli-guard exec`: why a command was not run, what went wrong with one that was, and its exit code."""

import errno
from collections.abc import Sequence

from cli_guard.cli.io import Io
from cli_guard.cli.prompt import NEEDED
from cli_guard.cli.streams import one_line
from cli_guard.errors import ExitCode
from cli_guard.execution.command import CommandRequest
from cli_guard.execution.errors import ProcessError
from cli_guard.execution.permission import Permission, PermissionBasis
from cli_guard.execution.processes.model import Result, Started
from cli_guard.execution.shell import NOT_EXECUTABLE, NOT_FOUND
from cli_guard.execution.verdicts import as_dict, render
from cli_guard.secrets.printable import clip

# As in a shell (POSIX, "Exit Status for Commands") and timeout(1).
TIMED_OUT = 124
SIGNALLED = 128
SHOWN_ERRORS = 5
LINE = 200
IN_SIGHT = 20


def refusal_code(permission: Permission) -> ExitCode:
    """Return the exit code of a command that was not run."""
    return (
        ExitCode.NEEDS_REVIEW
        if permission.answer is PermissionBasis.NEEDS_REVIEW
        else ExitCode.DENIED
    )


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
