"""What the JavaScript and TypeScript files of a repository import."""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from posixpath import normpath

from cli_guard.assistant.projects.files import folder_of
from cli_guard.code.python_imports import Imported

SPECIFIER = re.compile(
    r"""(?:\b(?:from|import)|\b(?:require|requireActual|import|mock)\s{0,5}\()\s{0,20}["']([^"'\n]{1,300})["']"""
)
# What is between the keyword of an import and its specifier.
CLAUSE = re.compile(r"(?:import|export|const|let|var)\b([\w*$\s{},:=]*)\Z")
SCRIPT_NAME = re.compile(r"(?!(?:as|type|from|await)\b)([\w$]+)(?:\s{1,9}as\s{1,9}[\w$]+)?")
KEYWORDS = ("import", "export", "const ", "let ", "var ")
CLAUSE_CHARS, MOST_IMPORTS = 2_000, 3_000
# What "@/" and "~/" lead to in a project whose bundler knows them.
ALIASES = (("@/", "src"), ("~/", "src"), ("@/", "."), ("~/", "."))
ENDINGS = (".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".svelte", ".d.ts")


class ScriptImports:
    """The imports of the JavaScript and TypeScript files of a repository (path -> text)."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = texts

    def imports_of(self, path: str) -> tuple[Imported, ...]:
        """What a file imports of this repository; names that an index hands on also lead to where they come from."""
        found: dict[tuple[str, str], set[str]] = {}
        for target, names in self._statements(path):
            found.setdefault((target, ""), set()).update(names)
            if target.rpartition("/")[2].startswith("index."):
                for source, handed in self._statements(target):
                    shared = names & (handed or {name for name in names if name in self.texts[source]})
                    if shared:
                        found.setdefault((source, target), set()).update(shared)
        return tuple(Imported(target, frozenset(names), via) for (target, via), names in found.items())

    def _statements(self, path: str) -> Iterator[tuple[str, set[str]]]:
        text = self.texts[path]
        for found in islice(SPECIFIER.finditer(text), MOST_IMPORTS):
            target = self.find_file(found[1], path)
            if target and target != path:
                head = text[max(0, found.start() - CLAUSE_CHARS) : found.start()]
                clause = CLAUSE.match(head, max(0, *map(head.rfind, KEYWORDS)))
                yield target, set(SCRIPT_NAME.findall(clause[1])) if clause else set()

    def find_file(self, specifier: str, importer: str) -> str | None:
        """The file that a specifier means, None for one outside of the repository."""
        specifier = specifier.split("?", 1)[0]
        if specifier.startswith("."):
            return self._with_ending(normpath(f"{folder_of(importer) or '.'}/{specifier}"))
        targets = (
            self._with_ending(normpath(f"{folder}/{specifier[len(prefix) :]}"))
            for prefix, folder in ALIASES
            if specifier.startswith(prefix)
        )
        return next((target for target in targets if target), None)

    def _with_ending(self, path: str) -> str | None:
        # TypeScript is imported by the name of what it becomes.
        stems = [path, re.sub(r"\.[cm]?jsx?$", "", path)]
        names = [path, *(stem + ending for stem in stems for ending in ENDINGS)]
        names += [normpath(f"{path}/index{ending}") for ending in ENDINGS]
        return next((name for name in names if name in self.texts), None)


def list_names(names: Iterable[str]) -> str:
    """The first three of some names, and whether there are more."""
    found = sorted(names)
    return ", ".join(found[:3]) + (" and more" if len(found) > 3 else "")
