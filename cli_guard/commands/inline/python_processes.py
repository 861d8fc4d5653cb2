"""How Python runs other programs."""

import shlex
from collections.abc import Iterable

from cli_guard.commands.inline import language as make
from cli_guard.commands.inline.model import unknown
from cli_guard.commands.inline.state import FunctionCall
from cli_guard.commands.inline.texts import as_text, as_words
from cli_guard.commands.inline.values import ANY, Data, Literal, Sequence, Value, Values

PLAIN = frozenset(
    """args shell capture_output text check timeout stdout stderr universal_newlines encoding errors bufsize cwd input
    close_fds start_new_session""".split()
)


def runs_process(calling: FunctionCall) -> Values:
    """Handle `subprocess.run([...])`, also with `shell=True`, `cwd=` and `input=`."""
    for value in calling.given(0, "args") or ANY:
        note_process(calling, value, via_shell="shell" in calling.named or "*" in calling.named)
    for name in sorted(set(calling.named) - PLAIN) + ["more"] * (len(calling.arguments) > 1):
        calling.note(unknown(f"starts a process with its own {name}"))
    return (Data(local=True),)


def note_process(calling: FunctionCall, value: Value, *, via_shell: bool) -> None:
    """Record a process, with its folder and input as a shell command would give them."""
    words, text = as_words(value), as_text(value)
    around = around_it(calling)
    if around is None:
        calling.note(unknown("starts a process in a folder or with an input that the text does not tell"))
    elif around and (words or text is not None):
        line = shlex.join(words) if words else str(text)
        make.note_shell(calling, [Literal(around[0] + line)])
        return
    if via_shell and text is not None:
        make.note_shell(calling, [value])
    else:
        # `shell=False` says nothing.
        make.note_shell(calling, [Literal(words[0])] if via_shell and words else [])
        make.note_words(calling, value)


def around_it(calling: FunctionCall) -> tuple[str] | tuple[()] | None:
    """Return the shell words for folder and input in front of the command, None if unknown."""
    before = ""
    for name, form in (("cwd", "cd {} && "), ("input", "printf %s {} | ")):
        values = [value for value in calling.named.get(name, ()) if value != Literal(None)]
        texts = calling.texts(tuple(values)) if values else []
        if None in texts or len(texts) > 1:
            return None
        before += "".join(form.format(shlex.quote(text or "")) for text in texts)
    return (before,) if before else ()


def with_folder(values: Iterable[Values]) -> Values:
    """Return the command of `os.execl(file, arg0, ...)`: the file, and the arguments after arg0."""
    each = [v[0] if len(v) == 1 else Data() for v in values]
    return (Sequence((each[0], *each[2:])),) if each else ANY


def executes(calling: FunctionCall) -> Values:
    """Handle `os.execvp(file, [arg0, ...])` and `os.spawnlp(mode, file, arg0, ...)`."""
    own = calling.function.name.removeprefix("os.")
    arguments = (
        calling.arguments[1:]
        if own.startswith(("spawn", "posix")) and "posix" not in own
        else calling.arguments
    )
    if own.endswith("e"):
        calling.note(unknown("starts a process with its own environment"))
    if own.startswith(("execv", "spawnv", "posix")):
        lists = arguments[1] if len(arguments) > 1 else ANY
        for value in lists:
            known = isinstance(value, Sequence) and arguments[0]
            first = arguments[0][0] if known else Data()
            make.note_words(
                calling, Sequence((first, *value.parts[1:])) if isinstance(value, Sequence) else value
            )
    else:
        for value in with_folder(arguments):
            make.note_words(calling, value)
    return ANY


PROCESSES = make.table(
    {
        "os.system os.popen subprocess.getoutput subprocess.getstatusoutput commands.getoutput"
        " asyncio.create_subprocess_shell": make.runs_shell,
        "subprocess.run subprocess.call subprocess.check_call subprocess.check_output subprocess.Popen": runs_process,
        "os.execv os.execvp os.execve os.execvpe os.execl os.execlp os.execle os.spawnv os.spawnvp os.spawnve os.spawnl"
        " os.spawnlp os.posix_spawn os.posix_spawnp": executes,
        "asyncio.create_subprocess_exec": make.runs_words,
        "pty.spawn": make.runs_list,
    }
)
