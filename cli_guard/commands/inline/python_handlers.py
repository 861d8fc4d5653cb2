"""Handlers of Python functions that do more than one thing, or whose result matters."""

import base64
import re
import shlex
from collections.abc import Callable
from pathlib import PurePosixPath
from posixpath import join

from cli_guard.commands.effects.paths import EMPTIES
from cli_guard.commands.inline import acts
from cli_guard.commands.inline.effects import (
    FunctionCall,
    Handler,
    both,
    computes,
    does,
    note_listing,
    note_shell,
    talks,
)
from cli_guard.commands.inline.model import Act, unknown
from cli_guard.commands.inline.values import (
    ANY,
    FOUND,
    LOCAL,
    Data,
    Literal,
    Reference,
    Sequence,
    Value,
    Values,
    as_path,
    as_text,
    as_words,
    combine,
    path_of,
    raw_text,
    taint_of,
)
from cli_guard.commands.model import EffectKind

PATH = "pathlib.Path()"
WILD = re.compile(r"[*?]|\[[^]/]*\]")
ENDING = re.compile(r"\.\w+")
# What changes nothing about what a process does.
PLAIN = frozenset(
    """args shell capture_output text check timeout stdout stderr universal_newlines encoding errors bufsize cwd
    close_fds start_new_session""".split()
)


def get_attribute(calling: FunctionCall) -> Values:
    """Handle `getattr(module, "name")`."""
    found = list(calling.given(2))
    for name in calling.texts(1):
        if name is None:
            calling.note(unknown("getattr with a name that the text does not tell"))
        else:
            for of in calling.given(0):
                found.extend(calling.run.part(of, name, by_key=False))
    return tuple(found)


def import_module(calling: FunctionCall) -> Values:
    """Handle `__import__("os")`, which returns the top package, and `import_module("os.path")`."""
    found: list[Value] = []
    for name in calling.texts(0, "name"):
        if name:
            top = calling.function.name == "__import__"
            found.append(calling.run.load_module(name.partition(".")[0] if top else name))
        else:
            calling.note(
                Act(EffectKind.EXEC, None, "imports a module that the text does not name")
            )
    return tuple(found) or ANY


def write_text(calling: FunctionCall) -> Values:
    """Handle `Path.write_text(text)`."""
    reason = EMPTIES if calling.texts(0, "data") == [""] else ""
    calling.touch(EffectKind.WRITE, (calling.function,), reason)
    return ANY


def find_spec(calling: FunctionCall) -> Values:
    """Handle `importlib.util.find_spec("a.b")`, which imports `a`."""
    if not all(name and "." not in name for name in calling.texts(0, "name")):
        import_module(calling)
    return ANY


def map_elements(calling: FunctionCall) -> Values:
    """Handle `map(function, elements)`."""
    elements = [calling.run.elements(values) for values in calling.arguments[1:]]
    results = [calling.run.invoke(function, elements, {}) for function in calling.given(0)]
    return (
        calling.run.data(value for values in (*elements, *results) for value in values),
    )


def make_list(calling: FunctionCall) -> Values:
    """Handle `list(...)`: a list stays one."""
    source = calling.only(0)
    if not isinstance(source, Sequence):
        return (calling.run.data(calling.everything(), keeps=True),)
    for key in calling.named.values():
        calling.run.data(key)
    return (Sequence(source.parts, source.loose),)


def number_elements(calling: FunctionCall) -> Values:
    """Handle `enumerate(...)`."""
    parts = calling.run.elements(calling.given(0, "iterable"))
    return (Sequence(tuple(Sequence((Data(), part)) for part in parts), loose=True),)


def variable_of(calling: FunctionCall) -> Values:
    """Handle `os.getenv("HOME")`."""
    return tuple(
        value
        for name in calling.texts(0, "key")
        for value in calling.run.read_variable(name)
    )


def set_variable(calling: FunctionCall) -> Values:
    """Handle `os.environ.setdefault("A", "b")`."""
    for name in calling.texts(0, "key"):
        calling.run.set_variable(name, calling.given(1, "value"))
    return ANY


