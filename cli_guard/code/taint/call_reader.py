"""Read the calls of a syntax tree: what is called, its arguments, and the names in a Rust macro."""

import re
from typing import TYPE_CHECKING

from cli_guard.code.taint.expressions import plain_type
from cli_guard.code.taint.program import FlowNode
from cli_guard.code.taint.tree_reader import DEEPEST, TreeReader, field_of, first_of

if TYPE_CHECKING:
    from ast_grep_py import SgNode

# Statements that are calls in all but form.
STATEMENTS = (
    "echo_statement",
    "print_intrinsic",
    "shell_command_expression",
    "jsx_attribute",
)
INCLUDES = ("include", "require")
LITERALS = ("composite_literal", "struct_expression")
ARGUMENTS = ("arguments", "argument_list", "call_suffix", "value_arguments")
GENERIC = ("generic_function", "generic_name", "template_function")
CHAIN = re.compile(r"[A-Za-z_]\w*(?:(?:\.|::)[A-Za-z_]\w*)*")
MACRO_TOKEN = re.compile(rf"{CHAIN.pattern}|[(),]")
CAPTURE = re.compile(r"\{([A-Za-z_]\w*)[:}]")
QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')


def read_call(reader: TreeReader, node: "SgNode", made: FlowNode) -> FlowNode:
    kind = node.kind()
    named = node.named_children()
    if kind in LITERALS:
        return read_literal(reader, node, made)
    if kind == "jsx_attribute" and named:
        word = f"jsx.{reader.source(named[0])}"
        return reader.call(made, made.word(word), named[1:])
    if kind in STATEMENTS or kind.startswith(INCLUDES):
        return reader.call(made, made.word(word_of(kind)), named)
    if kind == "command":
        word = reader.source(node.field("name"))
        return reader.call(made, made.word(word), list(node.field_children("argument")))
    arguments = field_of(node, ("arguments", "parameters")) or first_of(named, *ARGUMENTS)
    callee = read_callee(reader, node, made, arguments)
    given = list_arguments(arguments) if arguments is not None else []
    for extra in (node.field("block"), node.field("initializer")):
        if extra is not None:
            given.append(extra)
    return reader.call(made, callee, given)


def read_literal(reader: TreeReader, node: "SgNode", made: FlowNode) -> FlowNode:
    """Read an object that is written with its type and its fields."""
    body = node.field("body")
    reader.fill(made, body.named_children() if body is not None else ())
    made.name = plain_type(reader.source(field_of(node, ("type", "name"))))
    return made


def word_of(kind: str) -> str:
    """Return the name of a statement that is a call: `include_once` for `include_once_expression`."""
    if kind == "shell_command_expression":
        return "subshell"
    word = kind.split("_")[0]
    return f"{word}_once" if kind.endswith("once_expression") else word


def read_callee(
    reader: TreeReader, node: "SgNode", made: FlowNode, arguments: "SgNode | None"
) -> FlowNode:
    kind = node.kind()
    named = node.named_children()
    if "new" in kind or kind == "object_creation_expression":
        of = field_of(node, ("constructor", "type", "name"))
        of = of or (named[0] if named else None)
        return made.word(f"new {plain_type(reader.source(of))}".strip())
    owner = field_of(node, ("receiver", "object", "scope"))
    method = field_of(node, ("method", "name"))
    if owner is not None and method is not None:
        inner = reader.lower(owner)
        callee = reader.place(method, "member")
        callee.start = inner.start
        callee.parts = (inner,)
        callee.name = reader.source(method).lstrip("$")
        return callee
    target = field_of(node, ("function", "method", "name"))
    if target is None:
        others = [c for c in named if arguments is None or c.range() != arguments.range()]
        target = others[0] if others else None
    if target is None:
        return made.word("")
    if target.kind() in GENERIC:
        target = field_of(target, ("function", "name")) or target.named_children()[0]
    return reader.lower(target)


def list_arguments(arguments: "SgNode") -> list["SgNode"]:
    if arguments.kind() == "template_string":
        return [arguments]
    found = []
    for child in arguments.named_children():
        if child.kind() in ("value_arguments", "annotated_lambda"):
            found += child.named_children()
        else:
            found.append(child)
    return found


def read_macro(reader: TreeReader, node: "SgNode", made: FlowNode) -> FlowNode:
    """Read the names in the tokens of a Rust macro: its grammar does not parse them."""
    named = node.named_children()
    body = reader.source(named[-1])
    strings = QUOTED.findall(body)
    parts = [made.word(reader.source(named[0]).replace("::", "."))]
    for text in strings[:1]:
        form = made.beside("constant")
        form.text = text
        parts += [form, *(read_chain(made, name) for name in CAPTURE.findall(text))]
    parts += read_tokens(made, MACRO_TOKEN.findall(QUOTED.sub(" ", body)))
    made.op = "call"
    made.parts = tuple(parts)
    made.keys = (None,) * len(parts)
    return made


def read_tokens(made: FlowNode, tokens: list[str], depth: int = 0) -> list[FlowNode]:
    """Read names and calls from the tokens of a macro, which it takes from the front."""
    found: list[FlowNode] = []
    while tokens and depth < DEEPEST:
        piece = tokens.pop(0)
        if piece == ")":
            break
        if piece == "(":
            inner = read_tokens(made, tokens, depth + 1)
            if found and found[-1].op != "call":
                call = made.beside("call", (found.pop(), *inner))
                call.keys = (None,) * len(call.parts)
                inner = [call]
            found += inner
        elif piece != ",":
            found.append(read_chain(made, piece))
    return found


def read_chain(made: FlowNode, chain: str) -> FlowNode:
    first, *members = chain.replace("::", ".").split(".")
    node = made.beside("name", name=first)
    for member in members:
        node = made.beside("member", (node,), member)
    return node
