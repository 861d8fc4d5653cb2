"""Programs that make commands out of their input, or act on processes."""

from dataclasses import replace

from cli_guard.commands import floors
from cli_guard.commands.effects.call import Call
from cli_guard.commands.effects.values import run_shell
from cli_guard.commands.expand.fields import Field, literal, stream_of
from cli_guard.commands.model import Kind
from cli_guard.commands.scope import NOTHING, Stream

MOST_ITEMS = 40
REPLACES = ("-I", "-i", "--replace")
MARKS = frozenset((":::", "::::", ":::+", "::::+"))


def items_of(call: Call, *, lines: bool = False) -> list[Field]:
    """What the input holds, one field a word or line; one that is not known stands for all."""
    stdin = call.stdin
    if stdin == NOTHING:
        # Whatever the input of the shell itself is.
        return [Field(None, "", call.span, many=True)]
    if stdin.text is not None:
        text = stdin.text.replace("\0", "\n")
        words = [part for part in (text.split("\n") if lines else text.split()) if part][:MOST_ITEMS]
        return [Field(word, word, call.span, stdin.taints) for word in words]
    return [Field(None, "", call.span, stdin.taints, stdin.origin, many=True)]


def xargs(call: Call) -> Stream:
    """A command with its input as further words, or in the place of a mark."""
    given = call.arguments
    call.own_effect()
    call.by_options()
    call.not_understood()
    mark = next((value.shown for option, value in given.values if set(option.names) & set(REPLACES)), None)
    if mark is None and given.has(*REPLACES):
        mark = "{}"
    items = items_of(call, lines=mark is not None)
    from_file = given.has("-a", "--arg-file")
    if from_file:
        items = [Field(None, "", call.span, many=True)]
    if not given.rest:
        return replace(call.stdin, text=None)
    if mark is None:
        return call.shell.invoke([*given.rest, *items], NOTHING, call.span)
    output = NOTHING
    for item in items or [Field(None, "", call.span)]:
        words = [fill_mark(word, mark, item) for word in given.rest]
        output = call.shell.invoke(words, NOTHING, call.span)
    return output


def fill_mark(word: Field, mark: str, item: Field) -> Field:
    """A word with an item in the place of the mark."""
    if word.text is None or mark not in word.text:
        return word
    taints = word.taints | item.taints
    if item.text is not None:
        text = word.text.replace(mark, item.text)
        return Field(text, text, word.span, taints)
    whole = word.text == mark
    return Field(None, word.text.partition(mark)[0], word.span, taints, item.origin, many=whole and item.many)


def parallel(call: Call) -> Stream:
    """GNU parallel: a command line for a shell, once for every item."""
    call.by_options()
    call.not_understood()
    call.finish()
    rest = call.arguments.rest or call.arguments.operands
    at = next((i for i, word in enumerate(rest) if word.text in MARKS), len(rest))
    command, items = rest[:at], [word for word in rest[at:] if word.text not in MARKS]
    if any(word.text == "::::" for word in rest) or not items:
        items = items_of(call, lines=True) or [Field(None, "", call.span)]
    output = NOTHING
    for item in items[:MOST_ITEMS]:
        words = [fill_mark(word, "{}", item) for word in command]
        if words == command:
            words = [*command, item]
        known = all(word.text is not None for word in words)
        text = " ".join(word.shown for word in words)
        if known:
            output = call.shell.run_nested(text, call.span)
        elif words and words[0].text is not None and not set(text) & set(";|&$`<>()"):
            split = [literal(part, call.span) for part in words[0].text.split()]
            output = call.shell.invoke([*split, *words[1:]], NOTHING, call.span)
        else:
            call.effect(Kind.UNKNOWN, None, "runs commands that are not known before they run", call.span)
    return output


def run_guarded(call: Call) -> Stream:
    """`cli-guard exec`: one word is text for bash, several are a command and its words; `--stdin` is its input."""
    folder = call.shell.scope.folder
    call.by_options()
    call.not_understood()
    answers = [v for option, v in call.arguments.values if {"--stdin", "--respond"} & set(option.names)]
    stdin = stream_of(answers[-1]) if answers else call.stdin
    rest, output = call.arguments.rest, NOTHING
    if len(rest) == 1 and not rest[0].many:
        output = run_shell(call, stream_of(rest[0]), rest[0].span, stdin)
    elif rest:
        output = call.shell.invoke(rest, stdin, call.span)
    call.shell.scope.folder = folder
    return output


def kill(call: Call) -> Stream:
    """kill: a signal to processes; -1 is every process there is."""
    words = [word.shown for word in call.fields[1:]]
    if words[:1] in (["-l"], ["-L"], ["--list"], ["--table"], ["-0"]):
        return Stream(None, frozenset(), "value")
    signalled = bool(words) and (words[0].startswith("-") and words[0] not in ("-l", "-L"))
    after = words[2:] if words[:1] in (["-s"], ["-n"], ["--signal"]) else words[1:]
    if signalled and "-1" in after:
        floors.deny_kill_all(call.shell, call.span)
        return NOTHING
    return call.run()


HANDLERS = {"xargs": xargs, "parallel": parallel, "kill": kill, "guarded": run_guarded}
