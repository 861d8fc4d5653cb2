"""One small syntax tree for programs of every language: only what the evaluator needs."""

from dataclasses import dataclass


class Node:
    """A part of a program."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, eq=False)
class Const(Node):
    """A literal value."""

    value: str | bytes | int | float | None


@dataclass(frozen=True, slots=True, eq=False)
class Name(Node):
    """A variable, a function or a module by its name."""

    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Member(Node):
    """A part of something by its name; `key` in place of a name that is computed."""

    of: Node
    name: str | None
    key: Node | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Call(Node):
    """A call. `named` are the keyword arguments, "*" for a mapping that is spread."""

    function: Node
    arguments: tuple[Node, ...] = ()
    named: tuple[tuple[str, Node], ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Spread(Node):
    """A sequence whose elements become arguments of their own."""

    of: Node


@dataclass(frozen=True, slots=True, eq=False)
class Infix(Node):
    """Two values combined by "+", "%" or "/"."""

    operator: str
    left: Node
    right: Node


@dataclass(frozen=True, slots=True, eq=False)
class Text(Node):
    """A string with values in it."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Items(Node):
    """A list of values."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Mix(Node):
    """A value made of others in a way that does not matter."""

    parts: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Either(Node):
    """One of several values, or the last of several steps."""

    parts: tuple[Node, ...]
    last: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Assign(Node):
    """An assignment; a target that is an `Items` is unpacked."""

    target: Node
    value: Node


@dataclass(frozen=True, slots=True, eq=False)
class Function(Node):
    """A function definition; its body may run at any time."""

    parameters: tuple[str, ...]
    body: Node


@dataclass(frozen=True, slots=True, eq=False)
class Return(Node):
    value: Node


@dataclass(frozen=True, slots=True, eq=False)
class Each(Node):
    """A loop body for every element of a sequence; `gathers`: its values make a list, `some`: of some elements."""

    target: Node
    over: Node
    body: Node
    gathers: bool = False
    some: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Import(Node):
    """An import of a module under a name; `part`: a name in it, "*" for all of them."""

    module: str
    name: str
    part: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class UnknownNode(Node):
    """A node that the reader of the language does not know."""

    what: str


NOTHING = Mix()


def steps(*parts: Node) -> Either:
    """Combine several statements into one."""
    return Either(parts, last=True)
