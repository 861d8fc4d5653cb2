"""The effects of Python's functions and of its standard library."""

from collections import defaultdict
from collections.abc import Callable

from cli_guard.commands.inline import language as make
from cli_guard.commands.inline import python_handlers as own
from cli_guard.commands.inline.code import Node
from cli_guard.commands.inline.python_handlers import PATH
from cli_guard.commands.inline.python_processes import PROCESSES
from cli_guard.commands.inline.state import Handler, Language
from cli_guard.commands.inline.texts import MADE
from cli_guard.commands.inline.values import ANY, Data, Literal, Reference
from cli_guard.commands.model import Kind
from cli_guard.rules import tables

WORDS = tables.words("python")
COMPUTING, SINGLE, MIXED = WORDS["computing"], WORDS["single"], WORDS["mixed"]
HARMFUL, SAFE_DUNDERS = frozenset(WORDS["harmful"]), frozenset(WORDS["safe_dunders"])
NAMES = frozenset((*COMPUTING, *MIXED)).difference(WORDS["foreign"])
HARMLESS = frozenset((*WORDS["of_builtins"], *SINGLE, *(each for each in COMPUTING if each != "builtins")))
MODULES: dict[str, list[str]] = defaultdict(list)
for _name in (*COMPUTING, *SINGLE):
    MODULES[_name.partition(".")[0]].append(_name)
TREE = "xml.etree.ElementTree()"
ARCHIVE = Reference("zipfile.ZipFile()")
OBJECTS = (f"{PATH}.", "zipfile.ZipFile().", "sqlite3.connect().", f"{TREE}.")
ENTRANCES = ("__import__", "__init__")
FRAMES = frozenset(WORDS["frames"])
POST = ((1, "data"), (99, "json"), (99, "files"), (99, "params"), (99, "auth"), (99, "cookies"))

CALLS = make.read_effects(WORDS["effects"]) | make.table(
    {
        "open io.open codecs.open tokenize.open fileinput.FileInput io.FileIO": make.opens(),
        "gzip.open bz2.open lzma.open gzip.GzipFile bz2.BZ2File": make.opens(0, "filename"),
        "exec eval": make.runs_code(),
        # Two pieces of code; the second may be at many positions.
        "timeit.timeit timeit.repeat timeit.Timer": make.runs_code(9),
        "compile os.path.expanduser os.path.abspath os.path.normpath os.path.realpath os.fspath": make.same(),
        "getattr": own.get_attribute,
        "__import__ importlib.import_module importlib.__import__": own.import_module,
        "map filter": own.map_elements,
        "functools.partial": own.partial,
        "chr": make.characters,
        "list tuple set iter bytes bytearray sorted reversed": own.make_list,
        "enumerate": own.number_elements,
        "str repr": make.both(make.computes(MADE["text"])),
        "bytes.fromhex bytearray.fromhex binascii.unhexlify binascii.a2b_hex": make.computes(MADE["hex"]),
        "base64.b64decode base64.decodebytes base64.standard_b64decode base64.urlsafe_b64decode binascii.a2b_base64": (
            make.computes(MADE["base64"])
        ),
        "codecs.decode codecs.encode": lambda calling: (
            make.computes(MADE["rot13"])
            if "rot" in str(calling.texts(calling.given(1))[0])
            else make.computes(MADE["text"], 99)
        )(calling),
        "os.listdir os.scandir": make.lists(0, "path"),
        "os.walk": own.walks,
        "glob.glob glob.iglob": own.finds,
        "xml.etree.ElementTree.parse": make.both(
            make.does(Kind.READ, 0, "source"), make.gives(Reference(TREE))
        ),
        "xml.etree.ElementTree.ElementTree": make.both(
            make.does(Kind.READ, 1, "file"), make.gives(Reference(TREE))
        ),
        "os.path.join posixpath.join": make.joined_path,
        "os.path.basename posixpath.basename": make.path_part("name"),
        "os.path.dirname posixpath.dirname": make.path_part("parent"),
        "os.path.splitext posixpath.splitext": own.split_ending,
        "os.getcwd": make.gives(Literal(".")),
        "os.getenv os.environ.get": own.variable_of,
        "os.environ.setdefault os.environ.update os.putenv": own.set_variable,
        # The module search path decides whose code runs.
        "sys.path.insert sys.path.append sys.path.extend": own.set_search_path,
        "tempfile.NamedTemporaryFile tempfile.TemporaryFile tempfile.mkstemp tempfile.mkdtemp"
        " tempfile.TemporaryDirectory": own.make_temporary,
        "zipfile.ZipFile": make.both(make.opens(), make.gives(ARCHIVE)),
        "tarfile.open tarfile.TarFile": make.both(make.opens(0, "name"), make.gives(ARCHIVE)),
        "zipfile.ZipFile().read": make.gives(Data(local=True)),
        "logging.basicConfig": lambda calling: (
            make.does(Kind.WRITE, 99, "filename")(calling) if {"filename", "*"} & set(calling.named) else ANY
        ),
        "sqlite3.connect": make.both(
            make.does(Kind.READ, 0, "database", "opens a database"),
            make.gives(Reference("sqlite3.connect()")),
        ),
        "sqlite3.connect().execute sqlite3.connect().executemany sqlite3.connect().executescript": own.statements,
        "sqlite3.connect().cursor": make.gives(Reference("sqlite3.connect()")),
        "pickle.load pickle.loads pickle.Unpickler marshal.load marshal.loads": own.unpickles,
        "urllib.request.urlopen": make.talks(0, "url", ((1, "data"),)),
        "urllib.request.Request": make.both(
            make.talks(0, "url", ((1, "data"), (99, "headers"))), make.same(0, "url")
        ),
        "urllib.request.urlretrieve": make.both(
            make.does(Kind.WRITE, 1, "filename"), make.talks(0, "url", ((3, "data"),))
        ),
        "requests.get requests.head requests.options httpx.get httpx.head": make.talks(0, "url", POST),
        "requests.Session requests.session": make.gives(Reference("requests")),
        "httpx.Client": make.gives(Reference("httpx")),
        "socket.gethostbyname socket.getaddrinfo socket.gethostbyaddr": make.look_up_host,
        "pathlib.Path pathlib.PurePath pathlib.PosixPath pathlib.PurePosixPath": make.is_object(PATH),
        "pathlib.Path.home": make.gives(Reference(PATH, "~")),
        "pathlib.Path.cwd": make.gives(Reference(PATH, ".")),
        f"{PATH}.joinpath": own.join_path,
        f"{PATH}.resolve {PATH}.absolute {PATH}.expanduser": lambda calling: (
            Reference(PATH, calling.function.about),
        ),
        f"{PATH}.with_name {PATH}.with_suffix": own.changes_name,
        f"{PATH}.with_stem": make.gives(Reference(PATH)),
        f"{PATH}.relative_to": own.relative,
        f"{PATH}.glob {PATH}.rglob {PATH}.iterdir": make.both(make.does(Kind.READ, None), own.paths_below),
        f"{PATH}.open": make.opens(None, "", 0),
    }
)
CALLS |= PROCESSES
# The effects of a method whose object is unknown.
METHODS: dict[str, Handler] = make.read_effects(WORDS["methods"]) | {
    "replace": lambda calling: make.does(Kind.WRITE, -1)(calling) if len(calling.arguments) == 1 else ANY,
    "open": make.opens(99, "", 0),
    **dict.fromkeys(("read", "parse"), make.with_known(make.does(Kind.READ))),
    **dict.fromkeys(("execute", "executescript", "executemany"), own.statements),
}


