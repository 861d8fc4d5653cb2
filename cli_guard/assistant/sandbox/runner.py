"""One call of the run tool, from the text of the command to what is shown of it."""

import re
import shutil
import subprocess
import time
from dataclasses import replace

from cli_guard.assistant.sandbox.execution import SYNTAX_ERROR, execute
from cli_guard.assistant.sandbox.model import CommandWorld, RunResult
from cli_guard.assistant.sandbox.presentation import Overflow, present

# PATH is not searched: it may name a folder that a repository fills.
BASH_FOLDERS = "/usr/local/bin:/opt/homebrew/bin:/run/current-system/sw/bin:/usr/bin:/bin"
# BASH_ENV, SHELLOPTS and functions in the environment are read even by a shell that runs nothing.
BASH_ENVIRONMENT = {"LC_ALL": "C.UTF-8"}
CHECK_SECONDS = 2.0
# bash 3 (macOS) refuses this, and with it what is right today.
NEEDS_BASH_4 = ": |& : &>> /dev/null"
MESSAGE = re.compile(r"^bash: (line \d+: (?!warning: )[^\n]*)", re.MULTILINE)
# bash reads on behind some errors, and then exits with another code.
SYNTAX_WORDS = re.compile(
    r"syntax error|unexpected (EOF|argument|token)|conditional binary operator expected"
)
LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def run(command: str, world: CommandWorld, *, stdin: bytes = b"") -> RunResult:
    """Run bash text over the snapshot of `world`; nothing outside of it is read, and nothing is ever changed.

    Raises nothing for what the command does: a failure is an exit code and a message, like in a shell.
    """
    began = time.monotonic()
    overflow = Overflow(world.state_folder, world.limits)
    problem = find_syntax_error(command)
    if problem:
        done = RunResult(b"", f"bash: {problem}\n".encode(), SYNTAX_ERROR, started=False)
    else:
        done = execute(command, world, overflow.files_named_in(command), stdin)
    seconds = time.monotonic() - began
    return replace(
        done, seconds=seconds, shown=present(command, done, world, overflow, seconds)
    )


def find_syntax_error(text: str) -> str | None:
    """Return the first syntax error as bash words it, `line N: ...`; None for text that bash would run.

    `bash -n` parses and runs nothing. Where there is no bash, an old one, or one that gives up on the text, the
    answer is None, and the parser of the interpreter decides, which takes some text that bash refuses.
    """
    if "\0" in text:
        return "line 1: the text holds a NUL byte"
    if LONE_SURROGATE.search(text):
        return "line 1: the text is not UTF-8: write such a byte as $'\\xNN'"
    problem = check_with_bash(text)
    return problem if problem and not check_with_bash(NEEDS_BASH_4) else None


def check_with_bash(text: str) -> str | None:
    program = shutil.which("bash", path=BASH_FOLDERS)
    if program is None:
        return None
    # `shopt -s extglob` counts from the next line on, and -n does not run it.
    options = ["-O", "extglob"] if "extglob" in text.rpartition("\n")[0] else []
    try:
        # -n holds in a shell that is not interactive, which one that reads a pipe is.
        done = subprocess.run(
            ["bash", "--norc", "--noprofile", "-n", *options],
            executable=program,
            input=text.encode("utf-8"),
            capture_output=True,
            cwd="/",
            env=BASH_ENVIRONMENT,
            timeout=CHECK_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = MESSAGE.search(done.stderr.decode("utf-8", "replace"))
    return (
        found[1]
        if found and (done.returncode == SYNTAX_ERROR or SYNTAX_WORDS.search(found[1]))
        else None
    )
