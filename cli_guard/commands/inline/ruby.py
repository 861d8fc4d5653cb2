"""What a piece of Ruby does."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from cli_guard.commands.inline import code, evaluate
from cli_guard.commands.inline.code import NOTHING, Node
from cli_guard.commands.inline.grammar import field, mixed, number, parts, root, unescaped
from cli_guard.commands.inline.language import NotUnderstood
from cli_guard.commands.inline.model import Act
from cli_guard.commands.inline.ruby_calls import language

if TYPE_CHECKING:
    from ast_grep_py import SgNode

STEPS = frozenset(
    """program body_statement block_body begin then else elsif ensure rescue do if unless while until case when
    if_modifier unless_modifier while_modifier until_modifier rescue_modifier parenthesized_statements in
    begin_block end_block pattern exceptions interpolation empty_statement superclass""".split()
)
DATA = frozenset(
    """true false nil self super nth_reference break next redo retry uninterpreted class_variable float rational
    complex file line""".split()
)
MIXED = frozenset("unary range hash yield hash_splat_nil".split())
BLOCKS = frozenset(("block", "do_block", "lambda"))
# What gives plain words a value.
GIVING = tuple(
    """assignment operator_assignment left_assignment_list block_parameters method_parameters lambda_parameters for
    exception_variable destructured_parameter""".split()
)
# What changes where code is loaded from, or how input is read.
LOADING = frozenset(("$:", "$LOAD_PATH", '$"', "$LOADED_FEATURES"))


def acts(text: str) -> tuple[Act, ...]:
    """What the code does, in its order."""
    return evaluate.acts(LANGUAGE, text)


def read(text: str) -> Node:
    """The tree of a program. Raises NotUnderstood."""
    tree = root("ruby", text)
    if tree.find(kind="heredoc_body"):
        raise NotUnderstood("Ruby with a here-document")
    return Reader(tree).node(tree)


class Reader:
    """Reads one program: a plain word is a variable if it is given a value somewhere, a call otherwise."""

    def __init__(self, tree: "SgNode") -> None:
        self.variables = frozenset(
            name for kind in GIVING for found in tree.find_all(kind=kind) for name in names_of(found)
        )
        self.readers: dict[str, Callable[[SgNode], Node]] = {
            "identifier": self.identifier,
            "constant": lambda tree: code.Name(tree.text()),
            "instance_variable": lambda tree: code.Name(tree.text()),
            "global_variable": self.global_variable,
            "string": self.string,
            "bare_string": self.string,
            "bare_symbol": self.string,
            "delimited_symbol": self.string,
            "chained_string": lambda tree: code.Text(self.nodes(parts(tree))),
            "subshell": lambda tree: code.Call(code.Name("`"), (self.string(tree),)),
            "regex": lambda tree: mixed(self.pieces(tree)),
            "simple_symbol": lambda tree: code.Const(tree.text()[1:]),
            "hash_key_symbol": lambda tree: code.Const(tree.text()),
            "integer": lambda tree: number(tree.text()),
            "array": lambda tree: code.Items(self.nodes(parts(tree))),
            "string_array": lambda tree: code.Items(self.nodes(parts(tree))),
            "symbol_array": lambda tree: code.Items(self.nodes(parts(tree))),
            "splat_argument": lambda tree: code.Spread(mixed(self.nodes(parts(tree)))),
            "block_argument": lambda tree: code.steps(*self.nodes(parts(tree))),
            "hash_splat_argument": lambda tree: mixed(self.nodes(parts(tree))),
            "pair": lambda tree: mixed(self.nodes(parts(tree))),
            "scope_resolution": self.scope,
            "call": self.call,
            "element_reference": self.element,
            "binary": self.binary,
            "conditional": self.conditional,
            "assignment": self.assignment,
            "operator_assignment": self.assignment,
            "method": self.method,
            "singleton_method": self.method,
            "class": self.class_made,
            "module": self.class_made,
            "return": lambda tree: code.Return(code.steps(*self.nodes(arguments_of(tree)))),
            "for": self.each,
            "exception_variable": lambda tree: code.Assign(code.Name(names_of(tree)[0]), NOTHING),
        }

    def nodes(self, trees: "list[SgNode]") -> tuple[Node, ...]:
        """The nodes of several trees."""
        return tuple(map(self.node, trees))

    def node(self, tree: "SgNode") -> Node:
        """The node of an expression or a statement."""
        kind = tree.kind()
        if kind in self.readers:
            return self.readers[kind](tree)
        if kind in STEPS:
            return code.steps(*self.nodes(parts(tree)))
        if kind in DATA:
            return NOTHING
        if kind in MIXED:
            return mixed(self.nodes([part for child in parts(tree) for part in flat(child)]))
        if kind in BLOCKS:
            return self.block(tree)
        return code.Odd("text that is no Ruby" if kind == "ERROR" else f"Ruby's {kind}")

    def identifier(self, tree: "SgNode") -> Node:
        """A variable, or a call without arguments."""
        name = code.Name(tree.text())
        return name if tree.text() in self.variables else code.Call(name)

    def global_variable(self, tree: "SgNode") -> Node:
        """A variable with a `$`."""
        return code.Odd(f"Ruby's {tree.text()}") if tree.text() in LOADING else code.Name(tree.text())

    def string(self, tree: "SgNode") -> Node:
        """A string, also one with values in it."""
        return code.Text(tuple(self.pieces(tree)))

    def pieces(self, tree: "SgNode") -> Iterator[Node]:
        """The pieces of a string."""
        for child in parts(tree):
            if child.kind() == "escape_sequence":
                yield code.Const(unescaped(child.text()))
            else:
                yield code.Const(child.text()) if child.kind() == "string_content" else self.node(child)

    def scope(self, tree: "SgNode") -> Node:
        """`Net::HTTP`."""
        scope = tree.field("scope")
        name = field(tree, "name").text()
        return code.Member(self.node(scope), name) if scope else code.Name(name)

    def call(self, tree: "SgNode") -> Node:
        """A call with its arguments and its block."""
        receiver, method = tree.field("receiver"), tree.field("method")
        arguments: list[Node] = []
        named: list[tuple[str, Node]] = []
        for each in arguments_of(tree):
            if each.kind() == "pair":
                key, value = field(each, "key"), each.field("value")
                named.append((key.text().strip(":\"'"), self.node(value) if value else NOTHING))
            elif each.kind() == "hash_splat_argument":
                named.append(("*", self.node(each)))
            else:
                arguments.append(self.node(each))
        block = tree.field("block")
        if block:
            arguments.append(self.block(block))
        if method is None:
            function: Node = (
                code.Member(self.node(receiver), "call") if receiver else code.Odd("a call of nothing")
            )
        else:
            name = method.text()
            function = code.Member(self.node(receiver), name) if receiver else code.Name(name)
        return code.Call(function, tuple(arguments), tuple(named))

    def element(self, tree: "SgNode") -> Node:
        """`value[key]`."""
        of, *keys = self.nodes(parts(tree))
        return code.Member(of, None, keys[0]) if len(keys) == 1 else mixed((of, *keys))

    def binary(self, tree: "SgNode") -> Node:
        """Two values and what stands between them."""
        operator = field(tree, "operator").text()
        left, right = self.node(field(tree, "left")), self.node(field(tree, "right"))
        if operator in ("&&", "||", "and", "or"):
            return code.Either((left, right))
        return (
            code.Infix(operator, left, right)
            if operator in ("+", "%", "*", "<<")
            else code.Mix((left, right))
        )

    def conditional(self, tree: "SgNode") -> Node:
        """`a ? b : c`."""
        test, *either = self.nodes(parts(tree))
        return code.steps(code.Mix((test,)), code.Either(tuple(either)))

    def assignment(self, tree: "SgNode") -> Node:
        """`a = b`, `a += b` and `a, b = c`."""
        left, right = field(tree, "left"), field(tree, "right")
        value = (
            code.Items(self.nodes(parts(right)))
            if right.kind() == "right_assignment_list"
            else self.node(right)
        )
        if tree.kind() == "operator_assignment":
            operator = field(tree, "operator").text().removesuffix("=")
            old = self.target(left)
            value = code.Infix(operator, old, value) if operator in ("+", "<<") else code.Either((old, value))
        return code.Assign(self.target(left), value)

    def target(self, tree: "SgNode") -> Node:
        """What is given a value."""
        kind = tree.kind()
        if kind in ("left_assignment_list", "destructured_left_assignment"):
            return code.Items(tuple(map(self.target, parts(tree))))
        if kind == "rest_assignment":
            return code.Spread(code.Items(tuple(map(self.target, parts(tree)))))
        if kind in ("identifier", "constant", "class_variable"):
            return code.Name(tree.text())
        if kind == "call" and tree.field("receiver"):
            return code.Member(self.node(field(tree, "receiver")), field(tree, "method").text())
        return self.node(tree)

    def block(self, tree: "SgNode") -> Node:
        """A block, or a lambda."""
        given = tree.field("parameters")
        names = tuple(names_of(given)) if given else ("_1", "_2", "it")
        body = [
            child for child in parts(tree) if child.kind() not in ("block_parameters", "lambda_parameters")
        ]
        return code.Function(names, code.Return(code.steps(*self.defaults(given), *self.nodes(body))))

    def defaults(self, given: "SgNode | None") -> tuple[Node, ...]:
        """What parameters are where nothing is given."""
        optional = (
            [each for each in parts(given) if each.kind() in ("optional_parameter", "keyword_parameter")]
            if given
            else []
        )
        return tuple(
            code.Assign(code.Name(field(each, "name").text()), self.node(field(each, "value")))
            for each in optional
            if each.field("value")
        )

    def method(self, tree: "SgNode") -> Node:
        """A method gets its name."""
        given = tree.field("parameters")
        names = tuple(names_of(given)) if given else ()
        body = [child for child in parts(tree) if child.kind() in ("body_statement", "call", "string")]
        made = code.Function(names, code.Return(code.steps(*self.defaults(given), *self.nodes(body))))
        return code.Assign(code.Name(field(tree, "name").text()), made)

    def class_made(self, tree: "SgNode") -> Node:
        """A class or a module, whose objects are data."""
        name = field(tree, "name").text()
        inner = self.nodes([child for child in parts(tree) if child.kind() in STEPS])
        return code.steps(*inner, code.Assign(code.Name(name), NOTHING))

    def each(self, tree: "SgNode") -> Node:
        """`for x in xs`."""
        target, over = self.target(field(tree, "pattern")), self.node(field(tree, "value"))
        return code.Each(target, over, self.node(field(tree, "body")))


def arguments_of(tree: "SgNode") -> "list[SgNode]":
    """The arguments of a call or of a return."""
    given = next((child for child in parts(tree) if child.kind() == "argument_list"), None)
    return parts(given) if given else []


def flat(tree: "SgNode") -> "list[SgNode]":
    """The arguments in a list of them, the tree itself otherwise."""
    return parts(tree) if tree.kind() == "argument_list" else [tree]


def names_of(tree: "SgNode") -> list[str]:
    """The names that a list of parameters or the left side of an assignment gives."""
    if tree.kind() in ("assignment", "operator_assignment"):
        left = field(tree, "left")
        return [left.text()] if left.kind() == "identifier" else []
    if tree.kind() == "for":
        return names_of(field(tree, "pattern"))
    if tree.kind() == "identifier":
        return [tree.text()]
    return [found.text() for found in tree.find_all(kind="identifier")]


LANGUAGE = language(read)
