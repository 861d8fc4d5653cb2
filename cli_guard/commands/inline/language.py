"""The effects that functions of a language can be said to have: each maker gives the handler of a call."""

from collections.abc import Callable, Iterable, Mapping

from cli_guard.commands.inline.model import Act, file, shell, unknown, unseen_command
from cli_guard.commands.inline.state import Calling, Handler
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
    """A table whose keys are several names each."""
    return {name: handler for names, handler in rows.items() for name in names.split()}


def does(kind: Kind, place: int = 0, name: str = "", reason: str = "", result: Values = ANY) -> Handler:
    """A function with one effect; the argument at the place, or with the name, is its target."""

    def handler(calling: Calling) -> Values:
        for text in calling.texts(calling.given(place, name)) if place >= 0 else [None]:
            calling.note(*file(kind, text, reason))
        return result

    return handler


def about(kind: Kind, reason: str = "", result: Values = ANY) -> Handler:
    """A method with one effect on the path that its object stands for."""

    def handler(calling: Calling) -> Values:
        calling.note(*file(kind, calling.function.about, reason))
        return result

    return handler


def both(*handlers: Handler) -> Handler:
    """Several effects; the value is that of the last."""

    def handler(calling: Calling) -> Values:
        return [each(calling) for each in handlers][-1]

    return handler


def not_understood(what: str) -> Handler:
    """A function whose effect the text cannot tell."""

    def handler(calling: Calling) -> Values:
        calling.note(unknown(what))
        return ANY

    return handler


def gives(*values: Value) -> Handler:
    """A harmless function that always gives these values."""
    return lambda calling: values


def same(place: int = 0, name: str = "") -> Handler:
    """A harmless function that gives back one of its arguments."""
    return lambda calling: calling.given(place, name) or ANY


def computes(make: Callable[..., "str | bytes | list[str] | None"], count: int = 1) -> Handler:
    """A harmless function that makes a text of texts."""

    def handler(calling: Calling) -> Values:
        given = [
            calling.run.data(values) if len(values) != 1 else values[0]
            for values in calling.arguments[:count]
        ]
        return (compute(make, given) or taint_of(calling.everything()),)

    return handler


def is_object(name: str) -> Handler:
    """A function that makes an object for the path or address it is given."""

    def handler(calling: Calling) -> Values:
        path = as_text(path_of([values[0] for values in calling.arguments if len(values) == 1]))
        sure = all(len(values) == 1 for values in calling.arguments)
        return (Reference(name, path if sure else None),)

    return handler


def runs_code(
    place: int = 0, name: str = "", reason: str = "runs code that the text does not tell"
) -> Handler:
    """A function that runs text as code of the same language."""
    return lambda calling: calling.run.code(calling.given(place, name) or ANY, reason)


def runs_shell(place: int = 0, name: str = "") -> Handler:
    """A function that hands a text to a shell."""

    def handler(calling: Calling) -> Values:
        note_shell(calling, calling.given(place, name) or ANY)
        return (Data(local=True),)

    return handler


def note_shell(calling: Calling, values: Iterable[Value]) -> None:
    """Note that these texts are handed to a shell."""
    for value in values:
        words = as_words(value)
        text = as_text(value) if words is None else " ".join(words)
        if text is None:
            calling.note(replace_remote(unseen_command(), value))
        else:
            calling.note(shell(text), *([unseen_command()] if calling.run.mutates else []))


def replace_remote(act: Act, value: Value) -> Act:
    """The act, marked if the value came from the network."""
    return Act(act.kind, act.target, act.reason, remote=taint_of([value]).remote)


def note_words(calling: Calling, value: Value, prefix: tuple[str, ...] = ()) -> None:
    """Note that a list, or a single word, is run as a command."""
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
    """A function that runs its arguments from a place on as the words of a command; `first`: the list of them."""

    def handler(calling: Calling) -> Values:
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
    """A function that opens a file for what its mode says."""

    def handler(calling: Calling) -> Values:
        paths = calling.given(place, name) or ANY
        for mode in calling.texts(calling.given(mode_place, mode_name) or (Literal(default),)):
            note_open(calling, paths, mode)
        return (Data(local=True),)

    return handler


def note_open(calling: Calling, paths: Values, mode: str | None) -> None:
    """Note that files are opened; None: for something that the text does not tell."""
    kind = Kind.READ if mode is not None and not set(mode) & set("wax+c") else Kind.WRITE
    for value in paths:
        if not (isinstance(value, Literal) and type(value.value) is int and 0 <= value.value <= 2):
            calling.note(*file(kind, as_text(value)))
    if calling.run.mutates:
        calling.note(*file(kind, None))


def talks(place: int = 0, name: str = "", sends: Iterable[tuple[int, str]] = ()) -> Handler:
    """A function that fetches an address, or sends when one of the arguments in `sends` is there."""
    carrying = tuple(sends)

    def handler(calling: Calling) -> Values:
        values = calling.given(place, name) or ANY
        sent = any(calling.given(at, key) for at, key in carrying) or taint_of(calling.everything()).local
        kind = Kind.NETWORK_OUT if sent else Kind.NETWORK_IN
        for text in calling.texts(values):
            calling.note(Act(kind, text))
        return (Data(remote=True),)

    return handler


def sends(place: int = 0, name: str = "") -> Handler:
    """A function that sends something to an address."""

    def handler(calling: Calling) -> Values:
        for text in calling.texts(calling.given(place, name)):
            calling.note(Act(Kind.NETWORK_OUT, text))
        return (Data(remote=True),)

    return handler
