"""What a body does with each of its parameters, the most telling first."""

import re
from typing import TYPE_CHECKING

from cli_guard.assistant.documenting.facts.bodies import Body
from cli_guard.assistant.documenting.facts.code import code
from cli_guard.assistant.documenting.facts.deciding import replaced, switch
from cli_guard.assistant.documenting.facts.handed import FILE, handed
from cli_guard.assistant.documenting.facts.nodes import (
    ATTRIBUTES,
    CALLS,
    NAMES,
    NUMBERS,
    STRINGS,
    SUBSCRIPTS,
    arguments,
    attribute,
    callee,
    line_of,
    positional,
    same,
    string_value,
)
from cli_guard.assistant.documenting.facts.origin import local_free, origin_of
from cli_guard.assistant.documenting.facts.use import Use, listed

if TYPE_CHECKING:
    from ast_grep_py import SgNode

# A body of fewer nodes is a stub: what it does not use, those that override it may.
STUB = 8
CHANGES = frozenset(
    {
        "append",
        "extend",
        "insert",
        "update",
        "clear",
        "sort",
        "reverse",
        "setdefault",
        "discard",
        "remove",
        "popitem",
    }
)
EXPRESSIONS = (
    frozenset(
        {
            "binary_operator",
            "comparison_operator",
            "binary_expression",
            "subscript",
            "string",
            "template_string",
        }
    )
    | CALLS
)


def used(body: Body, names: frozenset[str]) -> dict[str, tuple[Use, ...]]:
    """The uses of every parameter named, the best first."""
    found: dict[str, dict[str, Use]] = {name: {} for name in names}
    origin = origin_of(body)
    choices: dict[str, dict[str, int]] = {}
    keys: dict[str, dict[str, int]] = {}
    looked: dict[str, dict[str, int]] = {}
    for step in body.steps:
        node = step.node
        if node.kind() not in NAMES or node.text() not in names:
            continue
        name, parent = node.text(), node.parent()
        while parent is not None and parent.kind() == "reference_expression":
            node, parent = parent, parent.parent()
        if parent is None:
            continue
        pair = attribute(parent)
        if pair is not None and not same(pair[0], node):
            continue  # the name of an attribute, not the parameter
        if parent.kind() == "keyword_argument" and not same(parent.field("value"), node):
            continue
        uses = _uses(node, parent) or _last_resort(node, parent)
        for use in (u for u in uses if local_free(u.text, origin)):
            found[name].setdefault(use.text, use)
        for value in _compared(node, parent):
            choices.setdefault(name, {}).setdefault(value, line_of(node))
        key = _key(node, parent)
        if key:
            keys.setdefault(name, {}).setdefault(key, line_of(node))
        if pair is not None and parent.kind() in ATTRIBUTES and not pair[1].startswith("_"):
            looked.setdefault(name, {}).setdefault(pair[1], line_of(node))
    for name, values in choices.items():
        if 2 <= len(values) <= 6:
            _add(found[name], 3, f"Told apart: {listed(list(values))}", min(values.values()))
    for name, values in keys.items():
        if len(values) <= 8:
            several = len(values) > 1
            text = f"Its key{'s' if several else ''} {listed(list(values))} {'are' if several else 'is'} read"
            _add(found[name], 4, text, min(values.values()))
    block = body.steps[0].node.text() if body.steps else ""
    for name in found:
        if (
            not body.cut
            and len(body.steps) > STUB
            and not re.search(rf"(?<![\w$]){re.escape(name)}(?![\w$])", block)
        ):
            _add(found[name], 0, "Not used", line_of(body.steps[0].node))
    for name, values in looked.items():
        _add(
            found[name],
            8,
            f"Its {listed([f'`{v}`' for v in list(values)[:4]])} {'are' if len(values) > 1 else 'is'} used",
            min(values.values()),
        )
    return {
        name: tuple(sorted(uses.values(), key=lambda u: (u.rank, u.line))) for name, uses in found.items()
    }


def _last_resort(node: "SgNode", parent: "SgNode") -> list[Use]:
    """The smallest expression around a parameter of which nothing better can be said."""
    line = line_of(node)
    if parent.kind() == "comparison_operator" and " None" in parent.text() and " is " in parent.text():
        return [Use(8, "May be None", line)]
    at: SgNode | None = parent
    for _ in range(3):
        if at is None or at.kind().endswith(("statement", "block", "clause")):
            return []
        if at.kind() in EXPRESSIONS and code(at.text(), 40):
            return [Use(9, f"Used in {code(at.text(), 40)}", line)]
        at = at.parent()
    return []


