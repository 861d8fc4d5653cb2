"""The state of a script that later commands depend on: variables, functions, files, the current folder."""

from collections.abc import Iterable
from copy import copy
from dataclasses import field, replace
from typing import Protocol

from cli_guard.commands.model import Context, Setting, Span
from cli_guard.commands.parse.tree import Node
from cli_guard.lazy import dataclass, frozen, regex

SECRET = "secret"  # noqa: S105 - a taint, as the others
TOKEN = "token"  # noqa: S105
REMOTE = "remote"
EVERYTHING = "everything"
HOOKS = "hooks"
HIDDEN = "hidden"
# The taint of a recursive read is BELOW and a folder: the contents of all files below it. With NAMES before it, their
# names. It counts when something is sent.
BELOW = "below "
NAMES = "names "

# Bounds of one judgement. A command that exceeds them is reviewed, never allowed.
MOST_STEPS = {Setting.AGENT: 3_000, Setting.PERSON: 3_000, Setting.CHANGE: 4_000}
MOST_DEPTH = 24
MOST_CHARACTERS = 100_000
# A value that grows beyond this is not followed any further.
LONGEST_TEXT = 50_000


@frozen
class Stream:
    """The contents of a pipe, a variable or a file, as far as they are known.

    `text` is None if unknown. `origin` is "paths" for paths of the work tree, "names" for other paths, "ref" for one
    name of a branch or a tag, "value" for something short and harmless, "number" for digits, "" for anything. `taints`:
    a secret, or code from the network. `assumed`: the text holds only if a variable unset here is empty. `perhaps`: it
    was set in a branch that may not have run. `glob`: the text is a pattern, and the value one of the paths that it
    finds.
    """

    text: str | None = None
    taints: frozenset[str] = frozenset()
    origin: str = ""
    assumed: bool = False
    perhaps: bool = False
    glob: bool = False


# A dash or plus at the beginning of a word: the name of a file with one may be taken for an option.
DASHED = regex(r"(?:\A|\s)[-+]")
NAMING = regex(r"[./~]")
NOTHING = Stream("")
ANYTHING = Stream(None)
NUMBER = Stream(None, frozenset(), "number")
SECRET_DATA = Stream(None, frozenset((SECRET,)))
REMOTE_DATA = Stream(None, frozenset((REMOTE,)))


def narrowest(origins: set[str]) -> str:
    """Return the least known of several origins."""
    known = ("", "names", "paths", "ref", "value", "number")
    return next((origin for origin in known if origin in origins), "value")


def drop_places(taints: frozenset[str]) -> frozenset[str]:
    """Leave out the taints of recursive reads, for whoever asks whether there is a taint at all."""
    return frozenset(each for each in taints if BELOW not in each)


def read_named(taints: frozenset[str]) -> frozenset[str]:
    """Return the taints of the contents of files, by those of their names."""
    return frozenset(each.removeprefix(NAMES) for each in taints)


class Carrier(Protocol):
    """What carries taints: a stream, or a word of a command."""

    @property
    def taints(self) -> frozenset[str]:
        """Return "secret", "remote" and the like."""


def taints_of(carriers: Iterable[Carrier]) -> frozenset[str]:
    return frozenset().union(*(each.taints for each in carriers))


def origin_of(stream: Stream) -> str:
    """Return the origin of a part of a longer text; a known part with an option in it may be anything."""
    if stream.glob:
        return "paths"
    if stream.text is None:
        return stream.origin
    if stream.text.isdecimal():
        return "number"
    return "" if DASHED.search(stream.text) else "value"


