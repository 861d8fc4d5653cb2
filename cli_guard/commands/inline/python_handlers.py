"""Handlers of Python functions that do more than one thing, or whose result matters."""

from cli_guard.commands.inline import sql
from cli_guard.commands.inline.language import note_open, opens
from cli_guard.commands.inline.model import Act, unknown, variable
from cli_guard.commands.inline.state import FunctionCall
from cli_guard.commands.inline.values import (
    ANY,
    Data,
    Literal,
    Reference,
    Sequence,
    Value,
    Values,
    as_text,
    path_of,
    taint_of,
)
from cli_guard.commands.model import Kind

PATH = "pathlib.Path()"


def get_attribute(calling: FunctionCall) -> Values:
    """Handle `getattr(module, "name")`."""
    found: list[Value] = []
    for of in calling.given(0):
        for name in calling.texts(calling.given(1)):
            if name is None:
                calling.note(unknown("getattr with a name that the text does not tell"))
            else:
                found.extend(calling.run.part(of, name, False))
    return (*found, *calling.given(2))


def import_module(calling: FunctionCall) -> Values:
    """Handle `__import__("os")`, which returns the top package, and `import_module("os.path")`."""
    whole = calling.function.name != "__import__"
    found: list[Value] = []
    for name in calling.texts(calling.given(0, "name")):
        if name is None or not name:
            calling.note(Act(Kind.EXEC, None, "imports a module that the text does not name"))
        else:
            found.extend(calling.run.module(name if whole else name.partition(".")[0]))
    return tuple(found) or ANY


def map_elements(calling: FunctionCall) -> Values:
    """Handle `map(function, elements)`."""
    elements = [calling.run.elements(values) for values in calling.arguments[1:]]
    source = calling.given(1)
    if len(source) == 1 and isinstance(source[0], Sequence) and len(elements) == 1:
        results = [
            calling.run.invoke(function, [(part,)], {})
            for part in source[0].parts
            for function in calling.given(0)
        ]
        if all(len(values) == 1 for values in results):
            return (Sequence(tuple(values[0] for values in results)),)
    else:
        results = [calling.run.invoke(function, elements, {}) for function in calling.given(0)]
    return (taint_of(value for values in results for value in values),)


def partial(calling: FunctionCall) -> Values:
    """Handle `functools.partial(function, ...)` as one call with the known arguments."""
    for function in calling.given(0):
        calling.run.invoke(function, calling.arguments[1:], calling.named)
    return (Data(),)


def character(calling: FunctionCall) -> Values:
    """Handle `chr(114)`."""
    codes = [value.value for value in calling.given(0) if isinstance(value, Literal)]
    known = [chr(code) for code in codes if type(code) is int and 0 <= code < 0x110000]
    return tuple(map(Literal, known)) if known and len(known) == len(calling.given(0)) else ANY


def make_list(calling: FunctionCall) -> Values:
    """Handle `list(...)` and `bytes([...])`: a list stays one, numbers become bytes."""
    values = calling.given(0)
    if len(values) == 1 and isinstance(values[0], Sequence):
        numbers = [part.value for part in values[0].parts if isinstance(part, Literal)]
        if calling.function.name in ("bytes", "bytearray"):
            sure = [n for n in numbers if type(n) is int and 0 <= n < 256]
            return (Literal(bytes(sure)),) if len(sure) == len(values[0].parts) else ANY
        return values
    return (calling.run.data(values),)


def joined_path(calling: FunctionCall) -> Values:
    """Handle `os.path.join(...)`."""
    values = [each[0] for each in calling.arguments if len(each) == 1]
    return (path_of(values) if len(values) == len(calling.arguments) else taint_of(calling.everything()),)


def variable_of(calling: FunctionCall) -> Values:
    """Handle `os.getenv("HOME")`."""
    found: list[Value] = []
    for name in calling.texts(calling.given(0, "key")):
        calling.note(*variable(name))
        found.append(Literal("~") if name == "HOME" else Data(local=True))
    return tuple(found)


def statements(calling: FunctionCall) -> Values:
    """Judge SQL that is passed to a database."""
    for text in calling.texts(calling.given(0)):
        for act in sql.acts(text) if text is not None else [unknown("SQL that the text does not tell")]:
            calling.note(act)
    return (Reference("sqlite3.connect()"),)


def connects(calling: FunctionCall) -> Values:
    """Handle `sqlite3.connect("x.db")`."""
    for path in calling.texts(calling.given(0, "database")):
        if path != ":memory:":
            calling.note(Act(Kind.READ, path, "opens a database"))
    return (Reference("sqlite3.connect()"),)


def path_opened(calling: FunctionCall) -> Values:
    """Handle `Path("x").open("w")`."""
    for mode in calling.texts(calling.given(0, "mode") or (Literal("r"),)):
        note_open(calling, (calling.function,), mode)
    return (Data(local=True),)


def join_path(calling: FunctionCall) -> Values:
    """Handle `Path("x").joinpath("y")`."""
    values: list[Value] = [Literal(calling.function.about) if calling.function.about is not None else Data()]
    values += [each[0] if len(each) == 1 else Data() for each in calling.arguments]
    return (Reference(PATH, as_text(path_of(values))),)


def archive(calling: FunctionCall) -> Values:
    """Handle `zipfile.ZipFile("x.zip", "w")`."""
    opens(0, "file" if "zip" in calling.function.name else "name")(calling)
    return (Reference("zipfile.ZipFile()", None),)


def set_variable(calling: FunctionCall) -> Values:
    """Handle `os.putenv` and its like."""
    calling.note(unknown("changes the environment"))
    return ANY
