"""The value of a call: what it returns, which sinks and variables it feeds."""

from collections.abc import Iterator
from dataclasses import replace

from cli_guard.code.taint.guards import narrowings
from cli_guard.code.taint.naming import path_of
from cli_guard.code.taint.program import FlowFunction, FlowNode
from cli_guard.code.taint.tables import ALL, FlowEntry, is_common, is_ours
from cli_guard.code.taint.values import (
    CLEAN,
    REPLACED,
    TABLE,
    Summary,
    Taint,
    Value,
    safe_for,
    union,
    without_secrets,
)
from cli_guard.code.taint.walk import Walk, has_receiver
from cli_guard.lazy import frozen

EXITS = frozenset(
    "os.Exit process.exit sys.exit System.exit log.Fatal log.Fatalf Environment.Exit".split()
)
# These add their arguments to the object that they are called on.
BUILDERS = frozenset(
    "append push add Append AppendLine AppendFormat WriteString write extend update insert push_str put set concat"
    " unshift addAll arg args putAll Add extend_from_slice".split()
)
CONSTRUCTORS = ("__init__", "constructor", "initialize", "init", "__construct", "new")
# The names of the fields, not what is in them.
KEYS = ("keys", "keySet", "Keys", "getOwnPropertyNames")


@frozen
class CallValues:
    """A call, the names that it may be known by, and the values of what it is called on and with."""

    node: FlowNode
    names: tuple[str, ...]
    receiver: Value
    arguments: list[Value]

    @property
    def name(self) -> str:
        return self.names[-1]

    @property
    def last_name(self) -> str:
        return self.name.rsplit(".", 1)[-1]


def call_value(walk: Walk, node: FlowNode) -> Value:
    """Evaluate a call in a walk."""
    callee, *given = node.parts
    names = walk.names_of(node)
    path = path_of(node)
    known = walk.scope.values.get(path) if path else None
    source = walk.source(node, names)
    receiver = receiver_value(walk, callee)
    arguments = [CLEAN if part.op == "function" else walk.value(part) for part in given]
    call = CallValues(node, names, receiver, arguments)
    for entry in walk.find("sink", "call", node, names):
        for value in dangerous_values(walk, entry, call):
            walk.reach(entry, value, node)
    reach_by_name(walk, callee, node)
    closures = walk_closures(walk, call, source)
    may_leave = callee.op != "member" or call.name in EXITS
    if may_leave and is_common("calls", "leaves", call.name):
        walk.scope.dead = True
        return CLEAN
    if known is not None:
        return known
    for entry in walk.find("source", "call", node, names):
        write_into(walk, entry, given, (walk.origin(entry, node),))
    if any(taint.origin.secret for value in arguments for taint in value):
        source = without_secrets(source)  # `builder.password(password)` sets it
    # A method of what is a source already is judged as such.
    if source and not any(taint.origin.kind == "source" for taint in receiver):
        return source
    is_given = walk.file.has_others and any(
        walk.is_from_outside(value) for value in (receiver, *arguments)
    )
    local = walk.summary_of(names, anywhere=is_given)
    sanitizers = walk.find("sanitizer", "call", node, names)
    if local is not None:  # what a table of ours names is a library's
        sanitizers = [e for e in sanitizers if not is_ours(e.patterns["call"])]
    if sanitizers:
        kinds = frozenset(kind for entry in sanitizers for kind in entry.kinds)
        return safe_for(union((receiver, *arguments)), kinds)
    if is_common("tests", "throws", call.name) and given:
        walk.narrow(given[0], holds=True)
    if local is None:
        return library_value(walk, call, closures)
    return safe_for(local_value(walk, local, call), local[1].escapes)


def receiver_value(walk: Walk, callee: FlowNode) -> Value:
    """Return the value of what a method is called on, or of the call before this one in a chain."""
    if callee.op in ("call", "index"):
        return walk.value(callee)
    return walk.value(callee.parts[0]) if callee.op == "member" else CLEAN


