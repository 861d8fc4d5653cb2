"""Find the functions of other files that a file calls, by its imports: one call deep, and a bounded number of files.

A file is asked for by the paths at which an import may lead to it; the first that can be read and defines the function
is taken.
"""

import posixpath
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, lru_cache

from cli_guard.code.file_imports import JS_ENDINGS
from cli_guard.code.file_imports import PATTERNS as IMPORTS
from cli_guard.code.languages import FAMILY
from cli_guard.code.python_imports import PythonImports
from cli_guard.code.taint.naming import IMPORT_FORMS, module_name, read_required
from cli_guard.code.taint.tables import Tables
from cli_guard.words import words_in

MOST_FILES = 12
# The file of a package that has a function is not told by its name.
MOST_IN_PACKAGE = 60
MOST_ASKED = 120
MOST_CHARS = 400_000
MOST_NAMES = 400
PLAIN_PATH = re.compile(r"[\w@+-][\w.@+/-]{0,200}")
SCRIPT = tuple(ending for ending in JS_ENDINGS if ending not in (".d.ts", ".json"))
NAMESPACE = re.compile(r"(?m)^\s*namespace\s+([\w\\]+)")
USED = re.compile(r"(?m)^\s*use\s+\\?([\w\\]+)(?:\s+as\s+(\w+))?\s*;")
INCLUDED = re.compile(
    r"\b(?:require|include)(?:_once|_relative)?\s*\(?\s*(?:(?:__DIR__|dirname\(__FILE__\))\s*\.\s*)?['\"]([^'\"\n]{1,200})['\"]"
)
GO_HEADING = re.compile(r"\bfunc\b[^\n]*")
BEFORE_BRACKET = re.compile(r"\b(\w+)\s*[(\[]")
CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
RAILS = ("app/services", "app/models", "app/lib", "lib")

# Reads a file of the repository by its path, None if there is none to read.
Read = Callable[[str], str | None]
# A path, and the dotted name in that file, "" for the file as a whole.
Place = tuple[str, str]


def may_define(language: str, text: str, name: str) -> bool:
    """Return whether a file may define a function; one that does not is not parsed."""
    last = name.rpartition(".")[2]
    return last in (names_in_headings(text) if language == "go" else text)


@lru_cache(maxsize=100)
def names_in_headings(text: str) -> frozenset[str]:
    """Return the names of Go before a bracket in lines with `func`: a receiver stands before that of the function."""
    headings = "\n".join(GO_HEADING.findall(text))
    return frozenset(BEFORE_BRACKET.findall(headings))


