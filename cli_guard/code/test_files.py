"""Recognise test files and test code, and match a test file to its source file by name."""

import re
from collections.abc import Mapping
from functools import lru_cache
from posixpath import basename

from cli_guard.code.languages import language_for
from cli_guard.lazy import regex
from cli_guard.rules.catalog import read_table

# Languages that share a test runner.
FAMILIES = {
    "typescript": "javascript",
    "tsx": "javascript",
    "kotlin": "java",
    "scala": "java",
}
COMPONENTS = (".vue", ".svelte")
_TABLE = read_table("languages/files.toml")
_WORDS = {name: frozenset(words.split()) for name, words in _TABLE["words"].items()}
_PATTERNS = {name: regex(pattern) for name, pattern in _TABLE["patterns"].items()}
TEST_FILES = {
    language: regex(pattern) for language, pattern in _TABLE["test_files"].items()
}
COLLECTED_FOLDERS = {
    language: regex(pattern) for language, pattern in _TABLE["test_folders"].items()
}
EXAMPLE_FOLDERS = _WORDS["test_folders"] | _WORDS["example_folders"]
WORD_BREAK = re.compile(r"[/_.-]")
# The name of a package's or folder's main file says nothing: its folder does.
MAIN_FILES = frozenset("__init__ __main__ index main mod lib".split())


def is_test_file(path: str) -> bool:
    """Return whether a test runner collects tests from the file, by its name and folder."""
    language = runner_language(path)
    if (
        language is None
        or _PATTERNS["skipped_folders"].search(path)
        or path.endswith(".d.ts")
    ):
        return False
    folder = COLLECTED_FOLDERS.get(language)
    return bool(
        TEST_FILES[language].fullmatch(basename(path)) or (folder and folder.search(path))
    )


@lru_cache(maxsize=10_000)
def is_test_code(path: str) -> bool:
    """Return whether the file is for tests only (test, helper, mock, fixture), by its name or folder."""
    *folders, name = path.split("/")
    return bool(_PATTERNS["test_names"].search(name)) or not _WORDS[
        "test_folders"
    ].isdisjoint(folders)


@lru_cache(maxsize=10_000)
def is_test_or_example(path: str) -> bool:
    """Return whether the file tests, shows or documents other code; most rules are one step lower there.

    A package may be called `example` or `testing`: such a name counts only above the folder of sources.
    """
    folder, _, name = path.rpartition("/")
    if _PATTERNS["example_names"].search(name):
        return True
    if sources := _PATTERNS["source_set"].search(path):
        if _PATTERNS["test_set"].search(sources[1] or sources[2]):
            return True
        folder = path[: sources.start()]
    names = folder.lower().split("/")
    # A `testing` that is not the whole repository's is a library for tests, as in NumPy.
    packages = next(
        (at for at, each in enumerate(names) if each in _WORDS["source_folders"]),
        len(names),
    )
    return bool(_PATTERNS["test_project"].search(folder)) or any(
        each in EXAMPLE_FOLDERS
        and not (
            each in _WORDS["package_folders"]
            and at > (0 if each == "testing" else packages)
        )
        for at, each in enumerate(names)
    )


def has_test_words(path: str) -> bool:
    """Return whether any word of the path is about tests, fixtures or examples, for data of any kind."""
    return not _WORDS["test_words"].isdisjoint(words_of(path)) or bool(
        _PATTERNS["test_end"].search(path.lower())
    )


def words_of(path: str) -> list[str]:
    return WORD_BREAK.split(path.lower())


def list_test_files(texts: Mapping[str, str]) -> tuple[str, ...]:
    """List the test files of a repository (path -> text), sorted. `test.py` may be a command: it must define a test."""
    commands = ("test.py", "tests.py")
    paths = sorted(filter(is_test_file, texts))
    return tuple(p for p in paths if basename(p) not in commands or "def test" in texts[p])


@lru_cache(maxsize=10_000)
def runner_language(path: str) -> str | None:
    """Return the language as test runners divide them ("javascript", "java" for Kotlin), None if none tests it."""
    if path.endswith(COMPONENTS):
        return "javascript"
    language = language_for(path)
    family = FAMILIES.get(language or "", language)
    return family if family in TEST_FILES else None


def source_stem(path: str) -> str:
    """Return the name for a source file's test: without extension; `__init__` and `index` as their folder."""
    folder, _, name = path.rpartition("/")
    stem = (
        name.split(".", 1)[0]
        if runner_language(path) == "javascript"
        else name.rpartition(".")[0]
    )
    return basename(folder) if stem in MAIN_FILES and folder else stem.lstrip("_")


def _tested_stem(path: str) -> str:
    """Return the stem that a test file is named after: `config` for `test_config.py` and `config.spec.ts`."""
    found = _PATTERNS["test_stem"].match(basename(path).rpartition(".")[0])
    return found[1] if found else ""


def is_named_after(test: str, path: str) -> bool:
    """Return whether a test file is named after a source file, in any style (`CartItemTest`, `cart_item`)."""
    stem = _plain(_tested_stem(test))
    return bool(stem) and stem == _plain(source_stem(path))


def _plain(stem: str) -> str:
    return re.sub(r"[\W_]", "", stem).lower()
