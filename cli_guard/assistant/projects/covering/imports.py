"""Why a test file goes with a source file, by what it imports or mentions, in languages other than Python."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import islice
from posixpath import normpath

from cli_guard.assistant.projects.files import find_above, folder_of
from cli_guard.code.python_imports import Imported
from cli_guard.code.test_files import runner_language, source_stem
from cli_guard.reviewers.commands.extract.json_nodes import read_json
from cli_guard.reviewers.commands.extract.nodes import Items, Scalar, Table, at

SPECIFIER = re.compile(
    r"""(?:\b(?:from|import)|\b(?:require|requireActual|import|mock)\s{0,5}\()\s{0,20}["']([^"'\n]{1,300})["']"""
)
# What is between the keyword of an import and its specifier.
CLAUSE = re.compile(r"(?:import|export|const|let|var)\b([\w*$\s{},:=]*)\Z")
SCRIPT_NAME = re.compile(r"(?!(?:as|type|from|await)\b)([\w$]+)(?:\s{1,9}as\s{1,9}[\w$]+)?")
KEYWORDS = ("import", "export", "const ", "let ", "var ")
CLAUSE_CHARS, MOST_IMPORTS = 2_000, 3_000
SCRIPT_SETTINGS = ("tsconfig.json", "jsconfig.json", "tsconfig.base.json")
ENDINGS = (".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".svelte", ".d.ts")
GO_MODULE = re.compile(r"^module[ \t]+(\S+)", re.MULTILINE)
GO_DEFINED = re.compile(r"^(?:func(?: \([^)\n]{0,200}\))?|type|var|const)[ \t]+([A-Za-z]\w*)", re.MULTILINE)
PACKAGE = re.compile(r"^[ \t]*package[ \t]+([\w.]+)", re.MULTILINE)
RUST_TEST = re.compile(r"#\[(?:\w+::)*test\b")
MOST_DEFINED = 300
BY_NAME = ("java", "csharp", "php", "rust", "ruby", "elixir")
Reason = tuple[str, str, bool, frozenset[str]]


class ScriptImports:
    """The imports of the JavaScript and TypeScript files of a repository (path -> text)."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = texts

    @cached_property
    def aliases(self) -> tuple[tuple[str, str], ...]:
        """(prefix, folder) of `baseUrl` and `paths` in tsconfig.json, then of `@/` and `~/`."""
        found: list[tuple[str, str]] = []
        for path in sorted(self.texts, key=lambda path: (path.count("/"), path)):
            if path.rpartition("/")[2] not in SCRIPT_SETTINGS or "node_modules/" in path:
                continue
            roots = read_json(path, self.texts[path]).roots
            bases = [
                node.text for node in at(roots, "compilerOptions", "baseUrl") if isinstance(node, Scalar)
            ]
            base = "/".join([folder_of(path) or ".", *bases[:1]])
            for table in at(roots, "compilerOptions", "paths"):
                for prefix, node in table.items() if isinstance(table, Table) else ():
                    first = node.nodes[0] if isinstance(node, Items) and node.nodes else None
                    if isinstance(first, Scalar):
                        found.append((prefix.removesuffix("*"), f"{base}/{first.text.removesuffix('*')}"))
            found += [("", base)] if bases else []
        return (*found, ("@/", "src"), ("~/", "src"), ("@/", "."), ("~/", "."))

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
            for prefix, folder in self.aliases
            if specifier.startswith(prefix)
        )
        return next((target for target in targets if target), None)

    def _with_ending(self, path: str) -> str | None:
        # TypeScript is imported by the name of what it becomes.
        stems = [path, re.sub(r"\.[cm]?jsx?$", "", path)]
        names = [path, *(stem + ending for stem in stems for ending in ENDINGS)]
        names += [normpath(f"{path}/index{ending}") for ending in ENDINGS]
        return next((name for name in names if name in self.texts), None)


def find_related(path: str, texts: Mapping[str, str], tests: Iterable[str]) -> Iterator[Reason]:
    """(test file, reason, does it surely cover the path?, words that its tests would hold) for a source file."""
    language = runner_language(path)
    same = [test for test in tests if runner_language(test) == language]
    if language == "go":
        yield from _related_go(path, texts, same)
        return
    if language == "rust" and RUST_TEST.search(texts.get(path, "")):
        yield path, "holds tests of its own", True, frozenset()
    stem = source_stem(path)
    # A class or module is named after its file: `cart_item.rb` holds CartItem.
    pascal = "".join(part[:1].upper() + part[1:] for part in stem.split("_"))
    names = {"rust": [f"::{stem}"], "ruby": [f"/{stem}", pascal]}.get(language or "", [pascal])
    uses = re.compile("|".join(rf"\b{re.escape(name)}\b" for name in names))
    package = PACKAGE.findall(texts.get(path, ""))[:1]
    for test in same if language in BY_NAME and stem else ():
        if test != path and uses.search(texts[test]):
            is_imported = any(f"{each}.{stem}" in texts[test] for each in package)
            is_near = bool(package) and PACKAGE.findall(texts[test])[:1] == package
            sure = language in ("rust", "ruby", "elixir") or is_imported or is_near
            yield test, f"uses {stem if language == 'rust' else pascal}", sure, frozenset({pascal, stem})


def _related_go(path: str, texts: Mapping[str, str], tests: Iterable[str]) -> Iterator[Reason]:
    folder = folder_of(path)
    manifest = find_above(texts, path, "go.mod")
    module = GO_MODULE.search(texts[manifest][:20_000]) if manifest else None
    inside = folder.removeprefix(folder_of(manifest or "")).strip("/")
    imported = "/".join(filter(None, (module[1], inside))) if module else "(none)"
    defined = frozenset(GO_DEFINED.findall(texts.get(path, ""))[:MOST_DEFINED])
    for test in tests:
        if folder_of(test) == folder:
            used = defined & frozenset(re.findall(r"\w+", texts[test]))
            if used:
                yield test, f"is of the same package and uses {list_names(used)}", True, used
        elif f'"{imported}"' in texts[test]:
            yield test, f"imports {imported}", True, frozenset(name for name in defined if name[0].isupper())


def list_names(names: Iterable[str]) -> str:
    """The first three of some names, and whether there are more."""
    found = sorted(names)
    return ", ".join(found[:3]) + (" and more" if len(found) > 3 else "")
