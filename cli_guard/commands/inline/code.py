"""One small syntax tree for programs of every language: only what the evaluator needs."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class Const:
    """A literal value."""

    value: "str | bytes | int | float | None"


@dataclass(frozen=True, slots=True, eq=False)
class Name:
    """A variable, a function or a module by its name."""

    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """A part of something by its name; `key` in place of a name that is computed."""

    of: "Node"
    name: str | None
    key: "Node | None" = None


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """A call. `named` are the keyword arguments, "*" for a mapping that is spread."""

    function: "Node"
    arguments: "tuple[Node, ...]" = ()
    named: "tuple[tuple[str, Node], ...]" = ()


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """A sequence whose elements become arguments of their own."""

    of: "Node"


@dataclass(frozen=True, slots=True, eq=False)
class Infix:
    """Two values combined by "+", "%" or "/"."""

    operator: str
    left: "Node"
    right: "Node"


@dataclass(frozen=True, slots=True, eq=False)
class Text:
    """A string with values in it."""

    parts: "tuple[Node, ...]"


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """A list of values."""

    parts: "tuple[Node, ...]"


@dataclass(frozen=True, slots=True, eq=False)
class Mix:
    """A value made of others in a way that does not matter."""

    parts: "tuple[Node, ...]" = ()


@dataclass(frozen=True, slots=True, eq=False)
class Either:
    """One of several values, or the last of several steps."""

    parts: "tuple[Node, ...]"
    last: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Assign:
    """An assignment; a target that is an `Items` is unpacked."""

    target: "Node"
    value: "Node"


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """A function definition; its body may run at any time."""

    parameters: tuple[str, ...]
    body: "Node"


@dataclass(frozen=True, slots=True, eq=False)
class Return:
    value: "Node"


@dataclass(frozen=True, slots=True, eq=False)
class Each:
    """A loop body for every element of a sequence; `gathers`: its values make a list."""

    target: "Node"
    over: "Node"
    body: "Node"
    gathers: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Import:
    """An import of a module under a name; `part`: a name in it, "*" for all of them."""

    module: str
    name: str
    part: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class UnknownNode:
    """A node that the reader of the language does not know."""

    what: str


Node = (
    Const
    | Name
    | Member
    | Call
    | Spread
    | Infix
    | Text
    | Items
    | Mix
    | Either
    | Assign
    | Function
    | Return
    | Each
    | Import
    | UnknownNode
)
NOTHING = Mix()


def steps(*parts: Node) -> Either:
    """Combine several statements into one."""
    return Either(parts, last=True)
