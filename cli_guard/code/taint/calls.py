"""The value of a call: what it returns, which sinks and variables it feeds."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from cli_guard.code.taint.guards import narrowings
from cli_guard.code.taint.naming import path_of
from cli_guard.code.taint.program import Function, Node
from cli_guard.code.taint.tables import ALL, Entry, is_common
from cli_guard.code.taint.values import (
    CLEAN,
    MOST_STEPS,
    TABLE,
    Summary,
    Taint,
    Value,
    safe_for,
    union,
)

if TYPE_CHECKING:
    from cli_guard.code.taint.walk import Walk


ESCAPED = frozenset(("html", "ldap", "xpath", "regex", "header", "sql", "command"))
EXITS = frozenset(
    (
        "os.Exit",
        "process.exit",
        "sys.exit",
        "System.exit",
        "log.Fatal",
        "log.Fatalf",
        "Environment.Exit",
    )
)
# These add their arguments to the object that they are called on.
BUILDERS = frozenset(
    "append push add Append AppendLine AppendFormat WriteString write extend update insert push_str put set concat"
    " unshift addAll arg args putAll Add extend_from_slice".split()
)


def call_value(walk: "Walk", node: Node) -> Value:
    """Evaluate a call in a walk."""
    callee, *given = node.parts
    names = walk.names_of(node)
    receiver_node = callee.parts[0] if callee.op == "member" else None
    path = path_of(node)
    known = walk.scope.values.get(path) if path else None
    source = walk.source(node, names)
    if callee.op == "function":  # called where it is written
        receiver = CLEAN
        called = callee
    else:
        called = None
        before = callee if callee.op in ("call", "index") else receiver_node
        receiver = walk.value(before) if before is not None else CLEAN
    arguments = [CLEAN if part.op == "function" else walk.value(part) for part in given]
    closures = [
        part for part in (*given, called) if part is not None and part.function is not None
    ]
    tables = walk.file.tables
    for entry in tables.find("sink", "call", names):
        if walk.allows(entry, node):
            for value in _dangerous(entry, node, arguments, receiver, walk):
                walk.reach(entry, value, node)
    _reach_by_name(walk, callee, node)
    around = union(arguments) if called is not None else receiver or CLEAN
    inner = [
        walk.file.walk_function(part.function, walk.scope, around, names[0])
        for part in closures
        if part.function
    ]
    for result in inner:
        walk.summary.include(result)
    if is_common("calls", "leaves", names[-1]) and (
        receiver_node is None or names[-1] in EXITS
    ):
        walk.scope.dead = True
        return CLEAN
    if known is not None:
        return known
    for entry in tables.find("source", "call", names):
        if walk.allows(entry, node):
            _write_into(walk, entry, given, (walk.origin(entry, node),))
    # A method of what is a source already is judged as such.
    if source and not any(taint.origin.kind == "source" for taint in receiver):
        return source
    sanitizers = [
        e for e in tables.find("sanitizer", "call", names) if walk.allows(e, node)
    ]
    if sanitizers:
        kinds = frozenset(kind for entry in sanitizers for kind in entry.kinds)
        return safe_for(union((receiver, *arguments)), kinds)
    if is_common("tests", "throws", names[-1]) and given:
        walk.narrow(given[0], holds=True)
    local = walk.file.summary(names, walk.function.owner)
    if local is not None:
        from_here = _apply(walk, local, node, arguments, receiver)
        # A function of the file that is called so is taken at its word.
        return (
            safe_for(from_here, ESCAPED)
            if is_common("calls", "escapes", local[0].name)
            else from_here
        )
    returned = union(result.returns for result in inner)
    if (
        names[-1].rsplit(".", 1)[-1] in ("takeIf", "filter")
        and len(inner) == 1
        and _checks_all(walk, inner[0])
    ):
        return CLEAN
    return union((_carried(walk, node, names, receiver, arguments), returned))


def _checks_all(walk: "Walk", closure: Summary) -> bool:
    """Return whether a closure holds only for elements that are safe: `{ it in ALLOWED }`."""
    found = narrowings(closure.test, True, walk) if closure.test is not None else []
    return any(ALL in narrowing.kinds and "." not in narrowing.path for narrowing in found)


def _reach_by_name(walk: "Walk", callee: Node, node: Node) -> None:
    """Note a call of what a key picks from an object, `service[action]()`, unless the object is a table of the file."""
    picked = walk.test_of(callee) if callee.op == "name" else callee
    if picked is None or picked.op != "index" or len(picked.parts) != 2:
        return
    if (
        walk.scope.types.get(path_of(picked.parts[0])) == TABLE
        or picked.parts[0].name.isupper()
    ):
        return
    for entry in walk.file.tables.find("sink", "call", ("[]",)):
        walk.reach(entry, walk.value(picked.parts[1]), node)


def _dangerous(
    entry: Entry, node: Node, arguments: list[Value], receiver: Value, walk: "Walk"
) -> Iterator[Value]:
    """Yield the values of the arguments that a sink names, all if it names none."""
    wanted = entry.data.get("arguments")
    keys = node.keys[1:]
    if entry.data.get("receiver"):
        yield receiver
        if wanted is None:
            return
    position = -1
    for number, value in enumerate(arguments):
        key = keys[number] if number < len(keys) else None
        position += key is None
        part = node.parts[number + 1]
        named_too = wanted is not None and any(isinstance(name, str) for name in wanted)
        if wanted is not None and named_too and part.op == "group" and any(part.keys):
            named = zip(part.keys, part.parts, strict=False)
            yield from (walk.value(each) for name, each in named if name in wanted)
        elif wanted is None or (key in wanted if key is not None else position in wanted):
            yield value


def _write_into(walk: "Walk", entry: Entry, given: list[Node], value: Value) -> None:
    into = entry.data.get("into")
    for at in into if isinstance(into, list) else [into]:
        if isinstance(at, int) and at < len(given):
            target = given[at]
            while target.op in ("group", "not", "block", "test") and len(target.parts) == 1:
                target = target.parts[0]
            named = (
                target.text
                if target.op == "constant" and target.text.isidentifier()
                else ""
            )  # `read name`
            if path := path_of(target) or named:
                walk.scope.write(path, value, add=True)


def _carried(
    walk: "Walk",
    node: Node,
    names: tuple[str, ...],
    receiver: Value,
    arguments: list[Value],
) -> Value:
    """Return what a call of a library carries from its receiver and its arguments to its result."""
    name = names[-1]
    given = union(arguments)
    if not given and not receiver:
        return CLEAN
    shown = walk.line_of(node)
    steps = [
        e for e in walk.file.tables.find("step", "call", names) if walk.allows(e, node)
    ]
    if steps:
        both = union((receiver, given))
        for entry in steps:
            if "into" in entry.data:
                _write_into(
                    walk,
                    entry,
                    list(node.parts[1:]),
                    tuple(t.via(node.line, shown) for t in both),
                )
        if all(entry.data.get("drops") or "into" in entry.data for entry in steps):
            return CLEAN
        return tuple(t.via(node.line, shown) for t in both)
    if is_common("calls", "converts", name):
        return CLEAN
    tests = any(is_common("tests", test, name) for test in ("prefix", "type"))
    if tests:
        return CLEAN
    carries = is_common("calls", "carries", name)
    drops = is_common("calls", "drops", name)
    kept: list[Taint] = []
    for taint in receiver:
        kept.append(
            replace(taint, whole=False).via(node.line, shown, 0 if carries or drops else 1)
        )
    if not drops:
        kept += (taint.via(node.line, shown, 0 if carries else 1) for taint in given)
    owner = node.parts[0].parts[0] if node.parts[0].op == "member" else None
    if (
        given
        and owner is not None
        and name.rsplit(".", 1)[-1] in BUILDERS
        and (path := path_of(owner))
    ):
        walk.scope.write(path, tuple(t.via(node.line, shown) for t in given), add=True)
    return union([tuple(kept)])


def _apply(
    walk: "Walk",
    local: tuple[Function, Summary],
    node: Node,
    arguments: list[Value],
    receiver: Value,
) -> Value:
    """Put the arguments of a call for the parameters in what is known of a function of the file."""
    function, summary = local
    given = _by_parameter(function, node, arguments, receiver)
    shown = walk.line_of(node)

    def put(taint: Taint) -> Value:
        if taint.origin.kind != "parameter" or taint.origin.name != key_of(function):
            return (taint,)
        found = given.get(taint.origin.position, CLEAN)
        return tuple(
            Taint(
                t.origin,
                tuple(dict.fromkeys((*t.steps, (node.line, shown), *taint.steps)))[
                    :MOST_STEPS
                ],
                t.guesses + taint.guesses,
                t.safe | taint.safe,
                t.whole and not taint.steps,
                taint.slot,
            )
            for t in found
        )

    for sink in summary.sinks.values():
        if sink.taint.origin.kind != "source":
            for taint in put(sink.taint):
                walk.reach_again(sink, taint)
    for name, taint in summary.stored:
        walk.summary.store(name, put(taint))
    for position, kinds in summary.checked.items():
        for number, part in enumerate(node.parts[1:]):
            if (
                number + _offset(function) == position
                and (path := path_of(part))
                and walk.scope.read(path)
            ):
                walk.scope.set(path, safe_for(walk.scope.read(path) or CLEAN, kinds))
    return union(put(taint) for taint in summary.returns)


def key_of(function: Function) -> str:
    return f"{function.owner}.{function.name}:{function.line}"


def _offset(function: Function) -> int:
    first = (
        function.parameters[0].names[0]
        if function.parameters and function.parameters[0].names
        else ""
    )
    return 1 if first in ("self", "cls") or function.heading.startswith("func (") else 0


def _by_parameter(
    function: Function, node: Node, arguments: list[Value], receiver: Value
) -> dict[int, Value]:
    found: dict[int, Value] = {}
    names = [
        parameter.names[0] if parameter.names else "" for parameter in function.parameters
    ]
    offset = _offset(function)
    if offset:
        found[0] = receiver
    position = offset - 1
    for number, value in enumerate(arguments):
        key = node.keys[number + 1] if number + 1 < len(node.keys) else None
        position += key is None
        at = names.index(key) if key in names else min(position, len(names) - 1)
        found[at] = union((found.get(at, CLEAN), value))
    return found
