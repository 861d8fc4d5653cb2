"""The tests of paths and symbols, strongest first: by imports, calls and names; and those that words describe."""

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from posixpath import basename

from cli_guard.assistant.projects.files import (
    Covering,
    CoveringTest,
    CoverStrength,
    folder_of,
)
from cli_guard.assistant.projects.running import CASE_CHARS, Cases, Chosen, command_for
from cli_guard.assistant.replies import first_of
from cli_guard.assistant.request_question import Concept, leave_out, parse_question
from cli_guard.assistant.retrieval.path_kinds import kind_of
from cli_guard.assistant.stems import stems_of
from cli_guard.code.python_imports import Imported, PythonImports
from cli_guard.code.test_files import (
    is_named_after,
    is_test_file,
    list_test_files,
    runner_language,
)
from cli_guard.lazy import dataclass, frozen

# How much a word counts by where it stands: in the name of a test or of its file, in a folder, in the lines of a test.
NAME = 1.0
FOLDER = 0.7
BODY = 0.3
# Less than this share of the words, and the tests are not those that are meant: all of them is the better answer.
ENOUGH = 0.55
NOWHERE = 0.5
# Tests that are nearly as good as the best are meant too.
NEARLY = 0.9
MOST_FILES = 3
MOST_CHOSEN = 12
MOST_TITLES = 500
# Words that say that tests are meant, not which.
GENERIC = frozenset(
    stems_of(
        "test spec suite run rerun only just single whole all every cover check fast quick quickly module package"
        " class file function around about something things one ones please"
    )
)
# The title of a test in JavaScript: `it("...")`, `t.test('...')`.
TITLE = re.compile(
    r"\b(?:it|test|describe|suite|context)(?:\.\w+)?\(\s{0,9}(['\"`])([^'\"`\n]{1,200})\1"
)
FUNCTION = re.compile(
    r"\b(?:func|fn|void|fun|def|public function)\s+([A-Za-z_]\w{2,100})\s*\("
)
MOST_TESTS = 40
MOST_TARGETS = 400
MOST_NAMES = 200
MOST_SYMBOLS = 50
# A shorter name is in too many texts by chance.
SHORTEST_NAME = 5
ORDER: dict[CoverStrength, int] = {"strong": 0, "medium": 1, "weak": 2}
DEFINES = (
    r"^[ \t]*(?:(?:export|default|public|private|protected|static|async|pub|final|abstract)\s+)*"
    r"(?:def|class|func(?: \([^)\n]*\))?|function|fn|struct|interface|type|enum|const|let|var|trait|module)\s+"
    r"(?:{words})\b|^(?:{words})[ \t]*[:=]"
)


@frozen
class _Unit:
    """A test, or a whole file (`name` ""), with the stems of its names, its folders and its lines."""

    path: str
    name: str
    named: frozenset[str]
    folders: frozenset[str]
    body: frozenset[str]

    def share_of(self, concept: Concept) -> float:
        """Return how well a word fits, itself or as a synonym."""
        places = ((NAME, self.named), (FOLDER, self.folders), (BODY, self.body))
        return max(
            (
                like * share
                for each, like in concept.stems.items()
                for share, own in places
                if each in own
            ),
            default=0.0,
        )

    def names(self, concepts: Collection[Concept]) -> bool:
        """Return whether a name of it has one of the words."""
        return any(
            not self.named.union(self.folders).isdisjoint(each.stems) for each in concepts
        )


