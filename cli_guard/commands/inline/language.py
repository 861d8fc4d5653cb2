"""Makers of handlers: each gives functions of a language one kind of effect."""

from collections.abc import Callable, Iterable, Mapping
from posixpath import join

from cli_guard.commands.inline.model import Act, file, unknown, unseen_command
from cli_guard.commands.inline.paths import FOUND, PATH_PARTS, as_path, path_of, raw_text, taint_of
from cli_guard.commands.inline.state import FunctionCall, Handler
from cli_guard.commands.inline.texts import alternatives, as_text, as_words, combine, compute
from cli_guard.commands.inline.values import ANY, Data, Literal, Reference, Sequence, Value, Values
from cli_guard.commands.model import Kind

ON_FILES = (Kind.READ, Kind.WRITE, Kind.DELETE)


def table(rows: Mapping[str, Handler]) -> dict[str, Handler]:
    """Build a table from one whose keys hold several names each."""
    return {name: handler for names, handler in rows.items() for name in names.split()}


def read_effects(rows: Mapping[str, Iterable[str]]) -> dict[str, Handler]:
    """Build a table from `[effects]` or `[methods]` of the words of a language."""
    return {name: both(*map(has_effect, form.split(", "))) for form, names in rows.items() for name in names}


def has_effect(form: str) -> Handler:
    """Make the handler for `write 1 dst`, see `words/python.toml`."""
    kind, place, name, reason = (*form.split(maxsplit=3), "", "", "")[:4]
    name = name.strip("-")
    if kind == "unknown":
        return not_understood(form.partition(" ")[2])
    if kind == "sends":
        return sends(int(place), name)
    result: Values = (Data(local=True),) if kind == Kind.READ else ANY
    return does(Kind(kind), None if place == "about" else int(place), name, reason, result)


def with_known(handler: Handler) -> Handler:
    """Make a handler that counts only if the first argument may be a known text or list."""
    return lambda calling: (
        handler(calling) if any(isinstance(v, Literal | Sequence) for v in calling.given(0)) else ANY
    )


def does(
    kind: Kind, place: int | None = 0, name: str = "", reason: str = "", result: Values = ANY
) -> Handler:
    """Make a handler with one effect; its target is the argument at this position or with this name.

    The position is -1 for an unknown target, None for the path of the object that the method belongs to.
    """

    def handler(calling: FunctionCall) -> Values:
        values = (calling.function,) if place is None else calling.given(place, name) if place >= 0 else ()
        for text in calling.paths(values) if kind in ON_FILES else calling.texts(values):
            calling.note(*file(kind, text, reason))
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
        return tuple(Reference(name, raw_text(path)) for path in joined_path(calling))

    return handler


def runs_code(
    place: int = 0, name: str = "", reason: str = "runs code that the text does not tell"
) -> Handler:
    """Make a handler for a function that runs text as code of the same language."""
    return lambda calling: calling.run.code(calling.given(place, name) or ANY, reason)


def runs_shell(calling: FunctionCall) -> Values:
    """Handle `os.system("ls")`."""
    note_shell(calling, calling.given(0) or ANY)
    return (Data(local=True),)


def note_shell(calling: FunctionCall, values: Iterable[Value]) -> None:
    """Record that these texts are run by a shell."""
    for value in values:
        words = as_words(value)
        text = as_text(value) if words is None else " ".join(words)
        if text is None:
            calling.note(unseen_command(remote=taint_of([value]).remote))
        else:
            calling.note(Act(Kind.EXEC, None, "", text))


def note_words(calling: FunctionCall, value: Value, prefix: tuple[str, ...] = ()) -> None:
    """Record that a list, or a single word, is run as a command."""
    single = as_text(value)
    words = (single,) if single is not None else as_words(value)
    if words is None:
        first = as_text(value.parts[0]) if isinstance(value, Sequence) and value.parts else None
        reason = "runs a command whose words the text does not tell"
        calling.note(Act(Kind.EXEC, (*prefix, first)[0], reason, remote=taint_of([value]).remote))
        return
    calling.note(Act(Kind.EXEC, (*prefix, *words, None)[0], words=(*prefix, *words)))


