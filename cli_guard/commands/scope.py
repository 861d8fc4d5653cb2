"""What a script has done so far that later commands depend on: variables, functions, files, the current folder."""

from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Protocol

from cli_guard.commands.model import Context, Span
from cli_guard.commands.parse.tree import Node

SECRET = "secret"  # noqa: S105 - a taint, as the others
TOKEN = "token"  # noqa: S105
REMOTE = "remote"
EVERYTHING = "everything"
HOOKS = "hooks"
HIDDEN = "hidden"

# Bounds of one judgement. Whoever runs out of them is asked about, never let through.
MOST_STEPS = 4_000
MOST_DEPTH = 24
MOST_CHARACTERS = 100_000
# A value that grows beyond this is not followed any further.
LONGEST_TEXT = 50_000
MOST_ELEMENTS = 1_000


@dataclass(frozen=True, slots=True)
class Stream:
    """What flows through a pipe, a variable or a file, as far as it is known.

    `text` is None for what is not known. `origin` is "paths" for paths of the project, "value" for something
    short and harmless, "" for anything. `taints` say what it carries: a secret, or code from the network.
    `assumed`: the text holds only if a variable that nobody set here is empty. `items` are the elements of an array.
    `perhaps`: it was set in a branch that may not have run, and was not there before.
    """

    text: str | None = None
    taints: frozenset[str] = frozenset()
    origin: str = ""
    assumed: bool = False
    items: "tuple[Stream, ...] | None" = None
    perhaps: bool = False


NOTHING = Stream("")
ANYTHING = Stream(None)


def narrowest(origins: set[str]) -> str:
    """What several origins are together: as little known as the least known of them."""
    return next((origin for origin in ("", "paths", "rooted") if origin in origins), "value")


class Carrier(Protocol):
    """Whatever carries taints: a stream, or a word of a command."""

    @property
    def taints(self) -> frozenset[str]:
        """What it carries."""


def taints_of(carriers: Iterable[Carrier]) -> frozenset[str]:
    """What several carry together."""
    return frozenset().union(*(each.taints for each in carriers))


def merge(streams: Iterable[Stream]) -> Stream:
    """Several outputs one after the other."""
    given = [stream for stream in streams if stream != NOTHING]
    if len(given) == 1:
        return given[0]
    taints = taints_of(given)
    texts = [stream.text for stream in given]
    text = "".join(text for text in texts if text is not None) if None not in texts else None
    if text is not None and len(text) > LONGEST_TEXT:
        text = None
    origins = {stream.origin or ("value" if stream.text is not None else "") for stream in given}
    origin = narrowest(origins)
    return Stream(text, taints, origin if text is None else "", any(stream.assumed for stream in given))


@dataclass
class Scope:
    """The state of one shell. A subshell works on a copy."""

    context: Context
    variables: dict[str, Stream] = field(default_factory=dict)
    exported: set[str] = field(default_factory=set)
    functions: dict[str, Node] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    files: dict[str, Stream] = field(default_factory=dict)
    descriptors: dict[str, str] = field(default_factory=dict)
    stdin: Stream | None = None
    local: set[str] = field(default_factory=set)
    arguments: tuple[Stream, ...] | None = None
    folder: str | None = None

    def copy(self) -> "Scope":
        """A copy for a subshell; files are the same for both."""
        scope = copy(self)
        scope.variables = dict(self.variables)
        scope.exported = set(self.exported)
        scope.functions = dict(self.functions)
        scope.aliases = dict(self.aliases)
        return scope


class OutOfBudget(Exception):
    """There is more to this command than is looked at."""


@dataclass
class Budget:
    """How much is left to look at. `outer` is the place in the text given that a nested text stands at."""

    steps: int = MOST_STEPS
    characters: int = MOST_CHARACTERS
    depth: int = 0
    outer: list[Span] = field(default_factory=list)

    def place(self, span: Span) -> Span:
        """Where something stands in the text given."""
        return self.outer[0] if self.outer else span

    def step(self) -> None:
        """One command or word more. Raises OutOfBudget."""
        self.steps -= 1
        if self.steps < 0:
            raise OutOfBudget("more commands than are looked at")

    def read(self, text: str) -> None:
        """One text more to parse. Raises OutOfBudget."""
        self.characters -= len(text)
        if self.characters < 0 or self.depth > MOST_DEPTH:
            raise OutOfBudget("longer or more deeply nested than is looked at")


def make_unsure(before: dict[str, Stream], after: dict[str, Stream]) -> dict[str, Stream]:
    """The variables behind a branch that may not have run: what it changed is not known, but what it carries is."""
    changed = {}
    for name, value in after.items():
        if name not in before:
            changed[name] = replace(value, perhaps=True)
        elif before[name] != value:
            changed[name] = Stream(None, value.taints | before[name].taints)
        else:
            changed[name] = value
    return changed


def restore(outer: dict[str, Stream], names: Iterable[str]) -> dict[str, Stream]:
    """Variables that were set for one command or function alone, as they were before."""
    return {name: outer.get(name, ANYTHING) for name in names}
