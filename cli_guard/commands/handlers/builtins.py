"""Shell built-ins that change the state of the shell."""

import re
from itertools import pairwise

from cli_guard.commands.effects.call import Call
from cli_guard.commands.effects.environment import CODE_NAMES
from cli_guard.commands.effects.paths import path_of, physical_path
from cli_guard.commands.effects.places import unfold_home
from cli_guard.commands.effects.running import run_call
from cli_guard.commands.effects.values import INPUT, run_shell, take_script
from cli_guard.commands.expand.fields import Field, field_of, stream_of
from cli_guard.commands.expand.words import BLANKS
from cli_guard.commands.floors import check_remote_code
from cli_guard.commands.model import EffectKind
from cli_guard.commands.plain import COMPARISONS, PLAIN_SETTINGS, name_setting
from cli_guard.commands.scope import (
    NOTHING,
    SECRET_DATA,
    Stream,
    make_unsure,
    taints_of,
)


def cd(call: Call) -> Stream:
    """Handle cd: change the current folder for the commands that follow."""
    scope = call.scope
    expander = call.shell.expander()
    here = expander.variable("PWD")
    for operand in call.operands[:1]:
        target = (
            field_of(expander.variable("OLDPWD"), operand.span)
            if operand.text == "-"
            else operand
        )
        path = (
            physical_path(call.shell, target)
            if call.arguments.has("-P")
            else path_of(call.shell, target)
        )
        # With two folders it fails, or takes the first: that differs between versions.
        scope.folder = path if target.known and len(call.operands) == 1 else None
        scope.may_have_stayed = not is_there(call, scope.folder)
        scope.unsure_folder = scope.unsure_folder and not target.start.startswith(
            ("/", "~")
        )
    if not call.operands and call.program.name == "cd":
        scope.folder = "~"
    scope.variables["OLDPWD"] = here
    return NOTHING


def is_there(call: Call, folder: str | None) -> bool:
    """Return whether there is such a folder, as far as the judge can look."""
    tree = call.context.tree
    return (
        folder is not None
        and tree is not None
        and tree.is_folder(unfold_home(folder, call.context))
    )


def working_folder(call: Call) -> Stream:
    run_call(call)
    return call.shell.expander().variable("PWD")


def export(call: Call) -> Stream:
    """Set variables for the shell or (`export`, `declare -x`) for all later commands."""
    words = call.fields[1:]
    flags = "".join(word.start for word in words if word.start.startswith(("-", "+")))
    names = [word for word in words if not word.start.startswith(("-", "+"))]
    is_export = call.fields[0].text == "export"
    if not is_export or flags:
        call.reject(" ".join(filter(None, (call.fields[0].shown, flags))))
    if "p" in flags or not (names or "f" in flags.lower()):
        call.effect(EffectKind.CREDENTIAL, None, "prints variables, secrets included")
        return SECRET_DATA
    for word in names:
        name, equals, value = word.start.partition("=")
        name = name.removesuffix("+")
        if not name.isidentifier() or (word.text is None and not equals):
            call.reject("a name that is not plain", word.span)
        if equals:
            # Each of the options changes the value, or what the name stands for.
            plain = word.text is not None and not flags
            call.shell.set_variable(
                name, Stream(value if plain else None, word.taints, word.origin)
            )
        if (
            is_export
            or "x" in flags
            or name in call.scope.exported
            or CODE_NAMES.match(name)
        ):
            call.scope.exported.add(name)
            if construct := name_setting(name):
                call.reject(construct, word.span)
            held = call.scope.variables.get(name)
            if equals or held:
                call.shell.environment(name, held.text if held else None, word.span)
    return NOTHING


def set_options(call: Call) -> Stream:
    """Handle set: `set -e` is harmless, `set -- a b` sets the arguments, `set` alone prints every variable."""
    words = call.fields[1:]
    if not words:
        call.effect(EffectKind.CREDENTIAL, None, "prints every variable, secrets included")
        return SECRET_DATA
    if not is_plain_setting(words):
        call.reject("set with other options than -e, -u, -x and pipefail")
    for before, word in pairwise(["", *(word.start for word in words)]):
        if word == "xtrace" or re.match(r"[-+][a-zA-Z]*x", word):
            call.scope.traces = (before if word == "xtrace" else word).startswith("-")
    rest = words
    while rest and rest[0].start[:1] in ("-", "+") and rest[0].text != "--":
        rest = rest[2:] if rest[0].start[1:].endswith("o") else rest[1:]
    if rest:
        given = rest[1:] if rest[0].text == "--" else rest
        arguments = tuple(map(stream_of, given))
        call.scope.arguments = arguments if not any(each.many for each in given) else None
    return NOTHING


def is_plain_setting(words: list[Field]) -> bool:
    text = " ".join(word.shown for word in words)
    while found := PLAIN_SETTINGS.match(text):
        text = text[found.end() :]
    return not text and all(word.known for word in words)


def check_variable(call: Call, name: Field) -> None:
    """Reject a name that a builtin sets, if it is not plain."""
    if not name.known or not name.shown.isidentifier():
        call.reject("a name of a variable that is not plain", name.span)
    elif construct := name_setting(name.shown):
        call.reject(construct, name.span)
    else:
        call.shell.check_name(name.shown, name.span)


