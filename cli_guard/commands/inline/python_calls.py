"""The names of Python's builtins and of its standard library, and what its functions do."""

from collections import defaultdict
from pathlib import PurePosixPath

from cli_guard.commands.inline import effects as make
from cli_guard.commands.inline import python_handlers as own
from cli_guard.commands.inline.python_handlers import PATH
from cli_guard.commands.inline.values import FOUND, Reference
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


HANDLERS = vars(make) | vars(own)
CALLS = make.read_effects(WORDS["effects"], HANDLERS)
# The effects of a method whose object is unknown.
METHODS = make.read_effects(WORDS["methods"], HANDLERS)


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
