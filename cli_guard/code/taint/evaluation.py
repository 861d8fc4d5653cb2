"""Walk a function from its first statement to its last, and summarize what it does for those that call it."""

from typing import TYPE_CHECKING

from cli_guard.code.taint import control, variables
from cli_guard.code.taint.beliefs import kinds_checked, kinds_escaped
from cli_guard.code.taint.calls import call_value
from cli_guard.code.taint.program import FlowFunction
from cli_guard.code.taint.tables import ALL, is_common
from cli_guard.code.taint.values import FlowScope, Summary, union
from cli_guard.code.taint.walk import Evaluators, Walk

if TYPE_CHECKING:
    from cli_guard.code.taint.flows import FlowFile

PLAIN = ("assign", "group", "constant")
EVALUATORS: Evaluators = {
    "name": variables.name_value,
    "group": variables.literal_value,
    "member": variables.stored_value,
    "index": variables.stored_value,
    "text": variables.text_value,
    "test": variables.test_value,
    "not": variables.test_value,
    "cast": variables.cast_value,
    "assign": variables.assign,
    "call": call_value,
    "and": control.both,
    "or": control.both,
    "if": control.branch,
    "loop": control.loop,
    "switch": control.switch,
    "try": control.attempt,
    "return": control.give_back,
    "break": control.leave_loop,
    "leave": control.leave,
    "block": control.block,
    "function": control.define,
    "class": control.define_class,
}


def summarize(file: "FlowFile", function: FlowFunction, scope: FlowScope) -> Summary:
    """Walk a function; `scope` has what is known of its parameters and of the variables around it."""
    walk = Walk(file, function, scope, EVALUATORS)
    summary = walk.summary
    body = function.body
    value = walk.value(body)
    if body.op == "block" and not walk.scope.dead and function.name != "":
        walk.returned.append(value)
        for last in body.parts[-1:]:
            walk.note_unchanged(last, value)
    summary.returns = union(walk.returned)
    if body.op == "return" and body.parts:
        summary.test = body.parts[0]
    elif body.op == "block" and all(part.op in PLAIN for part in body.parts[:-1]):
        for last in body.parts[-1:]:
            is_return = last.op == "return" and last.parts
            summary.test = last.parts[0] if is_return else last
            summary.made_of = made_of_parameters(walk)
    if not walk.scope.dead:
        note_checked(walk)
    walk.scope.dead = False
    summary.facts = walk
    if any(is_common("tests", test, function.name) for test in ("named", "type")):
        summary.believed = kinds_checked(walk, made_of_parameters(walk))
    if walk.is_escaping:
        summary.escapes = kinds_escaped(walk)
    return summary


def made_of_parameters(walk: Walk) -> dict[str, str]:
    """Map the variables that are made from one parameter to its name."""
    names = walk.function.parameter_names
    found: dict[str, str] = {}
    for variable, value in walk.scope.values.items():
        taints = (t for t in value if t.origin.kind == "parameter")
        positions = {taint.origin.position for taint in taints}
        if len(positions) != 1 or variable in names:
            continue
        position = positions.pop()
        if position < len(names):
            found[variable] = names[position]
    return found


def note_checked(walk: Walk) -> None:
    """Note for which kinds a parameter is safe after the function: it refused what is not."""
    for position, name in enumerate(walk.function.parameter_names):
        if name not in walk.scope.values:
            continue
        value = walk.scope.values[name]
        own = [taint for taint in value if taint.origin.kind == "parameter"]
        kinds = own[0].safe if own else frozenset((ALL,))
        if kinds:
            walk.summary.checked[position] = kinds
