"""What a piece of JavaScript does when Node runs it."""

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from cli_guard.commands.inline import code, evaluate
from cli_guard.commands.inline.code import NOTHING, Node
from cli_guard.commands.inline.grammar import field, mix, number, parts, root, unescape
from cli_guard.commands.inline.javascript_calls import WORDS, language
from cli_guard.commands.inline.model import Act

if TYPE_CHECKING:
    from ast_grep_py import SgNode

STEPS, DATA, MIXED, FUNCTIONS = (WORDS["syntax"][each] for each in ("steps", "data", "mixed", "functions"))
PLAIN_OPTIONS = re.compile(
    r"\{(?:\s*(?:stdio|encoding|maxBuffer|timeout|windowsHide|recursive|force)\s*:"
    r"\s*(?:['\"][\w-]*['\"]|\w+|\[[\w'\", ]*\])\s*,?)+\s*\}"
)


def acts(text: str) -> tuple[Act, ...]:
    """Return what the code does, in its order."""
    return evaluate.acts(LANGUAGE, text)


def read(text: str) -> Node:
    return node(root("javascript", text))


def nodes(trees: "list[SgNode]") -> tuple[Node, ...]:
    return tuple(map(node, trees))


def node(tree: "SgNode") -> Node:
    kind = tree.kind()
    if kind in READERS:
        return READERS[kind](tree)
    return code.UnknownNode("text that is not JavaScript" if kind == "ERROR" else f"JavaScript's {kind}")


def name(tree: "SgNode") -> Node:
    return code.Name(tree.text())


def string(tree: "SgNode") -> Node:
    return code.Text(tuple(pieces(tree)))


def pieces(tree: "SgNode") -> Iterator[Node]:
    for child in parts(tree):
        if child.kind() == "escape_sequence":
            yield code.Const(unescape(child.text()))
        else:
            yield code.Const(child.text()) if child.kind() == "string_fragment" else node(child)


def member(tree: "SgNode") -> Node:
    """Read `value.name` or `value[key]`."""
    of = node(field(tree, "object"))
    if tree.kind() == "subscript_expression":
        return code.Member(of, None, node(field(tree, "index")))
    return code.Member(of, field(tree, "property").text())


def call(tree: "SgNode") -> Node:
    called = field(tree, "constructor" if tree.kind() == "new_expression" else "function")
    given = tree.field("arguments")
    arguments = (
        nodes(parts(given)) if given and given.kind() == "arguments" else nodes([given] if given else [])
    )
    if called.text() == "await":
        return code.steps(*arguments)
    return code.Call(code.Name("import") if called.kind() == "import" else node(called), arguments)


def binary(tree: "SgNode") -> Node:
    operator = field(tree, "operator").text()
    left, right = node(field(tree, "left")), node(field(tree, "right"))
    if operator in ("&&", "||", "??"):
        return code.Either((left, right))
    return code.Infix(operator, left, right) if operator == "+" else code.Mix((left, right))


def conditional(tree: "SgNode") -> Node:
    test, *either = nodes(parts(tree))
    return code.steps(code.Mix((test,)), code.Either(tuple(either)))


def assignment(tree: "SgNode") -> Node:
    left, value = field(tree, "left"), node(field(tree, "right"))
    if tree.kind() == "augmented_assignment_expression":
        operator = field(tree, "operator").text().removesuffix("=")
        value = (
            code.Infix(operator, node(left), value) if operator == "+" else code.Either((node(left), value))
        )
    return assign_to(left, value)


def declarator(tree: "SgNode") -> Node:
    value = tree.field("value")
    return assign_to(field(tree, "name"), node(value)) if value else NOTHING


def assign_to(target: "SgNode", value: Node) -> Node:
    """Assign a value to a name, or its parts to several."""
    kind = target.kind()
    if kind == "array_pattern":
        return code.steps(
            *(
                assign_to(each, code.Member(value, None, code.Const(i)))
                for i, each in enumerate(parts(target))
            )
        )
    if kind == "object_pattern":
        return code.steps(*(assign_property_to(each, value) for each in parts(target)))
    if kind in ("assignment_pattern", "object_assignment_pattern"):
        default = code.Either((value, node(field(target, "right"))))
        return assign_to(field(target, "left"), default)
    if kind == "rest_pattern":
        return assign_to(parts(target)[0], code.Mix((value,)))
    if kind in ("identifier", "shorthand_property_identifier_pattern"):
        return code.Assign(code.Name(target.text()), value)
    return code.Assign(node(target), value)


def assign_property_to(target: "SgNode", value: Node) -> Node:
    """Assign one part of `const {a, b: c} = ...`."""
    if target.kind() == "pair_pattern":
        key = field(target, "key")
        plain = key.kind() == "property_identifier"
        part = code.Member(value, key.text()) if plain else code.Member(value, None, node(key))
        return assign_to(field(target, "value"), part)
    own = target.text().partition("=")[0].strip()
    return assign_to(target, value if target.kind() == "rest_pattern" else code.Member(value, own))


