"""Our data classes do what those of `dataclasses` do: each case is run with both."""

import copy
import dataclasses
import pickle
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import field
from functools import cached_property, partial
from itertools import product
from typing import Any

import pytest

from cli_guard import lazy
from cli_guard.lazy import dataclass, frozen, regex

# Ours, and the decorator of the standard library that does the same.
TWINS: list[tuple[Any, Any]] = [
    (partial(dataclass, **options), partial(dataclasses.dataclass, **options))
    for options in (
        {"frozen": is_frozen, "slots": slots, "eq": eq}
        for is_frozen in (True, False)
        for slots in (True, False)
        for eq in (True, False)
    )
]
TWINS += [
    (
        partial(frozen, eq=eq),
        partial(dataclasses.dataclass, frozen=True, slots=True, eq=eq),
    )
    for eq in (True, False)
]


def make(maker: Any) -> tuple[Any, Any]:
    """Define a class with every kind of field, and one that inherits from it."""

    @maker()
    class Base:
        a: int
        b: str = "x"
        c: list[int] = field(default_factory=list, compare=False)
        d: int = field(default=0, repr=False)
        e: int = field(default=7, init=False)

        def __str__(self) -> str:
            return f"<{self.a}>"

    @maker()
    class Child(Base):
        f: int = field(kw_only=True)

        @property
        def double(self) -> int:
            return 2 * self.f

    return Base, Child


def attempt(work: Callable[[], object]) -> object:
    """Return the result, or the error, of a piece of work in a form that can be compared."""
    try:
        return work()
    except Exception as error:
        return f"{type(error).__name__}: {error}".replace("Base.__init__", "__init__")


def assign(made: Any) -> object:
    made.a = 5
    return made.a


def remove(made: Any) -> object:
    del made.a
    return "removed"


CASES: dict[str, Callable[[Any, Any], object]] = {
    "shown": lambda base, child: [str(base(1)), repr(base(1)), repr(child(1, "y", f=2))],
    "all fields": lambda base, child: dataclasses.asdict(child(1, "y", [2], 3, f=4)),
    "names": lambda base, child: [
        (each.name, each.type, each.init, each.kw_only)
        for each in dataclasses.fields(child)
    ],
    "patterns": lambda base, child: (base.__match_args__, child.__match_args__),
    "equal": lambda base, child: (
        base(1, "x", [1]) == base(1, "x", [2]),
        base(1) == base(2),
    ),
    "another class": lambda base, child: base(1) == child(1, f=1),
    "hashed": lambda base, child: len({hash(each) for each in [base(1), base(1)]}),
    "replaced": lambda base, child: repr(dataclasses.replace(base(1), b="z", d=4)),
    "own lists": lambda base, child: base(1).c is not base(2).c,
    "copied": lambda base, child: repr(copy.copy(base(1, "y", [3]))),
    "copied deeply": lambda base, child: repr(copy.deepcopy(child(1, "y", [3], f=1))),
    "by keyword alone": lambda base, child: child(1, "y", f=2).double,
    "assigned": lambda base, child: assign(base(1)),
    "removed": lambda base, child: remove(base(1)),
    "one missing": lambda base, child: base(),
    "one too many": lambda base, child: base(1, "x", [], 2, 3),
    "unknown": lambda base, child: base(1, g=2),
    "not at the start": lambda base, child: base(1, e=2),
}


@pytest.mark.parametrize("few", [0, 20])
def test_does_as_the_standard_library(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With `few` 0, each `__init__` is compiled for the first object."""
    monkeypatch.setattr(lazy, "FEW", few)
    wrong = []
    for (name, case), twins in product(CASES.items(), TWINS):
        ours, theirs = (
            str(attempt(lambda maker=maker: case(*make(maker))))  # type: ignore[misc]  # noqa: B023
            for maker in twins
        )
        if ours.replace("make.<locals>.", "") != theirs.replace("make.<locals>.", ""):
            wrong.append((name, twins, ours, theirs))
    assert not wrong


@frozen
class Kept:
    """What can be pickled is found by its name."""

    a: int
    b: str = "x"


@dataclass(frozen=True)
class Counted:
    """A class that does something when it is made, and something at first use."""

    a: int
    seen: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.seen.append(self.a)

    @cached_property
    def later(self) -> int:
        """Return a value that is kept."""
        return self.a + 1


def test_is_pickled() -> None:
    assert pickle.loads(pickle.dumps(Kept(1, "y"))) == Kept(1, "y")
    assert pickle.loads(pickle.dumps(Counted(1))) == Counted(1)


def test_what_a_class_does_by_itself_stays() -> None:
    made = Counted(1)
    assert (made.seen, made.later, vars(made)["later"]) == ([1], 2, 2)


def test_compares_by_itself() -> None:
    @dataclass(frozen=True)
    class Loose:
        a: int

        def __eq__(self, other: object) -> bool:
            return True

        def __repr__(self) -> str:
            return "loose"

    assert Loose(1) == 2
    assert repr(Loose(1)) == "loose"
    assert hash(Loose(1)) == hash(Loose(1))


def test_a_class_without_a_field() -> None:
    @frozen
    class Empty:
        """Nothing in it."""

    assert (Empty(), hash(Empty()), repr(Empty())) == (
        Empty(),
        hash(Empty()),
        f"{Empty.__qualname__}()",
    )


def test_a_pattern_is_compiled_at_its_first_use() -> None:
    pattern = regex(r"(a)b", re.IGNORECASE)
    assert "search" not in vars(pattern)
    assert pattern.search("xAB")
    assert "search" in vars(pattern)
    assert (pattern.pattern, pattern.flags & re.IGNORECASE) == ("(a)b", re.IGNORECASE)
    assert pattern.sub("-", "ab ab") == "- -"
    assert copy.copy(pattern).fullmatch("ab")
    with pytest.raises(re.error):
        regex("(").search("")


def test_what_is_loaded_later_is_there_for_others() -> None:
    """`dataclasses` writes the text of a class that has none by `inspect`, which ours do without."""
    script = """
import sys, cli_guard.lazy, dataclasses
assert "inspect" not in sys.modules
@dataclasses.dataclass
class Theirs:
    a: int
import inspect
print(Theirs.__doc__, inspect.signature(Theirs))
"""
    done = subprocess.run((sys.executable, "-c", script), capture_output=True, text=True)
    assert done.stdout == "Theirs(a: int) (a: int) -> None\n", done.stderr
