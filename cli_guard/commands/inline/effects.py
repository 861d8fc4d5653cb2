"""Makers of handlers: each gives functions of Python one kind of effect."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from cli_guard.commands.inline.model import (
    EVERY_FILE,
    STREAMS,
    Act,
    unknown,
    unseen_command,
)
from cli_guard.commands.inline.values import (
    ANY,
    EVERY_NAME,
    LOCAL,
    Data,
    Literal,
    Reference,
    Sequence,
    Value,
    Values,
    alternatives,
    as_path,
    as_text,
    compute,
    raw_text,
    taint_of,
)
from cli_guard.commands.model import EffectKind
from cli_guard.lazy import frozen

if TYPE_CHECKING:
    from cli_guard.commands.inline.program import Program

# What a request is given and does not send.
HARMLESS_OPTIONS = frozenset(
    "timeout context allow_redirects follow_redirects stream verify filename".split()
)
CONNECTIONS = {"fetches": EffectKind.NETWORK_IN, "sends": EffectKind.NETWORK_OUT}
ON_FILES = (EffectKind.READ, EffectKind.WRITE, EffectKind.DELETE)
# A listing of the folder that the program is in, or of one elsewhere, may hold the files with secrets.
HERE_OR_ELSEWHERE = re.compile(r"(?:\./)*(?:\.\.(?:/|\Z)|\.?\Z|[/~])")


@frozen
class FunctionCall:
    """A call of a function in the tables."""

    run: "Program"
    function: Reference
    arguments: list[Values]
    named: Mapping[str, Values]

    def given(self, place: int, name: str = "") -> Values:
        """Return the possible values of an argument by position or name; none if it is left out."""
        if name in self.named:
            return self.named[name]
        if 0 <= place < len(self.arguments):
            return self.arguments[place]
        return ANY if "*" in self.named else ()

    def only(self, place: int, name: str = "") -> Value:
        """Return the value of an argument, plain data if it has none or several."""
        values = self.given(place, name)
        return values[0] if len(values) == 1 else taint_of(values)

    def texts(self, place: int, name: str = "") -> list[str | None]:
        """Return the possible texts of an argument, None for an unknown one."""
        return [as_text(value) for value in self.given(place, name) or ANY]

    def note(self, *acts: Act) -> None:
        for act in acts:
            self.run.note(act)

    def touch(self, kind: EffectKind, values: Values, reason: str = "") -> None:
        """Record that files are read, written or deleted; the standard streams are not files."""
        for value in values or ANY:
            path = as_path(value)
            if path not in STREAMS:
                self.note(Act(kind, path, reason))
            every = kind is EffectKind.READ and EVERY_NAME.search(raw_text(value) or "")
            if every and path is not None and HERE_OR_ELSEWHERE.match(path):
                self.note(Act(kind, path, EVERY_FILE))

    def everything(self) -> list[Value]:
        return [
            value for values in (*self.arguments, *self.named.values()) for value in values
        ]


Handler = Callable[[FunctionCall], Values]


def read_effects(
    rows: Mapping[str, Iterable[str]], handlers: Mapping[str, Handler]
) -> dict[str, Handler]:
    """Build a table from `[effects]` or `[methods]` of `words/python.toml`; a form may be the name of a handler."""
    found: dict[str, Handler] = {}
    for form, names in rows.items():
        parts = form.split(", ")
        handler = both(*(handlers.get(each) or effect_handler(each) for each in parts))
        found |= dict.fromkeys(names, handler)
    return found


def effect_handler(form: str) -> Handler:
    """Make the handler for `write 1 dst`: the kind, the position and name of the target, and the reason.

    The position is -1 for an unknown target, `about` for the path of the object that the method belongs to. `opens 0
    file 1` ends with the position of the mode; `gives NAME PATH` returns an object.
    """
    kind, place, name, reason = (*form.split(maxsplit=3), "", "", "")[:4]
    if kind == "unknown":
        return not_understood(form.partition(" ")[2])
    if kind == "gives":
        return gives(Reference(place, name or None))
    position = None if place == "about" else int(place)
    name = name.strip("-")
    if kind == "opens":
        return opens(position, name, int(reason))
    if kind in CONNECTIONS:
        return talks(position or 0, name, CONNECTIONS[kind])
    return does(EffectKind(kind), position, name, reason)


def does(kind: EffectKind, place: int | None, name: str = "", reason: str = "") -> Handler:
    """Make a handler with one effect; the position None stands for the object."""

    def handler(calling: FunctionCall) -> Values:
        values = (calling.function,) if place is None else calling.given(place, name)
        if kind in ON_FILES:
            calling.touch(kind, values, reason)
        else:
            calling.note(*(Act(kind, as_text(value), reason) for value in values or ANY))
        return LOCAL if kind is EffectKind.READ else ANY

    return handler


def both(*handlers: Handler) -> Handler:
    """Make a handler with several effects; its value is that of the last."""
    return lambda calling: [handler(calling) for handler in handlers][-1]


def not_understood(what: str) -> Handler:
    """Make a handler for a function with an unknown effect."""

    def handler(calling: FunctionCall) -> Values:
        calling.note(unknown(what))
        return ANY

    return handler


def gives(*values: Value) -> Handler:
    """Make a handler for a harmless function that always returns these values."""
    return lambda calling: values


def same(calling: FunctionCall) -> Values:
    """Handle a harmless function that returns its first argument."""
    return calling.given(0) or ANY


def computes(make: Callable[..., object]) -> Handler:
    """Make a handler for a harmless function from text to text."""

    def handler(calling: FunctionCall) -> Values:
        return (
            compute(make, [calling.only(0)])
            or calling.run.data(calling.everything(), keeps=True),
        )

    return handler


def runs_code(calling: FunctionCall) -> Values:
    """Handle a function that runs text as code."""
    return calling.run.run_code(calling.given(0) or ANY)


def runs_shell(calling: FunctionCall) -> Values:
    """Handle `os.system("ls")`."""
    note_shell(calling, calling.given(0) or ANY)
    return LOCAL


def note_shell(calling: FunctionCall, values: Iterable[Value]) -> None:
    """Record that these texts are run by a shell."""
    for value in values:
        text = as_text(value)
        if text is None:
            calling.note(unseen_command(remote=taint_of([value]).remote))
        else:
            calling.note(Act(EffectKind.EXEC, None, "", text))


def opens(place: int | None, name: str, mode_place: int) -> Handler:
    """Make a handler for a function that opens a file in a mode; the position None stands for the object."""

    def handler(calling: FunctionCall) -> Values:
        paths = (calling.function,) if place is None else calling.given(place, name) or ANY
        for mode in calling.given(mode_place, "mode") or (Literal("r"),):
            text = as_text(mode)
            reads = text is not None and not set(text) & set("wax+c")
            calling.touch(EffectKind.READ if reads else EffectKind.WRITE, paths)
            if text is not None and "w" in text:
                calling.run.emptied.update(map(as_path, paths))
        return tuple(Data(local=True, opened=as_path(path)) for path in paths)

    return handler


def talks(place: int, name: str, kind: EffectKind, plain: int = 1) -> Handler:
    """Make a handler for a function that talks to an address, and sends if it is given more than `plain` arguments."""

    def handler(calling: FunctionCall) -> Values:
        more = calling.arguments[plain:] or set(calling.named) - {name, *HARMLESS_OPTIONS}
        sends = more or taint_of(calling.everything()).local
        for text in calling.texts(place, name):
            calling.note(Act(EffectKind.NETWORK_OUT if sends else kind, text))
        return (Data(remote=True),)

    return handler


def note_listing(calling: FunctionCall, name: str, make: Callable[[str], Value]) -> Values:
    """Record that folders are read, and return what `make` says that a listing of each holds."""
    found: list[Value] = []
    for value in calling.given(0, name) or (Literal("."),):
        calling.note(Act(EffectKind.READ, as_path(value)))
        folder = raw_text(value)
        found.append(
            Data(local=True) if folder is None else Sequence((make(folder),), loose=True)
        )
    return alternatives(found)
