"""Built-in commands of the shell that change its own state."""

import re

from cli_guard.commands.effects.call import Call
from cli_guard.commands.effects.environment import CODE_NAMES, variable_means
from cli_guard.commands.effects.paths import path_of
from cli_guard.commands.effects.values import INPUT, run_shell, take_script
from cli_guard.commands.expand.fields import Field, literal
from cli_guard.commands.floors import check_remote_code
from cli_guard.commands.handlers.arithmetic import compute
from cli_guard.commands.model import Kind
from cli_guard.commands.scope import (
    ANYTHING,
    MOST_ELEMENTS,
    NOTHING,
    SECRET,
    Stream,
    make_unsure,
    taints_of,
)


def cd(call: Call) -> Stream:
    """The current folder changes for the commands behind."""
    for operand in call.arguments.operands[:1]:
        if operand.text != "-":
            call.shell.scope.folder = path_of(call.shell, operand) if operand.text is not None else None
    if not call.arguments.operands and call.program.name == "cd":
        call.shell.scope.folder = "~"
    return NOTHING


def export(call: Call) -> Stream:
    """Variables are set, for the shell or (`export`, `declare -x`) for every command behind."""
    words = call.fields[1:]
    options = [word for word in words if word.start.startswith(("-", "+"))]
    names = [word for word in words if word not in options]
    exporting = call.program.name == "export" or call.fields[0].text == "export"
    exporting = exporting or any("x" in word.start for word in options)
    if not names and not any("f" in word.start.lower() for word in options):
        call.effect(Kind.CREDENTIAL, None, "prints every variable, secrets among them", call.span)
        return Stream(None, frozenset((SECRET,)))
    for word in names:
        name, equals, value = word.start.partition("=")
        name = name.removesuffix("+")
        compute(call, word)
        if call.fields[0].text == "local" and not call.shell.running:
            continue
        if any("n" in option.start for option in options) and variable_means(value, None):
            # A name for another variable: to set it is to set that one.
            call.shell.environment(value, None, word.span)
        flags = "".join(option.start for option in options)
        if call.program.name == "declare" and call.shell.running and "g" not in flags:
            call.shell.scope.local.add(name)
        if equals:
            known = value if word.text is not None else None
            # With `-i`, `-u`, `-l` or as an array the value is another one.
            plain = known is not None and not set(flags) & set("iula") and not known.startswith("(")
            call.shell.scope.variables[name] = Stream(known if plain else None, word.taints, word.origin)
        if exporting or name in call.shell.scope.exported or CODE_NAMES.match(name):
            call.shell.scope.exported.add(name)
            held = call.shell.scope.variables.get(name)
            if equals or held:
                call.shell.environment(name, held.text if held else None, word.span)
    return NOTHING


def set_options(call: Call) -> Stream:
    """`set -e` is harmless, `set -- a b` sets the arguments, `set` alone prints everything."""
    words = call.fields[1:]
    if not words:
        call.effect(Kind.CREDENTIAL, None, "prints every variable, secrets among them", call.span)
        return Stream(None, frozenset((SECRET,)))
    if any(re.match(r"-[a-zA-Z]*k|keyword\Z", word.start) for word in words):
        call.effect(Kind.UNKNOWN, None, "lets assignments stand behind a command", call.span)
    rest = words
    while rest and rest[0].start[:1] in ("-", "+") and rest[0].text != "--":
        rest = rest[2:] if rest[0].start[1:].endswith("o") else rest[1:]
    if rest and rest[0].text != "--" and "=" in rest[0].start:
        call.effect(
            Kind.UNKNOWN,
            None,
            "sets no variable in this shell: it looks like the Windows command line",
            call.span,
        )
    if rest:
        given = rest[1:] if rest[0].text == "--" else rest
        arguments = tuple(Stream(each.text, each.taints, each.origin) for each in given)
        sure = len(arguments) <= MOST_ELEMENTS and not any(each.many for each in given)
        call.shell.scope.arguments = arguments if sure else None
    return NOTHING


def fill(call: Call, variable: Field, value: Stream) -> None:
    """A variable gets a value that no assignment in the text gives it."""
    if CODE_NAMES.match(variable.shown):
        call.shell.environment(variable.shown, None, variable.span)
    call.shell.scope.variables[variable.shown] = value


def read(call: Call) -> Stream:
    """Variables are read from the input: what they hold is as little known as that."""
    stdin = call.stdin
    for option, value in call.arguments.values:
        if "-a" in option.names:
            call.shell.scope.variables[value.shown] = Stream(None, stdin.taints)
    for operand in call.arguments.operands:
        origin = stdin.origin if stdin.origin in ("paths", "rooted") else ""
        compute(call, operand)
        known = stdin.text.strip(" \t\n") if stdin.text is not None and stdin != NOTHING else None
        if known is not None and "\\" in known and not call.arguments.has("-r"):
            known = None
        single = (
            known if known is not None and "\n" not in known and len(call.arguments.operands) == 1 else None
        )
        fill(call, operand, Stream(single, stdin.taints, origin))
    return NOTHING


def mapfile(call: Call) -> Stream:
    """mapfile: an array holds the lines of the input."""
    output = call.run()
    for operand in call.arguments.operands or [literal("MAPFILE", call.span)]:
        fill(call, operand, Stream(None, call.stdin.taints))
    return output


