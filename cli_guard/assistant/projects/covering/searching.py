"""Finds the tests of one file after the other: by coverage data, imports, calls and names; each hit says why."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from cli_guard.assistant.projects.covering import coverage as data
from cli_guard.assistant.projects.covering.cases import Cases, mentioning
from cli_guard.assistant.projects.covering.other_imports import OtherImports, first_names
from cli_guard.assistant.projects.covering.python_imports import Imported, PythonImports
from cli_guard.assistant.projects.covering.script_imports import ScriptImports
from cli_guard.assistant.projects.model import CoveringTest, Strength
from cli_guard.code.test_files import is_named_after, runner_language

MOST_NAMES = 200
# A shorter name stands in too many texts by chance.
SHORTEST_NAME = 5
ORDER: dict[Strength, int] = {"strong": 0, "medium": 1, "weak": 2}


@dataclass(slots=True)
class Hit:
    """What is known so far of one test file."""

    strength: Strength
    reason: str
    words: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    near: int = 0
    whole: bool = False


class Search:
    """The state of one search: what was found so far, by test file."""

    def __init__(
        self,
        texts: Mapping[str, str],
        tests: tuple[str, ...],
        symbols: frozenset[str],
        coverage: Mapping[str, Collection[str]],
    ) -> None:
        self.texts, self.tests, self.coverage = texts, tests, coverage
        self.all_tests = frozenset(tests)
        self.symbols = frozenset(each.rpartition(".")[2] for each in symbols)
        self.cases = Cases(texts)
        self.python, self.script, self.other = PythonImports(texts), ScriptImports(texts), OtherImports(texts)
        self.hits: dict[str, Hit] = {}
        self.covered: set[str] = set()
        self._importers: dict[str, dict[str, list[tuple[str, Imported]]]] = {}
        self._dotted: dict[str, str] = {}
        for path in tests:
            parts = path.rpartition(".")[0].split("/")
            for start in range(len(parts)):
                self._dotted.setdefault(".".join(parts[start:]), path)

    @property
    def looked_at(self) -> int:
        """How many files were searched."""
        return len({*self.tests, *(path for path in self.texts if runner_language(path) in self._importers)})

    def hit(self, target: str, test: str, strength: Strength, reason: str, words: Iterable[str] = ()) -> None:
        """Notes a test; the strongest reason stays, in the order in which they were found."""
        self.covered.add(target)
        near = _count_shared_folders(target, test)
        known = self.hits.get(test)
        if known is None:
            known = self.hits[test] = Hit(strength, reason, near=near)
        elif ORDER[strength] < ORDER[known.strength]:
            known.strength, known.reason = strength, reason
        known.near = max(known.near, near)
        known.words.update(words)

    def one(self, path: str) -> None:
        """Finds the tests of one file."""
        if path in self.texts and not self.texts[path].strip():
            self.covered.add(path)  # there is nothing in it that a test could cover
            return
        if path in self.all_tests and not self.symbols:
            self.hit(path, path, "strong", "is a test itself")
            return
        language = runner_language(path)
        self._by_coverage(path)
        if language in ("python", "javascript"):
            self._by_imports(path, language)
        for test, reason, sure, words in self.other.reasons(path, self.tests):
            used = self.used(test)
            if not self.symbols:
                self.hit(path, test, "strong" if sure else "medium", reason, words)
            elif used:
                self.hit(
                    path,
                    test,
                    "strong" if sure else "medium",
                    f"{reason}, and calls {first_names(used)}",
                    used,
                )
        self._by_name(path, language)
        if language in (None, "python"):
            self._by_mention(path, language)
        if language and path not in self.covered:
            self._through_others(path, language)

    def _by_coverage(self, path: str) -> None:
        for context in sorted(self.coverage.get(path, ())):
            found = data.test_of(context, self._dotted)
            if found and found[0] in self.texts:
                self.hit(path, found[0], "strong", "coverage data")
                self.hits[found[0]].names.add(found[1])

    def used(self, test: str) -> set[str]:
        """The symbols that stand in a test file."""
        text = self.texts[test]
        return {word for word in self.symbols if word in text and re.search(rf"\b{re.escape(word)}\b", text)}

    def importers(self, language: str) -> Mapping[str, list[tuple[str, Imported]]]:
        """Who imports each file, for one language, found once."""
        if language not in self._importers:
            found: dict[str, list[tuple[str, Imported]]] = {}
            reader = self.python if language == "python" else self.script
            for path in sorted(self.texts):
                if runner_language(path) == language:
                    for each in reader.of(path):
                        found.setdefault(each.path, []).append((path, each))
            self._importers[language] = found
        return self._importers[language]

    def _by_imports(self, path: str, language: str) -> None:
        for importer, imported in self.importers(language).get(path, ()):
            if importer not in self.all_tests or importer == path:
                continue
            names = imported.names - {"*"}
            if self.symbols:
                used = self.used(importer)
                if used:
                    self.hit(
                        path,
                        importer,
                        "strong",
                        f"imports {_module(path)} and calls {first_names(used)}",
                        self.symbols,
                    )
                continue
            if imported.through:
                reason = f"uses {first_names(names)}, which {imported.through} takes from {path}"
                self.hit(path, importer, "medium", reason, names)
            elif path.endswith("__init__.py") and not names:
                self.hit(path, importer, "weak", f"imports the package {_module(path)}")
            else:
                self.hit(path, importer, "strong", f"imports {_module(path)}", names)

    def _by_name(self, path: str, language: str | None) -> None:
        named = [
            test
            for test in self.tests
            if is_named_after(test, path) and runner_language(test) == language and test != path
        ]
        if not named:
            return
        nearest = max(_count_shared_folders(path, test) for test in named)
        for test in named:
            if _count_shared_folders(path, test) < nearest or (
                self.symbols and not any(word in self.texts[test] for word in self.symbols)
            ):
                continue
            words = self.symbols or frozenset()
            known = self.hits.get(test)
            self.hit(path, test, "medium", f"named after {path}", words)
            hit = self.hits[test]
            hit.whole = True
            if (
                known
                and not hit.reason.startswith(("named after", "coverage"))
                and "named after" not in hit.reason
            ):
                hit.strength, hit.reason = "strong", f"{hit.reason}, and is named after it"
                hit.near += 10

    def _by_mention(self, path: str, language: str | None) -> None:
        """A file that is no source is covered by the tests that name it, a module by those that name it in a text."""
        name, module = path.rpartition("/")[2], _module(path)
        if len(name) < SHORTEST_NAME or (language and module.count(".") < 2):
            return
        for test in self.tests:
            text = self.texts[test]
            if language:
                if not self.symbols and module in text and test not in self.hits:
                    self.hit(path, test, "medium", f"names {module}")
            elif path in text:
                self.hit(path, test, "medium", f"names {path}", {name})
            elif name in text and re.search(rf"[\"'/]{re.escape(name)}[\"']", text):
                self.hit(path, test, "weak", f"names a file {name}", {name})

    def _through_others(self, path: str, language: str) -> None:
        """One step further: the tests of what imports it."""
        if language not in ("python", "javascript"):
            return
        importers = self.importers(language)
        for middle, _ in importers.get(path, ()):
            if middle in self.all_tests or middle == path:
                continue
            for test, _ in importers.get(middle, ()):
                if test in self.all_tests:
                    self.hit(path, test, "weak", f"imports {_module(middle)}, which imports {_module(path)}")

    def named(self, path: str, hit: Hit) -> CoveringTest:
        """The test file with the names of those of its tests that matter."""
        cases = self.cases.of(path)
        wanted = self.symbols or (frozenset() if hit.whole else frozenset(hit.words))
        chosen = [case.name for case in mentioning(self.texts.get(path, ""), cases, wanted)]
        chosen += [name for name in sorted(hit.names) if name and name not in chosen]
        names = tuple(dict.fromkeys(chosen or [case.name for case in cases]))
        return CoveringTest(path, names[:MOST_NAMES], hit.reason, hit.strength)

    def narrowed(self, test: CoveringTest) -> bool:
        """Are only some of the file's tests meant? They are if symbols were asked for, or coverage names them."""
        everything = len(self.cases.of(test.path))
        return bool(self.symbols or self.hits[test.path].names) and 0 < len(test.names) < everything


def _module(path: str) -> str:
    """A Python file as its module, any other as its path."""
    if not path.endswith(".py"):
        return path
    parts = path.removesuffix(".py").removesuffix("/__init__").split("/")
    return ".".join(parts[1:] if parts[0] in ("src", "lib") and len(parts) > 1 else parts)


def _count_shared_folders(path: str, test: str) -> int:
    return len(set(path.split("/")[:-1]) & set(test.split("/")[:-1]))
