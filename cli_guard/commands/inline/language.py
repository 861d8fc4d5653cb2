"""Makers of handlers: each gives functions of a language one kind of effect."""

from collections.abc import Callable, Iterable, Mapping

from cli_guard.commands.inline.model import Act, file, shell, unknown, unseen_command
from cli_guard.commands.inline.state import FunctionCall, Handler
from cli_guard.commands.inline.values import (
    ANY,
    Data,
    Literal,
    Reference,
    Sequence,
    Value,
    Values,
    as_text,
    as_words,
    compute,
    path_of,
    taint_of,
)
from cli_guard.commands.model import Kind


def table(rows: Mapping[str, Handler]) -> dict[str, Handler]:
    """Build a table from one whose keys hold several names each."""
    return {name: handler for names, handler in rows.items() for name in names.split()}


def does(kind: Kind, place: int = 0, name: str = "", reason: str = "", result: Values = ANY) -> Handler:
    """Make a handler with one effect; its target is the argument at this position or with this name."""

    def handler(calling: FunctionCall) -> Values:
        for text in calling.texts(calling.given(place, name)) if place >= 0 else [None]:
            calling.note(*file(kind, text, reason))
        return result

    return handler


def about(kind: Kind, reason: str = "", result: Values = ANY) -> Handler:
    """Make a handler for a method with one effect on the path of its object."""

    def handler(calling: FunctionCall) -> Values:
        calling.note(*file(kind, calling.function.about, reason))
        return result

    return handler


def both(*handlers: Handler) -> Handler:
    """Make a handler with several effects; its value is that of the last."""

    def handler(calling: FunctionCall) -> Values:
        return [each(calling) for each in handlers][-1]

    return handler


def not_understood(what: str) -> Handler:
    """Make a handler for a function with an unknown effect."""

    def handler(calling: FunctionCall) -> Values:
        calling.note(unknown(what))
        return ANY

    return handler


def gives(*values: Value) -> Handler:
    """Make a handler for a harmless function that always returns these values."""
    return lambda calling: values


def same(place: int = 0, name: str = "") -> Handler:
    """Make a handler for a harmless function that returns one of its arguments."""
    return lambda calling: calling.given(place, name) or ANY


def computes(make: Callable[..., "str | bytes | list[str] | None"], count: int = 1) -> Handler:
    """Make a handler for a harmless function from text to text."""

    def handler(calling: FunctionCall) -> Values:
        given = [
            calling.run.data(values) if len(values) != 1 else values[0]
            for values in calling.arguments[:count]
        ]
        return (compute(make, given) or taint_of(calling.everything()),)

    return handler


def is_object(name: str) -> Handler:
    """Make a handler for a function that returns an object for a path or an address."""

    def handler(calling: FunctionCall) -> Values:
        path = as_text(path_of([values[0] for values in calling.arguments if len(values) == 1]))
        sure = all(len(values) == 1 for values in calling.arguments)
        return (Reference(name, path if sure else None),)

    return handler


def runs_code(
    place: int = 0, name: str = "", reason: str = "runs code that the text does not tell"
) -> Handler:
    """Make a handler for a function that runs text as code of the same language."""
    return lambda calling: calling.run.code(calling.given(place, name) or ANY, reason)


def runs_shell(place: int = 0, name: str = "") -> Handler:
    """Make a handler for a function that passes a text to a shell."""

    def handler(calling: FunctionCall) -> Values:
        note_shell(calling, calling.given(place, name) or ANY)
        return (Data(local=True),)

    return handler


def note_shell(calling: FunctionCall, values: Iterable[Value]) -> None:
    """Record that these texts are run by a shell."""
    for value in values:
        words = as_words(value)
        text = as_text(value) if words is None else " ".join(words)
        if text is None:
            calling.note(replace_remote(unseen_command(), value))
        else:
            calling.note(shell(text), *([unseen_command()] if calling.run.mutates else []))


def replace_remote(act: Act, value: Value) -> Act:
    """Return the act, marked as remote code if the value came from the network."""
    return Act(act.kind, act.target, act.reason, remote=taint_of([value]).remote)


def note_words(calling: FunctionCall, value: Value, prefix: tuple[str, ...] = ()) -> None:
    """Record that a list, or a single word, is run as a command."""
    single = as_text(value)
    words = (single,) if single is not None else as_words(value)
    if words is None:
        first = as_text(value.parts[0]) if isinstance(value, Sequence) and value.parts else None
        reason = "runs a command whose words the text does not tell"
        calling.note(Act(Kind.EXEC, (*prefix, first)[0], reason, remote=taint_of([value]).remote))
        return
    calling.note(Act(Kind.EXEC, (*prefix, *words, None)[0], "runs a command", words=(*prefix, *words)))
    if calling.run.mutates:
        calling.note(unseen_command())


def runs_words(place: int = 0, first: int | None = None) -> Handler:
    """Make a handler for a function that runs its arguments (with `first`: a list) as the words of a command."""

    def handler(calling: FunctionCall) -> Values:
        if first is not None:
            for value in calling.given(first) or ANY:
                note_words(calling, value)
        elif all(len(values) == 1 for values in calling.arguments[place:]):
            note_words(calling, Sequence(tuple(values[0] for values in calling.arguments[place:])))
        else:
            calling.note(unseen_command())
        return (Data(local=True),)

    return handler


def opens(
    place: int = 0, name: str = "file", mode_place: int = 1, mode_name: str = "mode", default: str = "r"
) -> Handler:
    """Make a handler for a function that opens a file in a mode."""

    def handler(calling: FunctionCall) -> Values:
        paths = calling.given(place, name) or ANY
        for mode in calling.texts(calling.given(mode_place, mode_name) or (Literal(default),)):
            note_open(calling, paths, mode)
        return (Data(local=True),)

    return handler


def note_open(calling: FunctionCall, paths: Values, mode: str | None) -> None:
    """Record that files are opened; None stands for an unknown one."""
    kind = Kind.READ if mode is not None and not set(mode) & set("wax+c") else Kind.WRITE
    for value in paths:
        if not (isinstance(value, Literal) and type(value.value) is int and 0 <= value.value <= 2):
            calling.note(*file(kind, as_text(value)))
    if calling.run.mutates:
        calling.note(*file(kind, None))


def talks(place: int = 0, name: str = "", sends: Iterable[tuple[int, str]] = ()) -> Handler:
    """Make a handler for a function that fetches an address, or sends if an argument in `sends` is given."""
    carrying = tuple(sends)

    def handler(calling: FunctionCall) -> Values:
        values = calling.given(place, name) or ANY
        sent = any(calling.given(at, key) for at, key in carrying) or taint_of(calling.everything()).local
        kind = Kind.NETWORK_OUT if sent else Kind.NETWORK_IN
        for text in calling.texts(values):
            calling.note(Act(kind, text))
        return (Data(remote=True),)

    return handler


def sends(place: int = 0, name: str = "") -> Handler:
    """Make a handler for a function that sends data to an address."""

    def handler(calling: FunctionCall) -> Values:
        for text in calling.texts(calling.given(place, name)):
            calling.note(Act(Kind.NETWORK_OUT, text))
        return (Data(remote=True),)

    return handler
