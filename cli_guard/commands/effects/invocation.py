"""Resolve the name of one command and run it: a function, an alias, a program or a path."""

import re
from fnmatch import fnmatchcase

from cli_guard.commands import floors
from cli_guard.commands.effects.call import Call
from cli_guard.commands.effects.paths import path_of
from cli_guard.commands.effects.running import run_call
from cli_guard.commands.expand.fields import Field, literal, stream_of
from cli_guard.commands.handlers import find_handler
from cli_guard.commands.invocations import SYSTEM_PROGRAMS, ProgramInvocation
from cli_guard.commands.model import EffectKind, Span
from cli_guard.commands.plain import OUTSIDE_BUILTINS
from cli_guard.commands.programs import table
from cli_guard.commands.scope import ANYTHING, NOTHING, Stream, taints_of
from cli_guard.commands.shell import Shell
from cli_guard.lazy import regex

POWERSHELL = regex(
    r"(?:Get|Set|New|Remove|Invoke|Start|Stop|Write|Out|Select|Where|ForEach|Test|Copy|Move|Add|Clear|Import|Export|ConvertTo"
    r"|ConvertFrom|Restart|Install|Expand|Enter|Resolve|Join|Split|Format|Sort|Measure|Compare|Rename|Update|Unblock)-[A-Za-z]+\Z"
    r"|(?:iex|iwr|irm)\Z"
)
INTERPRETER = regex(r"#![ \t]*(?:/\S*/)?(?:env[ \t]+(?:-S[ \t]+)?)?([\w.+-]+)")
LIKELY = "rm sh bash curl wget dd chmod mv shred git find nc python3".split()
CMD = frozenset(
    "dir del erase rd copy xcopy robocopy move ren md cls ver vol attrib icacls reg schtasks tasklist taskkill".split()
)


def invoke(shell: Shell, fields: list[Field], stdin: Stream, span: Span) -> Stream:
    """Run a command (function, alias or program); return what it prints."""
    shell.budget.step()
    met = ProgramInvocation(
        tuple(fields),
        stdin,
        shell.budget.place(span),
        shell.caller,
        shell.scope.sure_folder,
    )
    shell.invocations.append(met)
    with shell.acting(met):
        if shell.scope.traces and floors.SECRETS & taints_of(fields):
            shell.emit(
                EffectKind.CREDENTIAL,
                None,
                "shows a secret: set -x prints each command with its words",
                span,
            )
        return run_command(shell, fields, stdin, span)


def run_command(shell: Shell, fields: list[Field], stdin: Stream, span: Span) -> Stream:
    """Resolve the name of a command."""
    name = fields[0].text
    if name is None or fields[0].assumed or fields[0].pattern:
        return run_unknown(shell, fields, stdin, span)
    if fields[0].perhaps and len(fields) > 1:
        # If the variable is unset the word vanishes, and the next one is the program.
        shell.invoke(fields[1:], stdin, span)
    if name in OUTSIDE_BUILTINS and not becomes_program(fields):
        shell.reject(name, span)
    defined = run_definition(shell, name, fields, stdin, span)
    if defined is None:
        return run_program(shell, name, fields, stdin, span)
    if table(name) is None:
        return defined
    # The definition may not apply here (branch, subshell, behind `env`): the program counts as well.
    other = run_program(shell, name, fields, stdin, span)
    return Stream(None, defined.taints | other.taints, defined.origin and other.origin)


def becomes_program(fields: list[Field]) -> bool:
    """Return whether it is `exec` with a program, which does what the program does."""
    given = fields[1].text if len(fields) > 1 else None
    return fields[0].text == "exec" and bool(given) and not fields[1].start.startswith("-")


