"""Programs that build commands from their input, or signal processes."""

import posixpath
import re
import shlex
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice, pairwise, product

from cli_guard.commands import floors
from cli_guard.commands.effects.call import Call
from cli_guard.commands.effects.values import run_shell
from cli_guard.commands.expand.fields import Field, literal, stream_of
from cli_guard.commands.model import Kind
from cli_guard.commands.scope import NOTHING, Stream, narrowest, taints_of

MOST_ITEMS = 40
REPLACES = ("-I", "-i", "--replace")
MARK = re.compile(r"\{(?P<number>\d*)(?P<form>[.#%]|//|/\.?)?\}")
MARKS = frozenset((":::", "::::", ":::+", "::::+"))


def items_of(call: Call, *, lines: bool = False) -> list[Field]:
    """Return the input as one field per word or line; an unknown one stands for all."""
    stdin = call.stdin
    if stdin == NOTHING:
        # The input of the shell itself is unknown.
        return [Field(None, "", call.span, many=True)]
    if stdin.text is not None:
        text = stdin.text.replace("\0", "\n")
        words = [part for part in (text.split("\n") if lines else text.split()) if part]
        if len(words) <= MOST_ITEMS:
            return [Field(word, word, call.span, stdin.taints) for word in words]
    return [Field(None, "", call.span, stdin.taints, stdin.origin, many=True)]


def xargs(call: Call) -> Stream:
    """Run a command with its input as further words, or in place of a mark."""
    given = call.arguments
    call.own_effect()
    call.apply_options()
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
    if word.text is None or mark not in word.text:
        return word
    taints = word.taints | item.taints
    if item.text is not None:
        text = word.text.replace(mark, item.text)
        return Field(text, text, word.span, taints)
    whole = word.text == mark
    return Field(None, word.text.partition(mark)[0], word.span, taints, item.origin, many=whole and item.many)


def parallel(call: Call) -> Stream:
    """Handle parallel: run each item's command line in a shell; with `-q`, and in moreutils, run its words."""
    call.apply_options()
    call.not_understood()
    call.finish()
    rest = call.arguments.rest or call.arguments.operands
    marks = [at for at, word in enumerate(rest) if word.text in MARKS]
    command = rest[: marks[0]] if marks else rest
    sources = [rest[at + 1 : end] for at, end in pairwise([*marks, len(rest)])]
    if not any(sources) or any(rest[at].start.startswith("::::") for at in marks):
        sources = [items_of(call, lines=True) or [Field(None, "", call.span)]]
    own = next(
        (value.shown for option, value in call.arguments.values if {"-I", "--replace"} & {*option.names}),
        None,
    )
    if own:
        command = [replace_text(word, own, "{}") for word in command]
    if any("{=" in word.start for word in command):
        call.effect(Kind.EXEC, None, "runs the code between {= and =} on every item", call.span)
    output = NOTHING
    every = list(islice(product(*sources), MOST_ITEMS + 1))
    if len(every) > MOST_ITEMS:
        call.effect(Kind.UNKNOWN, None, "runs more commands than are judged", call.span)
    for items in every[:MOST_ITEMS]:
        if not any(MARK.search(word.start) for word in command):
            line = [*command, *(quote(item) if command else item for item in items)]
            plain = [*command, *items]
        else:
            line = [fill_marks(word, [quote(item) for item in items], items) for word in command]
            plain = [fill_marks(word, items, items) for word in command]
        for words in dict.fromkeys((tuple(line), tuple(plain))):
            output = run_line(call, words)
        if plain[0].text is not None and not set(plain[0].text) & set(" ;|&$`<>()") and len(plain) > 1:
            output = call.shell.invoke(plain, NOTHING, call.span)
    return output


def run_line(call: Call, words: Sequence[Field]) -> Stream:
    """Run one command line of parallel in a shell."""
    text = " ".join(word.start for word in words)
    if all(word.text is not None for word in words):
        return call.shell.run_nested(text, call.span)
    if words[0].text is not None and not set(text) & set(";|&$`<>()"):
        split = [literal(part, call.span) for part in words[0].text.split()]
        return call.shell.invoke([*split, *words[1:]], NOTHING, call.span)
    call.effect(Kind.UNKNOWN, None, "runs commands that are not known before they run", call.span)
    return NOTHING


def quote(item: Field) -> Field:
    return literal(shlex.quote(item.text), item.span, like=item) if item.text is not None else item


def replace_text(word: Field, old: str, new: str) -> Field:
    return literal(word.text.replace(old, new), word.span, like=word) if word.text is not None else word


def fill_marks(word: Field, items: Sequence[Field], plain: Sequence[Field]) -> Field:
    """Replace `{}`, `{2}` and `{.}` in a word by the items (parallel(1)); `plain` are the items unquoted."""
    if word.text is None or not MARK.search(word.text):
        return word
    taints = taints_of((word, *items))
    if any(item.text is None for item in items):
        whole = MARK.fullmatch(word.text) is not None
        start, origin = MARK.split(word.text)[0], narrowest({each.origin for each in items})
        return Field(None, start, word.span, taints, origin, many=whole and any(each.many for each in items))

    def one(found: re.Match[str]) -> str:
        number, form = found["number"], found["form"]
        if form in ("#", "%"):
            return "1"
        given, bare = (
            (items, plain) if not number else (items[int(number) - 1 :][:1], plain[int(number) - 1 :][:1])
        )
        return " ".join(
            shape_item(each.text or "", form) if form else whole.text or ""
            for whole, each in zip(given, bare, strict=True)
        )

    text = MARK.sub(one, word.text)
    return Field(text, text, word.span, taints)


def shape_item(text: str, form: str) -> str:
    """Return an item without its ending (`.`), its name (`/`), its folder (`//`) or its name without ending (`/.`)."""
    folder, name = posixpath.split(text)
    if form == "//":
        return folder or "."
    return posixpath.splitext(text if form == "." else name)[0] if form.endswith(".") else name


def run_guarded(call: Call) -> Stream:
    """Handle `cli-guard exec`: one word is text for bash, several are a command; `--stdin` is its input."""
    folder = call.shell.scope.folder
    call.apply_options()
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


def set_scripts(call: Call) -> Stream:
    """Handle `npm pkg set scripts.NAME=COMMAND`: the command is judged as if it ran now."""
    for word in call.arguments.operands:
        name, _, command = (word.text or "").partition("=")
        if name.startswith("scripts.") and command:
            call.shell.run_child(command, word.span)
    return call.run()


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
    return call.run()


HANDLERS = {
    "xargs": xargs,
    "parallel": parallel,
    "kill": kill,
    "set-scripts": set_scripts,
    "guarded": run_guarded,
}
