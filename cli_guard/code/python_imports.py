"""What a Python file imports, as files of the repository: relative, src layout, re-exported names.

Read by pattern, without a syntax tree, so that thousands of files take a second. A line of a string that looks like an
import may be found; an import that begins a line is never missed.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cached_property

from cli_guard.lazy import frozen
from cli_guard.rules.catalog import read_patterns

PATTERNS = read_patterns("languages/patterns.toml", "python_imports")
SOURCE_FOLDERS = ("src", "lib", "python", "Lib")
MOST_ATTRIBUTES = 200


@frozen
class ImportStatement:
    """An import as written: the absolute module, and (name, own name) pairs, or None for the whole module.

    `alias` is the file's name for a whole module.
    """

    module: str
    names: tuple[tuple[str, str], ...] | None
    alias: str = ""


@frozen
class Imported:
    """One file that another imports from.

    `names` are what it takes by name, or uses as attributes of the module. `through` is the package that re-exports the
    names, empty if they come from the file itself.
    """

    path: str
    names: frozenset[str]
    through: str = ""


class PythonImports:
    """The imports of the Python files of a repository (path -> text); each file is read on demand."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = texts
        self._imports: dict[str, tuple[Imported, ...]] = {}
        self._exports: dict[str, Mapping[str, str]] = {}

    @cached_property
    def modules(self) -> Mapping[str, tuple[str, ...]]:
        """Map dotted names to files: from the root, from a source folder, and from where packages begin."""
        packages = {
            path.rpartition("/")[0] for path in self.texts if path.endswith("/__init__.py")
        }
        found: dict[str, list[str]] = {}
        for path in sorted(self.texts):
            if not path.endswith((".py", ".pyi")):
                continue
            parts = path.rpartition(".")[0].split("/")
            if parts[-1] == "__init__":
                parts.pop()
            top = len(parts) - (not is_package(path))
            while top > 0 and "/".join(parts[:top]) in packages:
                top -= 1
            starts = {0, max(min(top, len(parts) - 1), 0)}
            starts.update(
                place + 1 for place, part in enumerate(parts[:-1]) if part in SOURCE_FOLDERS
            )
            for start in starts:
                if parts[start:]:
                    found.setdefault(".".join(parts[start:]), []).append(path)
        return {name: tuple(paths) for name, paths in found.items()}

    def find_module(self, name: str, importer: str) -> str | None:
        """Return the file of an absolute dotted name; of several the one nearest to the importing file."""
        paths = self.modules.get(name, ())
        if len(paths) < 2:
            return paths[0] if paths else None

        def nearness(path: str) -> tuple[bool, int, int, str]:
            return (
                path.endswith(".py"),
                _count_shared_folders(path, importer),
                -path.count("/"),
                path,
            )

        return max(paths, key=nearness)

    def imports_of(self, path: str) -> tuple[Imported, ...]:
        """Return what a file imports from this repository; re-exported names also lead to their origin."""
        if path not in self._imports:
            found: dict[tuple[str, str], set[str]] = {}
            for target, name, through in self._resolve(path):
                found.setdefault((target, through), set()).update([name] if name else [])
            self._imports[path] = tuple(
                Imported(target, frozenset(names), through)
                for (target, through), names in found.items()
            )
        return self._imports[path]

    def _resolve(self, path: str) -> Iterator[tuple[str, str, str]]:
        """Yield (file, name taken from it or "", re-exporting package or "") of every import of a file."""
        for statement in self.statements_of(path):
            module = self.find_module(statement.module, path)
            if statement.names is None:
                if module:
                    yield from self._attributes(path, module, statement.alias)
                continue
            for name, own in statement.names:
                inner = f"{statement.module}.{name}" if statement.module else name
                submodule = self.find_module(inner, path) if name != "*" else None
                if submodule:
                    yield from self._attributes(path, submodule, own)
                elif module:
                    yield from self._follow_exports(module, [name])

    def _attributes(
        self, path: str, module: str, alias: str
    ) -> Iterator[tuple[str, str, str]]:
        """Return the names used as attributes of a whole module."""
        yield module, "", ""
        yield from self._follow_exports(module, _names_behind(self.texts[path], alias))

    def _follow_exports(
        self, module: str, names: list[str]
    ) -> Iterator[tuple[str, str, str]]:
        exports = self.exports_of(module) if is_package(module) else {}
        for name in names:
            yield module, name, ""
            if name in exports:
                yield exports[name], name, module

    def exports_of(self, package: str) -> Mapping[str, str]:
        """Return the names that an `__init__` imports, and the file each comes from."""
        if package not in self._exports:
            exports: dict[str, str] = {}
            self._exports[package] = exports
            for statement in self.statements_of(package):
                source = self.find_module(statement.module, package)
                if source is None or source == package:
                    continue
                for name, own in statement.names or ():
                    if name == "*":
                        for each in defined_names(self.texts[source]):
                            exports.setdefault(each, source)
                    elif not self.find_module(f"{statement.module}.{name}", package):
                        exports[own] = source
        return self._exports[package]

    def statements_of(self, path: str) -> list[ImportStatement]:
        text = self.texts[path]
        found = []
        end = 0
        # Searching for a literal word is the fastest way through a file that may be large.
        place = text.find("import")
        while place >= 0:
            begin = text.rfind("\n", end, place) + 1 or end
            # A line is read once, however often the word is in it.
            line_end = text.find("\n", place)
            end = line_end if line_end >= 0 else len(text)
            taken = (
                PATTERNS["from"].match(text, begin)
                if text.startswith(("from", " ", "\t"), begin)
                else None
            )
            if taken:
                named = PATTERNS["name"].finditer(PATTERNS["comment"].sub("", taken[3]))
                module = absolute_module(path, taken[1], taken[2])
                if module is not None:
                    names = tuple([(name[1], name[2] or name[1]) for name in named])
                    found.append(ImportStatement(module, names))
                end = max(end, taken.end())
            elif plain := PATTERNS["import"].match(text, begin):
                for words in map(str.split, plain[1].split(",")):
                    if words:
                        alias = words[2] if len(words) == 3 else words[0]
                        found.append(ImportStatement(words[0], None, alias))
            place = text.find("import", end)
        return found


def absolute_module(path: str, dots: str, module: str) -> str | None:
    """Return the dotted name of `from DOTS MODULE import` in a file, None if it leads out of the repository."""
    if not dots:
        return module
    folders = path.split("/")[:-1]
    up = len(dots) - 1
    if up > len(folders):
        return None
    return ".".join([*folders[: len(folders) - up], *([module] if module else [])])


def is_package(path: str) -> bool:
    return path.endswith(("/__init__.py", "/__init__.pyi"))


def defined_names(text: str) -> list[str]:
    """Return the public names at the top of a module, for `from module import *`."""
    return [name or other for name, other in PATTERNS["defined"].findall(text)]


def _names_behind(text: str, alias: str) -> list[str]:
    found: dict[str, None] = {}
    place = text.find(f"{alias}.")
    while place >= 0 and len(found) < MOST_ATTRIBUTES:
        start = place + len(alias) + 1
        name = re.compile(r"\w+").match(text, start)
        if name and (
            place == 0 or not (text[place - 1].isalnum() or text[place - 1] in "_.")
        ):
            found[name[0]] = None
        place = text.find(f"{alias}.", start)
    return list(found)


def _count_shared_folders(path: str, other: str) -> int:
    pairs = list(zip(path.split("/")[:-1], other.split("/")[:-1], strict=False))
    return next((count for count, (one, two) in enumerate(pairs) if one != two), len(pairs))
