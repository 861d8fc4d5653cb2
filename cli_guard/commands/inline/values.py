"""The possible values of code, as far as its text shows."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Data:
    """A value known only at run time. `remote`: it came from the network; `local`: from a file here.

    `opened` is the path of an open file. `altered`: it was a list that the code changes.
    """

    remote: bool = False
    local: bool = False
    opened: str | None = None
    altered: bool = False


@dataclass(frozen=True, slots=True)
class Literal:
    """A value known from the text."""

    value: str | bytes | int | float | None


@dataclass(frozen=True, slots=True)
class Sequence:
    """A list with all or some of its elements known."""

    parts: "tuple[Value, ...]"


@dataclass(frozen=True, slots=True)
class Reference:
    """A module, a function or an object by its full name; `about` is the path or address it was made for."""

    name: str
    about: str | None = None


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the code itself, by its number."""

    number: int


Value = Data | Literal | Sequence | Reference | Function
Values = tuple[Value, ...]
ANY: Values = (Data(),)