def find_described(
    topic: str, texts: Mapping[str, str]
) -> Sequence[tuple[str, Sequence[str]]]:
    """Find (test file, names of its tests; none for all of them) for the words of a request, best first.

    Returns nothing where no test has most of the words, and one of them in a name.
    """
    wanted = parse_question(leave_out(topic, GENERIC)).concepts
    inner = (
        path for path in texts if path.endswith(".rs") and "#[cfg(test)]" in texts[path]
    )
    paths = dict.fromkeys((*list_test_files(texts), *inner)) if wanted else ()
    cases = Cases(texts)
    units = [unit for path in paths for unit in _units_of(path, cases)]
    if not units:
        return ()
    weights = [_weigh(each, units) for each in wanted]
    shares = [
        sum(
            weight * unit.share_of(each)
            for weight, each in zip(weights, wanted, strict=True)
        )
        / sum(weights)
        for unit in units
    ]
    scored = zip(shares, units, strict=True)
    good = [
        (share, unit) for share, unit in scored if share >= ENOUGH and unit.names(wanted)
    ]
    best = max((share for share, _ in good), default=0.0)
    chosen: dict[str, list[str]] = {}
    for share, each in sorted(
        good, key=lambda pair: (-pair[0], pair[1].name != "", pair[1].path)
    ):
        if share >= NEARLY * best and (each.path in chosen or len(chosen) < MOST_FILES):
            chosen.setdefault(each.path, []).append(each.name)
    return [
        (path, () if "" in names else names[:MOST_CHOSEN]) for path, names in chosen.items()
    ]


def _weigh(concept: Concept, units: Sequence[_Unit]) -> float:
    """Return the inverse document frequency of a word among the tests; of one that is nowhere, little is known."""
    having = sum(unit.share_of(concept) > 0 for unit in units)
    rarity = math.log(1 + len(units) / (having + 0.5))
    return concept.weight * rarity * (1.0 if having else NOWHERE)


def _units_of(path: str, every: Cases) -> Iterator[_Unit]:
    folder, _, file = path.rpartition("/")
    own = frozenset(
        stems_of(
            file.partition(".")[0] if path.endswith(".py") else file.rpartition(".")[0]
        )
    )
    folders = frozenset(stems_of(folder))
    text = every.texts[path][:CASE_CHARS]
    cases = every.of(path)
    lines = text.split("\n")
    for case in cases:
        body = frozenset(stems_of("\n".join(lines[case.line - 1 : case.end_line])))
        yield _Unit(path, case.name, frozenset(stems_of(case.name)) | own, folders, body)
    titles = (
        []
        if cases
        else [*(found[2] for found in TITLE.finditer(text)), *FUNCTION.findall(text)]
    )
    for title in titles[:MOST_TITLES]:
        # Elsewhere than in Python and Go the command runs the whole file.
        yield _Unit(path, "", frozenset(stems_of(title)) | own, folders, frozenset())
    yield _Unit(path, "", own, folders, frozenset(stems_of(text)))


def tests_for(
    paths: Collection[str], symbols: Collection[str], texts: Mapping[str, str]
) -> Covering:
    """Find the tests that cover files, folders or symbols (functions and classes by name), strongest first.

    Symbols alone look for the files that define them. At most 40 tests of at most 400 files; what is beyond is counted
    and named. Never raises for what a file holds.
    """
    plain = frozenset(symbol.rpartition(".")[2] for symbol in symbols)
    wanted = _expand(paths, texts) if paths else _find_defining(plain, texts)
    search = CoverSearch(texts, plain)
    for path in wanted[:MOST_TARGETS]:
        search.look_for(path)
    found = sorted(
        search.hits.items(),
        key=lambda each: (ORDER[each[1].strength], -each[1].near, each[0]),
    )
    tests = tuple(search.describe(path, hit) for path, hit in found[:MOST_TESTS])
    chosen: Chosen = [
        (test.path, test.names if search.is_narrowed(test) else ()) for test in tests
    ]
    if symbols and not paths and not tests:
        chosen = search.find_named(plain) or find_described(" ".join(symbols), texts)
        tests = tuple(
            CoveringTest(path, (), "has it in its name", "weak") for path, _ in chosen
        )
    cut = f"only the first {MOST_TARGETS} of {len(wanted)} paths were searched for"
    return Covering(
        tests,
        command_for(chosen, texts),
        tuple(sorted(path for path in wanted[:MOST_TARGETS] if path not in search.covered)),
        len(search.searched),
        max(len(found) - MOST_TESTS, 0),
        cut if len(wanted) > MOST_TARGETS else "",
    )


