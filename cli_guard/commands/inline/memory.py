"""What a walk through a program knows of its names and its lists.

Names keep every value they are ever given, so the order of the statements does not matter; the walk is repeated until
nothing changes.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from cli_guard.commands.inline.values import (
    ALTERNATIVES,
    Data,
    Function,
    Literal,
    Sequence,
    Value,
    Values,
    alternatives,
    is_open,
)


class Memory:
    """The values of names, and the lists that the program changes in place."""

    def __init__(self) -> None:
        self.names: dict[str, Values] = {}
        # Names with so many values that only data is left, and those that not only a loop gives values.
        self.wide: set[str] = set()
        self.assigned: set[str] = set()
        # The element of a loop that is being walked.
        self.here: dict[str, Values] = {}
        self.scopes: list[Function] = []
        # Lists that became plain data, and those changed in place, with what they are from then on.
        self.hidden: dict[Value, None] = {}
        self.altered: dict[Value, Value] = {}
        self.changed = False

    def key(self, name: str) -> str:
        """Return the name of a variable, with the number of the function that it is a parameter of."""
        for function in reversed(self.scopes):
            if name in function.parameters:
                return f"{name} {function.number}"
        return name

    def look_up(self, name: str) -> Values:
        key = self.key(name)
        if key in self.here and key not in self.assigned:
            return self.here[key]
        return self.names.get(key, ())

    def assign(self, name: str, values: Values) -> None:
        key = self.key(name)
        self.changed = self.changed or key not in self.assigned
        self.assigned.add(key)
        self.bind(key, values)

    def bind(self, key: str, values: Values) -> None:
        known = self.names.get(key, ())
        if key in self.wide:
            values = tuple(Data() if isinstance(value, Literal) else value for value in values)
        merged = alternatives((*known, *values))
        if len({*known, *values}) > len(merged):
            self.wide.add(key)
        if set(merged) != set(known):
            self.names[key] = merged
            self.changed = True

    @contextmanager
    def element(self, name: str, part: Value) -> Iterator[None]:
        """Let a name have this value alone, as in one turn of a loop."""
        key, outer = self.key(name), dict(self.here)
        self.bind(key, (part,))
        self.here[key] = (part,)
        yield
        self.here = outer

    def hide(self, value: Sequence) -> None:
        """Record that a list is used as plain data: what changes data may change it."""
        self.changed = self.changed or value not in self.hidden
        self.hidden[value] = None

    def alter(self, of: Value, added: Iterable[Value] | None = None) -> None:
        """Record that a list is changed in place. One of found names stays one if only such are `added`."""
        for value in self.hidden if isinstance(of, Data) and not of.altered else (of,):
            made: Value = Data(altered=True)
            if added is not None and isinstance(value, Sequence):
                longer = Sequence(tuple(dict.fromkeys((*value.parts, *added))))
                if is_open(longer) and len(longer.parts) <= ALTERNATIVES:
                    made = longer
            if isinstance(value, Sequence) and self.settle(value) != self.settle(made):
                self.altered[self.settle(value)] = made
                self.changed = True

    def settle(self, value: Value) -> Value:
        """Return what a list is once all changes in place are made."""
        if isinstance(value, Sequence):
            value = Sequence(tuple(map(self.settle, value.parts)))
        return self.settle(self.altered[value]) if value in self.altered else value
