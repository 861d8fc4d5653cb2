"""Commands that print words, variables or the environment."""

import re

from cli_guard.commands.effects.call import Call, join_operands
from cli_guard.commands.effects.environment import CODE_NAMES
from cli_guard.commands.effects.loose import may_be_option
from cli_guard.commands.expand.fields import Field
from cli_guard.commands.model import Kind
from cli_guard.commands.parse.quoting import ansi_c
from cli_guard.commands.scope import NOTHING, SECRET, TOKEN, Stream, taints_of

FORMAT = re.compile(r"%(?:%|[-0-9.]*[sbd])")


def echo(call: Call) -> Stream:
    words, escapes = call.fields[1:], False
    while words and words[0].text and re.fullmatch(r"-[neE]+", words[0].text):
        escapes = escapes or "e" in words[0].text
        words = words[1:]
    return show_output(call, join_operands(words, taints_of(words)), escapes=escapes)


def printf(call: Call) -> Stream:
    """Print words by a format; `-v` sets a variable instead."""
    words = call.fields[1:]
    if words and words[0].text == "-v":
        call.shell.reject("printf -v", call.span)
        if len(words) > 1:
            call.shell.set_variable(words[1].shown, format_words(words[2:]))
            if CODE_NAMES.match(words[1].shown) or "[" in words[1].shown:
                call.shell.environment(words[1].shown, None, words[1].span)
        return NOTHING
    if words and may_be_option(call.shell, words[0]):
        call.shell.reject("a format of printf that may be an option", call.span)
    return show_output(
        call, format_words(words[1:] if words and words[0].text == "--" else words), escapes=False
    )


def show_output(call: Call, stream: Stream, *, escapes: bool) -> Stream:
    """Print a variable; one named like a secret is a secret."""
    if TOKEN in stream.taints:
        call.effect(Kind.CREDENTIAL, None, "prints a variable that is named like a secret", call.span)
    text = ansi_c(stream.text) if escapes and stream.text is not None else stream.text
    return Stream(text, stream.taints, stream.origin, stream.assumed)


def format_words(words: list[Field]) -> Stream:
    """Apply a printf format to its values if all are known; the format is reused for the values left."""
    taints = taints_of(words)
    texts = [None if word.pattern else word.text for word in words]
    if None in texts or not texts:
        return Stream(None, taints, join_operands(words, taints).origin)
    form, values = ansi_c(texts[0] or ""), [text or "" for text in texts[1:]]
    places = [found[0] for found in FORMAT.finditer(form) if found[0] != "%%"]
    if len(places) != len(re.findall(r"%[^%]", form.replace("%%", ""))):
        return Stream(None, taints)
    output = []
    while True:
        output.append(fill_format(form, values[: len(places)]))
        values = values[len(places) :]
        if not values or not places:
            return Stream("".join(output), taints, "", any(word.assumed for word in words))


def fill_format(form: str, values: list[str]) -> str:
    given = iter(values)

    def one(found: re.Match[str]) -> str:
        if found[0] == "%%":
            return "%"
        value = next(given, "")
        return ansi_c(value) if found[0].endswith("b") else value

    return FORMAT.sub(one, form)


def environment(call: Call) -> Stream:
    """Handle `env` and `printenv`: show the environment or one variable, or run a command with more of it."""
    given = call.arguments
    if call.program.name == "printenv" and given.operands:
        names = [Field(each.text, each.start, each.span) for each in given.operands]
        secret = [name for name in names if call.shell.expander().variable(name.shown).taints]
        if not secret and all(name.text is not None for name in names):
            return Stream(None, frozenset(), "value")
    rest = call.environment(list(given.rest)) if given.rest else []
    if given.rest and rest:
        given.rest[:] = rest
        return call.run()
    if call.arguments.values:
        call.apply_options()
    elif not call.is_help_request():
        call.not_understood()
        call.effect(Kind.CREDENTIAL, None, "prints the environment, secrets included", call.span)
    return Stream(None, frozenset((SECRET,)))


HANDLERS = {
    "echo": echo,
    "printf": printf,
    "env": environment,
    "printenv": environment,
}
