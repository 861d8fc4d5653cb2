"""What a JavaScript or TypeScript file imports, as files: index files, endings, aliases, workspace packages."""

import re
from collections.abc import Mapping
from functools import cached_property
from itertools import islice
from posixpath import normpath

from cli_guard.assistant.projects.covering.python_imports import Imported
from cli_guard.reviewers.commands.extract.json_nodes import read_json
from cli_guard.reviewers.commands.extract.nodes import Items, Scalar, Table, at

SPECIFIER = re.compile(
    r"""(?:\b(?:from|import)|\b(?:require|requireActual|import|mock)\s{0,5}\()\s{0,20}["']([^"'\n]{1,300})["']"""
)
CLAUSE = re.compile(
    r"(?:import|export)\s+(?:type\s+)?([\w*$\s{},]{1,4000})(?:from)?$|(?:const|let|var)\s+([\w$\s{},:]{1,2000})="
)
KEYWORDS = ("import", "export", "const ", "let ", "var ")
NAME = re.compile(r"([\w$]+)(?:\s+as\s+([\w$]+))?")
ENDINGS = (".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".svelte", ".d.ts")
CLAUSE_CHARS = 4_000
MOST_IMPORTS = 3_000


class ScriptImports:
    """The imports of the JavaScript and TypeScript files of a repository."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = texts
        self._found: dict[str, tuple[Imported, ...]] = {}

    @cached_property
    def aliases(self) -> tuple[tuple[str, str], ...]:
        """(prefix, folder) of `paths` in tsconfig.json, of `@/` and `~/`, and of the packages of the workspace."""
        found: list[tuple[str, str]] = []
        for path in sorted(self.texts, key=lambda path: (path.count("/"), path)):
            name = path.rpartition("/")[2]
            folder = path.rpartition("/")[0]
            if (
                name in ("tsconfig.json", "jsconfig.json", "tsconfig.base.json")
                and "node_modules/" not in path
            ):
                roots = read_json(path, self.texts[path]).roots
                base = next(
                    (
                        node.text
                        for node in at(roots, "compilerOptions", "baseUrl")
                        if isinstance(node, Scalar)
                    ),
                    "",
                )
                for table in at(roots, "compilerOptions", "paths"):
                    for prefix, node in table.items() if isinstance(table, Table) else ():
                        first = node.nodes[0] if isinstance(node, Items) and node.nodes else None
                        if isinstance(first, Scalar):
                            target = normpath(
                                "/".join(filter(None, (folder, base, first.text.removesuffix("*"))))
                            )
                            found.append((prefix.removesuffix("*"), target))
                if base:
                    found.append(("", normpath(f"{folder}/{base}".lstrip("/"))))
            elif name == "package.json" and "node_modules/" not in path and folder:
                for node in at(read_json(path, self.texts[path]).roots, "name"):
                    if isinstance(node, Scalar) and node.text:
                        found += [
                            (f"{node.text}/", folder),
                            (node.text, f"{folder}/src"),
                            (node.text, folder),
                        ]
        return (*found, ("@/", "src"), ("~/", "src"), ("@/", "."), ("~/", "."))

    def of(self, path: str) -> tuple[Imported, ...]:
        """What a file imports of this repository."""
        if path not in self._found:
            self._found[path] = tuple(self._resolved(path))
        return self._found[path]

    def _resolved(self, path: str) -> list[Imported]:
        found: dict[tuple[str, str], set[str]] = {}
        for target, names in self.statements(path):
            found.setdefault((target, ""), set()).update(names)
            if target.rpartition("/")[2].startswith("index."):
                for source, handed in self.statements(target):
                    shared = (
                        names & handed if handed else {name for name in names if name in self.texts[source]}
                    )
                    if shared:
                        found.setdefault((source, target), set()).update(shared)
        return [Imported(target, frozenset(names), "", through) for (target, through), names in found.items()]

    def statements(self, path: str) -> list[tuple[str, set[str]]]:
        """(file, names that are taken from it)."""
        text = self.texts[path]
        found = []
        for each in islice(SPECIFIER.finditer(text), MOST_IMPORTS):
            target = self.file(each[1], path)
            if target is None or target == path:
                continue
            head = text[max(0, each.start() - CLAUSE_CHARS) : each.start()]
            clause = CLAUSE.match(head, max(0, *(head.rfind(keyword) for keyword in KEYWORDS)))
            taken = (clause[1] or clause[2]) if clause else ""
            found.append((target, {name[1] for name in NAME.finditer(taken)} - {"as", "type", "from"}))
        return found

    def file(self, specifier: str, importer: str) -> str | None:
        """The file that a specifier means, None for one outside of the repository."""
        specifier = specifier.split("?", 1)[0]
        if specifier.startswith("."):
            folder = importer.rpartition("/")[0]
            return self._with_ending(normpath(f"{folder}/{specifier}".lstrip("/")))
        for prefix, folder in self.aliases:
            if specifier.startswith(prefix) or specifier + "/" == prefix:
                rest = specifier[len(prefix) :]
                target = self._with_ending(normpath(f"{folder}/{rest}".strip("/")))
                if target:
                    return target
        return None

    def _with_ending(self, path: str) -> str | None:
        if path.startswith(".."):
            return None
        if path in self.texts:
            return path
        stem, dot, ending = path.rpartition(".")
        # TypeScript is imported by the name of what it becomes.
        bases = [path, stem] if dot and ending in ("js", "mjs", "cjs", "jsx") else [path]
        candidates = [base + each for base in bases for each in ENDINGS]
        candidates += [f"{path}/index{each}".removeprefix("./") for each in ENDINGS]
        return next((each for each in candidates if each in self.texts), None)