class Elsewhere:
    """The other files that one file of a change may call functions of; `listed` are those of the change.

    Bounds do not count for `unbounded` ones: what was read for one state of a file must be for the other, or what
    fell behind a bound there looks new here.
    """

    def __init__(
        self,
        path: str,
        language: str,
        text: str,
        listed: frozenset[str],
        read: Read,
        list_folder: Callable[[str], Iterable[str]] = lambda _folder: (),
        unbounded: frozenset[str] = frozenset(),
    ) -> None:
        self._path = path
        self._folder = posixpath.dirname(path)
        self._family = FAMILY.get(language, language)
        self._text = text
        self._listed = listed
        self._read = read
        self._list_folder = list_folder
        self._unbounded = unbounded
        self._most_files = MOST_IN_PACKAGE if language == "go" else MOST_FILES
        self._texts: dict[str, str] = {}
        self._asked: set[str] = set()
        self._chars = 0
        # Whether what is found depends on other files.
        self.was_asked = False

    def read(self, path: str, anywhere: bool) -> str | None:
        """Return the text of another file, None once enough was read."""
        if path in self._texts:
            return self._texts[path]
        if path == self._path or not PLAIN_PATH.fullmatch(path) or "/../" in path:
            return None
        self.was_asked = True
        if path in self._asked or not (anywhere or path in self._listed):
            return None
        is_bounded = path not in self._unbounded
        is_full = len(self._texts) >= self._most_files or len(self._asked) >= MOST_ASKED
        if is_bounded and is_full:
            return None
        self._asked.add(path)
        text = self._read(path)
        if text is None or (is_bounded and len(text) + self._chars > MOST_CHARS):
            return None
        self._chars += len(text)
        self._texts[path] = text
        return text

    @property
    def paths_read(self) -> frozenset[str]:
        return frozenset(self._texts)

    def may_complete(self, tables: Tables) -> bool:
        """Return whether a flow may begin or end in another file: this has the words of one end, that of the other."""
        own = words_in(self._text)
        begins = tables.has("source", own)
        ends = tables.has("sink", own)
        if not (begins or ends):
            return False
        for path in dict.fromkeys(
            path for each in self._places.values() for path, _ in each
        ):
            text = self.read(path, begins)
            words = words_in(text) if text is not None else ""
            if (begins and tables.has("sink", words)) or (
                ends and tables.has("source", words)
            ):
                return True
        return False

    def places_of(self, name: str) -> Iterator[Place]:
        """Yield where a function may be defined that is called by a dotted name."""
        parts = name.removeprefix("new ").split(".")
        for size in range(len(parts), 0, -1):
            for path, inner in self._places.get(".".join(parts[:size]), ()):
                yield path, ".".join(filter(None, (inner, *parts[size:])))
        if self._family in ("java", "kotlin", "php", "ruby") and parts[0][:1].isupper():
            yield from ((path, ".".join(parts)) for path in self._by_class(parts[0]))
        if len(parts) == 1 or (self._family == "ruby" and parts[0][:1].isupper()):
            for path, _ in self._places.get("", ()):
                yield path, ".".join(parts)

    def _by_class(self, name: str) -> Iterator[str]:
        """Yield the files that are named like a class."""
        if self._family == "ruby":
            stem = CAMEL.sub("_", name).lower()
            yield from (posixpath.join(f, f"{stem}.rb") for f in (self._folder, *RAILS))
        else:
            yield posixpath.join(self._folder, name + posixpath.splitext(self._path)[1])

    @cached_property
    def _places(self) -> dict[str, list[Place]]:
        """Map the names that the file imports to where each may be, "" to what is there without a name."""
        found: dict[str, list[Place]] = {}
        reader = READERS.get(self._family)
        for local, path, name in reader(self) if reader else ():
            if len(found) < MOST_NAMES:
                found.setdefault(local, []).append((path, name))
        return found

    def _python(self) -> Iterator[tuple[str, str, str]]:
        for statement in PythonImports({self._path: self._text}).statements_of(self._path):
            module = statement.module.replace(".", "/")
            if statement.module.partition(".")[0] in sys.stdlib_module_names:
                continue
            if statement.names is None:
                for path in self._modules(module):
                    yield statement.alias, path, ""
            for name, own in statement.names or ():
                for path in self._modules(f"{module}/{name}"):
                    yield own, path, ""
                for path in self._modules(module):
                    yield ("" if name == "*" else own), path, name.strip("*")

    def _modules(self, module: str) -> Iterator[str]:
        """Yield the files that a module may be, from the folder of the file up."""
        folder = self._folder
        while True:
            base = posixpath.join(folder, module)
            yield f"{base}.py"
            yield f"{base}/__init__.py"
            if not folder:
                return
            folder = posixpath.dirname(folder)

    def _javascript(self) -> Iterator[tuple[str, str, str]]:
        named = list(read_required(self._text))
        for match in IMPORTED.finditer(self._text):
            module = module_name(match[1])
            for local, name in IMPORT_FORMS["braces"](match[0]).items():
                named.append((local, match[1], name[len(module) :].lstrip(".")))
        for local, spec, name in named:
            for path in self._scripts(spec) if spec.startswith(".") else ():
                yield local, path, name

    def _scripts(self, spec: str) -> Iterator[str]:
        base = posixpath.normpath(posixpath.join(self._folder, spec))
        bare = re.sub(r"\.[cm]?jsx?$", "", base)
        own = posixpath.splitext(self._path)[1]
        for ending in dict.fromkeys((own, *SCRIPT)):
            yield bare + ending
            yield f"{base}/index{ending}" if ending else base

    def _packages(self) -> Iterator[tuple[str, str, str]]:
        """Read the imports of Java, Kotlin and PHP, whose packages or namespaces are folders."""
        is_php = self._family == "php"
        declared = (NAMESPACE if is_php else IMPORTS["java_package"]).search(self._text)
        own = re.split(r"[.\\]", declared[1]) if declared else []
        folders = self._folder.split("/")
        while own and folders and own[-1] == folders[-1]:
            own.pop()
            folders.pop()
        ending = posixpath.splitext(self._path)[1]
        used = (
            USED.findall(self._text)
            if is_php
            else ((name, "") for name in IMPORTS["java"].findall(self._text))
        )
        for name, alias in used:
            parts = re.split(r"[.\\]", name)
            if parts[: len(own)] != own:
                continue
            inner = (
                []
                if is_php or len(parts) < 2 or not parts[-2][:1].isupper()
                else parts[-1:]
            )
            of = parts[: len(parts) - len(inner)]
            path = "/".join((*folders, *of[len(own) :])) + ending
            yield alias or parts[-1], path.lstrip("/"), ".".join((of[-1], *inner))
        if is_php:
            yield from self._included()

    def _included(self) -> Iterator[tuple[str, str, str]]:
        ending = posixpath.splitext(self._path)[1]
        for spec in INCLUDED.findall(self._text):
            path = posixpath.normpath(posixpath.join(self._folder, spec.lstrip("/")))
            yield "", path if path.endswith(ending) else path + ending, ""

    def _go(self) -> Iterator[tuple[str, str, str]]:
        """Yield the files of the same package, and those of the change in the folders of imported ones."""
        self.was_asked = True
        by_folder: dict[str, list[str]] = {}
        for path in (*sorted(self._listed), *self._list_folder(self._folder)):
            if path.endswith(".go") and not path.endswith("_test.go"):
                by_folder.setdefault(posixpath.dirname(path), []).append(path)
        for path in by_folder.get(self._folder, ()):
            yield "", path, ""
        named = {name: alias for alias, name in GO_IMPORT.findall(self._text)}
        for folder, paths in by_folder.items():
            for name, alias in named.items() if folder else ():
                if f"/{name}".endswith(f"/{folder}"):
                    local = alias or posixpath.basename(name)
                    yield from ((local, path, "") for path in paths)


IMPORTED = re.compile(r"\bimport\s[^'\";]{1,1000}?\sfrom\s+['\"]([^'\"\n]{1,200})['\"]")
GO_IMPORT = re.compile(
    r'(?m)^[ \t]*(?:import[ \t]+)?(?:(\w+)[ \t]+)?"([\w./-]{1,200})"[ \t]*$'
)
READERS: dict[str, Callable[[Elsewhere], Iterator[tuple[str, str, str]]]] = {
    "python": Elsewhere._python,
    "javascript": Elsewhere._javascript,
    "java": Elsewhere._packages,
    "kotlin": Elsewhere._packages,
    "php": Elsewhere._packages,
    "ruby": Elsewhere._included,
    "go": Elsewhere._go,
}
