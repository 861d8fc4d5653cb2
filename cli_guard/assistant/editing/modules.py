"""The Python files of a request: their names, which file an import means, and which module an expression is."""

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from cli_guard.assistant.editing.names import (
    BINDS,
    FileNames,
    NameScope,
    Occurrence,
    last_name,
    read_names,
)
from cli_guard.assistant.editing.plan import Place
from cli_guard.assistant.editing.sources import Sources
from cli_guard.code.python_imports import PythonImports, absolute_module, is_package

if TYPE_CHECKING:
    from ast_grep_py import SgNode

DEEPEST = 12


class Python:
    """The Python files of one request, read as they are asked for."""

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self.texts = sources.texts
        self.line = sources.line
        self._files: dict[str, FileNames] = {}
        self._binders: dict[tuple[str, str, NameScope], list[Occurrence]] = {}
        self._imports = PythonImports(sources.texts)
        self._packages = {
            p.rpartition("/")[0]
            for p in sources.texts
            if p.endswith(("/__init__.py", "/__init__.pyi"))
        }

    # Names

    def mentioning(self, word: str) -> Iterator[str]:
        return self.sources.mentioning(word, "python")

    def file(self, path: str) -> FileNames:
        if path not in self._files:
            self._files[path] = read_names(self.sources, path)
        return self._files[path]

    def places(self, path: str, name: str) -> list[Occurrence]:
        """Return all places of a name in a file, in order; none in a file that cannot be read as Python."""
        is_there = name in self.texts.get(path, "")
        return self.file(path).places.get(name, []) if is_there else []

    def places_of_home(
        self, path: str, name: str, home: NameScope | None
    ) -> list[Occurrence]:
        return [each for each in self.places(path, name) if each.home == home]

    def binders(self, path: str, node: "SgNode") -> list[Occurrence]:
        """Return the places that bind an expression that is a name; none if nothing in its file does."""
        here = self.file(path).at.get(node.range().start.index)
        home = here.home if here else None
        if not home:
            return []
        name = node.text()
        key = (path, name, home)
        if key not in self._binders:
            same = self.places_of_home(path, name, home)
            self._binders[key] = [each for each in same if each.role in BINDS]
        return self._binders[key]

    def location(self, occurrence: Occurrence, reason: str) -> Place:
        return occurrence.path, self.sources.line(occurrence.path, occurrence.start), reason

    # Modules

    def module_name(self, path: str) -> str:
        """Return the name a file is imported by: from the outermost folder that is a package on."""
        folder = PurePosixPath(path).parent
        parts = PurePosixPath(path).with_suffix("").parts
        if parts[-1] == "__init__":
            parts = folder.parts
        depth = 0 if is_package(path) else 1
        while str(folder) in self._packages:
            depth = depth + 1
            folder = folder.parent
        return ".".join(parts[-max(depth, 1) :])

    def find(self, importer: str, module: str) -> str | None:
        """Return the file that `module`, with its leading dots, means when `importer` imports it."""
        rest = module.lstrip(".")
        name = absolute_module(importer, module[: len(module) - len(rest)], rest)
        return self._imports.find_module(name, importer) if name else None

    def source_of(self, occurrence: Occurrence) -> str | None:
        """Return the file that a name in a from-import comes from; None for any other place."""
        return self.find(occurrence.path, occurrence.module) if occurrence.member else None

    def star_imports(self, path: str) -> list[str]:
        found = (self.find(path, each) for each in self.file(path).stars)
        return [each for each in found if each is not None]

    def module_of(self, path: str, node: "SgNode", deep: int = 0) -> str | None:
        """Return the file of the module that an expression is: a name bound by an import, or a.b.c; None if other."""
        if node.kind() == "attribute" and deep < DEEPEST:
            owner = node.child(0)
            whole = self._by_import(path, node.text())
            package = self.module_of(path, owner, deep + 1) if owner and not whole else None
            return (
                whole
                if package is None or not is_package(package)
                else self.find(package, f".{last_name(node)}")
            )
        if node.kind() != "identifier":
            return None
        found = map(self.find_imported, self.binders(path, node))
        return next((each for each in found if each is not None), None)

    def _by_import(self, path: str, dotted: str) -> str | None:
        """Return the file that `a.b.c` means where the file says `import a.b.c`."""
        for bound in self.places(path, dotted.partition(".")[0]):
            is_plain = bound.role == "import" and not (bound.member or bound.is_alias)
            if is_plain and f"{bound.module}.".startswith(f"{dotted}."):
                return self.find(path, dotted)
        return None

    def find_imported(self, bound: Occurrence) -> str | None:
        """Return the file of the module that an import binds to a name; None for anything else."""
        if bound.role != "import":
            return None
        name = bound.module if bound.is_alias else bound.name
        if bound.member:
            dot = "" if bound.module.endswith(".") else "."
            name = bound.module + dot + bound.member
        return self.find(bound.path, name)
