"""What control flow does to what is known: branches, loops, early returns, and the conditions that lead to them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from cli_guard.code.taint.guards import Narrowing
from cli_guard.code.taint.naming import path_of
from cli_guard.code.taint.program import Node
from cli_guard.code.taint.tables import ALL
from cli_guard.code.taint.values import CLEAN, Scope, Value, join_scopes, safe_for, union

if TYPE_CHECKING:
    from cli_guard.code.taint.walk import Walk

MOST_BREAKS = 20


def both(walk: "Walk", node: Node) -> Value:
    """`a and b`, `a or b`: the second runs, and may leave, only if the first allows it."""
    first, *rest = node.parts or (node,)
    values = [walk.value(first)] if node.parts else []
    for other in rest:
        other_way = walk.branch_off()
        walk.narrow(first, node.op == "and")
        values.append(walk.value(other))
        walk.apply(other_way, first, node.op != "and")
        walk.scope.become(join_scopes(walk.scope, other_way))
        first = other
    return union(values) if node.op == "or" else union(values[1:])


def branch(walk: "Walk", node: Node) -> Value:
    condition, then, *other = node.parts
    walk.value(condition)
    otherwise = walk.branch_off()
    walk.narrow(condition, True)
    values = [walk.value(then)]
    after = walk.scope
    walk.scope = otherwise
    walk.narrow(condition, False)
    if other:
        values.append(walk.value(other[0]))
    walk.scope = join_scopes(after, walk.scope)
    return union(values)


def loop(walk: "Walk", node: Node) -> Value:
    before = walk.branch_off()
    head, *body = node.parts
    walk.breaks.append([])
    for _ in range(2):
        walk.value(head)
        if head.op != "assign":
            walk.narrow(head, True)
        for part in body:
            walk.value(part)
        walk.scope = join_scopes(walk.scope, before)
    for end in walk.breaks.pop():
        walk.scope = join_scopes(walk.scope, end)
    return CLEAN


def leave_loop(walk: "Walk", node: Node) -> Value:
    if walk.breaks and len(walk.breaks[-1]) < MOST_BREAKS:
        walk.breaks[-1].append(walk.branch_off())
    walk.scope.dead = True
    return CLEAN


def switch(walk: "Walk", node: Node) -> Value:
    subject, *cases = node.parts
    walk.value(subject)
    before = walk.scope
    values = []
    ends: list[Scope] = []
    walk.breaks.append(ends)
    has_default = False
    for case in cases:
        body, *selecting = case.parts
        walk.scope = before.copy()
        for each in selecting:
            walk.value(each)
        if selecting and all(
            each.op != "name" or each.name[:1].isupper() for each in leaves(selecting)
        ):
            if subject.op == "constant":
                for each in selecting:
                    walk.narrow(each, True)
            elif path := path_of(_bare(subject)):
                narrow_scope(walk.scope, Narrowing(_bare(subject), frozenset((ALL,)), path))
        else:
            has_default = has_default or not selecting or selecting[0].op == "name"
        values.append(walk.value(body))
        ends.append(walk.scope)
    walk.breaks.pop()
    after = before.copy()
    after.dead = has_default and bool(ends)
    for end in ends:
        after = join_scopes(after, end)
    walk.scope = after
    return union(values)


def attempt(walk: "Walk", node: Node) -> Value:
    before = walk.branch_off()
    values = []
    after: Scope | None = None
    for number, part in enumerate(node.parts):
        if number:
            walk.scope = join_scopes(before, walk.scope)
            walk.scope.dead = False
        values.append(walk.value(part))
        after = walk.scope if after is None else join_scopes(after, walk.scope)
        if number:
            walk.scope = after
    walk.scope = after if after is not None else walk.scope
    return union(values)


def give_back(walk: "Walk", node: Node) -> Value:
    given = node.parts[0] if len(node.parts) == 1 else node
    if given.op in ("group", "return") and len(given.parts) > 1 and not any(given.keys):
        each = [walk.value(part) for part in given.parts]
        value = union(
            tuple(replace(t, slot=n) for t in value) for n, value in enumerate(each)
        )
    else:
        value = walk.union(node)
    walk.returned.append(value)
    for entry in walk.file.tables.of("sink", "returns"):
        if entry.patterns["returns"].search(walk.file.text[node.start : node.end]):
            walk.reach(entry, value, node)
    walk.scope.dead = True
    return value


def leave(walk: "Walk", node: Node) -> Value:
    walk.union(node)
    walk.scope.dead = True
    return CLEAN


def block(walk: "Walk", node: Node) -> Value:
    value = CLEAN
    for part in node.parts:
        value = walk.value(part)
    return value


def define(walk: "Walk", node: Node) -> Value:
    if node.function is not None:
        walk.summary.include(walk.file.walk_function(node.function, walk.scope, CLEAN, ""))
    return CLEAN


def define_class(walk: "Walk", node: Node) -> Value:
    """Walk the members of a class; what is assigned outside of methods is a field."""
    todo = list(node.parts)
    while todo:
        part = todo.pop(0)
        if part.op == "block":
            todo[:0] = part.parts
        elif part.op == "assign":
            value = walk.value(part.parts[1]) if len(part.parts) > 1 else CLEAN
            walk.file.store(f"{node.name}.{path_of(part.parts[0])}", value)
        else:
            walk.value(part)
    return CLEAN


def narrow_scope(scope: Scope, narrowing: Narrowing) -> None:
    """Mark a value safe, and what was made from the same value of a source."""
    path = narrowing.path
    kinds = narrowing.kinds
    value = scope.read(path)
    if value is None and ALL not in kinds:
        return
    origins = {taint.origin for taint in value or ()}
    scope.set(path, safe_for(value or CLEAN, kinds))
    if narrowing.derived or (value is not None and "." not in path):
        for name, other in list(scope.values.items()):
            if name != path and any(taint.origin in origins for taint in other):
                scope.values[name] = tuple(
                    taint.but_safe(kinds) if taint.origin in origins else taint
                    for taint in other
                    if taint.origin not in origins or ALL not in kinds
                )


def _bare(node: Node) -> Node:
    while (
        node.op in ("group", "block", "call", "cast")
        and node.parts
        and (len(node.parts) == 1)
    ):
        node = (
            node.parts[0].parts[0]
            if node.op == "call" and node.parts[0].op == "member"
            else node.parts[0]
        )
    return node


def leaves(nodes: Sequence[Node]) -> Iterator[Node]:
    for node in nodes:
        if node.parts and node.op != "member":
            yield from leaves(node.parts)
        else:
            yield node


def made_of_parameters(walk: "Walk") -> dict[str, str]:
    """Map the variables that are made from one parameter to its name."""
    names = [
        parameter.names[0] if parameter.names else ""
        for parameter in walk.function.parameters
    ]
    found = {}
    for name, value in walk.scope.values.items():
        positions = {
            taint.origin.position for taint in value if taint.origin.kind == "parameter"
        }
        if (
            len(positions) == 1
            and name not in names
            and (position := positions.pop()) < len(names)
        ):
            found[name] = names[position]
    return found


def note_checked(walk: "Walk") -> None:
    """Note for which kinds a parameter is safe after the function: it refused what is not."""
    if walk.scope.dead:
        return
    for position, parameter in enumerate(walk.function.parameters):
        for name in parameter.names[:1]:
            mine = [
                t
                for t in walk.scope.values.get(name, CLEAN)
                if t.origin.kind == "parameter"
            ]
            kinds = mine[0].safe if mine else frozenset((ALL,))
            if kinds and name in walk.scope.values:
                walk.summary.checked[position] = kinds
