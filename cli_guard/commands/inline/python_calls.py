"""The names of Python's builtins and of its standard library, and what its functions do."""

import base64
from collections import defaultdict
from pathlib import PurePosixPath

from cli_guard.commands.inline import effects as make
from cli_guard.commands.inline import python_handlers as own
from cli_guard.commands.inline.effects import Handler
from cli_guard.commands.inline.python_handlers import PATH
from cli_guard.commands.inline.values import (
    ANY,
    FOUND,
    Literal,
    Reference,
    combine,
    path_of,
)
from cli_guard.commands.model import EffectKind
from cli_guard.rules import tables

WORDS = tables.words("python")
COMPUTING = WORDS["computing"]
SINGLE = WORDS["single"]
MIXED = WORDS["mixed"]
HARMFUL = frozenset(WORDS["harmful"])
SAFE_DUNDERS = frozenset(WORDS["safe_dunders"])
NAMES = frozenset((*COMPUTING, *MIXED)).difference(WORDS["foreign"])
HARMLESS = frozenset(
    (*WORDS["of_builtins"], *SINGLE, *(each for each in COMPUTING if each != "builtins"))
)
MODULES: dict[str, list[str]] = defaultdict(list)
for _name in (*COMPUTING, *SINGLE):
    MODULES[_name.partition(".")[0]].append(_name)
ENVIRONMENT = frozenset(("os.environ", "os.environb"))
# These call the functions among their arguments themselves.
CALLING = frozenset(WORDS["takes_functions"])
TREE = "xml.etree.ElementTree()"
OBJECTS = (f"{PATH}.", f"{TREE}.")
ENTRANCES = ("__import__", "__init__")
FRAMES = frozenset(WORDS["frames"])
# Parts of a path that are no path of the same file.
LOSING = frozenset("stem suffix suffixes parents parts drive root anchor".split())
OTHER_NAMES = {"__builtins__": "builtins", f"{PATH}.parent": PATH}


def decode_base64(text: str) -> bytes:
    return base64.b64decode(text)


CALLS: dict[str, Handler] = make.read_effects(WORDS["effects"]) | make.table(
    {
        "open io.open codecs.open tokenize.open io.FileIO io.open_code": make.opens(),
        "gzip.open bz2.open lzma.open gzip.GzipFile bz2.BZ2File lzma.LZMAFile": make.opens(
            0, "filename"
        ),
        "exec eval": make.runs_code(),
        "compile os.path.expanduser os.path.abspath os.path.normpath os.path.realpath os.fspath": make.same,
        "getattr": own.get_attribute,
        "__import__ importlib.import_module importlib.__import__": own.import_module,
        "importlib.util.find_spec": own.find_spec,
        "map filter": own.map_elements,
        "list tuple set iter sorted reversed": own.make_list,
        "enumerate": own.number_elements,
        "str repr": make.computes(str),
        "bytes.fromhex bytearray.fromhex binascii.unhexlify": make.computes(bytes.fromhex),
        "base64.b64decode base64.decodebytes binascii.a2b_base64": make.computes(
            decode_base64
        ),
        "os.system os.popen subprocess.getoutput subprocess.getstatusoutput asyncio.create_subprocess_shell": (
            make.runs_shell
        ),
        "subprocess.run subprocess.call subprocess.check_call subprocess.check_output subprocess.Popen": (
            own.runs_process
        ),
        "os.listdir os.scandir": own.list_folder,
        "os.walk": own.walk_folders,
        "glob.glob glob.iglob": own.find_files,
        "xml.etree.ElementTree.parse": make.both(
            make.does(EffectKind.READ, 0, "source"), make.gives(Reference(TREE))
        ),
        "xml.etree.ElementTree.ElementTree": make.both(
            make.does(EffectKind.READ, 1, "file"), make.gives(Reference(TREE))
        ),
        "os.path.join posixpath.join": lambda calling: combine(path_of, calling.arguments),
        "os.path.basename posixpath.basename": own.take_part(lambda path: path.name),
        "os.path.dirname posixpath.dirname": own.take_part(lambda path: path.parent),
        "os.getcwd": make.gives(Literal(".")),
        "os.getenv os.environ.get": own.variable_of,
        "os.environ.setdefault os.putenv": own.set_variable,
        # The module search path decides whose code runs.
        "sys.path.insert sys.path.append sys.path.extend": own.set_search_path,
        "tempfile.NamedTemporaryFile tempfile.TemporaryFile tempfile.mkstemp tempfile.mkdtemp"
        " tempfile.TemporaryDirectory": own.make_temporary,
        "zipfile.ZipFile zipfile.PyZipFile": make.opens(),
        "tarfile.open tarfile.TarFile": make.opens(0, "name"),
        "logging.basicConfig": own.set_up_log,
        "sqlite3.connect": make.does(EffectKind.READ, 0, "database", "opens a database"),
        "pickle.load pickle.loads pickle.Unpickler marshal.load marshal.loads": own.unpickles,
        "urllib.request.urlopen": make.talks(0, "url"),
        "urllib.request.Request": make.both(make.talks(0, "url"), make.same),
        "urllib.request.urlretrieve": make.both(
            make.does(EffectKind.WRITE, 1, "filename"), make.talks(0, "url", plain=3)
        ),
        "requests.get requests.head requests.options httpx.get httpx.head": make.talks(
            0, "url"
        ),
        "requests.Session requests.session": make.gives(Reference("requests")),
        "httpx.Client": make.gives(Reference("httpx")),
        f"pathlib.Path pathlib.PurePath pathlib.PosixPath pathlib.PurePosixPath {PATH}.joinpath": own.make_path,
        "pathlib.Path.home": make.gives(Reference(PATH, "~")),
        "pathlib.Path.cwd": make.gives(Reference(PATH, ".")),
        f"{PATH}.resolve {PATH}.absolute {PATH}.expanduser": lambda calling: (
            Reference(PATH, calling.function.about),
        ),
        f"{PATH}.with_suffix": own.change_name,
        f"{PATH}.with_name {PATH}.with_stem {PATH}.relative_to": make.gives(
            Reference(PATH)
        ),
        f"{PATH}.glob {PATH}.rglob {PATH}.iterdir": own.list_paths,
        f"{PATH}.open": make.opens(None, "", 0),
    }
)
# The effects of a method whose object is unknown.
METHODS: dict[str, Handler] = make.read_effects(WORDS["methods"]) | make.table(
    {
        "replace": lambda calling: (
            ANY if calling.arguments[1:] else make.does(EffectKind.WRITE, -1)(calling)
        ),
        "open": make.opens(99, "", 0),
        "read parse": own.reads_named,
        "execute executescript executemany": own.statements,
    }
)