def set_search_path(calling: FunctionCall) -> Values:
    """Handle `sys.path.insert(0, "src")`."""
    values = calling.arguments[-1] if calling.arguments else ANY
    whole = calling.function.name.endswith("extend")
    calling.run.set_variable(
        "PYTHONPATH", calling.run.elements(values) if whole else values
    )
    return ANY


def statements(calling: FunctionCall) -> Values:
    """Judge SQL that is passed to a database."""
    for text in calling.texts(0):
        calling.note(
            *(
                acts("sql", text)
                if text is not None
                else [unknown("SQL that the text does not tell")]
            )
        )
    return LOCAL


def unpickles(calling: FunctionCall) -> Values:
    """Handle `pickle.load(open("x"))`: the data can hold code."""
    for value in calling.given(0) or ANY:
        opened = value.opened if isinstance(value, Data) else None
        path = opened if opened is None or "/" in opened else f"./{opened}"
        remote = taint_of([value]).remote
        calling.note(
            Act(EffectKind.EXEC, path, "unpickles: the data can hold code", remote=remote)
        )
    return LOCAL


def make_temporary(calling: FunctionCall) -> Values:
    """Handle `tempfile.mkdtemp()`, unless it is given a folder or a name."""
    harmless = "suffix mode delete encoding text".split()
    plain = not calling.arguments and calling.named.keys() <= set(harmless)
    path = Literal(f"/tmp/tmp{FOUND}") if plain else Data()  # noqa: S108 - where Python makes them
    calling.note(Act(EffectKind.WRITE, as_path(path), "makes a temporary file"))
    return (path,) if calling.function.name.endswith(("mkdtemp", "Directory")) else LOCAL


def make_path(calling: FunctionCall) -> Values:
    """Handle `Path("x", "y")` and `Path("x").joinpath("y")`."""
    if "*" in calling.named:
        return (Reference(PATH),)
    before = [(calling.function,)] if calling.function.name.endswith("joinpath") else []
    paths = combine(path_of, [*before, *calling.arguments] or [(Literal("."),)])
    return tuple(Reference(PATH, raw_text(path)) for path in paths)


def take_part(part: Callable[[PurePosixPath], object]) -> Handler:
    """Make a handler for `os.path.basename` or `os.path.dirname`."""

    def handler(calling: FunctionCall) -> Values:
        text = raw_text(calling.only(0, "p"))
        if not text or text.endswith(("/", FOUND * 2)):
            return (taint_of(calling.everything()),)
        return (Literal(str(part(PurePosixPath(text)))),)

    return handler


def join_paths(calling: FunctionCall) -> Values:
    """Handle `os.path.join`."""
    return combine(path_of, calling.arguments)


def give_folder(calling: FunctionCall) -> Values:
    """Handle `os.getcwd()`."""
    return (Literal("."),)


def give_itself(calling: FunctionCall) -> Values:
    """Handle `Path("x").resolve()`."""
    return (Reference(PATH, calling.function.about),)


def replace(calling: FunctionCall) -> Values:
    """Handle `.replace("x")` of an unknown object: with a second argument it is that of a text."""
    return ANY if calling.arguments[1:] else move(calling)


def decode_base64(text: str) -> bytes:
    return base64.b64decode(text)


move = does(EffectKind.WRITE, -1)
take_name = take_part(lambda path: path.name)
take_parent = take_part(lambda path: path.parent)
show = computes(str)
read_hexadecimal = computes(bytes.fromhex)
read_base64 = computes(decode_base64)
retrieve = both(
    does(EffectKind.WRITE, 1, "filename"), talks(0, "url", EffectKind.NETWORK_IN, plain=3)
)


