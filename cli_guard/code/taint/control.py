"""What control flow does to what is known: branches, loops, early returns, and the conditions that lead to them."""

from dataclasses import replace

from cli_guard.code.taint.beliefs import mark_harmless
from cli_guard.code.taint.guards import Narrowing
from cli_guard.code.taint.naming import path_of
from cli_guard.code.taint.program import FlowNode, leaves
from cli_guard.code.taint.tables import ALL
from cli_guard.code.taint.values import CLEAN, FlowScope, Value, join_scopes, union
from cli_guard.code.taint.walk import Walk, narrow_scope

MOST_BREAKS = 20


def both(walk: Walk, node: FlowNode) -> Value:
    """Evaluate `a and b` or `a or b`: the second runs, and may leave, only if the first allows it."""
    first, *rest = node.parts or (node,)
    values = [walk.value(first)] if node.parts else []
    for other in rest:
        other_way = walk.branch_off()
        walk.narrow(first, node.op == "and")
        values.append(walk.value(other))
        walk.narrow(first, node.op != "and", other_way)
        walk.scope = join_scopes(walk.scope, other_way)
        first = other
    return union(values) if node.op == "or" else union(values[1:])


def branch(walk: Walk, node: FlowNode) -> Value:
    condition, then, *other = node.parts
    walk.value(condition)
    otherwise = walk.branch_off()
    walk.narrow(condition, True)
    if walk.is_escaping:
        mark_harmless(walk, condition, True, walk.scope)
        mark_harmless(walk, condition, False, otherwise)
    values = [walk.value(then)]
    after = walk.scope
    walk.scope = otherwise
    walk.narrow(condition, False)
    if other:
        values.append(walk.value(other[0]))
    walk.scope = join_scopes(after, walk.scope)
    return union(values)


def loop(walk: Walk, node: FlowNode) -> Value:
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


def leave_loop(walk: Walk, node: FlowNode) -> Value:
    if walk.breaks and len(walk.breaks[-1]) < MOST_BREAKS:
        walk.breaks[-1].append(walk.branch_off())
    walk.scope.dead = True
    return CLEAN


def switch(walk: Walk, node: FlowNode) -> Value:
    subject, *cases = node.parts
    walk.value(subject)
    before = walk.scope
    values = []
    ends: list[FlowScope] = []
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


def attempt(walk: Walk, node: FlowNode) -> Value:
    before = walk.branch_off()
    values = []
    after: FlowScope | None = None
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


def give_back(walk: Walk, node: FlowNode) -> Value:
    given = node.parts[0] if len(node.parts) == 1 else node
    if given.op in ("group", "return") and len(given.parts) > 1 and not any(given.keys):
        each = [walk.value(part) for part in given.parts]
        value = union(
            tuple(replace(t, slot=n) for t in value) for n, value in enumerate(each)
        )
    else:
        value = walk.union(node)
    walk.returned.append(value)
    walk.note_unchanged(given, value)
    for entry in walk.file.tables.of("sink", "returns"):
        if entry.patterns["returns"].search(walk.text_of(node)):
            walk.reach(entry, value, node)
    walk.scope.dead = True
    return value


def leave(walk: Walk, node: FlowNode) -> Value:
    walk.union(node)
    walk.scope.dead = True
    return CLEAN


def block(walk: Walk, node: FlowNode) -> Value:
    value = CLEAN
    for part in node.parts:
        value = walk.value(part)
    return value


def define(walk: Walk, node: FlowNode) -> Value:
    if node.function is not None:
        walk.summary.include(walk.file.walk_function(node.function, walk.scope, CLEAN, ""))
    return CLEAN


def define_class(walk: Walk, node: FlowNode) -> Value:
    """Walk the members of a class; what is assigned outside of methods is a field."""
    todo = list(node.parts)
    while todo:
        part = todo.pop(0)
        if part.op == "block":
            todo[:0] = part.parts
        elif part.op == "assign":
            value = walk.value(part.parts[1]) if len(part.parts) > 1 else CLEAN
            value = union((value, walk.member_source(part)))
            walk.file.store(f"{node.name}.{path_of(part.parts[0])}", value)
        else:
            walk.value(part)
    return CLEAN


def _bare(node: FlowNode) -> FlowNode:
    while node.op in ("group", "block", "call", "cast") and len(node.parts) == 1:
        is_method = node.op == "call" and node.parts[0].op == "member"
        node = node.parts[0].parts[0] if is_method else node.parts[0]
    return node
