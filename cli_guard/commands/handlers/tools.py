"""Tools whose operands are read by their form."""

import re
from dataclasses import replace
from fnmatch import fnmatchcase

from cli_guard.commands.effects.call import Call
from cli_guard.commands.effects.loose import may_be_option
from cli_guard.commands.effects.paths import EMPTIES, read_path
from cli_guard.commands.effects.running import run_call
from cli_guard.commands.effects.values import emit_for, take, values_of
from cli_guard.commands.expand.fields import Field, literal
from cli_guard.commands.expand.parameters import GLOB
from cli_guard.commands.inline.sed import find_new_text, leaves_no_text
from cli_guard.commands.model import EffectKind
from cli_guard.commands.scope import SECRET, SECRET_DATA, Stream

NAMED = ("--arg", "--argjson", "--slurpfile", "--rawfile", "--argfile")
PRINTING = frozenset("print free unit s B MiB GiB align-check help quit".split())
SECRETS = re.compile(r"(?:^|,)sec(?:rets?)?(?:[./,]|\Z)", re.IGNORECASE)


def assignments(call: Call) -> Stream:
    """Handle `name=value` operands as settings; a name alone is shown."""
    for operand in call.operands:
        if "=" in operand.start:
            emit_for(call, EffectKind.SYSTEM, operand, f"sets {operand.shown}")
    return run_call(call)


def pager(call: Call) -> Stream:
    """Handle a pager: it shows files; `+!command` runs a command at its start."""
    for operand in call.operands:
        if operand.start.startswith("+") and "!" in operand.start:
            emit_for(call, EffectKind.EXEC, operand, "runs a command when it starts")
    call.arguments.kinds[:] = [
        (kind, each)
        for kind, each in call.arguments.kinds
        if not each.start.startswith("+")
    ]
    return run_call(call)


def resources(call: Call) -> Stream:
    """Handle `kubectl get`: it may show every resource but secrets."""
    for operand in call.operands:
        if SECRETS.search(operand.shown):
            emit_for(call, EffectKind.CREDENTIAL, operand, "shows secrets")
            call.reads.append(SECRET_DATA)
    named = any(
        value.start.startswith(("name", "jsonpath=")) for _, value in call.arguments.values
    )
    for _, value in call.arguments.values:
        kind, equals, path = value.start.partition("=")
        if equals and kind.endswith("-file"):
            take(call, EffectKind.READ, literal(path, value.span, like=value))
    output = run_call(call)
    # Kubernetes names consist of letters, digits and dashes, and begin with a letter or digit.
    if named and not output.taints & {SECRET}:
        return replace(output, origin="value")
    return output


def cloud(call: Call) -> Stream:
    """Handle aws and az: a value that names a file (`file://`, `@`) is replaced by its contents."""
    marks = ("file://", "fileb://") if call.program.name == "aws" else ("@",)
    for word in call.fields[1:]:
        value = word.start.partition("=")[2] if word.start.startswith("-") else word.start
        mark = next((mark for mark in marks if value.startswith(mark)), None)
        if mark:
            take(
                call,
                EffectKind.READ,
                literal(value.removeprefix(mark), word.span, like=word),
            )
    return run_call(call)


def jq(call: Call) -> Stream:
    """Handle jq: some options take a name and a value, which the table cannot express."""
    words: list[Field] = []
    rest = list(call.fields[1:])
    while rest:
        word = rest.pop(0)
        words.append(word)
        if word.text in NAMED and len(rest) > 1:
            words.append(rest.pop(0))
            value = rest.pop(0)
            if "file" in (word.text or ""):
                call.reads.append(read_path(call.shell, value, value.span))
    call.replace_fields([call.fields[0], *words])
    return run_call(call)


