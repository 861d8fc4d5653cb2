"""Ask a person at a terminal, in one form everywhere: `[y]es once · [d]iff · [N]o`.

A place may add `[a]lways`, and leaves out what it has not; no key ever means something else. Any other answer is no, as
is none within SECONDS: nobody may be there.
"""

import os
import select
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TextIO

from cli_guard.lazy import frozen

SECONDS = 300.0
YES = "yes"
DIFF = "diff"
ALWAYS = "always"
NO = "no"
REPLIES = {key: each for each in (YES, DIFF, ALWAYS, NO) for key in (each, each[0])}
REPLIES[""] = NO


@frozen
class AskedQuestion:
    """A question, and what may be answered beside yes and no.

    `once` is False if a yes lasts. `always` says what an `a` covers, "" if it is not offered. `show_diff` shows what is
    asked about; then the question comes again. `is_sudden` if the person has not called for it: what was typed before
    was meant for something else, and is thrown away.
    """

    text: str
    once: bool = True
    always: str = ""
    show_diff: Callable[[], None] | None = None
    is_sudden: bool = False

    @property
    def line(self) -> str:
        """Return the question with its keys."""
        keys = ["[y]es once" if self.once else "[y]es"]
        if self.always:
            keys.append(f"[a]lways ({self.always})")
        if self.show_diff:
            keys.append("[d]iff")
        return f"{self.text} {' · '.join([*keys, '[N]o'])}: "

    def read(self, typed: str) -> str | None:
        """Return what a typed line answers, None for anything that is not offered."""
        reply = REPLIES.get(typed.strip().lower())
        is_offered = {ALWAYS: bool(self.always), DIFF: self.show_diff is not None}
        return reply if reply is None or is_offered.get(reply, True) else None


def ask(
    question: AskedQuestion, stdin: TextIO, write: Callable[[str], None], after: str = ""
) -> str:
    """Ask, and return "yes", "always" or "no"; `after` is written behind the question. Raises OSError."""
    while True:
        if question.is_sudden:
            drop_typed(stdin)
        reply = question.read(read_line(stdin, write, question.line + after)) or NO
        if reply != DIFF or question.show_diff is None:
            return reply
        question.show_diff()


def read_line(stdin: TextIO, write: Callable[[str], None], text: str) -> str:
    """Write a text and return the line that is typed after it, "" at the end of the input or after SECONDS."""
    terminal = terminal_of(stdin)
    if terminal is None:
        write(text)
        line = stdin.readline()
    else:
        line = read_terminal(terminal, write, text)
    if not line.endswith("\n"):
        write("\n")
        return ""
    return line


def drop_typed(stdin: TextIO) -> None:
    """Throw away what was typed at a terminal so far."""
    terminal = terminal_of(stdin)
    if terminal is not None:
        import termios

        termios.tcflush(terminal, termios.TCIFLUSH)


def terminal_of(stdin: TextIO) -> int | None:
    """Return the descriptor of a terminal, None if the input is none that can be waited for."""
    with suppress(ImportError, OSError, ValueError):
        import termios

        descriptor = stdin.fileno()
        termios.tcgetattr(descriptor)
        return descriptor
    return None


def read_terminal(terminal: int, write: Callable[[str], None], text: str) -> str:
    """Write a text to a terminal and return what is typed after it, up to the end of the line. Raises OSError."""
    write(text)
    typed = b""
    until = time.monotonic() + SECONDS
    while not typed.endswith(b"\n"):
        ready = select.select([terminal], [], [], max(0.0, until - time.monotonic()))[0]
        more = os.read(terminal, 1_024) if ready else b""
        if not more:
            break
        typed += more
    return typed.decode("utf-8", "replace")
