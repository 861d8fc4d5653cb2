"""Arithmetic of the shell (bash(1), ARITHMETIC EVALUATION), which evaluates the values of variables as expressions.

A subscript in an expression is expanded once more, so a variable with the value `a[$(command)]` runs the command.
"""

import re

from cli_guard.commands.expand.fields import Field
from cli_guard.commands.expand.parameters import GLOB
from cli_guard.commands.machine import Machine
from cli_guard.commands.model import Kind, Span
from cli_guard.commands.parse.quoting import hidden_substitutions
from cli_guard.commands.scope import NUMBER, Stream

REASON = "computes with a value that is not known before it runs and may hold code, as in a[$(command)]"
# The name of a variable or the number of an argument (`$1`), but not the digits of `16#ff` and `0x1f`.
NAME = re.compile(r"(?<![\w#])[A-Za-z_]\w*|(?<=\$)\d|(?<=\$\{)\d+")
LENGTH = re.compile(r"\$\{#\w*(?:\[[@*]\])?\}|\$#")
COUNTED = re.compile(r"(\w+)\s*(?:(?:[-+*/%&|^]|<<|>>)?=(?!=)|\+\+|--)|(?:\+\+|--)\s*(\w+)")


def compute(shell: Machine, given: Field) -> None:
    """Evaluate an expression as far as it is known; each variable that it assigns is a number from here on."""
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
    """Evaluate the subscript of a name passed to `read`, `unset` or `printf -v`, unless the array is associative."""
    name, bracket, _ = (given.text if given.text is not None else given.shape or given.start).partition("[")
    if (bracket or given.text is None) and name not in shell.scope.keyed:
        compute(shell, given)


def compute_text(shell: Machine, text: str, span: Span, seen: set[str]) -> None:
    """Run the substitutions in an expression, and those in the values of the variables that it names."""
    shell.budget.step()
    for _, _, inner in hidden_substitutions(text):
        shell.run_nested(inner, span)
    for name in dict.fromkeys(NAME.findall(LENGTH.sub("0", text))):
        if name not in seen:
            seen.add(name)
            compute_value(shell, find_value(shell, name), span, seen)


def compute_value(shell: Machine, value: Stream | None, span: Span, seen: set[str]) -> None:
    """Evaluate the value of a variable as an expression; None is a variable of the caller, which is trusted."""
    if value is None:
        return
    for each in value.items or (value,):
        # A pattern expands to the names of files, which may be any text.
        if each.text is not None and not GLOB.search(each.text.partition("[")[0]):
            compute_text(shell, each.text, span, seen)
        elif each.text is not None or each.origin != "value":
            shell.emit(Kind.UNKNOWN, None, REASON, span)


def find_value(shell: Machine, name: str) -> Stream | None:
    if not name.isdecimal():
        return shell.scope.variables.get(name)
    arguments = shell.scope.arguments
    return arguments[int(name) - 1] if arguments and 0 < int(name) <= len(arguments) else None