def harmless(name: str) -> bool:
    """Return whether this name can be called and passed on without harm."""
    if name in CALLS or name in HARMLESS:
        return name in HARMLESS
    top, _, rest = name.partition(".")
    parts = rest.split(".")
    if rest in SAFE_DUNDERS or f"{name}.".startswith(OBJECTS):
        return True
    if any(part in HARMFUL or (part.startswith("_") and part not in SAFE_DUNDERS) for part in parts):
        return False
    prefix = next((module for module in MODULES.get(top, ()) if name.startswith(f"{module}.")), None)
    return prefix is not None and name.removeprefix(prefix).count(".") <= 2


def same_module(name: str) -> str | None:
    """Return the module that another one exposes: `glob.os`."""
    last = name.rpartition(".")[2]
    own = name in CALLS or name in HARMLESS or name in NAMES
    return last if last in MIXED and not own else None


def is_internal_name(name: str) -> bool:
    """Return whether a part of this name leads into the interpreter."""
    return name in FRAMES or (name.startswith("__") and name not in SAFE_DUNDERS and name not in ENTRANCES)


def plain_name(name: str) -> str:
    """Return the name without its optional module."""
    own = name.removeprefix("builtins.").removeprefix("sys.modules.")
    return own if own in CALLS or own in HARMLESS or own in NAMES else name


def language(read: Callable[[str], Node]) -> Language:
    """Return Python as a language, with the function that reads its text."""
    other = {"__builtins__": "builtins", f"{PATH}.parent": PATH}
    return Language(
        read=read,
        calls=CALLS,
        harmless=harmless,
        modules=NAMES,
        methods=METHODS,
        is_internal_name=is_internal_name,
        same=lambda name: other.get(name) or same_module(name) or plain_name(name),
        environment=frozenset(("os.environ", "os.environb")),
        takes_functions=frozenset(WORDS["takes_functions"]),
        paths=frozenset((PATH,)),
        known={"sys.executable": "/usr/bin/python3"},
        changeable=frozenset(("sys.stdout", "sys.stderr")),
    )
