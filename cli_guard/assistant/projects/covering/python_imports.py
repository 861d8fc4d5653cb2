"""What a Python file imports, as files of the repository: relative, src layout, one level of re-exports."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

FROM = re.compile(
    r"[ \t]*from[ \t]+(\.*)([\w.]*)[ \t]+import[ \t]*(\([^)]{0,8000}\)?|[^\n;#]*(?:\\\n[^\n;#]*)*)"
)
IMPORT = re.compile(r"[ \t]*import[ \t]+([\w. \t,]+)")
NAME = re.compile(r"(\*|\w+)(?:[ \t]+as[ \t]+(\w+))?")
DEFINED = re.compile(
    r"^(?:async def|def|class)[ \t]+([A-Za-z]\w*)|^([A-Za-z]\w*)[ \t]*(?::[^=\n]{1,200})?=", re.MULTILINE
)
COMMENT = re.compile(r"#[^\n]*")
SOURCE_ROOTS = ("src", "lib", "python", "Lib")
MOST_ATTRIBUTES = 200


@dataclass(frozen=True, slots=True)
class Imported:
    """One file that another takes something from.

    `names` are what it takes by name, `alias` is the name it has the whole module by, empty if it does not. `through`
    is the package that hands the name on, empty if it comes from the file itself.
    """

    path: str
    names: frozenset[str]
    alias: str = ""
    through: str = ""


class PythonImports:
    """The imports of the Python files of a repository, each file read when it is first asked for."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = texts
        self._found: dict[str, tuple[Imported, ...]] = {}
        self._exports: dict[str, Mapping[str, str]] = {}

    @cached_property
    def modules(self) -> Mapping[str, tuple[str, ...]]:
        """The files of each dotted name: counted from the root, from a source folder, and from where packages begin."""
        packages = {path[: -len("/__init__.py")] for path in self.texts if path.endswith("/__init__.py")}
        found: dict[str, list[str]] = {}
        for path in sorted(self.texts):
            if not path.endswith((".py", ".pyi")):
                continue
            parts = path.rsplit(".", 1)[0].split("/")
            if parts[-1] == "__init__":
                parts.pop()
            starts = {0}
            top = len(parts) - 1
            if path.endswith("__init__.py"):
                top = len(parts)
            while top > 0 and "/".join(parts[:top]) in packages:
                top -= 1
            starts.add(min(top, max(len(parts) - 1, 0)))
            starts.update(place + 1 for place, part in enumerate(parts[:-1]) if part in SOURCE_ROOTS)
            for start in starts:
                name = ".".join(parts[start:])
                if name:
                    found.setdefault(name, []).append(path)
        return {name: tuple(paths) for name, paths in found.items()}

    def module(self, name: str, importer: str) -> str | None:
        """The file of a dotted name; of several the one that stands nearest to who imports it."""
        paths = self.modules.get(name, ())
        if len(paths) < 2:
            return paths[0] if paths else None
        return max(
            paths, key=lambda path: (path.endswith(".py"), _common(path, importer), -path.count("/"), path)
        )

    def of(self, path: str) -> tuple[Imported, ...]:
        """What a file imports of this repository; names that a package hands on lead to where they come from."""
        if path not in self._found:
            self._found[path] = tuple(self._resolved(path))
        return self._found[path]

    def _resolved(self, path: str) -> list[Imported]:
        found: dict[tuple[str, str, str], set[str]] = {}
        for module, names, alias in self.statements(path):
            if names is None:
                self._whole(path, module, alias, found)
                continue
            for name, own in names:
                inner = self.module(f"{module}.{name}" if module else name, path) if name != "*" else None
                if inner:
                    self._attributes(path, inner, own, found)
                    continue
                outer = self.module(module, path)
                if outer is None:
                    continue
                found.setdefault((outer, "", ""), set()).add(name)
                origin = self.exports(outer).get(name) if _is_package(outer) else None
                if origin:
                    found.setdefault((origin, "", outer), set()).add(name)
        return [
            Imported(target, frozenset(names), alias, through)
            for (target, alias, through), names in found.items()
        ]

    def _whole(self, path: str, module: str, alias: str, found: dict[tuple[str, str, str], set[str]]) -> None:
        target = self.module(module, path)
        if target:
            self._attributes(path, target, alias, found)

    def _attributes(
        self, path: str, target: str, alias: str, found: dict[tuple[str, str, str], set[str]]
    ) -> None:
        """A module taken whole: the names are those that stand behind it and a dot."""
        used = _behind(self.texts[path], alias)
        found.setdefault((target, alias, ""), set()).update(used)
        if _is_package(target):
            exports = self.exports(target)
            for name in used:
                if name in exports:
                    found.setdefault((exports[name], alias, target), set()).add(name)

    def exports(self, package: str) -> Mapping[str, str]:
        """The names that a package's `__init__` takes from elsewhere, and the file each comes from."""
        if package not in self._exports:
            self._exports[package] = {}
            exports: dict[str, str] = {}
            for module, names, _ in self.statements(package):
                for name, own in names or ():
                    source = self.module(module, package)
                    if source is None or source == package:
                        continue
                    if name == "*":
                        exports.update(
                            (each, source) for each in _defined(self.texts[source]) if each not in exports
                        )
                    elif not self.module(f"{module}.{name}", package):
                        exports[own] = source
            self._exports[package] = exports
        return self._exports[package]

    def statements(self, path: str) -> list[tuple[str, list[tuple[str, str]] | None, str]]:
        """(absolute module, its names as (name, own name) or None for the whole, own name of the module)."""
        text = self.texts[path]
        found: list[tuple[str, list[tuple[str, str]] | None, str]] = []
        end = 0
        # Looking for a literal word is the quickest way through a file that may be large.
        place = text.find("import")
        while place >= 0:
            begin = text.rfind("\n", end, place) + 1 or end
            # A line is looked at once, however often the word stands in it.
            line_end = text.find("\n", place)
            end = line_end if line_end >= 0 else len(text)
            statement = FROM.match(text, begin) if text.startswith(("from", " ", "\t"), begin) else None
            if statement:
                names = [
                    (name[1], name[2] or name[1]) for name in NAME.finditer(COMMENT.sub("", statement[3]))
                ]
                module = _absolute(path, statement[1], statement[2])
                if module is not None:
                    found.append((module, names, ""))
                end = max(end, statement.end())
            elif plain := IMPORT.match(text, begin):
                for each in plain[1].split(","):
                    words = each.split()
                    if words:
                        found.append((words[0], None, words[2] if len(words) == 3 else words[0]))
            place = text.find("import", end)
        return found