def run_definition(
    shell: Shell, name: str, fields: list[Field], stdin: Stream, span: Span
) -> Stream | None:
    """Run a function or an alias; return None if the name is neither."""
    if name in shell.scope.functions:
        body = shell.scope.functions[name]
        return shell.call(name, body, tuple(stream_of(each) for each in fields[1:]), stdin)
    if name not in shell.scope.aliases or name in shell.running:
        return None
    shell.running.append(name)
    try:
        return run_alias(shell, shell.scope.aliases[name], fields[1:], stdin, span)
    finally:
        shell.running.pop()


def run_alias(
    shell: Shell, text: str, rest: list[Field], stdin: Stream, span: Span
) -> Stream:
    words = [literal(word, span) for word in text.split()]
    if re.search(r"[;&|$`'\"<>(){}\\]", text):
        return shell.run_nested(text, span, stdin)
    return shell.invoke([*words, *rest], stdin, span) if words else ANYTHING


def run_unknown(shell: Shell, fields: list[Field], stdin: Stream, span: Span) -> Stream:
    """Emit what is certain about a program whose name is unknown before it runs."""
    first = fields[0]
    if not floors.check_remote_code(shell, first.taints, "as the name of a program", span):
        shell.emit(
            EffectKind.UNKNOWN, first.shown, "the program is known only at run time", span
        )
    if first.assumed and first.text:
        return run_program(shell, first.text, fields, stdin, span)
    if first.pattern and first.text:
        # A pattern as a program name runs what it finds, which is never written by accident.
        pattern = first.text.rsplit("/", 1)[-1]
        for likely in (each for each in LIKELY if fnmatchcase(each, pattern)):
            run_program(shell, likely, fields, stdin, span)
    return ANYTHING


def run_program(
    shell: Shell, name: str, fields: list[Field], stdin: Stream, span: Span
) -> Stream:
    base = name.rsplit("/", 1)[-1]
    if "/" in name and not SYSTEM_PROGRAMS.match(name):
        run_path(shell, fields, span)
    spec = table(base) or table(base.lower())
    if spec is None and base.startswith("git-"):
        words = [
            literal("git", fields[0].span),
            literal(base[4:], fields[0].span),
            *fields[1:],
        ]
        return run_program(shell, "git", words, stdin, span)
    if spec is not None and base != base.lower() and table(base) is None:
        # On a file system that ignores case it is the same program, elsewhere another one.
        shell.emit(EffectKind.UNKNOWN, base, unknown_reason(base), span)
    if spec is None:
        if "/" not in name:
            shell.emit(EffectKind.UNKNOWN, base, unknown_reason(name), span)
        return Stream(None, taints_of((stdin, *fields)))
    call = Call(shell, fields, stdin, span, spec)
    handler = call.spec.handler or spec.handler
    return find_handler(handler)(call) if handler else run_call(call)


def run_path(shell: Shell, fields: list[Field], span: Span) -> None:
    """Run a program named by its path: a file of the project, or one downloaded or written earlier."""
    given = fields[0]
    path = path_of(shell, given)
    known = shell.scope.files.get(path)
    if known and floors.check_remote_code(shell, known.taints, given.shown, span):
        return
    text = shell.text_written(path)
    if text is not None:
        # Without a first line for its interpreter, the shell that runs this runs it.
        interpreter = literal(find_interpreter(text) or "sh", span)
        shell.invoke([interpreter, *fields], NOTHING, span)
        return
    shell.emit(EffectKind.EXEC, path, f"runs the program {given.shown}", span)


def find_interpreter(text: str) -> str | None:
    """Return the program that the first line of a script names, None if it names none."""
    found = INTERPRETER.match(text)
    return found[1] if found else None


def unknown_reason(name: str) -> str:
    """Return why a program is unknown, with a hint for shells that are not POSIX."""
    if POWERSHELL.match(name):
        return f"{name} is PowerShell, which is not judged: run it through a POSIX shell"
    if name.lower() in CMD or name.endswith((".exe", ".bat", ".cmd", ".ps1")):
        return f"{name} belongs to the Windows command line, which is not judged"
    shown = name[:60] if name.isprintable() else repr(name[:60])
    return f"{shown} is not a known program" if shown else "an empty word is not a program"