def read(call: Call) -> Stream:
    """Read variables from the input: their values are known as far as the input is."""
    stdin = call.stdin
    if call.arguments.has("-a") or call.arguments.loose or call.arguments.unknown:
        call.reject("an option of read that is not plain")
    for operand in call.operands:
        origin = stdin.origin if stdin.origin in ("paths", "names") else ""
        check_variable(call, operand)
        separators = call.shell.expander().variable("IFS").text
        known = stdin.text if stdin.text is not None and stdin != NOTHING else None
        if known is not None and separators != "":
            known = known.strip(BLANKS) if separators == BLANKS else None
        if known is not None and "\\" in known and not call.arguments.has("-r"):
            known = None
        if any(
            not {"-r", "-p", "-s"}.intersection(option.names)
            for option in call.arguments.present
        ):
            # `read -n 4` takes a part of the line.
            known = None
        single = (
            known
            if known is not None and "\n" not in known and len(call.operands) == 1
            else None
        )
        if CODE_NAMES.match(operand.shown):
            call.shell.environment(operand.shown, None, operand.span)
        call.shell.set_variable(
            operand.shown, Stream(single, stdin.taints, origin, stdin.assumed)
        )
    return NOTHING


def shift(call: Call) -> Stream:
    """Handle shift: drop the first arguments; the other words of this table change nothing."""
    if call.fields[0].text == "shift" and call.scope.arguments is not None:
        count = call.fields[1].text if len(call.fields) > 1 else "1"
        sure = count is not None and count.isdecimal()
        call.scope.arguments = call.scope.arguments[int(count or 0) :] if sure else None
    return run_call(call)


def unset(call: Call) -> Stream:
    if call.arguments.present:
        call.reject("unset with options")
    for operand in call.operands:
        check_variable(call, operand)
        call.shell.set_variable(operand.shown, NOTHING)
        call.scope.functions.pop(operand.shown, None)
        call.scope.exported.discard(operand.shown)
    return NOTHING


def alias(call: Call) -> Stream:
    """Define an alias, and judge its text as if it ran."""
    for operand in call.operands:
        name, equals, text = operand.start.partition("=")
        if not equals:
            continue
        if operand.text is None:
            call.effect(EffectKind.UNKNOWN, name, "defines an alias known only at run time")
        elif name not in call.shell.running:
            call.shell.running.append(name)
            call.shell.run_nested(text, operand.span)
            call.shell.running.pop()
            call.scope.aliases[name] = text
            call.effect(EffectKind.EXEC, name, f"redefines {name}", operand.span)
    return NOTHING


def trap(call: Call) -> Stream:
    """Judge text that runs when the shell ends or gets a signal."""
    operands = call.operands
    if len(operands) > 1 and operands[0].text not in ("", "-"):
        # It is unknown when the text runs: the variables it sets may be set from here on.
        scope = call.scope
        before = dict(scope.variables)
        run_shell(
            call,
            Stream(operands[0].text, operands[0].taints),
            operands[0].span,
            NOTHING,
            here=True,
        )
        scope.variables = make_unsure(before, scope.variables)
    return NOTHING


def evaluate(call: Call) -> Stream:
    """Run all words joined as a script."""
    words = [word for word in call.fields[1:] if word.text != "--"]
    known = all(word.text is not None for word in words)
    taints = taints_of(words)
    if any(word.assumed for word in words):
        call.effect(
            EffectKind.UNKNOWN, None, "runs text that depends on a variable set elsewhere"
        )
    text = " ".join(word.shown for word in words)
    code = Stream(text if known else None, taints)
    return run_shell(call, code, call.span, call.stdin, here=True) if words else NOTHING


def source(call: Call) -> Stream:
    """Run a file in this shell."""
    for operand in call.operands[:1]:
        if operand.text in INPUT:
            return run_shell(call, call.stdin, operand.span, NOTHING, here=True)
        take_script(call, operand)
        known = operand.stream or call.scope.files.get(path_of(call.shell, operand))
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
            call.scope.stdin = call.stdin
        return NOTHING
    if check_remote_code(
        call.shell, words[0].taints, "as the name of a program", call.span
    ):
        return NOTHING
    functions = call.scope.functions
    call.scope.functions = {}
    try:
        return call.invoke(words)
    finally:
        call.scope.functions = functions


def locate(words: list[Field]) -> Stream:
    """Return the path of a program; running that path is running the program."""
    name = words[0].text if len(words) == 1 else None
    return Stream(f"{name}\n") if name else Stream(None, frozenset(), "value")


def which(call: Call) -> Stream:
    run_call(call)
    return locate(call.operands)


def examine(call: Call) -> Stream:
    """Handle `test` and `[`: the words say which of them are operators, so those must be known."""
    words = [word for word in call.fields[1:] if word.text != "]"]
    while words and words[0].text == "!":
        words = words[1:]
    operator = words[len(words) - 2] if len(words) in (2, 3) else None
    texts = [word.text for word in words if word.known]
    compared = words[::2] if operator and operator.text in COMPARISONS else []
    if any(
        (word.many and word.origin not in ("value", "number"))
        or (word.pattern and word.is_open)
        for word in words
    ):
        call.reject("words in [ ] that may be operators")
    elif len(words) > 3 and any(
        not one.known and not other.known for one, other in pairwise(words)
    ):
        call.reject("a test of several parts with unknown words")
    elif (operator and not operator.known) or {"-v", "-R"}.intersection(texts):
        call.reject("an operator of [ ] that is unknown or evaluates")
    elif any(
        each.text is None and each.origin not in ("value", "number") for each in compared
    ):
        call.reject("arithmetic on a value that is not known to be a number")
    return run_call(call)