def _add(uses: dict[str, Use], rank: int, text: str, line: int) -> None:
    uses.setdefault(text, Use(rank, text, line))


def _uses(node: "SgNode", parent: "SgNode") -> list[Use]:
    line, kind = line_of(node), parent.kind()
    if kind in CALLS and callee(parent) == node.text() and parent.kind() != "method_invocation":
        given = arguments(parent)
        shown = [code(each.text(), 30) for each in given]
        how = (
            "without arguments"
            if not given
            else f"with {listed(shown)}"
            if all(shown) and len(given) <= 4
            else ""
        )
        return [Use(0, f"Function that is called {how}".rstrip(), line), Use(1, "Called", line)]
    pair = attribute(parent)
    if pair is not None or kind == "method_invocation":
        return _method(node, parent, line)
    if kind in ("argument_list", "arguments", "keyword_argument"):
        return handed(node, parent, line)
    if kind in (
        "for_statement",
        "for_in_statement",
        "for_in_clause",
        "range_clause",
        "enhanced_for_statement",
    ):
        right = parent.field("right") or parent.field("value")
        if same(right, node):
            return [Use(2, "Iterated over", line)]
    if kind in ("yield", "yield_expression"):
        return []
    if kind in SUBSCRIPTS:
        return _indexed(node, parent, line)
    if kind in ("assignment", "assignment_expression"):
        left, right = parent.field("left"), parent.field("right")
        target = attribute(left) if left is not None else None
        if same(right, node) and target and target[0].text() in ("self", "this"):
            return [Use(6, f"Kept as `{target[1]}`", line)] if code(target[1]) else []
    return [*replaced(node, parent, line), *switch(node, parent, line)]


def _method(node: "SgNode", parent: "SgNode", line: int) -> list[Use]:
    if parent.kind() == "method_invocation":
        return []
    pair = attribute(parent)
    call = parent.parent()
    if pair is None or call is None or call.kind() not in CALLS or not same(call.field("function"), parent):
        left = call.field("left") if call is not None and "assignment" in call.kind() else None
        if pair is not None and same(left, parent) and node.text() not in ("self", "this", "cls"):
            return [Use(1, f"Its attribute `{pair[1]}` is set", line)] if code(pair[1]) else []
        return []
    method = pair[1]
    if method in FILE:
        return [Use(0, f"Path of the file that is {FILE[method]}", line)]
    if method == "open":
        return [Use(1, "Path of the file that is opened", line)]
    if method in CHANGES:
        return [Use(1, "Changed in place", line)]
    if method == "items":
        return [Use(3, "Mapping whose items are gone through", line)]
    return []


def _indexed(node: "SgNode", parent: "SgNode", line: int) -> list[Use]:
    if not same(parent.field(SUBSCRIPTS[parent.kind()]), node):
        owner = parent.field(SUBSCRIPTS[parent.kind()])
        what = code(owner.text()) if owner is not None else ""
        return [Use(4, f"Key or index that is looked up in {what}", line)] if what else []
    above = parent.parent()
    left = above.field("left") if above is not None and "assignment" in above.kind() else None
    if same(left, parent) or (above is not None and above.kind() == "delete_statement"):
        return [Use(1, "Changed in place", line)]
    return []


def _compared(node: "SgNode", parent: "SgNode") -> list[str]:
    if parent.kind() not in ("comparison_operator", "binary_expression"):
        return []
    signs = {c.text() for c in parent.children() if not c.is_named()}
    if not signs & {"==", "===", "in", "!=", "!=="}:
        return []
    others = [c for c in parent.named_children() if not same(c, node)]
    values = []
    for other in others:
        items = other.named_children() if other.kind() in ("tuple", "list", "set") else [other]
        values += [i for i in items if i.kind() in STRINGS or i.kind() in NUMBERS]
    return [c for c in (code(v.text(), 30) for v in values) if c]


def _key(node: "SgNode", parent: "SgNode") -> str:
    if parent.kind() in SUBSCRIPTS and same(parent.field(SUBSCRIPTS[parent.kind()]), node):
        index = parent.field("subscript") or parent.field("index")
        return code(index.text(), 30) if index is not None and string_value(index) is not None else ""
    pair, call = attribute(parent), parent.parent()
    if pair and pair[1] == "get" and call is not None and call.kind() in CALLS:
        given = positional(call)
        return code(given[0].text(), 30) if given and string_value(given[0]) is not None else ""
    return ""
