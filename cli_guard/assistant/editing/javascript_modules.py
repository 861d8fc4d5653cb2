"""Which file of the repository a relative import of JavaScript or TypeScript means, and how to write it."""

import posixpath
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from cli_guard.assistant.editing.sources import SCRIPT_LANGUAGES, Sources

if TYPE_CHECKING:
    from ast_grep_py import SgNode

SCRIPTS = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx")
TRIED = (*SCRIPTS, ".d.ts", ".json")
LOADERS = ("require", "import", "jest.mock", "vi.mock", "require.resolve")
# TypeScript is imported by the name of what it is compiled to.
COMPILED = {".js": (".ts", ".tsx"), ".mjs": (".mts",), ".cjs": (".cts",), ".jsx": (".tsx",)}


def resolve(sources: Sources, importer: str, text: str) -> str | None:
    """The file that a specifier means; None for a package, and for what is not there."""
    if not text.startswith("."):
        return None
    stem = posixpath.normpath(posixpath.join(posixpath.dirname(importer), text))
    if stem.startswith(".."):
        return None
    if stem in sources.texts:
        return stem
    pure = PurePosixPath(stem)
    tries = [stem + ending for ending in TRIED]
    tries += [str(pure.with_suffix(ending)) for ending in COMPILED.get(pure.suffix, ())]
    tries += [f"{stem}/index{ending}" for ending in TRIED]
    return next((each for each in tries if each in sources.texts), None)


def specifiers(sources: Sources, path: str) -> Iterator[tuple[int, str, str]]:
    """(position, text, file meant) of each relative import of a file."""
    root = sources.root(path)
    if root is None or sources.language(path) not in SCRIPT_LANGUAGES:
        return
    for node in root.find_all(kind="string", regex=r"^['\"]\.\.?(/|['\"])"):
        if not loads(node):
            continue
        text = node.text()[1:-1]
        target = resolve(sources, path, text)
        if target is not None:
            yield node.range().start.index + 1, text, target


def loads(node: "SgNode") -> bool:
    """Is a string what an import, an export from, or require() loads?"""
    parent = node.parent()
    if parent is None:
        return False
    if parent.kind() in ("import_statement", "export_statement", "import_require_clause"):
        return True
    call = parent.parent() if parent.kind() == "arguments" else None
    callee = call.field("function") if call is not None else None
    return callee is not None and callee.text() in LOADERS


def specifier(importer: str, target: str, before: str) -> str:
    """How `importer` writes `target`, with or without its ending and `index` as it did before."""
    path = posixpath.relpath(target, posixpath.dirname(importer) or ".")
    pure = PurePosixPath(path)
    if not before.endswith(TRIED):
        path = str(pure.with_suffix(""))
        if pure.stem == "index" and not before.endswith("index"):
            path = str(pure.parent)
    elif pure.suffix in (".ts", ".tsx", ".mts", ".cts") and not before.endswith(pure.suffix):
        compiled = {".ts": ".js", ".tsx": ".js", ".mts": ".mjs", ".cts": ".cjs"}
        path = str(pure.with_suffix(compiled[pure.suffix]))
    return path if path.startswith(".") else f"./{path}"
