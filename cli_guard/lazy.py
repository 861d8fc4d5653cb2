"""What is compiled when it is first used: patterns, and the methods of data classes.

    from cli_guard.lazy import dataclass, regex      # in place of those of `dataclasses` and `re`
    from cli_guard.lazy import frozen                # as that of attrs: a frozen data class with slots

A process that judges one command defines 200 patterns and 70 data classes, and uses a few of them: compiling all took
half of its time. `dataclasses` writes and compiles up to seven functions for each class. Here all classes share six of
them, and it compiles `__init__` once some objects are made. Fields, slots, `replace`, `fields` and `asdict` are its
own. One thing differs: a subclass that is no data class of a frozen one is frozen as well.
"""

import re
import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType

if "dataclasses" not in sys.modules and "inspect" not in sys.modules:
    # `dataclasses` asks `inspect`, which loads for as long as Python itself starts, only for the text of a class that
    # has none. It gets one that is loaded then; all others import the real one.
    later = ModuleType("inspect")
    later.__getattr__ = lambda name: getattr(import_module("inspect"), name)  # type: ignore[method-assign]
    sys.modules["inspect"] = later
    import dataclasses

    del sys.modules["inspect"]
import dataclasses
from dataclasses import MISSING, FrozenInstanceError
from operator import attrgetter

__all__ = ("dataclass", "frozen", "regex")
# So many objects of a class are made before its `__init__` is compiled: of most classes a short run makes no more. None
# while a server loads: what it compiles serves every run.
FEW = 20
# As in `typing`, without loading it.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from dataclasses import dataclass, field
    from re import compile as regex
    from typing import Any, dataclass_transform

    @dataclass_transform(frozen_default=True, field_specifiers=(field,))
    def frozen(_cls: "Any" = None, /, *, eq: bool = True) -> "Any": ...
else:

    class regex:  # noqa: N801 - stands for a function
        """A pattern that is compiled when one of its methods is first asked for; while a server loads, at once."""

        def __new__(cls, *given):
            # A copy is made without them.
            is_at_once = given and not FEW
            return re.compile(*given) if is_at_once else super().__new__(cls)

        def __init__(self, text, flags=0):
            self._given = text, flags

        def __getattr__(self, name):
            if name.startswith("_"):
                raise AttributeError(name)
            value = getattr(re.compile(*self._given), name)
            setattr(self, name, value)
            return value

    def dataclass(_cls=None, /, *, frozen=False, eq=True, slots=False):
        """Make a data class; the options are those of `dataclasses.dataclass` that we use."""

        def define(cls):
            cls.__doc__ = cls.__doc__ or cls.__name__
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

    def frozen(_cls=None, /, *, eq=True):
        """Make a frozen data class with slots."""
        return dataclass(_cls, frozen=True, slots=True, eq=eq)


def add(cls: type, name: str, method: object) -> None:
    """Add a method, unless the class has its own."""
    if name not in vars(cls):
        setattr(cls, name, method)


def compile_later(cls: "Any", **options: bool) -> "Callable[..., None]":
    """Return an `__init__` that is replaced by the one that `dataclasses` compiles, once a few objects are made."""
    fields = dataclasses.fields(cls)
    names = [each.name for each in fields if each.init and not each.kw_only]
    required = {each.name for each in fields if is_required(each)}
    allowed = {each.name for each in fields if each.init}
    made = 0

    def init(self: object, *values: "Any", **named: "Any") -> None:
        nonlocal made
        made += 1
        given = dict(zip(names, values, strict=False)) | named
        is_right = (
            len(given) == len(values) + len(named) and required <= given.keys() <= allowed
        )
        if is_right and made <= FEW:
            assign(self, fields, given)
            return
        # It also says what is wrong with the arguments.
        if vars(cls)["__init__"] is init:
            cls.__init__ = compile_init(cls, options)
        cls.__init__(self, *values, **named)

    return init


def is_required(field: "dataclasses.Field[Any]") -> bool:
    return field.init and field.default is MISSING and field.default_factory is MISSING


def assign(
    made: "Any", fields: "tuple[dataclasses.Field[Any], ...]", given: "dict[str, Any]"
) -> None:
    """Set the fields of a new object, as an `__init__` that is compiled does."""
    for field in fields:
        if field.name in given:
            object.__setattr__(made, field.name, given[field.name])
        elif field.default_factory is not MISSING:
            object.__setattr__(made, field.name, field.default_factory())
        elif field.default is not MISSING:
            object.__setattr__(made, field.name, field.default)
    if hasattr(made, "__post_init__"):
        made.__post_init__()


def compile_init(cls: "Any", options: "dict[str, bool]") -> "Callable[..., None]":
    """Let `dataclasses` compile the `__init__` of a class: that of another one with the same fields."""
    fields = {each.name: each for each in dataclasses.fields(cls)}
    types = {name: each.type for name, each in fields.items()}
    body: dict[str, Any] = {**fields, "__annotations__": types}
    if hasattr(cls, "__post_init__"):
        body["__post_init__"] = cls.__post_init__
    twin: Any = type(cls.__name__, (), {"__doc__": cls.__doc__, **body})
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
