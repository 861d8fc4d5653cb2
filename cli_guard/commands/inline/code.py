"""Programs of every language in one small tree: what the evaluator needs to know of them, and no more."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class Const:
    """A value that stands in the text."""

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
    """A call. `named` are the arguments with a name, "*" for a mapping that is spread."""

    function: "Node"
    arguments: "tuple[Node, ...]" = ()
    named: "tuple[tuple[str, Node], ...]" = ()


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """A sequence whose elements become arguments of their own."""

    of: "Node"


@dataclass(frozen=True, slots=True, eq=False)
class Infix:
    """Two values made one: "+", "%", "/"."""

    operator: str
    left: "Node"
    right: "Node"


@dataclass(frozen=True, slots=True, eq=False)
class Text:
    """Pieces that make one text: a string with values in it."""

    parts: "tuple[Node, ...]"


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """A list of values."""

    parts: "tuple[Node, ...]"


@dataclass(frozen=True, slots=True, eq=False)
class Mix:
    """A value that is made of others in a way that does not matter."""

    parts: "tuple[Node, ...]" = ()


@dataclass(frozen=True, slots=True, eq=False)
class Either:
    """One of several values, or the last of several steps."""

    parts: "tuple[Node, ...]"
    last: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Assign:
    """A value gets a name; a target that is an `Items` takes it apart."""

    target: "Node"
    value: "Node"


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """A function: its body runs whenever somebody calls it."""

    parameters: tuple[str, ...]
    body: "Node"


@dataclass(frozen=True, slots=True, eq=False)
class Return:
    """What a function gives back."""

    value: "Node"


@dataclass(frozen=True, slots=True, eq=False)
class Each:
    """A body for every element of a sequence; `gathers`: its values make a list."""

    target: "Node"
    over: "Node"
    body: "Node"
    gathers: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Import:
    """A module, to be had under a name; `part`: a name in it, "*" for all of them."""

    module: str
    name: str
    part: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Odd:
    """A piece that the reader of the language does not know."""

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
    | Odd
)
NOTHING = Mix()


def steps(*parts: Node) -> Either:
    """Several statements."""
    return Either(parts, last=True)
