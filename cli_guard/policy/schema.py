"""What the tables of every configuration file have in common: their base, names, and errors in terms of the file."""

from collections.abc import Callable
from typing import Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError

from cli_guard.policy.globs import nearest

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
Variable = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,127}$")]
# What pydantic's errors about a wrong shape ask for: its own words name classes of ours, and types of Python.
SHAPES = {
    "model_type": "a table of keys and values",
    "dict_type": "a table of keys and values",
    "tuple_type": "a list",
}


class Section(BaseModel):
    """A table of the file: frozen, unknown keys are refused.

    Without a file nothing is validated, so the validator of a table is built at the first use (`defer_build`), and the
    defaults are constructed without one.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


def describe(error: ValidationError, keys: Callable[[list[str]], list[str]]) -> str:
    """Describe the first error in terms of a file whose tables have these `keys`."""
    errors = error.errors(include_url=False)
    # A mistyped key makes the right one missing: report the mistyped one.
    first = next((each for each in errors if each["type"] == "extra_forbidden"), errors[0])
    place = ".".join(str(part) for part in first["loc"] if part != "[key]")
    if first["type"] == "extra_forbidden":
        parent = [part for part in first["loc"][:-1] if isinstance(part, str)]
        known = keys(parent)
        near = nearest(str(first["loc"][-1]), known) or f"; known: {', '.join(known)}"
        return f"unknown key {place!r}{near}"
    if first["type"] == "missing":
        return f"{place!r} is missing"
    shape = SHAPES.get(first["type"])
    said = first["msg"].removeprefix("Value error, ").replace("Input should be", "must be")
    message = f"must be {shape}" if shape else said
    given = first.get("input")
    shown = (
        f" (got {given!r})"
        if isinstance(given, str | int | float)
        and len(repr(given)) < 60
        and repr(given) not in message
        else ""
    )
    return f"{place!r}: {message}{shown}"