def merge(streams: Iterable[Stream]) -> Stream:
    """Join several outputs one after the other."""
    given = [stream for stream in streams if stream != NOTHING]
    if len(given) == 1 and not given[0].glob:
        return given[0]
    taints = taints_of(given)
    texts = [None if stream.glob else stream.text for stream in given]
    text = (
        "".join(text for text in texts if text is not None) if None not in texts else None
    )
    if text is not None and len(text) > LONGEST_TEXT:
        text = None
    origin = narrowest(set(map(origin_of, given)))
    if any(
        NAMING.search(stream.text) for stream in given if stream.text and not stream.glob
    ):
        # A known part that may name a file is not lost among the names of others.
        origin = ""
    if origin in ("value", "number", "ref") and len(given) > 1:
        # Several words; harmless ones are as the names of files where the judge has looked.
        origin = "names" if origin == "ref" else "paths"
    return Stream(
        text,
        taints,
        origin if text is None else "",
        any(stream.assumed for stream in given),
    )


def make_doubtful(output: Stream) -> Stream:
    """Return what a command prints that may not run."""
    if output == NOTHING:
        return output
    return Stream(None, output.taints, "" if output.text else output.origin)


@dataclass
class ShellScope:
    """The state of one shell. A subshell works on a copy."""

    context: Context
    variables: dict[str, Stream] = field(default_factory=dict)
    exported: set[str] = field(default_factory=set)
    functions: dict[str, Node] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    files: dict[str, Stream] = field(default_factory=dict)
    descriptors: dict[str, str] = field(default_factory=dict)
    stdin: Stream | None = None
    arguments: tuple[Stream, ...] | None = None
    folder: str | None = None
    # The last `cd` was to a folder that may not be there; the current folder is one of several.
    may_have_stayed: bool = False
    unsure_folder: bool = False
    # Each command is shown with its words expanded (`set -x`).
    traces: bool = False

    @property
    def sure_folder(self) -> str | None:
        """Return the current folder, None if it may be another one."""
        return None if self.unsure_folder else self.folder

    def copy(self) -> "ShellScope":
        """Copy for a subshell; files are shared."""
        scope = copy(self)
        scope.variables = dict(self.variables)
        scope.exported = set(self.exported)
        scope.functions = dict(self.functions)
        scope.aliases = dict(self.aliases)
        return scope


class OutOfBudget(Exception):
    """A command exceeds the bounds of one judgement."""


@dataclass
class WorkBudget:
    """The remaining bounds of a judgement; `outer` is where a nested text is in the outer one."""

    steps: int
    characters: int = MOST_CHARACTERS
    depth: int = 0
    outer: list[Span] = field(default_factory=list)

    def place(self, span: Span) -> Span:
        """Return where something is in the outer text."""
        return self.outer[0] if self.outer else span

    def step(self) -> None:
        """Count one command or word. Raises OutOfBudget."""
        self.steps -= 1
        if self.steps < 0:
            raise OutOfBudget("more commands than are judged")

    def read(self, text: str) -> None:
        """Count one text to parse. Raises OutOfBudget."""
        self.characters -= len(text)
        if self.characters < 0 or self.depth > MOST_DEPTH:
            raise OutOfBudget("longer or more deeply nested than is judged")


def holds_number(value: Stream) -> bool:
    return value.text.isdecimal() if value.text is not None else value.origin == "number"


def make_unsure(before: dict[str, Stream], after: dict[str, Stream]) -> dict[str, Stream]:
    """Return the variables after a branch that may not have run: changed values are unknown, taints stay."""
    changed = {}
    for name, value in after.items():
        if name not in before:
            changed[name] = replace(value, perhaps=True)
        elif before[name] != value:
            either = before[name], value
            origins = {"number" if holds_number(each) else each.origin for each in either}
            origin = narrowest(origins) if origins <= {"value", "number"} else ""
            changed[name] = Stream(None, taints_of(either), origin)
        else:
            changed[name] = value
    return changed


def restore(outer: dict[str, Stream], names: Iterable[str]) -> dict[str, Stream]:
    """Restore variables that were set for one command or function alone."""
    return {name: outer.get(name, ANYTHING) for name in names}


def share_input(stdin: Stream) -> Stream:
    """Return an input of which an earlier command may have read a part."""
    return stdin if stdin.text is None or stdin == NOTHING else replace(stdin, assumed=True)