def _absolute(path: str, dots: str, module: str) -> str | None:
    if not dots:
        return module
    folders = path.split("/")[:-1]
    up = len(dots) - 1
    if up > len(folders):
        return None
    return ".".join([*folders[: len(folders) - up], *([module] if module else [])])


def _is_package(path: str) -> bool:
    return path.endswith(("/__init__.py", "/__init__.pyi"))


def _common(path: str, other: str) -> int:
    """How many folders two paths share from the root on."""
    count = 0
    for one, two in zip(path.split("/")[:-1], other.split("/")[:-1], strict=False):
        if one != two:
            break
        count += 1
    return count


def _behind(text: str, alias: str) -> set[str]:
    """The names that stand behind `alias.` in a text, and the last name of a dotted alias itself."""
    found: set[str] = set()
    place = text.find(f"{alias}.")
    while place >= 0 and len(found) < MOST_ATTRIBUTES:
        start = place + len(alias) + 1
        name = re.compile(r"\w+").match(text, start)
        if name and (place == 0 or not (text[place - 1].isalnum() or text[place - 1] in "_.")):
            found.add(name[0])
        place = text.find(f"{alias}.", start)
    return found


def _defined(text: str) -> list[str]:
    """The public names that a module defines, for `from module import *`."""
    return [name or other for name, other in DEFINED.findall(text)]
