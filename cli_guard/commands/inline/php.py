"""What a piece of PHP does."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from cli_guard.commands.inline import code, evaluate
from cli_guard.commands.inline.code import NOTHING, Node
from cli_guard.commands.inline.grammar import field, mixed, number, parts, root, unescaped
from cli_guard.commands.inline.model import Act
from cli_guard.commands.inline.php_calls import language

if TYPE_CHECKING:
    from ast_grep_py import SgNode

STEPS = frozenset(
    """program expression_statement compound_statement echo_statement if_statement else_clause else_if_clause
    while_statement do_statement for_statement switch_statement switch_block case_statement default_statement
    try_statement finally_clause throw_expression empty_statement break_statement continue_statement
    parenthesized_expression sequence_expression global_declaration declaration_list colon_block catch_clause
    match_block match_condition_list match_conditional_expression match_default_expression error_suppression_expression
    unset_statement exit_statement argument php_end_tag""".split()
)
DATA = frozenset(
    """php_tag boolean null float name qualified_name type_list named_type primitive_type visibility_modifier
    text_interpolation union_type optional_type static_modifier relative_scope cast_type""".split()
)
MIXED = frozenset(
    """unary_op_expression update_expression cast_expression print_intrinsic match_expression clone_expression
    class_constant_access_expression scoped_property_access_expression const_declaration const_element
    property_declaration property_element base_clause yield_expression""".split()
)
FUNCTIONS = frozenset("function_definition method_declaration anonymous_function arrow_function".split())
INCLUDES = frozenset(
    "include_expression include_once_expression require_expression require_once_expression".split()
)


def acts(text: str) -> tuple[Act, ...]:
    """What the code does, in its order."""
    return evaluate.acts(LANGUAGE, text)


def read(text: str) -> Node:
    """The tree of a program."""
    return node(root("php", text, "" if text.lstrip().startswith("<?") else "<?php "))


def nodes(trees: "list[SgNode]") -> tuple[Node, ...]:
    """The nodes of several trees."""
    return tuple(map(node, trees))


def node(tree: "SgNode") -> Node:
    """The node of an expression or a statement."""
    kind = tree.kind()
    if kind in READERS:
        return READERS[kind](tree)
    return code.Odd("text that is no PHP" if kind == "ERROR" else f"PHP's {kind}")


def string(tree: "SgNode") -> Node:
    """A string, also one with values in it."""
    return code.Text(tuple(pieces(tree)))


def pieces(tree: "SgNode") -> Iterator[Node]:
    """The pieces of a string."""
    for child in parts(tree):
        kind = child.kind()
        if kind == "escape_sequence":
            yield code.Const(unescaped(child.text()))
        elif kind in ("string_content", "nowdoc_string"):
            yield code.Const(child.text())
        elif kind in ("heredoc_body", "nowdoc_body"):
            yield from pieces(child)
        elif kind not in ("heredoc_start", "heredoc_end"):
            yield node(child)


def called(tree: "SgNode") -> Node:
    """The function of a call: a plain name is one, a constant it would be elsewhere."""
    return (
        code.Name(plain(tree)) if tree.kind() in ("name", "qualified_name", "relative_scope") else node(tree)
    )


def plain(tree: "SgNode") -> str:
    """A name as the tables have it."""
    return tree.text().lstrip("\\").lower()


def arguments(tree: "SgNode") -> tuple[Node, ...]:
    """The arguments of a call."""
    found = next((child for child in parts(tree) if child.kind() == "arguments"), None)
    return nodes([each for argument in parts(found) for each in parts(argument)[-1:]]) if found else ()


def call(tree: "SgNode") -> Node:
    """`f($x)`."""
    return code.Call(called(field(tree, "function")), arguments(tree))


def method_call(tree: "SgNode") -> Node:
    """`$a->f($x)` and `A::f($x)`."""
    own = field(tree, "name")
    of = (
        called(field(tree, "scope"))
        if tree.kind() == "scoped_call_expression"
        else node(field(tree, "object"))
    )
    key = None if own.kind() == "name" else node(own)
    return code.Call(code.Member(of, plain(own) if key is None else None, key), arguments(tree))


def created(tree: "SgNode") -> Node:
    """`new A($x)`."""
    made = parts(tree)[0]
    if made.kind() not in ("name", "qualified_name"):
        return code.Odd("PHP's new of something that the text does not name")
    return code.Call(code.Name(f"new {plain(made)}"), arguments(tree))


def member(tree: "SgNode") -> Node:
    """`$a[1]`, `$a->b`."""
    children = parts(tree)
    if tree.kind() != "subscript_expression":
        own = children[-1]
        return code.Member(node(children[0]), own.text()) if own.kind() == "name" else mixed(nodes(children))
    return code.Member(node(children[0]), None, node(children[1]) if len(children) > 1 else NOTHING)


def binary(tree: "SgNode") -> Node:
    """Two values and what stands between them."""
    operator = field(tree, "operator").text()
    left, right = node(field(tree, "left")), node(field(tree, "right"))
    if operator in ("&&", "||", "??", "and", "or"):
        return code.Either((left, right))
    return code.Infix(operator, left, right) if operator in (".", "+", "^") else code.Mix((left, right))


def conditional(tree: "SgNode") -> Node:
    """`$a ? $b : $c`."""
    test, *either = nodes(parts(tree))
    return code.steps(code.Mix((test,)), code.Either((*either, test)))


def assignment(tree: "SgNode") -> Node:
    """`$a = $b` and `$a .= $b`."""
    target, value = node(field(tree, "left")), node(field(tree, "right"))
    if tree.kind() == "augmented_assignment_expression":
        value = (
            code.Infix(".", target, value)
            if field(tree, "operator").text() == ".="
            else code.Either((target, value))
        )
    return code.Assign(target, value)


def array(tree: "SgNode") -> Node:
    """`[1, 2]`; one with keys is no list."""
    elements = [parts(child) for child in parts(tree)]
    if all(len(each) == 1 for each in elements):
        return code.Items(tuple(node(each[0]) for each in elements))
    return mixed(nodes([part for each in elements for part in each]))


def listed(tree: "SgNode") -> Node:
    """`list($a, $b)`."""
    return code.Items(nodes(parts(tree)))


def function(tree: "SgNode") -> Node:
    """A function, or a method."""
    given = tree.field("parameters")
    names = [field(each, "name").text() for each in parts(given)] if given else []
    values = [
        code.Assign(code.Name(field(each, "name").text()), node(field(each, "default_value")))
        for each in (parts(given) if given else [])
        if each.field("default_value")
    ]
    body = tree.field("body")
    inner = NOTHING if body is None else node(body)
    made = code.Function(
        tuple(names), code.steps(*values, code.Return(inner) if tree.kind() == "arrow_function" else inner)
    )
    own = tree.field("name")
    return code.Assign(code.Name(plain(own)), made) if own and tree.kind() == "function_definition" else made


def each(tree: "SgNode") -> Node:
    """`foreach ($xs as $k => $v)`."""
    children = parts(tree)
    if any(child.kind() == "by_ref" for child in tree.find_all(kind="by_ref")):
        return code.Odd("PHP's foreach with a reference")
    over, target, *body = children
    keys, own = (parts(target)[:-1], parts(target)[-1]) if target.kind() == "pair" else ([], target)
    return code.steps(
        *(code.Assign(node(key), code.Mix()) for key in keys),
        code.Each(node(own), node(over), code.steps(*nodes(body))),
    )


def class_made(tree: "SgNode") -> Node:
    """A class, whose objects are data."""
    own = field(tree, "name")
    inner = nodes([child for child in parts(tree) if child.kind() == "declaration_list"])
    made = code.Assign(code.Name(f"new {plain(own)}"), code.Function(("*",), NOTHING))
    return code.steps(*inner, code.Assign(code.Name(plain(own)), NOTHING), made)


def returned(tree: "SgNode") -> Node:
    """`return $x`."""
    return code.Return(code.steps(*nodes(parts(tree))))


READERS: dict[str, Callable[["SgNode"], Node]] = {
    **dict.fromkeys(STEPS, lambda tree: code.steps(*nodes(parts(tree)))),
    **dict.fromkeys(DATA, lambda tree: NOTHING),
    **dict.fromkeys(MIXED, lambda tree: mixed(nodes(parts(tree)))),
    **dict.fromkeys(FUNCTIONS, function),
    "variable_name": lambda tree: code.Name(tree.text()),
    "string": string,
    "encapsed_string": string,
    "heredoc": string,
    "nowdoc": string,
    "shell_command_expression": lambda tree: code.Call(code.Name("`"), (string(tree),)),
    "integer": lambda tree: number(tree.text()),
    "function_call_expression": call,
    "member_call_expression": method_call,
    "nullsafe_member_call_expression": method_call,
    "scoped_call_expression": method_call,
    "object_creation_expression": created,
    "subscript_expression": member,
    "member_access_expression": member,
    "nullsafe_member_access_expression": member,
    "binary_expression": binary,
    "conditional_expression": conditional,
    "assignment_expression": assignment,
    "augmented_assignment_expression": assignment,
    "array_creation_expression": array,
    "list_literal": listed,
    "variadic_unpacking": lambda tree: code.Spread(node(parts(tree)[0])),
    "foreach_statement": each,
    "class_declaration": class_made,
    "return_statement": returned,
    **dict.fromkeys(INCLUDES, lambda tree: code.Call(code.Name("include"), nodes(parts(tree)))),
}
LANGUAGE = language(read)