def change_name(calling: FunctionCall) -> Values:
    """Handle `Path("x.py").with_suffix(".txt")`."""
    path = calling.function.about
    ending = as_text(calling.only(0))
    if (
        path
        and path.strip("./")
        and not path.endswith(FOUND * 2)
        and ENDING.fullmatch(ending or "")
    ):
        return (Reference(PATH, str(PurePosixPath(path).with_suffix(str(ending)))),)
    return (Reference(PATH),)


def list_folder(calling: FunctionCall) -> Values:
    """Handle `os.listdir("src")` and `os.scandir("src")`, whose entries have the parts of a path."""
    if calling.function.name.endswith("scandir"):
        return note_listing(
            calling, "path", lambda folder: Reference(PATH, join(folder, FOUND))
        )
    return note_listing(calling, "path", lambda folder: Literal(FOUND))


def walk_folders(calling: FunctionCall) -> Values:
    """Handle `os.walk("src")`."""
    names = Sequence((Literal(FOUND),), loose=True)
    found = note_listing(
        calling, "top", lambda top: Sequence((Literal(join(top, FOUND * 2)), names, names))
    )
    odd = {"followlinks", "*"} & set(calling.named) or len(calling.arguments) > 3
    return LOCAL if odd else found


def find_files(calling: FunctionCall) -> Values:
    """Handle `glob.glob("src/*.py")`."""
    found = note_listing(
        calling, "pathname", lambda pattern: Literal(WILD.sub(FOUND, pattern))
    )
    return LOCAL if {"root_dir", "dir_fd", "*"} & set(calling.named) else found


def list_paths(calling: FunctionCall) -> Values:
    """Handle `Path("x").iterdir()`, `.glob("*.py")` and `.rglob("*.py")`."""
    folder = calling.function.about
    way = calling.function.name.rpartition(".")[2]
    calling.note(Act(EffectKind.READ, as_path(calling.function)))
    pattern = "*" if way == "iterdir" else as_text(calling.only(0, "pattern"))
    if folder is None or pattern is None:
        return (Sequence((Reference(PATH),), loose=True),)
    inner = join("**" if way == "rglob" else "", pattern)
    return (Sequence((Reference(PATH, join(folder, WILD.sub(FOUND, inner))),), loose=True),)


def set_up_log(calling: FunctionCall) -> Values:
    """Handle `logging.basicConfig(filename="x")`."""
    if {"filename", "*"} & set(calling.named):
        calling.touch(EffectKind.WRITE, calling.given(99, "filename"))
    return ANY


def reads_named(calling: FunctionCall) -> Values:
    """Handle `.read("x.ini")` of an unknown object: a file, if it is given a path or a list of them."""
    value = calling.only(0)
    if raw_text(value) is not None or isinstance(value, Sequence):
        calling.touch(EffectKind.READ, (value,))
    return ANY


def runs_process(calling: FunctionCall) -> Values:
    """Handle `subprocess.run([...])`, also with `shell=True` and `cwd=`."""
    for name in sorted(set(calling.named) - PLAIN) + ["more"] * (
        len(calling.arguments) > 1
    ):
        calling.note(unknown(f"starts a process with its own {name}"))
    folder = calling.only(0, "cwd") if "cwd" in calling.named else Literal(None)
    text = as_text(folder)
    before = "" if text is None else f"cd {shlex.quote(text)} && "
    if text is None and folder != Literal(None):
        calling.note(unknown("starts a process in a folder that the text does not tell"))
    has_shell = bool({"shell", "*"} & set(calling.named))
    for value in calling.given(0, "args") or ANY:
        for line in lines_of(value, has_shell=has_shell):
            run = taint_of([value]) if line is None else Literal(before + line)
            note_shell(calling, [run])
    return LOCAL


def lines_of(value: Value, *, has_shell: bool) -> list[str | None]:
    """Return what a shell would be given to do the same; None if it is not known."""
    text = as_text(value)
    words = as_words(value)
    if text is not None:
        return [text if has_shell else shlex.quote(text)]
    if not words:
        return [None]
    # A shell runs the first word alone; but `shell=False` says nothing.
    return [shlex.join(words), *([words[0]] if has_shell else [])]