def is_harmless(name: str) -> bool:
    """Return whether this name can be called and passed on without harm."""
    if name in CALLS or name in HARMLESS:
        return name in HARMLESS
    top, _, rest = name.partition(".")
    parts = rest.split(".")
    if rest in SAFE_DUNDERS or f"{name}.".startswith(OBJECTS):
        return True
    if any(
        part in HARMFUL or (part.startswith("_") and part not in SAFE_DUNDERS)
        for part in parts
    ):
        return False
    module = next(
        (each for each in MODULES.get(top, ()) if name.startswith(f"{each}.")), None
    )
    return module is not None and name.removeprefix(module).count(".") <= 2


def is_known(name: str) -> bool:
    """Return whether Python itself has such a name."""
    return name in CALLS or name in NAMES or is_harmless(name)


def is_internal(name: str) -> bool:
    """Return whether a part of this name leads into the interpreter."""
    return name in FRAMES or (
        name.startswith("__") and name not in SAFE_DUNDERS and name not in ENTRANCES
    )


def own_name(name: str) -> str:
    """Return the one name of a function: `os` for `glob.os`, `open` for `builtins.open`."""
    plain = name.removeprefix("builtins.").removeprefix("sys.modules.")
    last = name.rpartition(".")[2]
    for each in (name, plain):
        if each in CALLS or each in HARMLESS or each in NAMES:
            return each
    return last if last in MIXED else OTHER_NAMES.get(name, name)


def part_of(of: Reference, name: str) -> Reference:
    """Return a part of a module or an object, which is about the same path as the whole."""
    full = own_name(f"{of.name}.{name}"[:300])
    if full == "sys.executable":
        return Reference(full, "/usr/bin/python3")
    about = of.about if full.startswith(of.name) else None
    if about is not None and of.name == PATH:
        if name == "parent":
            about = None if about.endswith(FOUND * 2) else str(PurePosixPath(about).parent)
        elif name == "name":
            about = PurePosixPath(about).name
        elif name in LOSING:
            about = None
    return Reference(full, about)