def function(tree: "SgNode") -> Node:
    single, several = tree.field("parameter"), tree.field("parameters")
    given = parts(several) if several else [single] if single else []
    names = [target_names(each) for each in given]
    body = field(tree, "body")
    inner = node(body) if body.kind() == "statement_block" else code.Return(node(body))
    defaults = [node(part) for each in given for part in each.find_all(kind="assignment_pattern")]
    made = code.Function(tuple(first for each in names for first in each), code.steps(*defaults, inner))
    # The parts of an argument are bound nowhere: such a function may be called with anything.
    plain = all(each.kind() == "identifier" for each in given)
    whole = made if plain else code.steps(code.Mix((made,)), made)
    own = tree.field("name")
    return code.Assign(code.Name(own.text()), whole) if own and "declaration" in tree.kind() else whole


def target_names(tree: "SgNode") -> list[str]:
    if tree.kind() == "identifier":
        return [tree.text()]
    kinds = ("identifier", "shorthand_property_identifier_pattern")
    return [found.text() for kind in kinds for found in tree.find_all(kind=kind)]


def default(tree: "SgNode") -> Node:
    """Read `a = 1` among the parameters."""
    return assign_to(field(tree, "left"), node(field(tree, "right")))


def each(tree: "SgNode") -> Node:
    """Read `for (const x of xs)`."""
    target, body = field(tree, "left"), node(field(tree, "body"))
    over = node(field(tree, "right"))
    if target.kind() == "identifier":
        return code.Each(code.Name(target.text()), over, body)
    hidden = code.Name("an element")
    return code.Each(hidden, over, code.steps(assign_to(target, hidden), body))


def catch_clause(tree: "SgNode") -> Node:
    """Read `catch (error) {...}`."""
    parameter = tree.field("parameter")
    bound = [assign_to(parameter, NOTHING)] if parameter else []
    return code.steps(*bound, node(field(tree, "body")))


def return_statement(tree: "SgNode") -> Node:
    """Read `return x` or `yield x`."""
    return code.Return(code.steps(*nodes(parts(tree))))


def class_definition(tree: "SgNode") -> Node:
    """Read a class; its instances are data."""
    own = tree.field("name")
    inner = [node(child) for child in parts(tree) if child.kind() != "identifier"]
    made = code.Function(("*",), NOTHING)
    return code.steps(*inner, code.Assign(code.Name(own.text()), made) if own else made)


def object_literal(tree: "SgNode") -> Node:
    """Read `{...}`; options that change nothing about what is done are none."""
    return code.Const(None) if PLAIN_OPTIONS.fullmatch(tree.text()) else mix(nodes(parts(tree)))


def class_field(tree: "SgNode") -> Node:
    value = tree.field("value")
    return code.Mix((node(value),)) if value else NOTHING


def import_statement(tree: "SgNode") -> Node:
    """Read `import a, {b as c} from "d"`."""
    module = field(tree, "source").text().strip("'\"`")
    found: list[Node] = [code.Import(module, "")]
    for specifier in tree.find_all(kind="import_specifier"):
        own = field(specifier, "name").text()
        alias = specifier.field("alias")
        found.append(code.Import(module, alias.text() if alias else own, own))
    for clause in tree.find_all(kind="import_clause"):
        for child in parts(clause):
            if child.kind() in ("identifier", "namespace_import"):
                found.append(code.Import(module, child.text().rpartition(" ")[2]))
    return code.steps(*found)


READERS: dict[str, Callable[["SgNode"], Node]] = {
    **dict.fromkeys(STEPS, lambda tree: code.steps(*nodes(parts(tree)))),
    "object": object_literal,
    **dict.fromkeys(DATA, lambda tree: NOTHING),
    **dict.fromkeys(MIXED, lambda tree: mix(nodes(parts(tree)))),
    **dict.fromkeys(FUNCTIONS, function),
    "identifier": name,
    "shorthand_property_identifier": name,
    "string": string,
    "template_string": string,
    "number": lambda tree: number(tree.text()),
    "member_expression": member,
    "subscript_expression": member,
    "call_expression": call,
    "new_expression": call,
    "array": lambda tree: code.Items(nodes(parts(tree))),
    "spread_element": lambda tree: code.Spread(node(parts(tree)[0])),
    "binary_expression": binary,
    "ternary_expression": conditional,
    "assignment_expression": assignment,
    "augmented_assignment_expression": assignment,
    "variable_declarator": declarator,
    "assignment_pattern": default,
    "for_in_statement": each,
    "catch_clause": catch_clause,
    "await_expression": lambda tree: node(parts(tree)[0]),
    "return_statement": return_statement,
    "yield_expression": return_statement,
    "class_declaration": class_definition,
    "class": class_definition,
    "field_definition": class_field,
    "import_statement": import_statement,
}
LANGUAGE = language(read)