def _expand(paths: Iterable[str], texts: Mapping[str, str]) -> list[str]:
    """Return the files that are meant. A path that is gone stays: a test may still be named after it."""
    wanted = {}
    for path in sorted({path.removeprefix("./").rstrip("/") for path in paths}):
        if path in ("", "."):
            wanted.update(dict.fromkeys(sorted(texts)))
        elif path in texts:
            wanted[path] = None
        else:
            inside = sorted(
                each
                for each in texts
                if each.startswith(f"{path}/") and runner_language(each)
            )
            wanted.update(dict.fromkeys(inside or [path]))
    return list(wanted)


def _find_defining(symbols: Collection[str], texts: Mapping[str, str]) -> list[str]:
    """Return the files that define one of some symbols or are called so; what was made of others only alone."""
    words = sorted(symbols)[:MOST_SYMBOLS]
    if not words:
        return []
    defines = re.compile(
        DEFINES.replace("{words}", "|".join(map(re.escape, words))), re.MULTILINE
    )
    found = [
        path
        for path in sorted(texts)
        if runner_language(path)
        and not is_test_file(path)
        and (
            basename(path).partition(".")[0] in symbols
            or (any(word in texts[path] for word in words) and defines.search(texts[path]))
        )
    ]
    return [path for path in found if kind_of(path) == "source"] or found


@dataclass(slots=True)
class CoverHit:
    """What is known so far of one test file. `whole`: all of its tests matter."""

    strength: CoverStrength
    reason: str
    words: set[str] = field(default_factory=set)
    near: int = 0
    whole: bool = False