def walk_closures(walk: Walk, call: CallValues, source: Value) -> list[Summary]:
    """Walk the functions that are written in a call.

    They run with what it is called on, with its arguments, or with what it gives if it is a source.
    """
    callee, *given = call.node.parts
    is_called = callee.op == "function"  # called where it is written
    value = union(call.arguments if is_called else (call.receiver, source))
    written = [part.function for part in (*given, callee) if part.function is not None]
    found = [
        walk.file.walk_function(function, walk.scope, value, call.names[0])
        for function in written
    ]
    for summary in found:
        walk.summary.include(summary)
    return found


def checks_all(walk: Walk, closure: Summary) -> bool:
    """Return whether a closure holds only for elements that are safe: `{ it in ALLOWED }`."""
    found = narrowings(closure.test, True, walk) if closure.test is not None else []
    return any(ALL in narrowing.kinds and "." not in narrowing.path for narrowing in found)


def reach_by_name(walk: Walk, callee: FlowNode, node: FlowNode) -> None:
    """Note a call of what a key picks from an object, `service[action]()`, unless the object is a table of the file."""
    picked = walk.test_of(callee) if callee.op == "name" else callee
    if picked is None or picked.op != "index" or len(picked.parts) != 2:
        return
    table, key = picked.parts
    if walk.scope.types.get(path_of(table)) == TABLE or table.name.isupper():
        return
    for entry in walk.file.tables.find("sink", "call", ("[]",)):
        walk.reach(entry, walk.value(key), node)


def dangerous_values(walk: Walk, entry: FlowEntry, call: CallValues) -> Iterator[Value]:
    """Yield the values of the arguments that a sink names, all if it names none."""
    wanted: list[str | int] | None = entry.data.get("arguments")
    if entry.data.get("receiver"):
        yield call.receiver
    elif wanted is None:
        yield from call.arguments
    if wanted is None:
        return
    by_name = any(isinstance(name, str) for name in wanted)
    position = -1
    for number, value in enumerate(call.arguments, 1):
        key = key_at(call.node, number)
        position += key is None
        part = call.node.parts[number]
        if by_name and part.op == "group" and any(part.keys):
            named = zip(part.keys, part.parts, strict=False)
            yield from (walk.value(each) for name, each in named if name in wanted)
        elif (position if key is None else key) in wanted:
            yield value


def key_at(call: FlowNode, number: int) -> str | None:
    """Return the keyword of a part of a call."""
    return call.keys[number] if number < len(call.keys) else None


def write_into(walk: Walk, entry: FlowEntry, given: list[FlowNode], value: Value) -> None:
    """Write a value into the arguments that an entry fills."""
    into = entry.data.get("into")
    for at in into if isinstance(into, list) else [into]:
        if not isinstance(at, int) or at >= len(given):
            continue
        target = given[at]
        while target.op in ("group", "not", "block", "test") and len(target.parts) == 1:
            target = target.parts[0]
        path = path_of(target)
        if target.op == "constant" and target.text.isidentifier():  # `read name`
            path = target.text
        if path:
            walk.scope.write(path, value, add=True)


def library_value(walk: Walk, call: CallValues, closures: list[Summary]) -> Value:
    """Return what a call of something else than a function of the file gives."""
    filters = call.last_name in ("takeIf", "filter") and len(closures) == 1
    if filters and checks_all(walk, closures[0]):
        return CLEAN
    return union((carried_value(walk, call), *(each.returns for each in closures)))


