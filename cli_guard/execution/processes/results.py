"""Describes the results of commands: output cut to what is shown, errors in it, causes and remedies."""

import errno
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from cli_guard.execution.errors import ProcessError, scan
from cli_guard.execution.processes.model import SHOWN_CHARS
from cli_guard.execution.processes.preparing import Prepared
from cli_guard.execution.processes.registry import Registry
from cli_guard.execution.shell import signal_name

SCANNED_BYTES = 2_000_000
SHELL_CODES = {
    126: "the program is not executable: check its permissions",
    127: "a program was not found: install it, or correct its name or PATH",
}
LOST = "the process that monitored it was killed, and its process tree with it"
STEPS = {
    "folder": "cannot change to the folder {folder}",
    "environment": "a variable has a NUL in it or a = in its name, which no program accepts",
    "limit": "a limit cannot be set: use a lower one",
    "start": "the process cannot be started",
    "record": "it was stopped, because it could not be recorded for `cli-guard exec ps`",
}
PROGRAM = {
    errno.ENOENT: "{name}: not found: install it, or correct its name or PATH",
    errno.EACCES: "{name}: not executable: chmod +x it, or name its interpreter",
    errno.ENOEXEC: "{name}: not a program: add a first line like #!/bin/sh, or name its interpreter",
    errno.E2BIG: "the command is too long for the system: put it into a file",
    errno.ENOTDIR: "{name}: not found: a part of its path is not a folder",
}
KINDS = {
    errno.ENOENT: "missing_dependency",
    errno.ENOTDIR: "missing_dependency",
    errno.EACCES: "permission",
}


def describe_command(
    prepared: Prepared,
    data: Mapping[str, Any],
    code: int | None,
    errors: tuple[ProcessError, ...],
    log: str | None,
) -> dict[str, Any]:
    """Return what the results of a foreground and a background command have in common."""
    (stdout, cut_out), (stderr, cut_err) = (
        clip_stream(data[name], log, name) for name in ("stdout", "stderr")
    )
    return {
        "command": prepared.command,
        "working_dir": prepared.folder,
        "return_code": code,
        "errors": errors,
        "stdout": stdout,
        "stderr": stderr,
        "output_truncated": cut_out or cut_err,
        "notes": (*prepared.notes, *notes_of(data)),
    }


def clip_stream(data: Mapping[str, Any], log: str | None, stream: str) -> tuple[str, bool]:
    """Return a stream in at most `SHOWN_CHARS` characters, and whether it was cut."""
    head, tail = (data[part].encode("latin-1") for part in ("head", "tail"))
    total = int(data["total"])
    if total <= len(head) + len(tail):
        text = decode_output(head + tail)
        if len(text) <= SHOWN_CHARS:
            return text, False
        first = text
        last = text
    else:
        first = decode_output(head)
        last = decode_output(tail)
    where = f"; the whole output is in {log}" if log else ""
    note = f"\n[... {total:,} bytes on {stream}, the middle is left out{where} ...]\n"
    half = (SHOWN_CHARS - len(note)) // 2
    return first[:half] + note + last[-half:], True


def decode_output(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def errors_in(log: Path) -> tuple[ProcessError, ...]:
    """Find the errors in a log; in a long one, in its beginning and end. Secrets in them are masked."""
    try:
        with log.open("rb") as file:
            head = file.read(SCANNED_BYTES)
            size = os.fstat(file.fileno()).st_size
            if size <= len(head):
                return masked_errors(decode_output(head))
            begin = max(len(head), size - SCANNED_BYTES)
            lines = head.count(b"\n")
            while file.tell() < begin:
                lines += file.read(min(SCANNED_BYTES, begin - file.tell())).count(b"\n")
            # The line in the middle of which it begins is left out.
            tail = decode_output(file.read(SCANNED_BYTES)).partition("\n")[2]
    except OSError:
        return ()
    last = (replace(each, line=each.line + lines + 1) for each in masked_errors(tail))
    return (*masked_errors(decode_output(head)), *last)


def masked_errors(text: str) -> tuple[ProcessError, ...]:
    """Find the errors in a text, masked as a whole: half a secret is not recognised."""
    found = scan(text)
    if found:
        from cli_guard.secrets.redact import redact

        masked = redact(text)
        found = found if masked == text else scan(masked)
    return found


def describe_failure(
    failed: Mapping[str, Any], prepared: Prepared
) -> tuple[str, dict[str, Any]]:
    """Return why a command did not start and what to do, and the errno if its program is at fault."""
    step = failed["step"]
    number = failed["errno"]
    details = {"errno": number} if step == "program" else {}
    if step == "program" and number in PROGRAM:
        return PROGRAM[number].format(name=prepared.words[0]), details
    words = STEPS.get(step, "{name} cannot be started").format(
        name=prepared.words[0], folder=prepared.folder
    )
    return f"{words}: {os.strerror(number)}" if number else words, details


def describe_refusal(
    prepared: Prepared, error: str, details: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what the results of commands that do not start have in common: the refusal is an error of its kind."""
    kind = "port_conflict" if "port" in details else KINDS.get(details.get("errno", 0))
    return {
        "command": prepared.command,
        "working_dir": prepared.folder,
        "errors": (ProcessError(kind, error, 1, error, (error,)),) if kind else (),
        "error": error,
        "details": details,
    }


def no_log(registry: Registry, error: OSError) -> str:
    return f"no log can be written in {registry.folder}: {error.strerror}"


def what_went_wrong(
    code: int | None, errors: tuple[ProcessError, ...], stderr: str
) -> str | None:
    """Return why a command failed, in one line, None for success."""
    if code == 0:
        return None
    if code is None:
        return LOST
    if code < 0:
        return f"ended by {signal_name(-code)}"
    if code in SHELL_CODES:
        return f"{errors[0].message if errors else SHELL_CODES[code]} (exit code {code})"
    if errors:
        return f"{errors[0].message} (exit code {code})"
    last = next(
        (line.strip() for line in reversed(stderr.splitlines()) if line.strip()), ""
    )
    return f"exit code {code}: {last[:200]}" if last else f"exit code {code}"


def notes_of(data: Mapping[str, Any]) -> list[str]:
    """Return what else to say of a command: processes left running or not ended, and what its log lacks."""
    notes = []
    left = data.get("left_behind", 0)
    if left:
        notes.append(
            f"ended {left} process{'' if left == 1 else 'es'} that it had left behind"
        )
    if data.get("not_ended"):
        notes.append(
            f"processes that could not be ended: {', '.join(map(str, data['not_ended']))}"
        )
    if data["log_problem"]:
        notes.append(f"the log is incomplete: {data['log_problem']}")
    if data["log_rotated"]:
        notes.append("the log has reached its limit: its beginning was deleted")
    return notes
