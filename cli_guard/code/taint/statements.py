"""Read the statements of a syntax tree: branches, loops, cases, and what leaves them.

One function a shape, as in `expressions`.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cli_guard.code.taint.grammar import cases
from cli_guard.code.taint.program import FlowNode
from cli_guard.code.taint.tree_reader import TreeReader, field_of, first_of

if TYPE_CHECKING:
    from ast_grep_py import SgNode

NEGATED = ("unless", "unless_modifier", "guard_statement")
WRAPPERS = ("expression_statement", "parenthesized_expression")
MATCH_ARMS = ("match_arm", "match_conditional_expression")


def read_block(reader: TreeReader, node: "SgNode", made: FlowNode) -> FlowNode:
    named = node.named_children()
    if len(named) == 1 and node.kind() in WRAPPERS:
        return reader.lower(named[0])
    made.op = "block"
    made.parts = reader.lower_all(named)
    return made


def read_return(reader: TreeReader, node: "SgNode", made: FlowNode) -> FlowNode:
    is_return = reader.source(node).startswith(("return", "yield"))
    made.op = "return" if is_return else "leave"
    made.parts = reader.lower_all(node.named_children())
    return made


def read_leave(reader: TreeReader, node: "SgNode", made: FlowNode) -> FlowNode:
    ends_round = node.kind().startswith(("break", "continue", "next"))
    made.op = "break" if ends_round else "leave"
    made.parts = reader.lower_all(node.named_children())
    return made


def read_try(reader: TreeReader, node: "SgNode", made: FlowNode) -> FlowNode:
    made.op = "try"
    made.parts = reader.lower_all(node.named_children())
    return made


def read_if(reader: TreeReader, node: "SgNode", made: FlowNode) -> FlowNode:
    kind = node.kind()
    named = node.named_children()
    conditions = list(node.field_children("condition"))
    alternatives = list(node.field_children("alternative"))
    then = field_of(node, ("consequence", "body"))
    bodies: list[SgNode] = []
    if kind == "conditional_expression" and len(named) == 3 and not conditions:  # Python
        then = named[0]
        conditions = [named[1]]
        alternatives = [named[2]]
    elif kind == "ternary_expression" and then is None and conditions:  # Swift
        rest = [c for c in named if c.range() != conditions[0].range()]
        then = rest[0] if rest else None
        alternatives = rest[1:]
    elif then is None:
        conditions = conditions or named[:1]
        bodies, alternatives = split_by_order(named, conditions[-1])
    body = reader.lower(then) if then is not None else reader.sequence(bodies, made)
    condition = read_conditions(reader, conditions, made)
    if kind in NEGATED:
        condition = condition.beside("not", (condition,))
    made.op = "if"
    made.parts = (condition, body, *read_alternatives(reader, alternatives))
    first = node.field("initializer")
    if first is not None:
        made = made.beside("block", (reader.lower(first), made))
    return made


def split_by_order(
    named: list["SgNode"], condition: "SgNode"
) -> tuple[list["SgNode"], list["SgNode"]]:
    """Return the body of a branch and its alternatives: in Swift and a shell only their order tells them apart."""
    behind = condition.range().end.index
    rest = [c for c in named if c.range().start.index >= behind and c.kind() != "else"]
    starts = (n for n, c in enumerate(rest) if c.kind().startswith(("el", "if_statement")))
    split = next(starts, len(rest))
    bodies = [c for c in rest[:split] if c.kind() == "statements"]
    return bodies[:1] or rest[:split], rest[split:] or bodies[1:]


def read_conditions(
    reader: TreeReader, conditions: Sequence["SgNode"], made: FlowNode
) -> FlowNode:
    bound = ""
    parts: list[FlowNode] = []
    for condition in conditions:
        if condition.kind() == "value_binding_pattern":  # Swift: `if let name = value`
            bound = reader.source(condition.next())
        elif condition.is_named():
            value = reader.lower(condition)
            if bound:
                value = value.beside("assign", (value.word(bound), value), "=")
            parts.append(value)
            bound = ""
    if len(parts) == 1:
        return parts[0]
    return made.beside("and" if parts else "constant", tuple(parts))


def read_alternatives(
    reader: TreeReader, nodes: Sequence["SgNode"]
) -> tuple[FlowNode, ...]:
    """Fold `elif`s, which stand side by side in some grammars, into an `if` in the `else` of another."""
    others: tuple[FlowNode, ...] = ()
    for each in reversed(nodes):
        inner = reader.lower(each)
        if inner.op == "if" and len(inner.parts) == 2:
            inner.parts += others
        others = (inner,)
    return others


def read_loop(reader: TreeReader, node: "SgNode", made: FlowNode) -> FlowNode:
    named = node.named_children()
    clause = first_of(named, "range_clause", "for_clause")
    body = node.field("body") or (named[-1] if named else None)
    target = field_of(clause or node, ("left", "pattern", "declarator", "name"))
    over = field_of(clause or node, ("right", "value", "collection"))
    if target is None and "for" in node.kind() and len(named) >= 3:
        # Kotlin, Swift, shell; PHP has the collection first.
        target, over, *_ = named
        if node.kind() == "foreach_statement":
            over, target, *_ = named
    if target is not None and over is not None:
        head = bind(reader, target, reader.lower(over), made)
    else:
        stop = body.range().start.index if body is not None else made.end
        parts = clause.named_children() if clause is not None else []
        parts += [c for c in named if c.range().end.index <= stop and c != clause]
        heads = reader.lower_all(parts)
        head = heads[0] if len(heads) == 1 else made.beside("block", heads)
    made.op = "loop"
    made.parts = (head, reader.lower(body)) if body is not None else (head,)
    return made


def bind(reader: TreeReader, target: "SgNode", value: FlowNode, made: FlowNode) -> FlowNode:
    return made.beside("assign", (reader.lower(target), value), "=")


def read_comprehension(reader: TreeReader, node: "SgNode", made: FlowNode) -> FlowNode:
    body = node.field("body")
    parts = []
    conditions = []
    for child in node.named_children():
        left = child.field("left")
        right = child.field("right")
        if child.kind() == "for_in_clause" and left is not None and right is not None:
            parts.append(bind(reader, left, reader.lower(right), made))
        elif child.kind() == "if_clause":
            conditions += child.named_children()
    value = reader.lower(body) if body is not None else reader.sequence((), made)
    if conditions:
        value = made.beside("if", (read_conditions(reader, conditions, made), value))
    made.op = "block"
    made.parts = (*parts, value)
    return made


def read_switch(reader: TreeReader, node: "SgNode", made: FlowNode) -> FlowNode:
    named = node.named_children()
    subject = field_of(node, ("value", "subject", "condition"))
    if subject is None and named and node.kind() != "switch_block":
        subject = named[0] if named[0].kind() not in cases("kinds") else None
    lowered = FlowNode("constant", made.line, made.start, made.start)
    if subject is not None:
        lowered = reader.lower(subject)
    body = node.field("body")
    within = body.named_children() if body is not None else named
    each = [read_case(reader, c, lowered) for c in within if c.kind() in cases("kinds")]
    made.op = "switch"
    made.parts = (lowered, *each)
    return made


def read_case(reader: TreeReader, node: "SgNode", subject: FlowNode) -> FlowNode:
    selecting = list(node.field_children("value")) if node.kind() not in MATCH_ARMS else []
    selecting += node.field_children("pattern")
    named = node.named_children()
    selecting += [c for c in named if c.kind() in cases("values") and c not in selecting]
    last = max((c.range().end.index for c in selecting), default=-1)
    made = reader.place(node, "case")
    values = [v for v in reader.lower_all(selecting) if v.parts or v.op != "group"]
    patterns = set(reader.language.case_patterns)
    if any(patterns & set(value.text) for value in values):
        values = []  # a pattern, not a list of texts; `*` is the default
    body = reader.sequence([c for c in named if c.range().start.index >= last], made)
    if values and not all(map(is_constant, values)):
        bound = FlowNode("assign", made.line, made.start, made.start, name="=")
        bound.parts = (values[0], subject)
        body.parts = (bound, *body.parts)
    made.parts = (body, *values)
    return made


def is_constant(node: FlowNode) -> bool:
    if node.op == "constant":
        return True
    unites = node.op in ("group", "block", "or", "test")
    return unites and all(map(is_constant, node.parts))
