"""Programs that build commands from their input, or signal processes."""

import re
from dataclasses import replace

from cli_guard.commands import floors
from cli_guard.commands.effects.call import Call
from cli_guard.commands.effects.running import (
    apply_options,
    finish,
    note_unknown_words,
    own_effect,
    run_call,
)
from cli_guard.commands.effects.values import run_shell, values_of
from cli_guard.commands.expand.fields import Field, stream_of
from cli_guard.commands.model import EffectKind
from cli_guard.commands.scope import NOTHING, Stream, taints_of

MOST_ITEMS = 40
REPLACES = ("-I", "-i", "--replace")
MARK = re.compile(r"\{\d*(?:[.#%]|//|/\.?)?\}")
PLAIN_OPTIONS = ("-j", "--jobs", "-k", "--keep-order", "--bar", "--tag")
MARKS = frozenset((":::", "::::", ":::+", "::::+"))


# Options with which xargs does not split at blanks, or passes the words to several calls.
OTHER_ENDS = ("-d", "--delimiter", "-E", "-e", "--eof")
SEVERAL = tuple("-n --max-args -L -l --max-lines -s --max-chars -P --max-procs".split())


def items_of(call: Call, *, lines: bool) -> list[Field]:
    """Return the input as one field per word or line; an unknown one stands for all."""
    stdin = call.stdin
    by_nul = call.arguments.has("-0", "--null")
    text = stdin.text if stdin != NOTHING else None
    # xargs takes quotes and backslashes as a shell does.
    is_plain = (
        text is not None
        and not set(text) & set("'\"\\")
        and not call.arguments.has(*OTHER_ENDS)
    )
    if text is not None and (is_plain or by_nul):
        words = text.split("\n") if lines else text.split()
        if by_nul:
            words = text.split("\0")
        if len(words) <= MOST_ITEMS:
            found = [Field(word, word, call.span, stdin.taints) for word in words if word]
            return [replace(word, assumed=stdin.assumed) for word in found]
    return [Field(None, "", call.span, stdin.taints, stdin.origin, many=True)]


def xargs(call: Call) -> Stream:
    """Run a command with its input as further words, or in place of a mark."""
    given = call.arguments
    own_effect(call)
    apply_options(call)
    note_unknown_words(call)
    marks = [value.shown for value in values_of(call, *REPLACES)]
    if not marks and given.has(*REPLACES):
        marks = ["{}"]
    mark = marks[0] if marks else None
    items = items_of(call, lines=mark is not None)
    if given.has("-a", "--arg-file"):
        items = [Field(None, "", call.span, many=True)]
    if not given.rest:
        return replace(call.stdin, text=None)
    if mark is None:
        output = call.invoke([*given.rest, *items], NOTHING)
        for item in items if given.has(*SEVERAL) and len(items) > 1 else ():
            # Each may be the first word of a call.
            output = call.invoke([*given.rest, item], NOTHING)
        return output
    output = NOTHING
    for item in items or [Field(None, "", call.span)]:
        words = [fill_mark(word, mark, item) for word in given.rest]
        output = call.invoke(words, NOTHING)
    return output


def fill_mark(word: Field, mark: str, item: Field) -> Field:
    if word.text is None or mark not in word.text:
        return word
    taints = word.taints | item.taints
    if item.text is not None:
        text = word.text.replace(mark, item.text)
        return Field(text, text, word.span, taints, assumed=item.assumed)
    whole = word.text == mark
    return Field(
        None,
        word.text.partition(mark)[0],
        word.span,
        taints,
        item.origin,
        many=whole and item.many,
    )


def parallel(call: Call) -> Stream:
    """Judge what parallel runs: its command with each item in the place of `{}`, in a shell and as words."""
    apply_options(call)
    note_unknown_words(call)
    finish(call)
    rest = call.arguments.rest or call.operands
    marks = [at for at, word in enumerate(rest) if word.text in MARKS]
    command = rest[: marks[0]] if marks else rest
    items = [word for word in rest[len(command) :] if word.text not in MARKS]
    is_plain = all(option.names[0] in PLAIN_OPTIONS for option in call.arguments.present)
    is_plain = is_plain and all(set(MARK.findall(word.start)) <= {"{}"} for word in command)
    if (
        not is_plain
        or len(marks) != 1
        or rest[marks[0]].text != ":::"
        or not all(word.known for word in rest)
    ):
        call.effect(EffectKind.EXEC, None, "runs commands that it builds from its input")
    for item in (items or items_of(call, lines=True))[:MOST_ITEMS]:
        texts = [item.start.join(MARK.split(word.start)) for word in command]
        words = [fill_mark(word, "{}", item) for word in command]
        if texts == [word.start for word in command]:
            texts.append(item.start)
            words.append(item)
        call.shell.run_child(" ".join(texts), call.span)
        if command:
            # The parallel of moreutils, and that of GNU with `-q`, run the words as they are.
            call.invoke(words, NOTHING)
    return Stream(None, taints_of(items))


def run_guarded(call: Call) -> Stream:
    """Handle `cli-guard exec`: one word is text for bash, several are a command; `--stdin` is its input."""
    folder = call.scope.folder
    apply_options(call)
    note_unknown_words(call)
    answers = values_of(call, "--stdin", "--respond")
    stdin = stream_of(answers[-1]) if answers else call.stdin
    rest = call.arguments.rest
    output = NOTHING
    if len(rest) == 1 and not rest[0].many:
        output = run_shell(call, stream_of(rest[0]), rest[0].span, stdin)
    elif rest:
        output = call.invoke(rest, stdin)
    call.scope.folder = folder
    return output


def set_scripts(call: Call) -> Stream:
    """Handle `npm pkg set scripts.NAME=COMMAND`: the command is judged as if it ran now."""
    for word in call.operands:
        name, _, command = (word.text or "").partition("=")
        if name.startswith("scripts.") and command:
            call.shell.run_child(command, word.span)
    return run_call(call)


def kill(call: Call) -> Stream:
    """Signal processes; -1 is every process."""
    words = [word.shown for word in call.fields[1:]]
    if words[:1] in (["-l"], ["-L"], ["--list"], ["--table"], ["-0"]):
        return Stream(None, frozenset(), "value")
    signalled = bool(words) and (words[0].startswith("-") and words[0] not in ("-l", "-L"))
    after = words[2:] if words[:1] in (["-s"], ["-n"], ["--signal"]) else words[1:]
    if signalled and "-1" in after:
        floors.deny_kill_all(call.shell, call.span)
        return NOTHING
    return run_call(call)
