"""What a source file imports, inside the repository and outside of it: Python, JavaScript, TypeScript, Go, Java, Rust.

Read by pattern, so that a thousand files take less than a second; see `python_imports` for Python.
"""

import posixpath
import re
from collections.abc import Iterator, Mapping
from functools import cached_property

from cli_guard.code.languages import FAMILY, language_for
from cli_guard.code.python_imports import PythonImports
from cli_guard.lazy import frozen
from cli_guard.rules.catalog import read_patterns

PATTERNS = read_patterns("languages/patterns.toml", "file_imports")
JS_ENDINGS = ("", ".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".d.ts", ".vue", ".json")
LONGEST_TEXT = 2_000_000
WORD = re.compile(r"\w+")
JAVA = ("java", "kotlin", "scala")


@frozen
class FileImports:
    """The files of the repository that a file imports, and the names of what it imports from elsewhere."""

    inside: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()


class ImportGraph:
    """The imports of the files of a repository (path -> text); each file is read on demand."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = texts
        self.python = PythonImports(texts)
        self._found: dict[str, FileImports] = {}

    def imports_of(self, path: str) -> FileImports:
        """Return what a file imports; nothing for a language without a reader."""
        if path not in self._found:
            language = language_for(path)
            text = self.texts.get(path, "")[:LONGEST_TEXT]
            reader = READERS.get(FAMILY.get(language or "", language or ""))
            inside: dict[str, None] = {}
            outside: dict[str, None] = {}
            for target, name in reader(self, path, text) if reader else ():
                if target:
                    inside[target] = None
                else:
                    outside[name] = None
            inside.pop(path, None)
            self._found[path] = FileImports(tuple(inside), tuple(outside))
        return self._found[path]

    def importers_of(self, path: str) -> tuple[str, ...]:
        """Return the files that import a file, sorted."""
        language = language_for(path)
        family = FAMILY.get(language or "", language)
        same = (
            p
            for p in self.texts
            if FAMILY.get(language_for(p) or "", language_for(p)) == family
        )
        if family:
            return tuple(
                sorted(each for each in same if path in self.imports_of(each).inside)
            )
        return ()

    def names_bound(self, path: str) -> frozenset[str]:
        """Return the names that the imports of a file bind; except for Python, all words of those lines."""
        text = self.texts[path][:LONGEST_TEXT]
        if language_for(path) != "python":
            return frozenset(
                word
                for line in PATTERNS["line"].findall(text)
                for word in WORD.findall(line)
            )
        names: set[str] = set()
        for each in self.python.statements_of(path):
            names.update(
                own
                for _, own in each.names or ((each.module, each.alias.partition(".")[0]),)
            )
        return frozenset(names)

    @cached_property
    def go_packages(self) -> Mapping[str, list[str]]:
        """Map import paths to the files of the package, by the modules of every go.mod."""
        found: dict[str, list[str]] = {}
        sources = [
            path
            for path in self.texts
            if path.endswith(".go") and not path.endswith("_test.go")
        ]
        for manifest in (
            path for path in self.texts if posixpath.basename(path) == "go.mod"
        ):
            named = PATTERNS["go_module"].search(self.texts[manifest])
            top = manifest.removesuffix("go.mod")
            for path in sources if named else ():
                if named and path.startswith(top):
                    folder = posixpath.join(named[1], posixpath.dirname(path[len(top) :]))
                    found.setdefault(folder.rstrip("/"), []).append(path)
        return found

    @cached_property
    def java_types(self) -> Mapping[str, str]:
        """Map qualified names of types to files, by the package that each file declares."""
        found = {}
        for path, text in self.texts.items():
            if language_for(path) in JAVA:
                package = PATTERNS["java_package"].search(text)
                stem = posixpath.basename(path).partition(".")[0]
                found[f"{package[1]}.{stem}" if package else stem] = path
        return found


def read_python(graph: ImportGraph, path: str, text: str) -> Iterator[tuple[str, str]]:
    """Yield (file, "") of each import inside the repository, and ("", top module) of any other."""
    reader = graph.python
    yield from ((each.path, "") for each in reader.imports_of(path))
    for statement in reader.statements_of(path):
        names = [f"{statement.module}.{name}" for name, _ in statement.names or ()]
        if not any(reader.find_module(each, path) for each in (statement.module, *names)):
            yield "", statement.module.partition(".")[0]


def read_javascript(graph: ImportGraph, path: str, text: str) -> Iterator[tuple[str, str]]:
    """Yield relative modules with the endings that a bundler tries, and the names of packages."""
    for match in PATTERNS["javascript"].finditer(text):
        name = match[1]
        if not name.startswith("."):
            yield "", "/".join(name.split("/")[: 2 if name.startswith("@") else 1])
            continue
        base = posixpath.normpath(posixpath.join(posixpath.dirname(path), name))
        stems = (base, re.sub(r"\.[cm]?js$", "", base), posixpath.normpath(f"{base}/index"))
        tried = (stem + ending for stem in stems for ending in JS_ENDINGS)
        if found := next((each for each in tried if each in graph.texts), None):
            yield found, ""


def read_go(graph: ImportGraph, path: str, text: str) -> Iterator[tuple[str, str]]:
    """Yield the files of imported packages of the repository, and the paths of other packages."""
    for block in PATTERNS["go"].finditer(text):
        for name in PATTERNS["go_path"].findall(block[0]):
            files = graph.go_packages.get(name, ())
            yield from ((file, "") for file in files)
            if not files:
                yield "", name


def read_java(graph: ImportGraph, path: str, text: str) -> Iterator[tuple[str, str]]:
    """Yield the files of imported types; a member or an inner type belongs to the file of its type."""
    for match in PATTERNS["java"].finditer(text):
        name = match[1]
        parts = name.split(".")
        names = [".".join(parts[:size]) for size in range(len(parts), 0, -1)]
        if found := next(
            (graph.java_types[each] for each in names if each in graph.java_types), None
        ):
            yield found, ""
        elif parts[-1] == "*" and (
            files := [
                p for n, p in graph.java_types.items() if n.rpartition(".")[0] == names[1]
            ]
        ):
            yield from ((file, "") for file in files)
        else:
            yield "", ".".join(parts[:2])


def read_rust(graph: ImportGraph, path: str, text: str) -> Iterator[tuple[str, str]]:
    """Yield the files of `mod name;` and of paths that begin with crate, self or super; else the name of the crate."""
    folder, _, name = path.rpartition("/")
    own = folder if name in ("mod.rs", "lib.rs", "main.rs") else path.removesuffix(".rs")
    root = f"{path[: path.rindex('src/')]}src" if "src/" in path else folder
    for match in PATTERNS["rust"].finditer(text):
        parts = [match["mod"]] if match["mod"] else match["use"].split("::")
        base = own
        if not match["mod"]:
            head = parts.pop(0)
            if head not in ("crate", "self", "super"):
                yield "", head
                continue
            bases = {"crate": root, "self": own, "super": posixpath.dirname(own)}
            base = bases[head]
        for size in range(len(parts), 0, -1):
            stem = posixpath.join(base, *parts[:size])
            if found := next(
                (e for e in (f"{stem}.rs", f"{stem}/mod.rs") if e in graph.texts), None
            ):
                yield found, ""
                break


READERS = {
    "python": read_python,
    "javascript": read_javascript,
    "go": read_go,
    "java": read_java,
    "kotlin": read_java,
    "rust": read_rust,
}