def runs_list(calling: FunctionCall) -> Values:
    """Handle `pty.spawn(["ls", "-l"])`."""
    for value in calling.given(0) or ANY:
        note_words(calling, value)
    return (Data(local=True),)


def runs_words(calling: FunctionCall) -> Values:
    """Handle `asyncio.create_subprocess_exec("ls", "-l")`."""
    note_words(calling, Sequence(tuple(calling.only(place) for place in range(len(calling.arguments)))))
    return (Data(local=True),)


def opens(
    place: int | None = 0,
    name: str = "file",
    mode_place: int = 1,
    mode_name: str = "mode",
    default: str = "r",
) -> Handler:
    """Make a handler for a function that opens a file in a mode; the position None stands for the object."""

    def handler(calling: FunctionCall) -> Values:
        paths = (calling.function,) if place is None else calling.given(place, name) or ANY
        for mode in calling.texts(calling.given(mode_place, mode_name) or (Literal(default),)):
            note_open(calling, paths, mode)
        return tuple(Data(local=True, opened=as_path(path)) for path in paths)

    return handler


def note_open(calling: FunctionCall, paths: Values, mode: str | None) -> None:
    """Record that files are opened; None stands for an unknown one."""
    kind = Kind.READ if mode is not None and not set(mode) & set("wax+c") else Kind.WRITE
    for value in paths:
        calling.note(*file(kind, as_path(value)))


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


def note_listing(calling: FunctionCall, place: int, name: str, make: Callable[[str], Value]) -> Values:
    """Record that folders are read, and return what `make` says that a listing of each holds."""
    found: list[Value] = []
    for value in calling.given(place, name) or (Literal("."),):
        calling.note(*file(Kind.READ, as_path(value)))
        folder = raw_text(value)
        found.append(Data(local=True) if folder is None else Sequence((make(folder),)))
    return alternatives(found)


def lists(place: int = 0, name: str = "") -> Handler:
    """Make a handler for a listing of names, or of entries, which have the parts of a path."""

    def handler(calling: FunctionCall) -> Values:
        if calling.function.name.endswith("scandir"):
            return note_listing(
                calling, place, name, lambda folder: Reference("pathlib.Path()", join(folder, FOUND))
            )
        # Options of Node: names below, or entries, whose name is what counts.
        names = Literal(FOUND * (2 if calling.arguments[1:] else 1))
        return note_listing(calling, place, name, lambda folder: names)

    return handler


def joined_path(calling: FunctionCall) -> Values:
    """Handle the function of a language that joins the parts of a path."""
    return combine(path_of, calling.arguments)


def path_part(part: str) -> Handler:
    """Make a handler for `os.path.basename` or `os.path.dirname`; Node's take an ending off as well."""

    def handler(calling: FunctionCall) -> Values:
        text = raw_text(calling.only(0, "p"))
        made = PATH_PARTS[part](text) if text and text[-1] != "/" and not calling.arguments[1:] else None
        return (Literal(made) if made is not None else taint_of(calling.everything()),)

    return handler


def characters(calling: FunctionCall) -> Values:
    """Handle `chr(114)` and `String.fromCharCode(114, 109)`."""
    codes = [values[0] for values in calling.arguments if len(values) == 1]
    known = [
        chr(c.value)
        for c in codes
        if isinstance(c, Literal) and type(c.value) is int and 0 <= c.value < 0x110000
    ]
    return (Literal("".join(known)),) if len(known) == len(calling.arguments) else ANY


def look_up_host(calling: FunctionCall) -> Values:
    """Handle a DNS look-up: the owner of a name sees it, so it may carry data out."""
    known = None not in calling.texts(calling.given(0))
    return (does(Kind.SERVICE_READ) if known else sends(99))(calling)