def getopts(call: Call) -> Stream:
    """getopts: a variable holds the letter of an option."""
    for operand in call.arguments.operands[1:2]:
        fill(call, operand, ANYTHING)
    return call.run()


def shift(call: Call) -> Stream:
    """shift: the first arguments are gone; the other words of this table change nothing."""
    if call.fields[0].text == "shift" and call.shell.scope.arguments is not None:
        count = call.fields[1].text if len(call.fields) > 1 else "1"
        sure = count is not None and count.isdecimal()
        call.shell.scope.arguments = call.shell.scope.arguments[int(count or 0) :] if sure else None
    return call.run()


def unset(call: Call) -> Stream:
    for operand in call.arguments.operands:
        compute(call, operand)
        if operand.text is None:
            call.shell.scope.variables = dict.fromkeys(call.shell.scope.variables, ANYTHING)
        elif "[" in operand.text:
            call.shell.scope.variables[operand.text.partition("[")[0]] = ANYTHING
        else:
            call.shell.scope.variables[operand.text] = Stream("", items=())
            call.shell.scope.functions.pop(operand.text, None)
    return NOTHING


def alias(call: Call) -> Stream:
    """A word stands for a text from here on; the text is looked at as if it ran."""
    for operand in call.arguments.operands:
        name, equals, text = operand.start.partition("=")
        if not equals:
            continue
        if operand.text is None:
            call.effect(
                Kind.UNKNOWN, name, "gives a word a meaning that is not known before it runs", call.span
            )
        elif name not in call.shell.running:
            call.shell.running.append(name)
            call.shell.run_nested(text, operand.span)
            call.shell.running.pop()
            call.shell.scope.aliases[name] = text
            call.effect(Kind.EXEC, name, f"makes {name} mean another command", operand.span)
    return NOTHING


def trap(call: Call) -> Stream:
    """A text is run when the shell ends or gets a signal."""
    operands = call.arguments.operands
    if len(operands) > 1 and operands[0].text not in ("", "-"):
        # When it runs nobody knows: what it sets may be set from here on.
        scope = call.shell.scope
        before = dict(scope.variables)
        run_shell(call, Stream(operands[0].text, operands[0].taints), operands[0].span, NOTHING, here=True)
        scope.variables = make_unsure(before, scope.variables)
    return NOTHING


def evaluate(call: Call) -> Stream:
    """All words together are a script."""
    words = [word for word in call.fields[1:] if word.text != "--"]
    known = all(word.text is not None for word in words)
    taints = taints_of(words)
    if any(word.assumed for word in words):
        call.effect(Kind.UNKNOWN, None, "runs text that depends on a variable set elsewhere", call.span)
    text = " ".join(word.shown for word in words)
    code = Stream(text if known else None, taints)
    return run_shell(call, code, call.span, call.stdin, here=True) if words else NOTHING


def source(call: Call) -> Stream:
    """A file is run in this shell."""
    for operand in call.arguments.operands[:1]:
        if operand.text in INPUT:
            return run_shell(call, call.stdin, operand.span, NOTHING, here=True)
        take_script(call, operand)
        known = operand.stream or call.shell.scope.files.get(path_of(call.shell, operand))
        if known is not None and known.text is not None:
            call.shell.run_nested(known.text, operand.span)
    return NOTHING


def lookup(call: Call) -> Stream:
    """`command -v NAME` asks, `command NAME ...` runs."""
    words = call.fields[1:]
    while words and words[0].start.startswith("-") and words[0].text not in (None, "-"):
        if words[0].text == "--":
            words = words[1:]
            break
        if set(words[0].start[1:]) & set("vV"):
            return locate(words[1:])
        takes_name = call.program.name == "exec" and words[0].text == "-a"
        words = words[2:] if takes_name else words[1:]
    if not words:
        if call.program.name == "exec" and call.stdin != NOTHING:
            # `exec < file`: everything behind reads from there.
            call.shell.scope.stdin = call.stdin
        return NOTHING
    if check_remote_code(call.shell, words[0].taints, "as the name of a program", call.span):
        return NOTHING
    functions, call.shell.scope.functions = call.shell.scope.functions, {}
    try:
        return call.shell.invoke(words, call.stdin, call.span)
    finally:
        call.shell.scope.functions = functions


def locate(words: list[Field]) -> Stream:
    """The path of a program, which runs it as well as its name does."""
    name = words[0].text if len(words) == 1 else None
    return Stream(f"{name}\n") if name else Stream(None, frozenset(), "value")


def which(call: Call) -> Stream:
    """Where a program is."""
    call.run()
    return locate(call.arguments.operands)


def coproc(call: Call) -> Stream:
    """A command in the background; the grammar takes its braces for words."""
    words = call.fields[1:]
    braces = next((at for at, word in enumerate(words) if word.text == "{"), None)
    words = words[braces + 1 :] if braces is not None else words
    call.effect(Kind.PROCESS, None, "starts a command that runs beside the shell", call.span)
    return call.shell.invoke(words, call.stdin, call.span) if words else NOTHING


HANDLERS = {
    "cd": cd,
    "export": export,
    "set": set_options,
    "read": read,
    "getopts": getopts,
    "mapfile": mapfile,
    "return": shift,
    "unset": unset,
    "alias": alias,
    "trap": trap,
    "eval": evaluate,
    "source": source,
    "command": lookup,
    "exec": lookup,
    "coproc": coproc,
    "which": which,
}
