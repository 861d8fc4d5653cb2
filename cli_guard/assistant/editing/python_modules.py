"""Which file of the repository a Python import means, and what module an expression stands for."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from cli_guard.assistant.editing.python_names import Occurrence, PythonNames

if TYPE_CHECKING:
    from ast_grep_py import SgNode

DEEPEST = 12


@dataclass(frozen=True, slots=True)
class Imported:
    """One name of a from-import: the file it comes from (None if not of this repository) and its name there."""

    module: str | None
    name: str
    text: str


class Modules:
    """The Python files of a repository by the dotted names that import them."""

    def __init__(self, names: PythonNames) -> None:
        self.names = names
        texts = names.sources.texts
        self._by_tail: dict[str, list[tuple[tuple[str, ...], str]]] = {}
        self._packages = {
            p.rpartition("/")[0] for p in texts if p.endswith(("/__init__.py", "/__init__.pyi"))
        }
        for path in texts:
            if path.endswith((".py", ".pyi")):
                parts = module_parts(path)
                if parts:
                    self._by_tail.setdefault(parts[-1], []).append((parts, path))

    def dotted(self, path: str) -> str:
        """The name a file is imported by: from the outermost folder that is a package on."""
        parts = module_parts(path)
        folder = PurePosixPath(path).parent
        depth = 0 if path.endswith(("__init__.py", "__init__.pyi")) else 1
        while str(folder) in self._packages:
            depth, folder = depth + 1, folder.parent
        return ".".join(parts[-max(depth, 1) :])

    def find(self, importer: str, module: str) -> str | None:
        """The file that `module`, with its leading dots, means when `importer` imports it."""
        level = len(module) - len(module.lstrip("."))
        rest = tuple(part.strip() for part in module.lstrip(".").split(".") if part.strip())
        if level:
            folder = PurePosixPath(importer).parent.parts
            if level - 1 > len(folder):
                return None
            base = folder[: len(folder) - (level - 1)]
            return self._file((*base, *rest))
        if not rest:
            return None
        fits = []
        for parts, path in self._by_tail.get(rest[-1], ()):
            if parts[-len(rest) :] == rest and "/".join(parts[: -len(rest)]) not in self._packages:
                common = len(common_head(parts, PurePosixPath(importer).parts))
                fits.append((-common, len(parts), path))
        return min(fits)[2] if fits else None

    def _file(self, parts: tuple[str, ...]) -> str | None:
        stem = "/".join(parts)
        texts = self.names.sources.texts
        tries = [f"{stem}/__init__.py", f"{stem}.py", f"{stem}/__init__.pyi", f"{stem}.pyi"]
        return next((each.lstrip("/") for each in tries if each.lstrip("/") in texts), None)

    def submodule(self, package: str, name: str) -> str | None:
        """The file of a module in a package, both as paths."""
        pure = PurePosixPath(package)
        return self._file((*pure.parent.parts, name)) if pure.stem == "__init__" else None

    def source_of(self, occurrence: Occurrence) -> Imported | None:
        """Where a name in a from-import comes from; None for any other place."""
        node: SgNode | None = occurrence.node
        while node is not None and node.kind() not in ("import_from_statement", "import_statement"):
            node = node.parent() if node.kind() in ("identifier", "dotted_name", "aliased_import") else None
        if node is None or node.kind() != "import_from_statement":
            return None
        module = node.field("module_name")
        text = module.text() if module is not None else ""
        name = occurrence.name
        above = occurrence.node.parent()
        if above is not None and above.kind() == "aliased_import":
            inner = above.field("name")
            name = inner.text() if inner is not None else name
        return Imported(self.find(occurrence.path, text), name, text)

    def star_imports(self, path: str) -> tuple[str, ...]:
        """The files that a file imports everything from."""
        if "*" not in self.names.sources.texts[path]:
            return ()
        root = self.names.sources.root(path)
        found = []
        for star in root.find_all(kind="wildcard_import") if root is not None else ():
            statement = star.parent()
            module = statement.field("module_name") if statement is not None else None
            if module is not None:
                found.append(self.find(path, module.text()))
        return tuple(each for each in found if each is not None)

    def module_of(self, path: str, node: "SgNode", deep: int = 0) -> str | None:
        """The file of the module that an expression stands for: a name bound by an import, or a.b.c; None if other."""
        if deep > DEEPEST:
            return None
        if node.kind() == "attribute":
            inner, last = node.field("object"), node.field("attribute")
            if inner is None or last is None:
                return None
            whole = self._by_import(path, node)
            if whole is not None:
                return whole
            package = self.module_of(path, inner, deep + 1)
            return self.submodule(package, last.text()) if package is not None else None
        if node.kind() != "identifier":
            return None
        name, at = node.text(), node.range().start.index
        homes = self.names.homes(path, name)
        here = next((o for o in self.names.of(path, name) if o.start == at), None)
        home = homes.home(here) if here is not None else None
        if home is None:
            return None
        for bound in self.names.of(path, name):
            if bound.role in ("import", "binding") and homes.home(bound) == home:
                found = self._imported_module(bound)
                if found is not None:
                    return found
        return None

    def _by_import(self, path: str, node: "SgNode") -> str | None:
        """The file that `a.b.c` means where the file says `import a.b.c`."""
        dotted = node.text()
        head = dotted.split(".")[0]
        if len(dotted) > 300:
            return None
        for bound in self.names.of(path, head):
            statement = bound.node.parent()
            if bound.role == "import" and statement is not None and statement.kind() == "dotted_name":
                text = statement.text()
                if text == dotted or text.startswith(dotted + "."):
                    return self.find(path, dotted)
        return None

    def _imported_module(self, bound: Occurrence) -> str | None:
        source = self.source_of(bound)
        if source is not None:
            dots = source.text + ("" if source.text.endswith(".") else ".") + source.name
            return self.find(bound.path, dots)
        parent = bound.node.parent()
        if parent is None:
            return None
        if parent.kind() == "aliased_import":
            inner = parent.field("name")
            return self.find(bound.path, inner.text()) if inner is not None else None
        above = parent.parent()
        if parent.kind() == "dotted_name" and above is not None and above.kind() == "import_statement":
            return self.find(bound.path, bound.name)
        return None


def module_parts(path: str) -> tuple[str, ...]:
    """The parts of a path as of a module: the ending and `__init__` left out."""
    pure = PurePosixPath(path)
    return pure.parent.parts if pure.stem == "__init__" else (*pure.parent.parts, pure.stem)


def common_head(first: Iterable[str], second: Iterable[str]) -> list[str]:
    """What two sequences begin with."""
    found = []
    for one, other in zip(first, second, strict=False):
        if one != other:
            break
        found.append(one)
    return found
