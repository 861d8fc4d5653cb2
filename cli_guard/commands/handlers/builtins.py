"""Shell built-ins that change the state of the shell."""

import re
from itertools import pairwise

from cli_guard.commands.effects.call import Call
from cli_guard.commands.effects.environment import CODE_NAMES, variable_means
from cli_guard.commands.effects.paths import path_of
from cli_guard.commands.effects.values import INPUT, run_shell, take_script
from cli_guard.commands.expand.arithmetic import compute, compute_name
from cli_guard.commands.expand.fields import Field, field_of, literal
from cli_guard.commands.floors import check_remote_code
from cli_guard.commands.model import Kind
from cli_guard.commands.scope import (
    ANYTHING,
    MOST_ELEMENTS,
    NOTHING,
    SECRET,
    TOKEN,
    UNSET,
    Stream,
    make_unsure,
    taints_of,
)


def cd(call: Call) -> Stream:
    """Handle cd: change the current folder for the commands that follow."""
    scope, expander = call.shell.scope, call.shell.expander()
    here = expander.variable("PWD")
    for operand in call.arguments.operands[:1]:
        target = field_of(expander.variable("OLDPWD"), operand.span) if operand.text == "-" else operand
        scope.folder = path_of(call.shell, target) if target.text is not None else None
    if not call.arguments.operands and call.program.name == "cd":
        scope.folder = "~"
    scope.variables["OLDPWD"] = here
    return NOTHING


def working_folder(call: Call) -> Stream:
    call.run()
    return call.shell.expander().variable("PWD")


def export(call: Call) -> Stream:
    """Set variables for the shell or (`export`, `declare -x`) for all later commands."""
    words = call.fields[1:]
    options = [word for word in words if word.start.startswith(("-", "+"))]
    names = [word for word in words if word not in options]
    exporting = call.program.name == "export" or call.fields[0].text == "export"
    exporting = exporting or any("x" in word.start for word in options)
    if not names and not any("f" in word.start.lower() for word in options):
        call.effect(Kind.CREDENTIAL, None, "prints every variable, secrets included", call.span)
        return Stream(None, frozenset((SECRET,)))
    if any("p" in option.start for option in options):
        return show_variables(call, names)
    for word in names:
        name, equals, value = word.start.partition("=")
        name = name.removesuffix("+")
        compute_name(call.shell, literal(name, word.span) if equals else word)
        if call.fields[0].text == "local" and not call.shell.running:
            continue
        if any("n" in option.start for option in options) and variable_means(value, None):
            # A nameref: setting it sets the other variable.
            call.shell.environment(value, None, word.span)
            compute_name(call.shell, literal(value, word.span))
        flags = "".join(option.start for option in options)
        call.shell.scope.keyed |= {name} if "A" in flags else set()
        call.shell.scope.integers |= {name} if "i" in flags else set()
        if call.program.name == "declare" and call.shell.running and "g" not in flags:
            call.shell.scope.local.add(name)
        if equals:
            known = value if word.text is not None else None
            # `-i`, `-u`, `-l` and arrays change the value.
            plain = known is not None and not set(flags) & set("iula") and not known.startswith("(")
            given = Stream(
                known if plain or name in call.shell.scope.integers else None, word.taints, word.origin
            )
            if any("n" in option.start for option in options):
                given = call.shell.expander().indirect(given)
            call.shell.set_variable(name, given, word.span)
        if exporting or name in call.shell.scope.exported or CODE_NAMES.match(name):
            call.shell.scope.exported.add(name)
            held = call.shell.scope.variables.get(name)
            if equals or held:
                call.shell.environment(name, held.text if held else None, word.span)
    return NOTHING


def show_variables(call: Call, names: list[Field]) -> Stream:
    """Handle `declare -p NAME`, which prints the value of a variable."""
    expander = call.shell.expander()
    held = [
        Stream(None, frozenset((TOKEN,))) if each.text is None else expander.variable(each.text)
        for each in names
    ]
    if taints := taints_of(held):
        call.effect(Kind.CREDENTIAL, None, "prints a variable that is named like a secret", call.span)
    return Stream(None, taints)


def set_options(call: Call) -> Stream:
    """Handle set: `set -e` is harmless, `set -- a b` sets the arguments, `set` alone prints every variable."""
    words = call.fields[1:]
    if not words:
        call.effect(Kind.CREDENTIAL, None, "prints every variable, secrets included", call.span)
        return Stream(None, frozenset((SECRET,)))
    if any(re.match(r"-[a-zA-Z]*k|keyword\Z", word.start) for word in words):
        call.effect(Kind.UNKNOWN, None, "treats assignments after a command as variables", call.span)
    for before, word in pairwise(["", *(word.start for word in words)]):
        if word == "xtrace" or re.match(r"[-+][a-zA-Z]*x", word):
            call.shell.scope.traces = (before if word == "xtrace" else word).startswith("-")
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


def set_shell_options(call: Call) -> Stream:
    if any(word.text == "dotglob" for word in call.fields[1:]):
        call.effect(Kind.UNKNOWN, "dotglob", "makes patterns find hidden files such as .env", call.span)
    return call.run()


def fill(call: Call, variable: Field, value: Stream) -> None:
    """Set a variable that a built-in fills (`read`, `mapfile`, `getopts`)."""
    if CODE_NAMES.match(variable.shown):
        call.shell.environment(variable.shown, None, variable.span)
    call.shell.set_variable(variable.shown, value, variable.span)


