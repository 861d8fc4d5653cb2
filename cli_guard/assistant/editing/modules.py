"""The Python files of a request: their names, which file an import means, and which module an expression is."""

import ast
from collections.abc import Iterator
from pathlib import PurePosixPath

from cli_guard.assistant.editing.names import read_names
from cli_guard.assistant.editing.scopes import BINDS, FileNames, NameScope, Occurrence
from cli_guard.assistant.editing.sources import Sources
from cli_guard.assistant.editing.usages import Place
from cli_guard.code.python_imports import PythonImports, absolute_module, is_package
from cli_guard.lazy import dataclass

DEEPEST = 12


@dataclass(frozen=True, slots=True)
class ImportedName:
    """One name of a from-import: the file it comes from (None if not of this repository) and its name there."""

    module: str | None
    name: str
    text: str


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

    def binders(self, path: str, node: ast.Name) -> list[Occurrence]:
        """Return the places that bind an expression that is a name; none if nothing in its file does."""
        here = self.file(path).by_node.get(node)
        home = here.home if here is not None else None
        if home is None:
            return []
        key = (path, node.id, home)
        if key not in self._binders:
            same = self.places_of_home(path, node.id, home)
            self._binders[key] = [each for each in same if each.role in BINDS]
        return self._binders[key]

    def location(self, occurrence: Occurrence, reason: str) -> Place:
        return occurrence.path, self.sources.line(occurrence.path, occurrence.start), reason

    def span(self, path: str, node: ast.AST) -> tuple[int, int]:
        """Return where a statement or expression begins, its decorators included, and where it ends."""
        lines = self.sources.lines(path)
        start, end = lines.span(node)
        marks = getattr(node, "decorator_list", ())
        return self.texts[path].rfind(
            "@", 0, lines.span(marks[0])[0]
        ) if marks else start, end

    def head(self, path: str, node: ast.AST) -> int:
        """Return where a definition begins without its decorators: the start of its scope."""
        return self.sources.lines(path).span(node)[0]

    # Modules

    def module_name(self, path: str) -> str:
        """Return the name a file is imported by: from the outermost folder that is a package on."""
        parts = module_parts(path)
        folder = PurePosixPath(path).parent
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

    def source_of(self, occurrence: Occurrence) -> ImportedName | None:
        """Return where a name in a from-import comes from; None for any other place."""
        statement = occurrence.around
        alias = occurrence.node
        if not isinstance(statement, ast.ImportFrom) or not isinstance(alias, ast.alias):
            return None
        text = module_text(statement)
        return ImportedName(self.find(occurrence.path, text), alias.name, text)

    def star_imports(self, path: str) -> list[str]:
        if "*" not in self.texts[path]:
            return []
        found = (
            self.find(path, module_text(each))
            for each in self.file(path).imports
            if isinstance(each, ast.ImportFrom) and each.names[0].name == "*"
        )
        return [each for each in found if each is not None]

    def module_of(self, path: str, node: ast.AST, deep: int = 0) -> str | None:
        """Return the file of the module that an expression is: a name bound by an import, or a.b.c; None if other."""
        if isinstance(node, ast.Attribute) and deep < DEEPEST:
            whole = self._by_import(path, ast.unparse(node))
            package = None if whole else self.module_of(path, node.value, deep + 1)
            return (
                whole
                if package is None or not is_package(package)
                else self.find(package, f".{node.attr}")
            )
        if not isinstance(node, ast.Name):
            return None
        found = (
            self.find_imported(each)
            for each in self.binders(path, node)
            if each.role == "import"
        )
        return next((each for each in found if each is not None), None)

    def _by_import(self, path: str, dotted: str) -> str | None:
        """Return the file that `a.b.c` means where the file says `import a.b.c`."""
        for bound in self.places(path, dotted.partition(".")[0]):
            alias = bound.node if isinstance(bound.around, ast.Import) else None
            is_plain = isinstance(alias, ast.alias) and not alias.asname
            if is_plain and f"{getattr(alias, 'name', '')}.".startswith(f"{dotted}."):
                return self.find(path, dotted)
        return None

    def find_imported(self, bound: Occurrence) -> str | None:
        return (
            self.find(bound.path, self.imported_name(bound))
            if bound.role == "import"
            else None
        )

    def imported_name(self, bound: Occurrence) -> str:
        """Return the dotted name of what an import binds to a name, with the dots that it begins with."""
        source = self.source_of(bound)
        alias = bound.node
        if source is not None:
            return join_dotted(source.text, source.name)
        return alias.name if isinstance(alias, ast.alias) and alias.asname else bound.name


def module_text(statement: ast.ImportFrom) -> str:
    return "." * statement.level + (statement.module or "")


def join_dotted(module: str, name: str) -> str:
    """Return a name in a module, which may be dots alone."""
    return module + ("" if module.endswith(".") else ".") + name


def module_parts(path: str) -> tuple[str, ...]:
    """Return the parts of a path as of a module: the ending and `__init__` left out."""
    pure = PurePosixPath(path)
    return pure.parent.parts if pure.stem == "__init__" else (*pure.parent.parts, pure.stem)
