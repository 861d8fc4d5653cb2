"""Read the expressions of a syntax tree: names, calls, texts, comparisons, assignments.

One function a shape: it gets the reader, a node and an empty Node at its place, and returns what stands for the node.
"""

import re
from typing import TYPE_CHECKING

from cli_guard.code.taint.program import FlowNode
from cli_guard.code.taint.tree_reader import TreeReader, field_of, first_of, has_sign

if TYPE_CHECKING:
    from ast_grep_py import SgNode

OBJECT = (
    "object receiver operand value argument expression target path scope condition".split()
)
MEMBER = ("property", "attribute", "field", "name", "suffix", "method")
TARGET = ("left", "pattern", "name", "declarator", "target", "alias", "property", "key")
VALUE = ("right", "value", "result", "default_value")
# The arguments behind the name of a variable; of names alone, the grammar takes them for parameters of a function.
CONSTRUCTED = ("argument_list", "parameter_list")
# Operators that put a text together, whatever the language.
JOINS = ("+", ".", "%", "..", "<<", "||=", "++")
AND = ("&&", "and")
OR = ("||", "or", "??", "?:")
# Parts of a text that hold nothing of it.
MARKS = ("string_start", "string_end", "interpolation_identifier_start")
UNEQUAL_WORDS = ("not in", "is not")
LIST_TYPE = re.compile(r"(?:Array|List|Vec|vector|Sequence|Iterable|Set|list)\b")
TYPE_WORDS = re.compile(
    r"\b(?:const|mut|final|dyn|impl|var|val|let|struct|out|ref|readonly)\b|'[a-z]\w*\s"
)


def read_name(reader: TreeReader, node: "SgNode", made: FlowNode) -> FlowNode:
    text = reader.text[made.start : made.end]
    own_field = reader.language.own_field
    if own_field and text.startswith(own_field):
        made.op = "member"
        made.name = text.lstrip(own_field)
        made.parts = (made.word("self"),)
        return made
    made.op = "name"
    made.name = text.lstrip(reader.language.sigils)
    return made


def read_constant(reader: TreeReader, node: "SgNode", made: FlowNode) -> FlowNode:
    made.op = "constant"
    made.text = reader.text[made.start : made.end]
    return made


def read_member(reader: TreeReader, node: "SgNode", made: FlowNode) -> FlowNode:
    named = node.named_children()
    owner = field_of(node, OBJECT) or (named[0] if named else None)
    member = field_of(node, MEMBER) or (named[-1] if len(named) > 1 else None)
    if owner is None or member is None:
        return reader.fill(made, named)
    if member.range().start.index < owner.range().start.index:
        return reader.fill(made, named)
    made.op = "member"
    made.name = reader.source(member).lstrip("?.!:&>-$@").split("<")[0].strip()
    made.parts = (reader.lower(owner),)
    return made


def read_index(reader: TreeReader, node: "SgNode", made: FlowNode) -> FlowNode:
    named = node.named_children()
    made.op = "index"
    made.parts = reader.lower_all(named)
    return made if named else read_constant(reader, node, made)


def read_text(reader: TreeReader, node: "SgNode", made: FlowNode) -> FlowNode:
    if node.kind() in ("subshell", "command_substitution"):
        return reader.call(made, made.word("subshell"), node.named_children())
    parts: list[FlowNode] = []
    for child in node.named_children():
        kind = child.kind()
        if reader.language.shapes.get(kind) == "constant" and kind != "number":
            piece = read_constant(reader, child, reader.place(child))
            # An escape such as \n is a node of its own, and part of the text around it.
            if parts and parts[-1].op == "constant":
                piece.start = parts[-1].start
                piece.text = parts.pop().text + piece.text
            parts.append(piece)
        elif kind not in MARKS:
            parts.append(reader.lower(child))
    if all(part.op == "constant" for part in parts):
        return read_constant(reader, node, made)
    if len(parts) == 1 and reader.language.bare_texts:
        return parts[0]
    made.op = "text"
    made.parts = tuple(parts)
    return made


def read_binary(reader: TreeReader, node: "SgNode", made: FlowNode) -> FlowNode:
    """Read `a + b + c`, which nests to the left, as one; `and`, `or` and comparisons keep their meaning."""
    operator = find_operator(reader, node)
    operands = find_operands(node)
    made.name = operator
    made.op = "test"
    if operator in AND:
        made.op = "and"
    elif operator in OR:
        made.op = "or"
    elif operator in JOINS or operator in reader.language.joins.split():
        made.op = "text"
        while operands and operands[0].kind() == node.kind():
            if find_operator(reader, operands[0]) != operator:
                break
            operands = [*find_operands(operands[0]), *operands[1:]]
            reader.spend(1)
    made.parts = reader.lower_all(operands)
    return made


def find_operands(node: "SgNode") -> list["SgNode"]:
    return [
        child
        for child in node.named_children()
        if not child.kind().endswith("operator") or child.children()
    ]


def find_operator(reader: TreeReader, node: "SgNode") -> str:
    operator = node.field("operator")
    if operator is not None:
        return reader.source(operator)
    signs = (child for child in node.children() if not child.is_named())
    return " ".join(reader.source(sign) for sign in signs if sign.text() not in "()[]")


