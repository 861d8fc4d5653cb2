"""The presentation layer: what a reader with a bounded attention is shown of a call, once, after it has ended.

Binary output is named instead of shown, long output is cut and kept, the error stream of a failure is never lost,
and the last line says how it went. Secrets and control characters go no further than here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from cli_guard.assistant.sandbox.guidance import guidance
from cli_guard.assistant.sandbox.model import Shell
from cli_guard.assistant.sandbox.overflow import Overflow
from cli_guard.assistant.sandbox.pictures import picture_of
from cli_guard.secrets.printable import printable
from cli_guard.secrets.redact import redact

if TYPE_CHECKING:
    from cli_guard.assistant.sandbox.execution import Executed

MOST_LINES = 200
MOST_BYTES = 51_200
CONTROL_SHARE = 0.1
CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
ASKED_FOR = re.compile(r"cat -b (\S+|\"[^\"]+\"|'[^']+')")
GUESS = re.compile(r": command not found\. (?:Did you mean|SSH requires)[^\n]*")
SHOWN_STDERR = 8_000


def present(command: str, done: Executed, world: Shell, overflow: Overflow, seconds: float) -> str:
    """The text that is shown of a call."""
    parts = [*output(command, done, world, overflow)]
    stderr = without_guesses(shown(done.stderr)).rstrip("\n")
    if done.exit_code and stderr:
        label = "" if stderr.startswith("[error] ") else "[stderr] "
        parts.append(label + bounded(stderr, SHOWN_STDERR))
    parts += (f"[limit] {limit}" for limit in done.limits)
    parts += guidance(command, done, world)
    parts.append(f"[exit:{done.exit_code} | {duration(seconds)}]")
    return "\n".join(parts)


def output(command: str, done: Executed, world: Shell, overflow: Overflow) -> Iterator[str]:
    """What is shown of standard output."""
    raw = done.stdout
    if not raw:
        return
    if is_binary(raw):
        coded = in_base64(command, world)
        if coded is None:
            yield binary(command, raw, world)
            return
        raw = coded
    text = redact(raw.decode("utf-8"))
    lines = text.count("\n") + (not text.endswith("\n"))
    if lines <= MOST_LINES and len(raw) <= MOST_BYTES:
        yield shown_text(text).removesuffix("\n")
        return
    kept = overflow.keep(text.encode("utf-8"))
    head = "".join(text.splitlines(keepends=True)[:MOST_LINES]) if lines > MOST_LINES else text
    yield shown_text(bounded(head, MOST_BYTES)).removesuffix("\n")
    yield ""
    yield f"--- output truncated ({lines} lines, {size(len(raw))}) ---"
    if kept is None:
        yield "Full output: not kept, there is no state folder; narrow it down with grep, head or tail"
        return
    yield f"Full output: {kept}"
    yield f"Explore: cat {kept} | grep <pattern>"
    yield f"         cat {kept} | tail -n 100"


def is_binary(raw: bytes) -> bool:
    """Is it no text: a NUL byte, invalid UTF-8, or more than a tenth of control characters?"""
    if b"\0" in raw:
        return True
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return True
    return len(CONTROL.findall(raw)) > len(raw) * CONTROL_SHARE


def in_base64(command: str, world: Shell) -> bytes | None:
    """The binary file that `cat -b FILE` asks for, in base64; None for any other command.

    bash's `cat -b` numbers lines, which is of no use for what is no text: here it is how such a file is shown.
    """
    import base64

    asked = ASKED_FOR.fullmatch(command.strip())
    raw = world.snapshot.raw(asked[1].strip("\"'")) if asked else None
    return None if raw is None else base64.encodebytes(raw)


def binary(command: str, raw: bytes, world: Shell) -> str:
    """What stands in the place of binary output, with the command that reads it."""
    picture = picture_of(raw)
    path = source(command, raw, world)
    if picture:
        return f"[error] binary image ({size(len(raw))}). Use: see {path or 'PATH'}"
    return f"[error] binary file ({size(len(raw))}). Use: cat -b {path or 'PATH'}"


def source(command: str, raw: bytes, world: Shell) -> str:
    """The file that the output is the content of, "" if it is none of the snapshot."""
    words = [word.strip("\"'") for word in command.split()]
    candidates = [*(word for word in words if word in world.snapshot.entries), *world.snapshot.entries]
    return next((path for path in candidates if world.snapshot.raw(path) == raw), "")


def without_guesses(text: str) -> str:
    """Error text as bash has it: the interpreter guesses at commands that are not ours to name."""
    return GUESS.sub(": command not found", text)


def shown(raw: bytes) -> str:
    """Bytes as text that may be shown."""
    return shown_text(redact(raw.decode("utf-8", "surrogateescape")))


def shown_text(text: str) -> str:
    """Text without what acts on a terminal; tabs stay."""
    return "\t".join(printable(part, keep_newlines=True) for part in text.split("\t"))


def bounded(text: str, most_bytes: int) -> str:
    """At most so many bytes of a text, cut between two characters."""
    raw = text.encode("utf-8", "surrogateescape")
    return text if len(raw) <= most_bytes else raw[:most_bytes].decode("utf-8", "ignore")


def size(count: int) -> str:
    """A number of bytes for people: `182KB`, `245.3KB`, `1.2MB`."""
    if count < 1024:
        return f"{count}B"
    for unit in ("KB", "MB"):
        count_ = count / 1024 if unit == "KB" else count / 1024**2
        if count_ < 1024 or unit == "MB":
            return f"{count_:.1f}".removesuffix(".0") + unit
    return f"{count}B"


def duration(seconds: float) -> str:
    """`12ms`; from one second on `1.2s`."""
    return f"{seconds:.1f}s" if seconds >= 1 else f"{seconds * 1000:.0f}ms"