class CoverSearch:
    """What was found so far, by test file."""

    def __init__(self, texts: Mapping[str, str], symbols: frozenset[str]) -> None:
        self.texts = texts
        self.symbols = symbols
        self.tests = dict.fromkeys(list_test_files(texts))
        self.cases = Cases(texts)
        self.hits: dict[str, CoverHit] = {}
        self.covered: set[str] = set()
        self.searched: set[str] = set(self.tests)

    def find_named(self, names: Collection[str]) -> Chosen:
        """Return the tests that have exactly one of some names, by file."""
        found = {
            path: [case.name for case in self.cases.of(path) if case.name in names]
            for path in self.tests
        }
        return [(path, cases) for path, cases in found.items() if cases]

    def note(
        self,
        target: str,
        test: str,
        strength: CoverStrength,
        reason: str,
        words: Iterable[str] = (),
    ) -> None:
        """Note a test; the strongest reason stays. With symbols, only a test that has one of them."""
        text = self.texts[test]
        used = {
            each
            for each in self.symbols
            if each in text and re.search(rf"\b{re.escape(each)}\b", text)
        }
        if self.symbols and not used and not reason.startswith("named after"):
            return
        if used and not reason.startswith("named after"):
            reason = f"{reason} and calls {list_names(used)}"
            words = self.symbols
        self.covered.add(target)
        hit = self.hits.setdefault(test, CoverHit(strength, reason))
        if ORDER[strength] < ORDER[hit.strength]:
            hit.strength = strength
            hit.reason = reason
        hit.near = max(hit.near, _count_shared_folders(target, test))
        hit.words.update(words)

    def look_for(self, path: str) -> None:
        """Find the tests of one file."""
        if path in self.texts and not self.texts[path].strip():
            self.covered.add(path)  # there is nothing in it that a test could cover
            return
        if path in self.tests and not self.symbols:
            self.note(path, path, "strong", "is a test itself")
            return
        language = runner_language(path)
        if language == "rust" and "#[cfg(test)]" in self.texts.get(path, ""):
            self.note(path, path, "strong", "holds tests of its own")
        if language == "python":
            for importer, imported in self.importers.get(path, ()):
                if importer in self.tests and importer != path:
                    self._note_import(path, importer, imported)
        self._by_name(path, language)
        if language is None and not self.symbols and len(path) >= SHORTEST_NAME:
            # A file that is no source is covered by the tests that name its path.
            for test in self.tests:
                if path in self.texts[test]:
                    self.note(path, test, "medium", f"names {path}", {basename(path)})
        if language == "python" and path not in self.covered:
            self._through_others(path)

    @cached_property
    def importers(self) -> Mapping[str, list[tuple[str, Imported]]]:
        """Return what imports each Python file."""
        found: dict[str, list[tuple[str, Imported]]] = {}
        reader = PythonImports(self.texts)
        for path in sorted(path for path in self.texts if path.endswith(".py")):
            self.searched.add(path)
            for each in reader.imports_of(path):
                found.setdefault(each.path, []).append((path, each))
        return found

    def _note_import(self, path: str, test: str, imported: Imported) -> None:
        names = imported.names - {"*"}
        if imported.through and not self.symbols:
            reason = f"uses {list_names(names)}, which {imported.through} takes from {path}"
            self.note(path, test, "medium", reason, names)
        elif path.endswith("__init__.py") and not names:
            self.note(path, test, "weak", f"imports the package {_module(path)}")
        else:
            self.note(path, test, "strong", f"imports {_module(path)}", names)

    def _by_name(self, path: str, language: str | None) -> None:
        """Return the tests that are named after a file, those that share most folders with it."""
        same = [test for test in self.tests if runner_language(test) == language]
        named = [test for test in same if is_named_after(test, path)] or [
            test for test in same if language == "javascript" and self._defines(path, test)
        ]
        nearest = max((_count_shared_folders(path, test) for test in named), default=0)
        for test in self.tests if language == "go" else ():
            if folder_of(test) == folder_of(path):
                self.note(path, test, "medium", "is of the same package")
        for test in named:
            if test == path or _count_shared_folders(path, test) < nearest:
                continue
            known = self.hits.get(test)
            self.note(path, test, "medium", f"named after {path}", self.symbols)
            hit = self.hits.get(test)
            if hit is None:
                continue
            hit.whole = True
            if known and "named after" not in hit.reason:
                hit.strength = "strong"
                hit.reason += ", and is named after it"
                hit.near += 10

    def _defines(self, path: str, test: str) -> bool:
        """Return whether a test is named after a function that a file sets (`res.redirect = function`)."""
        stem = basename(test).rpartition(".")[0]
        set_here = rf"^[ \t]*(?:[\w$]+\.)*{re.escape(stem)}[ \t]*="
        return (
            "." in stem
            and re.search(set_here, self.texts.get(path, ""), re.MULTILINE) is not None
        )

    def _through_others(self, path: str) -> None:
        """Note the tests of what imports it, one step further."""
        importers = self.importers
        for middle, _ in importers.get(path, ()):
            for test, _ in (
                importers.get(middle, ())
                if middle not in self.tests and middle != path
                else ()
            ):
                if test in self.tests:
                    reason = f"imports {_module(middle)}, which imports {_module(path)}"
                    self.note(path, test, "weak", reason)

    def describe(self, path: str, hit: CoverHit) -> CoveringTest:
        """Return the test file with the names of those of its tests that matter."""
        words = self.symbols or (frozenset() if hit.whole else frozenset(hit.words))
        chosen = [case.name for case in self.cases.cases_with(path, words)]
        names = tuple(dict.fromkeys(chosen or [case.name for case in self.cases.of(path)]))
        return CoveringTest(path, names[:MOST_NAMES], hit.reason, hit.strength)

    def is_narrowed(self, test: CoveringTest) -> bool:
        """Return whether only some of the file's tests are meant, because symbols were asked for."""
        return bool(self.symbols) and 0 < len(test.names) < len(self.cases.of(test.path))


def _module(path: str) -> str:
    """Return a Python file as its module, any other as its path."""
    if not path.endswith(".py"):
        return path
    parts = path.removesuffix(".py").removesuffix("/__init__").split("/")
    return ".".join(parts[1:] if parts[0] in ("src", "lib") and len(parts) > 1 else parts)


def _count_shared_folders(path: str, test: str) -> int:
    return len(set(path.split("/")[:-1]) & set(test.split("/")[:-1]))


def list_names(names: Iterable[str]) -> str:
    return first_of(sorted(names), 3)
