"""Turn a syntax tree of any language into statements, functions and classes in the shapes of `program`."""

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from cli_guard.code.taint.expressions import Expressions
from cli_guard.code.taint.program import Function, Node, Parameter
from cli_guard.code.taint.tree_reader import TooBigError, cases, plain_type

if TYPE_CHECKING:
    from ast_grep_py import SgNode

__all__ = ["TooBigError", "lower"]

ANNOTATION = re.compile(r"\s*(?:@|#\[|\[[A-Z])")
NEGATED = frozenset(("unless", "unless_modifier", "guard_statement"))
HEADING_LINES = 8
LONGEST_HEADING = 2_000
PARAMETERS = ("parameters", "parameter", "declarator")
# Kinds of node around the name of a parameter that are no name themselves.
NO_NAMES = frozenset(
    "type type_annotation user_type type_identifier primitive_type predefined_type qualified_type pointer_type"
    " reference_type generic_type named_type union_type optional_type modifiers attribute_list array_type"
    " parameter_modifiers qualified_identifier template_type scoped_type_identifier nullable_type decorator"
    " slice_type map_type interface_type function_type namespace_identifier package_identifier".split()
)


def lower(root: "SgNode", language: str, text: str) -> tuple[Function, list[Function]]:
    """Return the statements of a file outside of functions as one, and all its functions.

    Raises TooBigError if it has over MOST_NODES nodes or nests deeper than DEEPEST.
    """
    lowering = _Statements(language, text)
    body = lowering.lower(root)
    return Function("", (), body), lowering.functions


