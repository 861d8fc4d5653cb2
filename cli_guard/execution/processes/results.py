"""What came of a command, in words: output cut to what is shown, errors found, and what to do."""

import errno
import os
import signal
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from cli_guard.execution.processes.errors import scan
from cli_guard.execution.processes.model import SHOWN_CHARS, ProcessError

SCANNED_BYTES = 2_000_000
SHELL_CODES = {
    126: "the program is there, but may not be executed: look at its permissions",
    127: "a program was not found: install it, or mend its name or PATH",
}
LOST = "the process that watched over it was killed: its family was ended with it"
STEPS = {
    "folder": "the folder {folder} cannot be entered",
    "environment": "a variable has a NUL in it or a = in its name, which no program takes",
    "limit": "a limit cannot be set: ask for a lower one",
    "start": "the process cannot be started",
    "record": "it was ended again, as it could not be written down for `cli-guard ps`",
}
PROGRAM = {
    errno.ENOENT: "{name}: not found: install it, or mend its name or PATH",
    errno.EACCES: "{name}: not executable: chmod +x it, or name the program that reads it",
    errno.ENOEXEC: "{name}: is no program: give it a first line like #!/bin/sh, or name the program that reads it",
    errno.E2BIG: "the command is longer than the system takes: put it into a file",
    errno.ENOTDIR: "{name}: not found: a part of its path is no folder",
}


def clip_stream(told: Mapping[str, Any], log: str | None, stream: str) -> tuple[str, bool]:
    """A stream as it is shown, at most `SHOWN_CHARS` characters of it, and whether something was cut."""
    head, tail = (told[part].encode("latin-1") for part in ("head", "tail"))
    total = int(told["total"])
    if total <= len(head) + len(tail):
        text = decode_output(head + tail)
        if len(text) <= SHOWN_CHARS:
            return text, False
        first, last = text, text
    else:
        first, last = decode_output(head), decode_output(tail)
    where = f"; all of it is in {log}" if log else ""
    note = f"\n[... {total:,} bytes on {stream}, the middle is left out{where} ...]\n"
    half = (SHOWN_CHARS - len(note)) // 2
    return first[:half] + note + last[-half:], True


def decode_output(data: bytes) -> str:
    """Bytes of a command as text; what is no UTF-8 is replaced."""
    return data.decode("utf-8", "replace")


def errors_in(log: Path) -> tuple[ProcessError, ...]:
    """The errors that stand in a log; of a long one, in its beginning and its end. Secrets in them are masked."""
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
    """The errors in a text. It is masked as a whole, as half a secret is not known for one."""
    found = scan(text)
    if found:
        from cli_guard.secrets.redact import redact

        masked = redact(text)
        found = found if masked == text else scan(masked)
    return found


def not_started(step: str, number: int, name: str, folder: str) -> str:
    """Why a command did not start, and what to do."""
    if step == "program" and number in PROGRAM:
        return PROGRAM[number].format(name=name)
    words = STEPS.get(step, "{name} cannot be started").format(name=name, folder=folder)
    return f"{words}: {os.strerror(number)}" if number else words


def what_went_wrong(code: int | None, errors: tuple[ProcessError, ...], stderr: str) -> str | None:
    """Why a command failed, in one line, None if it did not."""
    if code == 0:
        return None
    if code is None:
        return LOST
    if code < 0:
        return f"ended by {name_of(-code)}"
    if code in SHELL_CODES:
        told = next((each.message for each in errors), None)
        return f"{told or SHELL_CODES[code]} (exit code {code})"
    if errors:
        return f"{errors[0].message} (exit code {code})"
    last = next((line.strip() for line in reversed(stderr.splitlines()) if line.strip()), "")
    return f"exit code {code}: {last[:200]}" if last else f"exit code {code}"


def notes_of(told: Mapping[str, Any]) -> list[str]:
    """What else is to be said of a command: whom it left behind, who could not be ended, what its log has not."""
    notes = []
    left = told.get("left_behind", 0)
    if left:
        notes.append(f"{left} process{'' if left == 1 else 'es'} that it left behind ended with it")
    if told.get("not_ended"):
        notes.append(f"could not be ended: {', '.join(map(str, told['not_ended']))}")
    if told["log_problem"]:
        notes.append(f"the log is not whole: {told['log_problem']}")
    if told["log_rotated"]:
        notes.append("the log has outgrown its limit: its beginning was let go")
    return notes


def name_of(number: int) -> str:
    """`SIGKILL` for 9."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
