"""Handlers of Python functions that do more than one thing, or whose result matters."""

import re
from pathlib import PurePosixPath
from posixpath import join, splitext

from cli_guard.commands.inline import acts
from cli_guard.commands.inline.language import note_listing
from cli_guard.commands.inline.model import Act, unknown, variable
from cli_guard.commands.inline.paths import FOUND, STEM, as_path, is_found, path_of, raw_text, taint_of
from cli_guard.commands.inline.state import FunctionCall
from cli_guard.commands.inline.texts import combine
from cli_guard.commands.inline.values import ANY, Data, Literal, Reference, Sequence, Value, Values
from cli_guard.commands.model import Kind

PATH = "pathlib.Path()"
WILD = re.compile(r"[*?]|\[[^]/]*\]")


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


def make_list(calling: FunctionCall) -> Values:
    """Handle `list(...)` and `bytes([...])`: a list stays one, numbers become bytes."""
    values = calling.given(0)
    if len(values) == 1 and isinstance(values[0], Sequence):
        numbers = [part.value for part in values[0].parts if isinstance(part, Literal)]
        if calling.function.name in ("bytes", "bytearray"):
            sure = [n for n in numbers if type(n) is int and 0 <= n < 256]
            return (Literal(bytes(sure)),) if len(sure) == len(values[0].parts) else ANY
        for key in calling.named.values():
            calling.run.data(key, values[0].parts)
        return values
    return (calling.run.data(calling.everything()),)


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
        calling.note(
            *(acts("sql", text) if text is not None else [unknown("SQL that the text does not tell")])
        )
    return (Reference("sqlite3.connect()"),)


def join_path(calling: FunctionCall) -> Values:
    """Handle `Path("x").joinpath("y")`."""
    paths = combine(path_of, ((calling.function,), *calling.arguments))
    return tuple(Reference(PATH, raw_text(path)) for path in paths)


def set_variable(calling: FunctionCall) -> Values:
    """Handle `os.environ.setdefault("A", "b")` and `os.environ.update(A="b")`."""
    if not calling.function.name.endswith("update"):
        for name in calling.texts(calling.given(0, "key")):
            calling.run.set_variable(name, calling.given(1, "value"))
    for name, values in calling.named.items():
        calling.run.set_variable(name if name not in ("*", "key", "value") else None, values)
    if calling.function.name.endswith("update") and calling.arguments:
        calling.note(unknown("changes the environment"))
    return ANY


def set_search_path(calling: FunctionCall) -> Values:
    """Handle `sys.path.insert(0, "src")`."""
    values = calling.arguments[-1] if calling.arguments else ANY
    whole = calling.function.name.endswith("extend")
    calling.run.set_variable("PYTHONPATH", calling.run.elements(values) if whole else values)
    return ANY


def make_temporary(calling: FunctionCall) -> Values:
    """Handle `tempfile.mkdtemp()`, unless it is given a folder or a name."""
    plain = not calling.arguments and set(calling.named) <= {"suffix", "mode", "delete", "encoding", "text"}
    path = Literal(f"/tmp/tmp{FOUND}") if plain else Data()  # noqa: S108 - where Python makes them
    calling.note(Act(Kind.WRITE, as_path(path), "makes a temporary file"))
    if calling.function.name.endswith("mkstemp"):
        return (Sequence((Data(), path)),)
    return (path,) if calling.function.name.endswith(("mkdtemp", "Directory")) else (Data(local=True),)


def unpickles(calling: FunctionCall) -> Values:
    """Handle `pickle.load(open("x"))`: the data can hold code."""
    for value in calling.given(0) or ANY:
        opened = value.opened if isinstance(value, Data) else None
        path = opened if opened is None or "/" in opened else f"./{opened}"
        remote = taint_of([value]).remote
        calling.note(Act(Kind.EXEC, path, "unpickles: the data can hold code", remote=remote))
    return (Data(local=True),)


def walks(calling: FunctionCall) -> Values:
    """Handle `os.walk("src")`."""
    names = Sequence((Literal(FOUND),))
    found = note_listing(
        calling, 0, "top", lambda top: Sequence((Literal(join(top, FOUND * 2)), names, names))
    )
    odd = {"followlinks", "*"} & set(calling.named) or len(calling.arguments) > 3
    # It goes wherever the code says that there are folders.
    return (Data(local=True),) if odd or calling.run.settle(names) != names else found


def finds(calling: FunctionCall) -> Values:
    """Handle `glob.glob("src/*.py")`."""
    found = note_listing(calling, 0, "pathname", lambda pattern: Literal(WILD.sub(FOUND, pattern)))
    return (Data(local=True),) if {"root_dir", "dir_fd", "*"} & set(calling.named) else found


def paths_below(calling: FunctionCall) -> Values:
    """Handle `Path("x").iterdir()`, `.glob("*.py")` and `.rglob("*.py")`."""
    folder, way = calling.function.about, calling.function.name.rpartition(".")[2]
    pattern = "*" if way == "iterdir" else calling.texts(calling.given(0, "pattern"))[0]
    if folder is None or pattern is None or len(calling.given(0, "pattern")) > 1:
        return (Sequence((Reference(PATH),)),)
    inner = join("**" if way == "rglob" else "", pattern)
    return (Sequence((Reference(PATH, join(folder, WILD.sub(FOUND, inner))),)),)


def split_ending(calling: FunctionCall) -> Values:
    """Handle `os.path.splitext("x.py")`."""
    text = raw_text(calling.only(0, "p"))
    if not text:
        return ANY
    first, ending = map(Literal, splitext(text))
    return (Sequence((first, Data(local=True) if is_found(first) else ending)),)


def changes_name(calling: FunctionCall) -> Values:
    """Handle `Path("x.py").with_suffix(".txt")` and `.with_name("y")`."""
    path, text = PurePosixPath(calling.function.about or ""), raw_text(calling.only(0))
    if text is None or path.name in ("", FOUND * 2):
        return (Reference(PATH),)
    try:
        made = path.with_name(text) if calling.function.name.endswith("name") else path.with_suffix(text)
    except ValueError:
        return (Reference(PATH),)
    return (Reference(PATH, str(made.parent / made.name.replace(FOUND, STEM))),)


def relative(calling: FunctionCall) -> Values:
    """Handle `Path("a/b").relative_to("a")`."""
    path, base = calling.function.about or "", f"{raw_text(calling.only(0))}/"
    inside = FOUND not in base and path.startswith(base)
    return (Reference(PATH, path.removeprefix(base) if inside else None),)


def number_elements(calling: FunctionCall) -> Values:
    """Handle `enumerate(...)`."""
    parts = [Sequence((Data(), part)) for part in calling.run.elements(calling.given(0, "iterable"))]
    return (Sequence(tuple(parts)),)
