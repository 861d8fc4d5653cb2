"""Turn the expressions of a syntax tree into the shapes of `program`: calls, texts, comparisons, assignments."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cli_guard.code.taint.program import Node
from cli_guard.code.taint.tree_reader import DEEPEST, TreeReader, plain_type

if TYPE_CHECKING:
    from ast_grep_py import SgNode

TARGET = ("left", "pattern", "name", "declarator", "target", "alias", "property", "key")
VALUE = ("right", "value", "result", "default_value")
ARGUMENTS = ("arguments", "parameters")
CHAIN = re.compile(r"[A-Za-z_]\w*(?:(?:\.|::)[A-Za-z_]\w*)*")
MACRO_TOKEN = re.compile(rf"{CHAIN.pattern}|[(),]")
CAPTURE = re.compile(r"\{([A-Za-z_]\w*)[:}]")
QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')


class Expressions(TreeReader):
    """Lowers expressions; statements, functions and classes are added by the one subclass, in `lowering`."""

    def _call(self, node: "SgNode", made: Node) -> Node:
        kind = node.kind()
        named = self._named_children(node)
        made.op = "call"
        if kind in ("composite_literal", "struct_expression"):
            body = node.field("body")
            of = self._field(node, ("type", "name"))
            self._fill(made, self._named_children(body) if body is not None else ())
            made.op = "group"
            made.name = plain_type(self._source(of)) if of is not None else ""
            return made
        if kind in (
            "echo_statement",
            "print_intrinsic",
            "jsx_attribute",
            "shell_command_expression",
        ) or (kind.startswith(("include", "require")) and self.language == "php"):
            word = kind.split("_")[0] if kind != "shell_command_expression" else "subshell"
            if kind.endswith("once_expression"):
                word += "_once"
            if kind == "jsx_attribute" and named:
                word = f"jsx.{self._source(named.pop(0))}"
            return self._with_callee(made, self._word(made, word), named)
        if kind == "command":
            name = node.field("name")
            word = self._source(name) if name is not None else ""
            return self._with_callee(
                made, self._word(made, word), list(node.field_children("argument"))
            )
        arguments = self._field(node, ARGUMENTS) or next(
            (
                c
                for c in named
                if c.kind()
                in ("arguments", "argument_list", "call_suffix", "value_arguments")
            ),
            None,
        )
        callee = self._callee(node, made, named, arguments)
        given = self._arguments(arguments) if arguments is not None else []
        for extra in (node.field("block"), node.field("initializer")):
            if extra is not None:
                given.append(extra)
        return self._with_callee(made, callee, given)

    def _callee(
        self, node: "SgNode", made: Node, named: list["SgNode"], arguments: "SgNode | None"
    ) -> Node:
        kind = node.kind()
        if "new" in kind or kind == "object_creation_expression":
            of = self._field(node, ("constructor", "type", "name")) or (
                named[0] if named else None
            )
            return self._word(
                made, "new " + plain_type(self._source(of)) if of is not None else "new"
            )
        owner = self._field(node, ("receiver", "object", "scope"))
        method = self._field(node, ("method", "name"))
        if owner is not None and method is not None:
            inner = self.lower(owner)
            span = method.range()
            name = self._source(method).lstrip("$")
            return Node(
                "member", span.start.line + 1, inner.start, span.end.index, (inner,), name
            )
        target = self._field(node, ("function", "method", "name"))
        if target is None:
            target = next(
                (c for c in named if arguments is None or c.range() != arguments.range()),
                None,
            )
        if target is not None and target.kind() in (
            "generic_function",
            "generic_name",
            "template_function",
        ):
            target = (
                self._field(target, ("function", "name")) or self._named_children(target)[0]
            )
        return self.lower(target) if target is not None else self._word(made, "")

    def _arguments(self, arguments: "SgNode") -> list["SgNode"]:
        if arguments.kind() == "template_string":
            return [arguments]
        found = []
        for child in self._named_children(arguments):
            if child.kind() == "value_arguments" or child.kind() == "annotated_lambda":
                found += self._named_children(child)
            else:
                found.append(child)
        return found

    def _word(self, made: Node, word: str) -> Node:
        return Node("name", made.line, made.start, made.start, name=word)

    def _with_callee(self, made: Node, callee: Node, given: Sequence["SgNode"]) -> Node:
        self._fill(made, given)
        made.op, made.parts, made.keys = "call", (callee, *made.parts), (None, *made.keys)
        return made

    def _macro(self, node: "SgNode", made: Node) -> Node:
        """Read the names in the tokens of a Rust macro: its grammar does not parse them."""
        named = self._named_children(node)
        body = self._source(named[-1])
        strings = QUOTED.findall(body)
        chains = [name for text in strings[:1] for name in CAPTURE.findall(text)]
        first = (
            [Node("constant", made.line, made.start, made.end, text=strings[0])]
            if strings
            else []
        )
        given = self._tokens(made, MACRO_TOKEN.findall(QUOTED.sub(" ", body)))
        parts = (*first, *(self._chain(made, chain) for chain in chains), *given)
        word = self._source(named[0]).replace("::", ".")
        made.op, made.parts = "call", (self._word(made, word), *parts)
        made.keys = (None,) * len(made.parts)
        return made

    def _tokens(self, made: Node, tokens: list[str], depth: int = 0) -> list[Node]:
        """Read names and calls from the tokens of a macro, which it takes from the front."""
        found: list[Node] = []
        while tokens and depth < DEEPEST:
            piece = tokens.pop(0)
            if piece == ")":
                break
            if piece == "(":
                inner = self._tokens(made, tokens, depth + 1)
                callee = found.pop() if found and found[-1].op != "call" else None
                if callee is None:
                    found += inner
                else:
                    keys = (None,) * (len(inner) + 1)
                    found.append(
                        Node(
                            "call",
                            made.line,
                            made.start,
                            made.end,
                            (callee, *inner),
                            keys=keys,
                        )
                    )
            elif piece not in (",", "&"):
                found.append(self._chain(made, piece))
        return found

    def _chain(self, made: Node, chain: str) -> Node:
        first, *members = chain.replace("::", ".").split(".")
        node = Node("name", made.line, made.start, made.end, name=first)
        for member in members:
            node = Node("member", made.line, made.start, made.end, (node,), member)
        return node

    def _text(self, node: "SgNode", made: Node) -> Node:
        parts = []
        if node.kind() == "subshell" or node.kind() == "command_substitution":
            return self._with_callee(
                made, self._word(made, "subshell"), self._named_children(node)
            )
        for child in self._named_children(node):
            shape = self.shapes.get(child.kind())
            if shape == "constant" and child.kind() != "number":
                span = child.range()
                text = self._source(child)
                parts.append(
                    Node(
                        "constant",
                        span.start.line + 1,
                        span.start.index,
                        span.end.index,
                        text=text,
                    )
                )
            elif child.kind() not in (
                "string_start",
                "string_end",
                "interpolation_identifier_start",
            ):
                parts.append(self.lower(child))
        if all(part.op == "constant" for part in parts):
            return self._constant(node, made)
        if len(parts) == 1 and self.language == "bash":  # quotes only keep it one word
            return parts[0]
        made.op = "text"
        made.parts = tuple(parts)
        return made

    def _binary(self, node: "SgNode", made: Node) -> Node:
        """Read `a + b + c`, which nests to the left, as one; `and`, `or` and comparisons keep their meaning."""
        operator = self._operator(node)
        operands = self._operands(node)
        if operator in ("&&", "and", "||", "or", "??", "?:"):
            made.op = "and" if operator in ("&&", "and") else "or"
            made.parts = self._all(operands)
            made.name = operator
        elif operator in (
            "+",
            ".",
            *(["/"] if self.language == "python" else []),
            "%",
            "..",
            "<<",
            "||=",
            "++",
        ):
            while (
                operands
                and self._operator(operands[0]) == operator
                and operands[0].kind() == node.kind()
            ):
                operands = [*self._operands(operands[0]), *operands[1:]]
                self._count += 1
            made.op = "text"
            made.parts = self._all(operands)
            made.name = operator
        else:
            made.op = "test"
            made.parts = self._all(operands)
            made.name = operator
        return made

    def _operands(self, node: "SgNode") -> list["SgNode"]:
        return [
            child
            for child in self._named_children(node)
            if not child.kind().endswith("operator") or child.children()
        ]

    def _operator(self, node: "SgNode") -> str:
        operator = node.field("operator")
        if operator is not None:
            return self._source(operator)
        return " ".join(
            self._source(c)
            for c in node.children()
            if not c.is_named() and c.text() not in "()[]"
        )

    def _test(self, node: "SgNode", made: Node) -> Node:
        operands = self._named_children(node)
        if node.kind() == "test_command" and len(operands) == 1:
            return self.lower(operands[0])
        operator = node.field("operators") or node.field("operator")
        made.op = "test"
        made.parts = self._all(
            [o for o in operands if o.kind() not in ("not in", "is not")]
        )
        made.name = self._source(operator) if operator is not None else self._operator(node)
        if (
            self.language == "bash" and made.parts and made.parts[0].op == "not"
        ):  # [[ ! $a == b ]]
            inner = Node(
                "test",
                made.line,
                made.start,
                made.end,
                (*made.parts[0].parts, *made.parts[1:]),
                made.name,
            )
            made.op = "not"
            made.parts = (inner,)
        if not made.name.strip():
            made.name = next(
                (
                    self._source(o)
                    for o in node.children()
                    if o.kind() in ("not in", "is not")
                ),
                "",
            )
        return made

    def _not(self, node: "SgNode", made: Node) -> Node:
        named = self._named_children(node)
        operator = self._operator(node).split(" ")[0]
        made.op = "group"
        made.parts = self._all(named)
        if operator in ("!", "not"):
            made.op, made.parts = "not", made.parts[-1:]
        elif operator in ("-z", "-n", "typeof"):
            made.op = "test"
            made.name = operator
        return made

    def _cast(self, node: "SgNode", made: Node) -> Node:
        named = self._named_children(node)
        of = node.field("type") or (named[-1] if named else None)
        value = self._field(node, ("value", "operand", "expression")) or (
            named[0] if named else None
        )
        made.op = "cast"
        made.name = plain_type(self._source(of)) if of is not None else ""
        made.parts = (self.lower(value),) if value is not None else ()
        return made

    def _assign(self, node: "SgNode", made: Node) -> Node:
        target = self._field(node, TARGET)
        value = self._field(node, VALUE)
        named = self._named_children(node)
        if node.kind() == "as_pattern" and len(named) == 2:
            value, target = named
        if target is None and named:
            target = next(
                (c for c in named if c.kind() not in ("binding_pattern_kind", "modifiers")),
                None,
            )
        if (
            value is None
            and target is not None
            and any(c.text() in ("=", "+=", ":=") for c in node.children())
        ):
            value = named[-1] if named[-1].range() != target.range() else None
        elif value is None and node.kind() in ("init_declarator", "variable_declarator"):
            value = named[-1] if len(named) > 1 else None
        if target is None:
            return self._fill(made, named)
        made.op = "assign"
        operator = (
            self._operator(node).split(" ")[0] if node.kind() != "keyed_element" else "="
        )
        augmented = (
            operator.endswith("=") and len(operator) > 1 and operator not in (":=", "==")
        )
        made.name = operator if augmented or "augmented" in node.kind() else "="
        made.text = self._type_of(node)
        targets = self.lower(target)
        made.parts = (targets,)
        if value is not None:
            given = self.lower(value)
            made.parts = (targets, given)
            if given.function is not None and not given.function.name:
                given.function.name = targets.name
        other = node.field("alternative") if node.kind() == "let_declaration" else None
        if other is not None:
            return Node(
                "block", made.line, made.start, made.end, (self._unlikely(other), made)
            )
        return made

    def _unlikely(self, node: "SgNode") -> Node:
        """What runs only if a pattern does not match: evaluated beside what follows."""
        inner = self.lower(node)
        return Node(
            "if", inner.line, inner.start, inner.end, (self._word(inner, ""), inner)
        )

    def _type_of(self, node: "SgNode") -> str:
        of = node.field("type")
        parent = node.parent()
        if of is None and parent is not None and "declarat" in parent.kind():
            of = parent.field("type")
        if of is None:
            declared = next(
                (
                    c
                    for c in self._named_children(node)
                    if c.kind() == "variable_declaration"
                ),
                node,
            )
            of = next(
                (
                    c
                    for c in self._named_children(declared)
                    if c.kind() in ("user_type", "type_annotation")
                ),
                None,
            )
        return plain_type(self._source(of)) if of is not None else ""
