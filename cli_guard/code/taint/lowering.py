"""Turn a syntax tree of any language into statements, functions and classes in the shapes of `program`."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from cli_guard.code.taint import call_reader, expressions, statements
from cli_guard.code.taint.expressions import plain_type
from cli_guard.code.taint.program import FlowFunction, FlowNode, FlowParameter
from cli_guard.code.taint.tree_reader import (
    Reader,
    TooBigError,
    TreeReader,
    field_of,
    first_of,
    has_hopeless_line,
)

if TYPE_CHECKING:
    from ast_grep_py import SgNode

__all__ = ["TooBigError", "lower"]

ANNOTATION = re.compile(r"\s*(?:@|#\[|\[[A-Z])")
# The parameter of a constructor that is a field as well, in TypeScript and PHP.
FIELD = re.compile(r"(?:@\w+(?:\([^)]*\))?\s*)*(?:public|private|protected|readonly)\s")
HEADING_LINES = 8
LONGEST_HEADING = 2_000
LISTS = (
    "parameter_list",
    "function_value_parameters",
    "lambda_parameters",
    "formal_parameters",
    "primary_constructor",
    "class_parameters",
)
# Kinds of node around the name of a parameter that are no name themselves.
NO_NAMES = frozenset(
    "type type_annotation user_type type_identifier primitive_type predefined_type qualified_type pointer_type"
    " reference_type generic_type named_type union_type optional_type modifiers attribute_list array_type"
    " parameter_modifiers qualified_identifier template_type scoped_type_identifier nullable_type decorator"
    " slice_type map_type interface_type function_type namespace_identifier package_identifier".split()
)


def lower(
    root: "SgNode", language: str, text: str
) -> tuple[FlowFunction, list[FlowFunction]]:
    """Return the statements of a file outside of functions as one, and all its functions.

    Raises TooBigError if it has over MOST_NODES nodes or nests deeper than DEEPEST.
    """
    if has_hopeless_line(text):
        raise TooBigError
    reader = TreeReader(language, text, READERS)
    body = reader.lower(root)
    return FlowFunction("", (), body), reader.functions


def read_class(reader: TreeReader, node: "SgNode", made: FlowNode) -> FlowNode:
    named = node.named_children()
    name = field_of(node, ("name", "type"))
    if name is None:
        name = first_of(named, "type_identifier", "simple_identifier")
    outer = reader.owner
    if name is not None:
        reader.owner = plain_type(reader.source(name))
    made.op = "class"
    made.name = reader.owner
    # What is written behind the name of a class, as in C#, Kotlin and Scala, is kept in fields.
    fields = read_parameters(reader, find_parameters(node, node, None))
    inside = reader.lower_all([c for c in named if c != name])
    made.parts = (*(declare_field(made, each) for each in fields), *inside)
    reader.owner = outer
    return made


def declare_field(made: FlowNode, parameter: FlowParameter) -> FlowNode:
    """Return the declaration of a field, which has no place of its own in the text."""
    field = made.word("=")
    field.op = "assign"
    field.parts = (made.word(parameter.names[0]),)
    field.text = parameter.type
    return field


def read_function(reader: TreeReader, node: "SgNode", made: FlowNode) -> FlowNode:
    named = node.named_children()
    body = node.field("body") or first_of(named, "function_body", "statements", "block")
    holder = find_declarator(node)
    name = node.field("name")
    if name is None and holder != node:
        name = holder.field("declarator")
    if name is None and node.kind() == "function_declaration":
        name = first_of(named, "simple_identifier")
    receiver = node.field("receiver") if node.kind() == "method_declaration" else None  # Go
    stop = body.range().start.index if body is not None else made.end
    parameters = [*read_receiver(reader, receiver)] if receiver is not None else []
    owner = parameters[0].type if parameters else reader.owner
    parameters += read_parameters(reader, find_parameters(node, holder, body))
    function = FlowFunction(
        name=reader.source(name).split("::")[-1].split(".")[-1].lstrip("&*"),
        parameters=tuple(parameters),
        body=made.beside("block"),
        heading=heading_of(reader.text, made.start, stop),
        owner=owner,
        line=made.line,
    )
    if body is not None:
        function.body = reader.lower(body)
        if function.body.op != "block":  # an expression is what the function returns
            function.body = function.body.beside("return", (function.body,))
        keep_parameters(function)
    reader.functions.append(function)
    made.op = "function"
    made.function = function
    made.name = function.name
    return made


def keep_parameters(function: FlowFunction) -> None:
    """Write out what a constructor keeps by the words before its parameters: `private readonly name`."""
    body = function.body
    kept = [each.names[0] for each in function.parameters if FIELD.match(each.text)]
    if not kept:
        return
    fields = [body.beside("member", (body.word("this"),), name) for name in kept]
    written = [
        body.beside("assign", (field, body.word(field.name)), "=") for field in fields
    ]
    function.body = body.beside("block", (*written, *body.parts))


def find_declarator(node: "SgNode") -> "SgNode":
    """Return what has the parameters of a function: in C, the declarator in its declarators."""
    while (inner := node.field("declarator")) is not None:
        if node.field("parameters") is not None:
            break
        node = inner
    return node


def heading_of(text: str, start: int, stop: int) -> str:
    """Return a signature, with the decorators, annotations or attributes on the lines before it."""
    lines = text[max(0, start - 1000) : start].split("\n")[-HEADING_LINES:]
    kept: list[str] = []
    for line in reversed(lines):
        if line.strip() and not ANNOTATION.match(line):
            break
        kept.insert(0, line)
    signature = text[start : min(stop, start + LONGEST_HEADING)]
    return "\n".join((*kept, signature)).strip()


def read_receiver(reader: TreeReader, receiver: "SgNode") -> Iterator[FlowParameter]:
    """Yield the object that a method of Go is called on."""
    text = reader.source(receiver)
    names = tuple(list_bound(reader, receiver))[:1]
    yield FlowParameter(
        names or ("self",), text, plain_type(text.strip("()").split(" ")[-1])
    )


def find_parameters(
    node: "SgNode", holder: "SgNode", body: "SgNode | None"
) -> list["SgNode"]:
    listed = holder.field("parameters") or field_of(node, ("parameter",))
    listed = listed or holder.field("parameter")
    if listed is not None:
        return listed.named_children() or [listed]
    found: list[SgNode] = []
    for child in node.named_children():
        if child.kind() in LISTS:
            found += child.named_children()
        elif child.kind() == "parameter" and child != body:
            found.append(child)
        elif child.kind() == "lambda_function_type":
            found += child.find_all(kind="lambda_parameter")
    return found


def read_parameters(reader: TreeReader, nodes: list["SgNode"]) -> Iterator[FlowParameter]:
    annotations = ""
    for each in nodes:
        if each.kind() in ("parameter_modifiers", "comment"):
            annotations = reader.source(each) + " "
            continue
        names = tuple(list_bound(reader, each))
        typed = [child for child in each.named_children() if child.kind() != "modifiers"]
        of = each.field("type") or first_of(typed, *NO_NAMES)
        if names:
            text = annotations + reader.source(each)
            yield FlowParameter(names, text, plain_type(reader.source(of)))
        annotations = ""


def list_bound(reader: TreeReader, node: "SgNode") -> Iterator[str]:
    """Yield the names that a pattern or parameter binds."""
    kind = node.kind()
    named = node.named_children()
    if kind in NO_NAMES and kind != "qualified_identifier":
        return
    is_name = reader.language.shapes.get(kind) == "name" and not named
    if is_name or kind == "variable_name":
        yield reader.source(node).lstrip("$&*@")
        return
    for child in find_binding(node, kind, named):
        yield from list_bound(reader, child)


def find_binding(node: "SgNode", kind: str, named: list["SgNode"]) -> list["SgNode"]:
    """Return the parts of a pattern or parameter that may bind names."""
    if kind in ("tuple_struct_pattern", "struct_pattern"):
        of = node.field("type")
        return [child for child in named if child != of]
    if kind == "pair_pattern":
        return list(node.field_children("value"))[:1]
    inner = field_of(node, ("name", "pattern", "declarator", "left"))
    if inner is None:
        return named
    several = list(node.field_children("name")) if kind == "parameter_declaration" else []
    return [child for child in several or [inner] if child.kind() not in NO_NAMES]


READERS: dict[str, Reader] = {
    "name": expressions.read_name,
    "member": expressions.read_member,
    "index": expressions.read_index,
    "text": expressions.read_text,
    "constant": expressions.read_constant,
    "binary": expressions.read_binary,
    "test": expressions.read_test,
    "not": expressions.read_not,
    "cast": expressions.read_cast,
    "assign": expressions.read_assignment,
    "call": call_reader.read_call,
    "macro": call_reader.read_macro,
    "if": statements.read_if,
    "loop": statements.read_loop,
    "comprehension": statements.read_comprehension,
    "switch": statements.read_switch,
    "return": statements.read_return,
    "leave": statements.read_leave,
    "try": statements.read_try,
    "block": statements.read_block,
    "function": read_function,
    "class": read_class,
}
