"""`dataclass` as in `dataclasses`, but a class takes 0.1 ms to define in place of 0.8: a cold hook defines a hundred.

`dataclasses` writes and compiles up to seven functions for each class. Here all classes share six of them, and
it compiles `__init__` when the first object is made. Fields, slots, `replace`, `fields` and `asdict` are those of
`dataclasses`. One thing differs: a subclass that is no data class of a frozen one is frozen as well.
"""

import dataclasses
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from operator import attrgetter

# As in `typing`, without loading it.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
    from typing import Any


else:

    def dataclass(_cls=None, /, *, frozen=False, eq=True, slots=False):
        """Make a data class; the options are those of `dataclasses.dataclass` that we use."""

        def define(cls):
            cls = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots)(cls)
            add(cls, "__init__", compile_later(cls, frozen=frozen, slots=slots))
            add(cls, "__repr__", describe)
            if eq:
                add_comparison(cls, is_hashable=frozen)
            if frozen:
                add(cls, "__setattr__", refuse_to_set)
                add(cls, "__delattr__", refuse_to_delete)
                add(cls, "__setstate__", restore)
            return cls

        return define if _cls is None else define(_cls)


def add(cls: type, name: str, method: object) -> None:
    """Add a method, unless the class has its own."""
    if name not in vars(cls):
        setattr(cls, name, method)


def compile_later(cls: "Any", **options: bool) -> "Callable[..., None]":
    """Return an `__init__` that is replaced at its first call by the one that `dataclasses` compiles."""

    def init(self: object, *values: "Any", **named: "Any") -> None:
        if vars(cls)["__init__"] is init:
            cls.__init__ = compile_init(cls, options)
        cls.__init__(self, *values, **named)

    return init


def compile_init(cls: "Any", options: "dict[str, bool]") -> "Callable[..., None]":
    """Let `dataclasses` compile the `__init__` of a class: that of another one with the same fields."""
    fields = {each.name: each for each in dataclasses.fields(cls)}
    types = {name: each.type for name, each in fields.items()}
    body: dict[str, Any] = {**fields, "__annotations__": types}
    if hasattr(cls, "__post_init__"):
        body["__post_init__"] = cls.__post_init__
    twin: Any = type(cls.__name__, (), {"__doc__": "", **body})
    twin = dataclasses.dataclass(repr=False, eq=False, match_args=False, **options)(twin)
    init: Callable[..., None] = twin.__init__
    return init


def add_comparison(cls: "Any", *, is_hashable: bool) -> None:
    """Add the comparison by value, and the hash that agrees with it."""
    compared = [each.name for each in dataclasses.fields(cls) if each.compare]
    values: Callable[[object], object] = attrgetter(*compared) if compared else type

    def compare(self: object, other: object) -> object:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return values(self) == values(other)

    def hash_values(self: object) -> int:
        return hash(values(self))

    add(cls, "__eq__", compare)
    # Python sets this to None in a class that compares by itself.
    if vars(cls).get("__hash__") is None:
        cls.__hash__ = hash_values if is_hashable else None


def describe(self: "Any") -> str:
    shown = [each.name for each in dataclasses.fields(self) if each.repr]
    values = ", ".join(f"{name}={getattr(self, name)!r}" for name in shown)
    return f"{type(self).__qualname__}({values})"


def refuse_to_set(self: object, name: str, value: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def refuse_to_delete(self: object, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def restore(self: object, state: "Any") -> None:
    """Set what was pickled or copied: attributes, and those in slots."""
    attributes, slots = state if isinstance(state, tuple) else (state, None)
    for name, value in {**(attributes or {}), **(slots or {})}.items():
        object.__setattr__(self, name, value)
