"""Commands that print words, variables or the environment."""

import re
from dataclasses import replace

from cli_guard.commands.effects.call import Call
from cli_guard.commands.effects.environment import CODE_NAMES
from cli_guard.commands.effects.loose import may_be_option
from cli_guard.commands.effects.output import join_operands
from cli_guard.commands.effects.running import apply_options, note_unknown_words, run_call
from cli_guard.commands.expand.fields import Field
from cli_guard.commands.model import EffectKind
from cli_guard.commands.parse.quoting import ansi_c
from cli_guard.commands.scope import NOTHING, SECRET_DATA, TOKEN, Stream, taints_of
from cli_guard.lazy import regex

# What every shell prints alike: `%s` and `%%`, with line ends, tabs and backslashes written as escapes.
FORMAT = regex(r"(?:[^%\\]|%[s%]|\\[nt\\])*")
PLACE = regex(r"(%[s%])")


def echo(call: Call) -> Stream:
    words = call.fields[1:]
    escapes = ends = False
    while words and words[0].text and re.fullmatch(r"-[neE]+", words[0].text):
        escapes = escapes or "e" in words[0].text
        ends = ends or words[0].text != "-n"
        words = words[1:]
    output = join_operands(words, taints_of(words))
    if output.text is None:
        return show_output(call, output)
    # Shells differ in what they make of a backslash, and of other options than `-n`.
    is_doubtful = output.assumed or ends or "\\" in output.text
    text = ansi_c(output.text) if escapes else output.text
    if [word.text for word in call.fields[1:2]] == ["-n"]:
        text = text.removesuffix("\n")
    return show_output(call, replace(output, text=text, assumed=is_doubtful))


def printf(call: Call) -> Stream:
    """Print words by a format; `-v` sets a variable instead."""
    words = call.fields[1:]
    if words and words[0].text == "--":
        words = words[1:]
    elif words and (words[0].start.startswith("-") or may_be_option(call.shell, words[0])):
        call.reject("an option of printf")
        if words[0].text == "-v" and words[1:]:
            call.shell.set_variable(words[1].shown, format_words(words[2:]))
            if CODE_NAMES.match(words[1].shown) or "[" in words[1].shown:
                call.shell.environment(words[1].shown, None, words[1].span)
            return NOTHING
    return show_output(call, format_words(words))


def show_output(call: Call, stream: Stream) -> Stream:
    """Print a variable; one named like a secret is a secret."""
    if TOKEN in stream.taints:
        call.effect(
            EffectKind.CREDENTIAL, None, "prints a variable that is named like a secret"
        )
    return stream


def format_words(words: list[Field]) -> Stream:
    """Apply a printf format to its values if all are known; the format is reused for the values left.

    What shells may print otherwise is only assumed.
    """
    taints = taints_of(words)
    texts = [None if word.pattern else word.text for word in words]
    if None in texts or not texts:
        return Stream(None, taints, join_operands(words, taints).origin)
    form = texts[0] or ""
    values = [text or "" for text in texts[1:]]
    is_doubtful = any(word.assumed for word in words) or FORMAT.fullmatch(form) is None
    pieces = PLACE.split(ansi_c(form))
    output = list[str]()
    while True:
        for piece in pieces:
            if piece == "%s":
                output.append(values.pop(0) if values else "")
            else:
                output.append("%" if piece == "%%" else piece)
        if not values or "%s" not in pieces:
            return Stream("".join(output), taints, "", is_doubtful)


def environment(call: Call) -> Stream:
    """Handle `env` and `printenv`: show the environment or one variable, or run a command with more of it."""
    given = call.arguments
    if call.program.name == "printenv" and given.operands:
        names = [Field(each.text, each.start, each.span) for each in given.operands]
        secret = [
            name for name in names if call.shell.expander().variable(name.shown).taints
        ]
        if not secret and all(name.text is not None for name in names):
            return Stream(None, frozenset(), "value")
    with call.shell.subshell():
        rest = call.environment(list(given.rest)) if given.rest else []
        if given.rest and rest:
            given.rest[:] = rest
            return run_call(call)
    if call.arguments.values:
        apply_options(call)
    elif not call.is_help_request():
        note_unknown_words(call)
        call.effect(EffectKind.CREDENTIAL, None, "prints the environment, secrets included")
    return SECRET_DATA


def folder_of(call: Call) -> Stream:
    """Handle dirname: print the folder of a path, if its words are known."""
    output = run_call(call)
    words = call.fields[1:]
    if len(words) != 1 or words[0].pattern or not words[0].text or words[0].text[0] == "-":
        return output
    path = words[0].text.rstrip("/")
    folder = path.rpartition("/")[0].rstrip("/")
    root = "/" if words[0].text.startswith("/") else "."
    return Stream(f"{folder or root}\n", taints_of(words), "", words[0].assumed)
