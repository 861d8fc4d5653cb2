"""What a shell computes (bash(1), ARITHMETIC EVALUATION): a term names variables, and a value in one is an expression.

A subscript in an expression is expanded once more, so that a value such as `a[$(command)]` runs the command.
"""

import re

from cli_guard.commands.expand.fields import Field
from cli_guard.commands.expand.parameters import GLOB
from cli_guard.commands.machine import Machine
from cli_guard.commands.model import Kind, Span
from cli_guard.commands.parse.quoting import hidden_substitutions
from cli_guard.commands.scope import NUMBER, Stream

REASON = "computes with a value that is not known before it runs and may hold code, as in a[$(command)]"
# A variable, or an argument of the function or script; `16#ff` and `0x1f` are numbers.
NAME = re.compile(r"(?<![\w#])[A-Za-z_]\w*|(?<=\$)\d|(?<=\$\{)\d+")
LENGTH = re.compile(r"\$\{#\w*(?:\[[@*]\])?\}|\$#")
COUNTED = re.compile(r"(\w+)\s*(?:(?:[-+*/%&|^]|<<|>>)?=(?!=)|\+\+|--)|(?:\+\+|--)\s*(\w+)")


def compute(shell: Machine, given: Field) -> None:
    """Compute an expression as far as it is known; what it assigns is a number from here on."""
    if given.text is None and given.origin != "value":
        shell.emit(Kind.UNKNOWN, None, REASON, given.span)
    text = given.text if given.text is not None else given.shape or given.start
    compute_text(shell, text, given.span, set())
    for names in COUNTED.findall(text):
        for name in filter(None, names):
            shell.scope.variables[name] = NUMBER
            if name in shell.scope.exported:
                shell.environment(name, None, given.span)


def compute_name(shell: Machine, given: Field) -> None:
    """A variable by its name, as `read`, `unset` and `printf -v` take it: a subscript behind it is computed."""
    name, bracket, _ = (given.text if given.text is not None else given.shape or given.start).partition("[")
    if (bracket or given.text is None) and name not in shell.scope.keyed:
        compute(shell, given)


def compute_text(shell: Machine, text: str, span: Span, seen: set[str]) -> None:
    """Compute a text: its substitutions run, and so do those in the values that it names."""
    shell.budget.step()
    for _, _, inner in hidden_substitutions(text):
        shell.run_nested(inner, span)
    for name in dict.fromkeys(NAME.findall(LENGTH.sub("0", text))):
        if name not in seen:
            seen.add(name)
            compute_value(shell, find_value(shell, name), span, seen)


def compute_value(shell: Machine, value: Stream | None, span: Span, seen: set[str]) -> None:
    """Compute what a variable holds; one that nothing here has set is the caller's own."""
    if value is None:
        return
    for each in value.items or (value,):
        # A pattern stands for the names of files, which hold anything.
        if each.text is not None and not GLOB.search(each.text.partition("[")[0]):
            compute_text(shell, each.text, span, seen)
        elif each.text is not None or each.origin != "value":
            shell.emit(Kind.UNKNOWN, None, REASON, span)


def find_value(shell: Machine, name: str) -> Stream | None:
    if not name.isdecimal():
        return shell.scope.variables.get(name)
    arguments = shell.scope.arguments
    return arguments[int(name) - 1] if arguments and 0 < int(name) <= len(arguments) else None
