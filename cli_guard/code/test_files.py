"""Which files hold tests, which are there only for tests, and which source file the name of a test file speaks of."""

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import PurePosixPath

from cli_guard.code.languages import language_for

# Languages whose tests one runner takes.
FAMILIES = {"typescript": "javascript", "tsx": "javascript", "kotlin": "java", "scala": "java"}
COMPONENTS = (".vue", ".svelte")
# The file names that a runner collects by default.
TEST_FILES = {
    "python": re.compile(r"test_\w[^/]*\.py|[^/]*_tests?\.py|tests?\.py"),
    "javascript": re.compile(r"[^/]+[.-](?:test|spec)s?\.[cm]?[jt]sx?|test\.[cm]?[jt]sx?"),
    "go": re.compile(r"[^/]+_test\.go"),
    "java": re.compile(r"[^/]*(?:Tests?|IT|TestCase|Spec)\.(?:java|kt|scala)|Test[A-Z][^/]*\.(?:java|kt)"),
    "rust": re.compile(r"[^/]*tests?\.rs"),
    "ruby": re.compile(r"[^/]+_(?:spec|test)\.rb|test_[^/]+\.rb"),
    "php": re.compile(r"[^/]+Test\.php"),
    "csharp": re.compile(r"[^/]+Tests?\.cs"),
    "elixir": re.compile(r"[^/]+_test\.exs"),
}
# In these folders a file is collected whatever its name is.
COLLECTED_FOLDERS = {
    "javascript": re.compile(
        r"(?:^|/)(?:__tests__|tests?|spec)/(?!.*(?:fixtures?|helpers?|support|mocks?|__snapshots__)/)"
    ),
    "rust": re.compile(r"(?:^|/)tests/[^/]+\.rs$"),
}
SKIPPED_FOLDERS = re.compile(
    r"(?:^|/)(?:node_modules|vendor|third_party|site-packages|testdata|dist|__snapshots__|\.tox|\.venv)/"
)
CODE_FOLDERS = frozenset("test tests testing __tests__ __mocks__ spec specs e2e testdata fixtures".split())
# Folders of what tests, shows or documents other code; in either case.
EXAMPLE_FOLDERS = CODE_FOLDERS | frozenset(
    "test_data testutil testutils test_util test_utils fixture doc docs example examples sample samples demo demos"
    " bench benchs benchmark benchmarks".split()
)
EXAMPLE_NAMES = re.compile(
    r"^test_|^conftest\.py$|_tests?\.|_spec\.|\.test\.|\.spec\.|\.stories\.|(?:Tests?|IT)\.java$"
)
TEST_WORDS = frozenset(
    "test tests testing testdata spec specs mock mocks conftest fixture fixtures example examples sample samples"
    " demo demos e2e cypress snapshot snapshots stub stubs cassettes".split()
)
TEST_END = re.compile(r"(?:tests?|specs?|mock)\.\w+$")
WORD_BREAK = re.compile(r"[/_.-]")
CODE_NAMES = re.compile(
    r"^(test_.*|.*_tests?|conftest)\.pyi?$|_test\.go$|[.-](test|spec|stories|e2e)\.[cm]?[jt]sx?$|^.*(Tests?|IT|TestCase)\.java$"
)
# The name of a package's or folder's main file says nothing: its folder does.
MAIN_FILES = frozenset("__init__ __main__ index main mod lib".split())
STEM = re.compile(
    r"^(?:tests?[_-](?=.)|Test(?=[A-Z]))?(.*?)(?:[._-](?:tests?|specs?|e2e|integration|unit)|(?<=[a-z0-9])(?:Tests?|TestCase|IT|Spec))*$"
)


def is_test_file(path: str) -> bool:
    """Does a test runner collect tests from the file, by its name and folder?"""
    language = runner_language(path)
    if language is None or SKIPPED_FOLDERS.search(path) or path.endswith(".d.ts"):
        return False
    folder = COLLECTED_FOLDERS.get(language)
    return bool(TEST_FILES[language].fullmatch(path.rpartition("/")[2]) or (folder and folder.search(path)))


def is_test_code(path: str) -> bool:
    """Is the file there for tests only: a test, a helper, a mock or a fixture, by its name or folder?"""
    pure = PurePosixPath(path)
    return bool(CODE_NAMES.search(pure.name)) or not CODE_FOLDERS.isdisjoint(pure.parts[:-1])


def is_test_or_example(path: str) -> bool:
    """Does the file only test, show or document other code, in any language? Most rules weigh one step less there."""
    *folders, name = path.split("/")
    return not EXAMPLE_FOLDERS.isdisjoint(map(str.lower, folders)) or bool(EXAMPLE_NAMES.search(name))


def has_test_words(path: str) -> bool:
    """Is any word of the path about tests, fixtures or examples? The widest of these answers, for data of any kind."""
    return not TEST_WORDS.isdisjoint(words_of(path)) or bool(TEST_END.search(path.lower()))


def words_of(path: str) -> list[str]:
    """The words of a path in lower case."""
    return WORD_BREAK.split(path.lower())


def list_test_files(texts: Mapping[str, str]) -> tuple[str, ...]:
    """The test files of a repository (path -> text), sorted. `test.py` may be a command: it must define a test."""
    return tuple(path for path in sorted(filter(is_test_file, texts)) if _has_tests(path, texts[path]))


def _has_tests(path: str, text: str) -> bool:
    return path.rpartition("/")[2] not in ("test.py", "tests.py") or "def test" in text


@lru_cache(maxsize=10_000)
def runner_language(path: str) -> str | None:
    """The language of a file as test runners divide them ("javascript", "java" for Kotlin), None if none tests it."""
    if path.endswith(COMPONENTS):
        return "javascript"
    language = language_for(path)
    family = FAMILIES.get(language or "", language)
    return family if family in TEST_FILES else None


def source_stem(path: str) -> str:
    """The name that a test of a source file would bear: without ending, `__init__` and `index` as their folder."""
    folder, _, name = path.rpartition("/")
    stem = name.split(".", 1)[0] if runner_language(path) == "javascript" else name.rpartition(".")[0]
    return folder.rpartition("/")[2] if stem in MAIN_FILES and folder else stem.lstrip("_")


def _tested_stem(path: str) -> str:
    """The stem that a test file is named after: `config` for `test_config.py` and `config.spec.ts`."""
    found = STEM.match(path.rpartition("/")[2].rpartition(".")[0])
    return found[1] if found else ""


def is_named_after(test: str, path: str) -> bool:
    """Is a test file named after a source file, however the name is written (`CartItemTest`, `cart_item`)?"""
    stem = _plain(_tested_stem(test))
    return bool(stem) and stem == _plain(source_stem(path))


def _plain(stem: str) -> str:
    return re.sub(r"[\W_]", "", stem).lower()
