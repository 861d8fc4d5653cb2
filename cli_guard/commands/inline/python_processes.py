"""How Python runs other programs."""

import shlex

from cli_guard.commands.inline import effects as make
from cli_guard.commands.inline.effects import FunctionCall
from cli_guard.commands.inline.model import unknown
from cli_guard.commands.inline.values import (
    ANY,
    LOCAL,
    Data,
    Literal,
    Sequence,
    Value,
    Values,
    as_text,
    as_words,
)

PLAIN = frozenset(
    """args shell capture_output text check timeout stdout stderr universal_newlines encoding errors bufsize cwd input
    close_fds start_new_session""".split()
)


def runs_process(calling: FunctionCall) -> Values:
    """Handle `subprocess.run([...])`, also with `shell=True`, `cwd=` and `input=`."""
    for name in sorted(set(calling.named) - PLAIN) + ["more"] * (len(calling.arguments) > 1):
        calling.note(unknown(f"starts a process with its own {name}"))
    around = find_surroundings(calling)
    if around is None:
        calling.note(unknown("starts a process in a folder or with an input that the text does not tell"))
    # `shell=False` says nothing.
    via_shell = "shell" in calling.named or "*" in calling.named
    for value in calling.given(0, "args") or ANY:
        note_process(calling, value, around or "", via_shell=via_shell)
    return LOCAL


def note_process(calling: FunctionCall, value: Value, around: str, *, via_shell: bool) -> None:
    """Record a process, with its folder and input as a shell command would give them."""
    words, text = as_words(value), as_text(value)
    if around and (words or text is not None):
        line = shlex.join(words) if words else str(text)
        make.note_shell(calling, [Literal(around + line)])
    elif via_shell and text is not None:
        make.note_shell(calling, [value])
    else:
        if via_shell and words:
            make.note_shell(calling, [Literal(words[0])])
        make.note_words(calling, value)


def find_surroundings(calling: FunctionCall) -> str | None:
    """Return the shell words for folder and input in front of the command, None if unknown."""
    before = ""
    for name, form in (("cwd", "cd {} && "), ("input", "printf %s {} | ")):
        value = calling.only(0, name) if name in calling.named else Literal(None)
        text = as_text(value)
        if text is not None:
            before += form.format(shlex.quote(text))
        elif value != Literal(None):
            return None
    return before


def executes(calling: FunctionCall) -> Values:
    """Handle `os.execvp(file, [arg0, ...])`, `os.execlp(file, arg0, ...)` and `os.spawnlp(mode, file, arg0, ...)`."""
    given = calling.arguments[1 if calling.function.name.startswith("os.spawn") else 0 :]
    words: list[Value] = []
    for place in range(len(given)):
        value = given[place][0] if len(given[place]) == 1 else Data()
        words.extend(value.parts if isinstance(value, Sequence) else (value,))
    if calling.function.name.endswith("e"):
        calling.note(unknown("starts a process with its own environment"))
    # The second word is only what the program is told that its name is.
    make.note_words(calling, Sequence((*words[:1], *words[2:])))
    return ANY


def runs_words(calling: FunctionCall) -> Values:
    """Handle `asyncio.create_subprocess_exec("ls", "-l")` and `pty.spawn(["ls", "-l"])`."""
    words = [calling.only(place) for place in range(len(calling.arguments))]
    listed = len(words) == 1 and isinstance(words[0], Sequence)
    make.note_words(calling, words[0] if listed else Sequence(tuple(words)))
    return LOCAL


PROCESSES = make.table(
    {
        "os.system os.popen subprocess.getoutput subprocess.getstatusoutput asyncio.create_subprocess_shell": (
            make.runs_shell
        ),
        "subprocess.run subprocess.call subprocess.check_call subprocess.check_output subprocess.Popen": runs_process,
        "os.execv os.execvp os.execve os.execvpe os.execl os.execlp os.execle os.spawnv os.spawnvp os.spawnve os.spawnl"
        " os.spawnlp os.posix_spawn os.posix_spawnp": executes,
        "asyncio.create_subprocess_exec pty.spawn": runs_words,
    }
)