def has_plain_names(call: Call, pattern: str) -> bool:
    """Return whether a pattern finds names in the current folder, none of which is code for perl."""
    scope = call.scope
    context = call.context
    known = (
        context.names is not None and "/" not in pattern and scope.folder == context.folder
    )
    return known and not any(
        set(name) & set("|<>") and fnmatchcase(name, pattern)
        for name in context.names or ()
    )


def perl(call: Call) -> Stream:
    """Handle perl: with `-n` or `-p` an operand with a pipe runs a command, one with `>` writes."""
    loops = call.arguments.has("-n", "-p")
    for value in values_of(call, "-F"):
        if set(value.start) & set("({`$@"):
            emit_for(call, EffectKind.EXEC, value, "has a separator that may hold code")
    for operand in call.operands if loops else ():
        text = operand.text or ""
        # Perl opens `x|` as a command; a pattern that may begin or end a name with anything finds it.
        loose = (
            operand.pattern
            and (GLOB.match(text) or GLOB.search(text[-1:]))
            and not has_plain_names(call, text)
        )
        unknown = operand.text is None and (
            operand.origin != "paths" or may_be_option(call.shell, operand)
        )
        if loose or unknown:
            emit_for(
                call, EffectKind.UNKNOWN, operand, "opens a file known only at run time"
            )
        elif "|" in operand.shown:
            emit_for(
                call, EffectKind.EXEC, operand, "runs the command in the name of a file"
            )
            call.shell.run_nested(operand.shown.strip().strip("|"), operand.span)
        elif operand.start.lstrip().startswith(">"):
            take(
                call,
                "write",
                literal(operand.start.lstrip("> \t\n"), operand.span, like=operand),
            )
    return run_call(call)


def yq(call: Call) -> Stream:
    """Handle yq: its language reads files and variables."""
    for word in call.fields[1:]:
        if re.search(r"\b(?:load\w*|strenv|env|envsubst)\b", word.start):
            call.effect(
                EffectKind.CREDENTIAL,
                None,
                "reads files or variables that its expression names",
                word.span,
            )
    return run_call(call)


def parted(call: Call) -> Stream:
    """Handle parted: `print` writes nothing to the device."""
    words = [operand.text for operand in call.operands]
    if len(words) > 1 and PRINTING.issuperset(words[1:]):
        call.arguments.kinds.clear()
    return run_call(call)


def make_file_system(call: Call) -> Stream:
    """Handle `mkfs -t TYPE`, which runs `mkfs.TYPE` with options of that program."""
    kinds = values_of(call, "-t")
    if not kinds or kinds[0].text is None:
        return run_call(call)
    kind = kinds[0]
    words = [
        word
        for word in call.fields[1:]
        if word.span != kind.span and word.text not in ("-t", "--type")
    ]
    return call.invoke([literal(f"mkfs.{kind.text}", kind.span), *words])


def tsc(call: Call) -> Stream:
    """Handle tsc: `--noEmit false` writes after all."""
    if any(operand.text == "false" for operand in call.operands):
        call.effect(EffectKind.WRITE, None, "writes what it compiles")
    return run_call(call)


def sed(call: Call) -> Stream:
    """Handle sed: with `-i` every file is written; with `-e` or `-f` the first operand is a file too."""
    given = call.arguments
    if given.has("-i", "--in-place", "-I"):
        files = given.operands[
            0 if given.has("-e", "-f", "--expression", "--file") else 1 :
        ]
        given.kinds[:] = [(kind, each) for kind, each in given.kinds if each not in files]
        codes = [value.text for value in values_of(call, "-e", "--expression")]
        codes += [each.text for each in given.operands if each not in files]
        known = [code for code in codes if code is not None]
        if known and len(known) == len(codes) and not given.has("-f", "--file"):
            call.new_text = "\n".join(map(find_new_text, known))
        quiet = given.has("-n", "--quiet", "--silent")
        empties = known and leaves_no_text("\n".join(known), quiet=quiet)
        verb = EMPTIES if empties else "changes"
        call.written += [(each, verb) for each in files]
    return run_call(call)