def read(call: Call) -> Stream:
    """Read variables from the input: their values are known as far as the input is."""
    stdin = call.stdin
    for option, value in call.arguments.values:
        if "-a" in option.names:
            call.shell.scope.variables[value.shown] = Stream(None, stdin.taints)
    for operand in call.arguments.operands:
        origin = stdin.origin if stdin.origin in ("paths", "rooted") else ""
        compute_name(call.shell, operand)
        known = stdin.text.strip(" \t\n") if stdin.text is not None and stdin != NOTHING else None
        if known is not None and "\\" in known and not call.arguments.has("-r"):
            known = None
        single = (
            known if known is not None and "\n" not in known and len(call.arguments.operands) == 1 else None
        )
        fill(call, operand, Stream(single, stdin.taints, origin))
    return NOTHING


def mapfile(call: Call) -> Stream:
    """Handle mapfile: fill an array with the lines of the input."""
    output = call.run()
    for operand in call.arguments.operands or [literal("MAPFILE", call.span)]:
        fill(call, operand, Stream(None, call.stdin.taints))
    return output


def getopts(call: Call) -> Stream:
    """Handle getopts: set a variable to an option letter."""
    for operand in call.arguments.operands[1:2]:
        fill(call, operand, ANYTHING)
    return call.run()


def shift(call: Call) -> Stream:
    """Handle shift: drop the first arguments; the other words of this table change nothing."""
    if call.fields[0].text == "shift" and call.shell.scope.arguments is not None:
        count = call.fields[1].text if len(call.fields) > 1 else "1"
        sure = count is not None and count.isdecimal()
        call.shell.scope.arguments = call.shell.scope.arguments[int(count or 0) :] if sure else None
    return call.run()


def unset(call: Call) -> Stream:
    for operand in call.arguments.operands:
        compute_name(call.shell, operand)
        if operand.text is None:
            call.shell.scope.variables = dict.fromkeys(call.shell.scope.variables, ANYTHING)
        elif "[" in operand.text:
            call.shell.scope.variables[operand.text.partition("[")[0]] = ANYTHING
        else:
            call.shell.scope.variables[operand.text] = UNSET
            call.shell.scope.functions.pop(operand.text, None)
    return NOTHING


def alias(call: Call) -> Stream:
    """Define an alias, and judge its text as if it ran."""
    for operand in call.arguments.operands:
        name, equals, text = operand.start.partition("=")
        if not equals:
            continue
        if operand.text is None:
            call.effect(Kind.UNKNOWN, name, "defines an alias known only at run time", call.span)
        elif name not in call.shell.running:
            call.shell.running.append(name)
            call.shell.run_nested(text, operand.span)
            call.shell.running.pop()
            call.shell.scope.aliases[name] = text
            call.effect(Kind.EXEC, name, f"redefines {name}", operand.span)
    return NOTHING


def trap(call: Call) -> Stream:
    """Judge text that runs when the shell ends or gets a signal."""
    operands = call.arguments.operands
    if len(operands) > 1 and operands[0].text not in ("", "-"):
        # It is unknown when the text runs: the variables it sets may be set from here on.
        scope = call.shell.scope
        before = dict(scope.variables)
        run_shell(call, Stream(operands[0].text, operands[0].taints), operands[0].span, NOTHING, here=True)
        scope.variables = make_unsure(before, scope.variables)
    return NOTHING


def evaluate(call: Call) -> Stream:
    """Run all words joined as a script."""
    words = [word for word in call.fields[1:] if word.text != "--"]
    known = all(word.text is not None for word in words)
    taints = taints_of(words)
    if any(word.assumed for word in words):
        call.effect(Kind.UNKNOWN, None, "runs text that depends on a variable set elsewhere", call.span)
    text = " ".join(word.shown for word in words)
    code = Stream(text if known else None, taints)
    return run_shell(call, code, call.span, call.stdin, here=True) if words else NOTHING


def source(call: Call) -> Stream:
    """Run a file in this shell."""
    for operand in call.arguments.operands[:1]:
        if operand.text in INPUT:
            return run_shell(call, call.stdin, operand.span, NOTHING, here=True)
        take_script(call, operand)
        known = operand.stream or call.shell.scope.files.get(path_of(call.shell, operand))
        if known is not None and known.text is not None:
            call.shell.run_nested(known.text, operand.span)
    return NOTHING


def lookup(call: Call) -> Stream:
    """Handle command: `command -v NAME` prints, `command NAME ...` runs."""
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
            # `exec < file`: all later commands read from there.
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
    """Return the path of a program; running that path is running the program."""
    name = words[0].text if len(words) == 1 else None
    return Stream(f"{name}\n") if name else Stream(None, frozenset(), "value")


def which(call: Call) -> Stream:
    call.run()
    return locate(call.arguments.operands)


def coproc(call: Call) -> Stream:
    """Run a command in the background; the grammar parses its braces as words."""
    words = call.fields[1:]
    braces = next((at for at, word in enumerate(words) if word.text == "{"), None)
    words = words[braces + 1 :] if braces is not None else words
    call.effect(Kind.PROCESS, None, "runs a command in the background", call.span)
    return call.shell.invoke(words, call.stdin, call.span) if words else NOTHING


def let(call: Call) -> Stream:
    for word in call.fields[1:]:
        compute(call.shell, word)
    return NOTHING


def examine(call: Call) -> Stream:
    """Handle test: bash evaluates a subscript after `-v`; other shells evaluate the operands of `-eq` and its like."""
    words = [word.text for word in call.fields[1:]]
    if {"-v", "-eq", "-ne", "-lt", "-le", "-gt", "-ge"}.intersection(words):
        for before, word in pairwise(call.fields):
            if before.text == "-v":
                compute_name(call.shell, word)
            elif word.text is not None:
                compute(call.shell, word)
    return call.run()


HANDLERS = {
    "let": let,
    "test": examine,
    "cd": cd,
    "pwd": working_folder,
    "export": export,
    "set": set_options,
    "shopt": set_shell_options,
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