def carried_value(walk: Walk, call: CallValues) -> Value:
    """Return what a call of a library carries from its receiver and its arguments to its result."""
    node = call.node
    given = union(call.arguments)
    receiver = call.receiver
    if call.last_name in KEYS:
        given = without_secrets(given)
    if call.last_name in KEYS or is_common("calls", "drops", call.name):
        receiver = without_secrets(receiver)
    if not given and not receiver:
        return CLEAN
    steps = walk.find("step", "call", node, call.names)
    if steps:
        both = walk.pass_on(union((receiver, given)), node)
        writing = [entry for entry in steps if "into" in entry.data]
        for entry in writing:
            write_into(walk, entry, list(node.parts[1:]), both)
        if any(entry.data.get("drops") == "result" for entry in steps):
            add_to_receiver(walk, node, given)
        ends = all(entry.data.get("drops") or entry in writing for entry in steps)
        return CLEAN if ends else both
    if is_common("calls", "converts", call.name):
        return CLEAN
    if any(is_common("tests", test, call.name) for test in ("prefix", "type")):
        return CLEAN
    carries = is_common("calls", "carries", call.name)
    drops = is_common("calls", "drops", call.name)
    pieces = tuple(replace(taint, whole=False) for taint in receiver)
    kept = walk.pass_on(pieces, node, 0 if carries or drops else 1)
    if not drops:
        kept += walk.pass_on(given, node, 0 if carries else 1)
    if walk.is_escaping and is_common("calls", "replaces", call.name):
        kept = safe_for(kept, frozenset((REPLACED,)))
    if call.last_name in BUILDERS:
        add_to_receiver(walk, node, given)
    return union([kept])


def add_to_receiver(walk: Walk, node: FlowNode, given: Value) -> None:
    """Add what a call is given to the object that it is called on."""
    callee = node.parts[0]
    if given and callee.op == "member" and (path := path_of(callee.parts[0])):
        walk.scope.write(path, walk.pass_on(given, node), add=True)


def local_value(walk: Walk, local: tuple[FlowFunction, Summary], call: CallValues) -> Value:
    """Put the arguments of a call for the parameters in what is known of a function of the file."""
    function, summary = local
    node = call.node
    given = by_parameter(function, call)
    step = (node.line, walk.line_of(node))

    def put(taint: Taint) -> Value:
        if taint.origin.kind == "source" and summary.elsewhere:
            origin = replace(taint.origin, line=node.line, at=node.start)
            return (replace(taint, origin=origin, steps=(step,)),)
        if taint.origin.kind != "parameter" or taint.origin.name != key_of(function):
            return (taint,)
        found = given.get(taint.origin.position, CLEAN)
        whole = [each.whole and not taint.steps for each in found]
        return tuple(
            replace(each.lead_to(taint, step), whole=is_whole, slot=taint.slot)
            for each, is_whole in zip(found, whole, strict=True)
        )

    for sink in summary.sinks.values():
        if sink.taint.origin.kind != "source":
            for taint in put(sink.taint):
                # What a function of the file does with a value that this one gives it.
                if taint.harms(sink.entry):
                    found = replace(sink, taint=taint)
                    walk.summary.reach(walk.at(found, node) if summary.elsewhere else found)
    for name, taint in summary.stored:
        walk.summary.store(name, put(taint))
    for number, part in enumerate(node.parts[1:], first_position(function)):
        path = path_of(part)
        value = walk.scope.read(path) if path and number in summary.checked else None
        if value:
            walk.scope.set(path, safe_for(value, summary.checked[number]))
    returns = union(put(taint) for taint in summary.returns)
    is_object = function.name in CONSTRUCTORS or function.name == function.owner != ""
    return without_secrets(returns) if is_object else returns


def key_of(function: FlowFunction) -> str:
    return f"{function.owner}.{function.name}:{function.line}"


def first_position(function: FlowFunction) -> int:
    """Return the position of the parameter that the first argument is for: 1 behind a receiver."""
    has_own = function.parameter_names[:1] in (["self"], ["cls"])
    return 1 if has_own or has_receiver(function) else 0


def by_parameter(function: FlowFunction, call: CallValues) -> dict[int, Value]:
    """Map the positions of the parameters to the values that a call gives them."""
    names = function.parameter_names
    position = first_position(function) - 1
    found = {0: call.receiver} if position == 0 else {}
    for number, value in enumerate(call.arguments, 1):
        key = key_at(call.node, number)
        position += key is None
        at = names.index(key) if key in names else min(position, len(names) - 1)
        found[at] = union((found.get(at, CLEAN), value))
    return found