def read_test(reader: TreeReader, node: "SgNode", made: FlowNode) -> FlowNode:
    operands = node.named_children()
    if node.kind() == "test_command" and len(operands) == 1:
        return reader.lower(operands[0])
    operator = field_of(node, ("operators", "operator"))
    made.op = "test"
    made.name = reader.source(operator) or find_operator(reader, node)
    made.parts = reader.lower_all([o for o in operands if o.kind() not in UNEQUAL_WORDS])
    if not made.name.strip():
        made.name = reader.source(first_of(node.children(), *UNEQUAL_WORDS))
    if reader.language.not_first and made.parts and made.parts[0].op == "not":
        negated, *others = made.parts
        inner = made.beside("test", (*negated.parts, *others), made.name)
        made.op = "not"
        made.parts = (inner,)
    return made


def read_not(reader: TreeReader, node: "SgNode", made: FlowNode) -> FlowNode:
    operator = find_operator(reader, node).split(" ")[0]
    made.parts = reader.lower_all(node.named_children())
    if operator in ("!", "not"):
        made.op = "not"
        made.parts = made.parts[-1:]
    elif operator == "-" and [part.op for part in made.parts] == ["constant"]:
        return read_constant(reader, node, made.beside("constant"))
    elif operator in ("-z", "-n", "typeof"):
        made.op = "test"
        made.name = operator
    return made


def read_cast(reader: TreeReader, node: "SgNode", made: FlowNode) -> FlowNode:
    named = node.named_children()
    of = node.field("type") or (named[-1] if named else None)
    value = field_of(node, ("value", "operand", "expression")) or (
        named[0] if named else None
    )
    made.op = "cast"
    made.name = plain_type(reader.source(of))
    made.parts = (reader.lower(value),) if value is not None else ()
    return made


def read_assignment(reader: TreeReader, node: "SgNode", made: FlowNode) -> FlowNode:
    target, value = find_sides(node)
    if target is None:
        return reader.fill(made, node.named_children())
    made.op = "assign"
    made.name = "="
    operator = find_operator(reader, node).split(" ")[0]
    if node.kind() != "keyed_element" and is_augmented(node, operator):
        made.name = operator
    made.text = plain_type(reader.source(find_type(node)))
    targets = reader.lower(target)
    made.parts = (targets,)
    if value is not None:
        if made.text and value.kind() in CONSTRUCTED:  # C++: `std::ifstream page(path);`
            callee = made.word(made.text)
            given = reader.call(reader.place(node), callee, value.named_children())
        else:
            given = reader.lower(value)
        made.parts = (targets, given)
        if given.function is not None and not given.function.name:
            given.function.name = targets.name
    other = node.field("alternative") if node.kind() == "let_declaration" else None
    if other is None:
        return made
    # It runs only if the pattern does not match: evaluated beside what follows.
    inner = reader.lower(other)
    unlikely = inner.beside("if", (inner.word(""), inner))
    return made.beside("block", (unlikely, made))


def is_augmented(node: "SgNode", operator: str) -> bool:
    """Return whether an assignment adds to what its target holds."""
    if "augmented" in node.kind():
        return True
    return operator.endswith("=") and operator not in ("=", ":=", "==")


def find_sides(node: "SgNode") -> "tuple[SgNode | None, SgNode | None]":
    """Return the target of an assignment and its value."""
    named = node.named_children()
    if node.kind() == "as_pattern" and len(named) == 2:
        return named[1], named[0]
    target = field_of(node, TARGET)
    value = field_of(node, VALUE)
    if target is None:
        others = [c for c in named if c.kind() not in ("binding_pattern_kind", "modifiers")]
        target = others[0] if others else None
    if node.kind() == "function_declarator":
        return target, node.field("parameters")
    if target is None or value is not None:
        return target, value
    last = named[-1]
    if has_sign(node, ("=", "+=", ":=")):
        return target, last if last.range() != target.range() else None
    declares = node.kind() in ("init_declarator", "variable_declarator")
    return target, last if declares and len(named) > 1 else None


def find_type(node: "SgNode") -> "SgNode | None":
    """Return the type that a declaration gives, None if it gives none."""
    of = node.field("type")
    parent = node.parent()
    if of is None and parent is not None and "declarat" in parent.kind():
        of = parent.field("type")
    if of is None:
        declared = first_of(node.named_children(), "variable_declaration") or node
        of = first_of(declared.named_children(), "user_type", "type_annotation")
    return of


def plain_type(text: str) -> str:
    """Return a type without what is generic, optional or by reference in it: `&mut foo::Bar<T>` is `foo.Bar`.

    A list keeps its brackets: `[]byte` and `Array<Int>` are no numbers.
    """
    text = TYPE_WORDS.sub("", text.strip().lstrip(":")).strip()
    listed = "[]" if "[" in text or LIST_TYPE.match(text) else ""
    text = re.sub(r"<.*|\(.*|\[.*?\]", "", text, flags=re.DOTALL)
    return text.replace("::", ".").replace("\\", ".").strip(" *&?!.[]'\"") + listed