class _Statements(Expressions):
    def _block(self, node: "SgNode", made: Node) -> Node:
        named = self._named_children(node)
        if len(named) == 1 and node.kind() in (
            "expression_statement",
            "parenthesized_expression",
        ):
            return self.lower(named[0])
        made.op = "block"
        made.parts = self._all(named)
        return made

    def _return(self, node: "SgNode", made: Node) -> Node:
        word = self._source(node)[:8]
        made.op = "return" if word.startswith(("return", "yield")) else "leave"
        made.parts = self._all(self._named_children(node))
        return made

    def _leave(self, node: "SgNode", made: Node) -> Node:
        made.op = (
            "break" if node.kind().startswith(("break", "continue", "next")) else "leave"
        )
        made.parts = self._all(self._named_children(node))
        return made

    def _try(self, node: "SgNode", made: Node) -> Node:
        made.op = "try"
        made.parts = self._all(self._named_children(node))
        return made

    def _if(self, node: "SgNode", made: Node) -> Node:
        kind = node.kind()
        named = self._named_children(node)
        conditions = list(node.field_children("condition"))
        alternatives = list(node.field_children("alternative"))
        then = node.field("consequence") or node.field("body")
        first = node.field("initializer")
        if (
            kind == "conditional_expression" and len(named) == 3 and not conditions
        ):  # Python
            then = named[0]
            conditions = [named[1]]
            alternatives = [named[2]]
        elif kind == "ternary_expression" and then is None and conditions:  # Swift
            rest = [c for c in named if c.range() != conditions[0].range()]
            then = rest[0] if rest else None
            alternatives = rest[1:]
        elif then is None:  # Swift, shell: only their order tells the parts of a branch
            conditions = conditions or named[:1]
            after_it = conditions[-1].range().end.index
            rest = [
                c for c in named if c.range().start.index >= after_it and c.kind() != "else"
            ]
            split = next(
                (
                    i
                    for i, c in enumerate(rest)
                    if c.kind().startswith(("el", "if_statement"))
                ),
                len(rest),
            )
            before = [c for c in rest[:split] if c.kind() == "statements"][:1] or rest[
                :split
            ]
            after = (
                rest[split:] or [c for c in rest[:split] if c.kind() == "statements"][1:]
            )
            body = self._sequence(before, made)
            return self._branches(
                made, self._conditions(conditions, made), body, after, kind
            )
        body = self.lower(then) if then is not None else self._sequence((), made)
        condition = self._conditions(conditions, made)
        made = self._branches(made, condition, body, alternatives, kind)
        if first is not None:
            made = Node("block", made.line, made.start, made.end, (self.lower(first), made))
        return made

    def _conditions(self, conditions: Sequence["SgNode"], made: Node) -> Node:
        bound = ""
        parts: list[Node] = []
        for condition in conditions:
            if condition.kind() == "value_binding_pattern":  # Swift: `if let name = value`
                name = condition.next()
                bound = self._source(name) if name is not None else ""
            elif condition.is_named():
                value = self.lower(condition)
                target = Node("name", value.line, value.start, value.start, name=bound)
                pair = (target, value)
                parts.append(
                    Node("assign", value.line, value.start, value.end, pair, "=")
                    if bound
                    else value
                )
                bound = ""
        if len(parts) == 1:
            return parts[0]
        op = "and" if parts else "constant"
        return Node(op, made.line, made.start, made.end, tuple(parts))

    def _branches(
        self,
        made: Node,
        condition: Node,
        then: Node,
        alternatives: Sequence["SgNode"],
        kind: str,
    ) -> Node:
        """Fold `elif`s, which stand side by side in some grammars, into an `if` in the `else` of another."""
        others: Node | None = None
        for each in reversed(alternatives):
            inner = self.lower(each)
            if inner.op == "if" and others is not None and len(inner.parts) == 2:
                inner.parts = (*inner.parts, others)
            others = inner
        if kind in NEGATED:
            condition = Node(
                "not", condition.line, condition.start, condition.end, (condition,)
            )
        made.op = "if"
        made.parts = (condition, then) if others is None else (condition, then, others)
        return made

    def _sequence(self, nodes: Sequence["SgNode"], made: Node) -> Node:
        return Node("block", made.line, made.start, made.end, self._all(nodes))

    def _loop(self, node: "SgNode", made: Node) -> Node:
        named = self._named_children(node)
        clause = next(
            (c for c in named if c.kind() in ("range_clause", "for_clause")), None
        )
        body = node.field("body") or (named[-1] if named else None)
        holder = clause or node
        target = self._field(holder, ("left", "pattern", "declarator", "name"))
        over = self._field(holder, ("right", "value", "collection"))
        heads: tuple[Node, ...]
        if (
            target is None and "for" in node.kind() and len(named) >= 3
        ):  # Kotlin, Swift, PHP, shell
            target, over = (
                (named[1], named[0])
                if node.kind() == "foreach_statement"
                else (named[0], named[1])
            )
        if target is not None and over is not None:
            heads = (self._bind(target, self.lower(over), made),)
        else:
            stop = body.range().start.index if body is not None else made.end
            parts = self._named_children(clause) if clause is not None else []
            heads = self._all(
                [*parts, *(c for c in named if c.range().end.index <= stop and c != clause)]
            )
        made.op = "loop"
        head = (
            heads[0]
            if len(heads) == 1
            else Node("block", made.line, made.start, made.end, heads)
        )
        made.parts = (head, self.lower(body)) if body is not None else (head,)
        return made

    def _bind(self, target: "SgNode", value: Node, made: Node) -> Node:
        return Node(
            "assign", made.line, made.start, made.end, (self.lower(target), value), "="
        )

    def _comprehension(self, node: "SgNode", made: Node) -> Node:
        body = node.field("body")
        parts = []
        conditions = []
        for child in self._named_children(node):
            left = child.field("left")
            right = child.field("right")
            if child.kind() == "for_in_clause" and left is not None and right is not None:
                parts.append(self._bind(left, self.lower(right), made))
            elif child.kind() == "if_clause":
                conditions += self._named_children(child)
        value = self.lower(body) if body is not None else self._sequence((), made)
        if conditions:
            value = Node(
                "if",
                made.line,
                made.start,
                made.end,
                (self._conditions(conditions, made), value),
            )
        made.op = "block"
        made.parts = (*parts, value)
        return made

    def _switch(self, node: "SgNode", made: Node) -> Node:
        named = self._named_children(node)
        subject = self._field(node, ("value", "subject", "condition"))
        if (
            subject is None
            and named
            and named[0].kind() not in cases("kinds")
            and node.kind() != "switch_block"
        ):
            subject = named[0]
        lowered = (
            self.lower(subject)
            if subject is not None
            else Node("constant", made.line, made.start, made.start)
        )
        body = node.field("body")
        within = self._named_children(body) if body is not None else named
        made.op = "switch"
        made.parts = (
            lowered,
            *(self._case(c, lowered) for c in within if c.kind() in cases("kinds")),
        )
        return made

    def _case(self, node: "SgNode", subject: Node) -> Node:
        selecting = list(node.field_children("value")) + list(
            node.field_children("pattern")
        )
        if node.kind() in ("match_arm", "match_conditional_expression"):
            selecting = list(node.field_children("pattern"))
        selecting += [
            c
            for c in self._named_children(node)
            if c.kind() in cases("values") and c not in selecting
        ]
        last = max((c.range().end.index for c in selecting), default=-1)
        span = node.range()
        made = Node("case", span.start.line + 1, span.start.index, span.end.index)
        values = tuple(
            value for value in self._all(selecting) if value.parts or value.op != "group"
        )
        if self.language == "bash" and any(
            char in value.text for value in values for char in "*?["
        ):
            values = ()  # a pattern, not a list of texts; `*` is the default
        body = self._sequence(
            [c for c in self._named_children(node) if c.range().start.index >= last], made
        )
        if values and not all(map(_is_constant, values)):
            bind = Node(
                "assign", made.line, made.start, made.start, (values[0], subject), "="
            )
            body.parts = (bind, *body.parts)
        made.parts = (body, *values)
        return made

    def _class(self, node: "SgNode", made: Node) -> Node:
        name = node.field("name") or node.field("type")
        if name is None:
            name = next(
                (
                    c
                    for c in self._named_children(node)
                    if c.kind() in ("type_identifier", "simple_identifier")
                ),
                None,
            )
        outer = self._owner
        self._owner = plain_type(self._source(name)) if name is not None else self._owner
        made.op = "class"
        made.name = self._owner
        made.parts = self._all([c for c in self._named_children(node) if c != name])
        self._owner = outer
        return made

    def _function(self, node: "SgNode", made: Node) -> Node:
        body = node.field("body")
        if body is None:
            body = next(
                (
                    c
                    for c in self._named_children(node)
                    if c.kind() in ("function_body", "statements", "block")
                ),
                None,
            )
        holder = node
        while (inner := holder.field("declarator")) is not None and holder.field(
            "parameters"
        ) is None:
            holder = inner
        name = node.field("name") or (
            holder.field("declarator") if holder is not node else None
        )
        if name is None and node.kind() == "function_declaration":
            name = next(
                (c for c in self._named_children(node) if c.kind() == "simple_identifier"),
                None,
            )
        owner = self._owner
        receiver = node.field("receiver")
        if receiver is not None and node.kind() == "method_declaration":  # Go
            owner = plain_type(self._source(receiver).strip("()").split(" ")[-1])
        span = node.range()
        stop = body.range().start.index if body is not None else span.end.index
        parameters = tuple(self._parameters(node, holder, receiver, body))
        function = Function(
            name=self._source(name).split("::")[-1].split(".")[-1].lstrip("&*")
            if name is not None
            else "",
            parameters=parameters,
            body=Node("block", made.line, made.start, made.end),
            heading=self._heading(span.start.index, stop),
            owner=owner,
            line=span.start.line + 1,
        )
        if body is not None:
            function.body = self.lower(body)
            if function.body.op != "block":  # an expression is what the function returns
                inside = function.body
                function.body = Node(
                    "return", inside.line, inside.start, inside.end, (inside,)
                )
        self.functions.append(function)
        made.op = "function"
        made.function = function
        made.name = function.name
        return made

    def _heading(self, start: int, stop: int) -> str:
        """Return a signature, with the decorators, annotations or attributes on the lines before it."""
        lines = self.text[max(0, start - 1000) : start].split("\n")[-HEADING_LINES:]
        kept: list[str] = []
        for line in reversed(lines):
            if line.strip() and not ANNOTATION.match(line):
                break
            kept.insert(0, line)
        return "\n".join(
            (*kept, self.text[start : min(stop, start + LONGEST_HEADING)])
        ).strip()

    def _parameters(
        self,
        node: "SgNode",
        holder: "SgNode",
        receiver: "SgNode | None",
        body: "SgNode | None",
    ) -> Iterator[Parameter]:
        listed = (
            holder.field("parameters")
            or node.field("parameter")
            or holder.field("parameter")
        )
        if receiver is not None and node.kind() == "method_declaration":
            names = tuple(self._bound(receiver))[:1]
            of = plain_type(self._source(receiver).strip("()").split(" ")[-1])
            yield Parameter(names or ("self",), self._source(receiver), of)
        found: list[SgNode] = []
        if listed is not None:
            found = self._named_children(listed) or [listed]
        else:
            for child in self._named_children(node):
                if child.kind() in (
                    "function_value_parameters",
                    "lambda_parameters",
                    "formal_parameters",
                ):
                    found += self._named_children(child)
                elif child.kind() == "parameter" and child != body:
                    found.append(child)
                elif child.kind() == "lambda_function_type":
                    found += list(child.find_all(kind="lambda_parameter"))
        annotations = ""
        for each in found:
            if each.kind() in ("parameter_modifiers", "comment"):
                annotations = self._source(each) + " "
                continue
            names = tuple(self._bound(each))
            of_type = each.field("type") or next(
                (c for c in self._named_children(each) if c.kind() in NO_NAMES), None
            )
            if names:
                text = annotations + self._source(each)
                yield Parameter(
                    names,
                    text,
                    plain_type(self._source(of_type)) if of_type is not None else "",
                )
            annotations = ""

    def _bound(self, node: "SgNode") -> Iterator[str]:
        """Yield the names that a pattern or parameter binds."""
        kind = node.kind()
        if kind in NO_NAMES and kind != "qualified_identifier":
            return
        if (
            self.shapes.get(kind) == "name" and not self._named_children(node)
        ) or kind == "variable_name":
            yield self._source(node).lstrip("$&*@")
            return
        inner = (
            node.field("name")
            or node.field("pattern")
            or node.field("declarator")
            or node.field("left")
        )
        if kind in ("tuple_struct_pattern", "struct_pattern"):
            of = node.field("type")
            for child in self._named_children(node):
                if child != of:
                    yield from self._bound(child)
        elif kind == "pair_pattern":
            value = node.field("value")
            yield from self._bound(value) if value is not None else ()
        elif inner is not None:
            for child in (
                kind == "parameter_declaration" and list(node.field_children("name"))
            ) or [inner]:
                if child.kind() not in NO_NAMES:
                    yield from self._bound(child)
        else:
            for child in self._named_children(node):
                yield from self._bound(child)


def _is_constant(node: Node) -> bool:
    return node.op == "constant" or (
        node.op in ("group", "block", "or", "test") and all(map(_is_constant, node.parts))
    )
