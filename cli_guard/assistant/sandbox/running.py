"""One call of the run tool, from the text of the command to what is shown of it."""

import time

from cli_guard.assistant.sandbox.checking import syntax_error
from cli_guard.assistant.sandbox.execution import SYNTAX_ERROR, Executed, execute
from cli_guard.assistant.sandbox.model import Ran, Shell
from cli_guard.assistant.sandbox.overflow import Overflow
from cli_guard.assistant.sandbox.presentation import present


def run(command: str, world: Shell, *, stdin: bytes = b"") -> Ran:
    """Runs bash text over the snapshot of `world`; nothing outside of it is read, and nothing is ever changed.

    Raises nothing for what the command does: a failure is an exit code and words, like in a shell.
    """
    began = time.monotonic()
    overflow = Overflow(world.state_folder, world.limits)
    problem = syntax_error(command)
    if problem:
        done = Executed(b"", f"bash: {problem}\n".encode("utf-8", "surrogateescape"), SYNTAX_ERROR, ran=False)
    else:
        done = execute(command, world, overflow.files(command), stdin)
    seconds = time.monotonic() - began
    shown = present(command, done, world, overflow, seconds)
    return Ran(
        shown, done.stdout, done.stderr, done.exit_code, seconds, done.changes, done.images, done.limits
    )
