"""What a shell computes: a term may hold a subscript, and a subscript a substitution that is run."""

import re

from cli_guard.commands.effects.call import Call
from cli_guard.commands.expand.fields import Field, literal
from cli_guard.commands.parse.quoting import hidden_substitutions
from cli_guard.commands.scope import ANYTHING, NOTHING, Stream

COUNTED = re.compile(r"(\w+)\s*(?:[-+*/%&|^]?=(?!=)|\+\+|--)")


def compute(call: Call, word: Field) -> None:
    """A term, or the name of a variable, is computed: a substitution in a subscript is run, quoted or not."""
    for _, _, inner in hidden_substitutions(word.text or ""):
        call.shell.run_nested(inner, word.span)


def arithmetic(call: Call) -> Stream:
    """Terms that are computed; a substitution in one is run, quoted or not, also in the value of a name."""
    words = call.fields[1:]
    whole = literal(" ".join(word.text or "" for word in words), call.span)
    compute(call, whole)
    variables = call.shell.scope.variables
    for name in dict.fromkeys(re.findall(r"[A-Za-z_]\w*", whole.text or "")):
        value = variables.get(name)
        if value is not None and value.text:
            compute(call, literal(value.text, call.span))
    for name in COUNTED.findall(whole.text or ""):
        variables[name] = ANYTHING
    return NOTHING


def examine(call: Call) -> Stream:
    """test: a name behind `-v` is computed, as are numbers."""
    words = [word.text for word in call.fields[1:]]
    if {"-v", "-eq", "-ne", "-lt", "-le", "-gt", "-ge"}.intersection(words):
        arithmetic(call)
    return call.run()


HANDLERS = {
    "let": arithmetic,
    "test": examine,
}
