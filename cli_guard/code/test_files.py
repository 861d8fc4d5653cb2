"""Which files hold tests, in which language a file is, and which source file the name of a test file speaks of."""

import re
from collections.abc import Mapping

LANGUAGES = {
    "py": "python",
    "js": "javascript",
    "jsx": "javascript",
    "mjs": "javascript",
    "cjs": "javascript",
    "ts": "javascript",
    "tsx": "javascript",
    "mts": "javascript",
    "cts": "javascript",
    "vue": "javascript",
    "svelte": "javascript",
    "go": "go",
    "java": "java",
    "kt": "java",
    "scala": "java",
    "rs": "rust",
    "rb": "ruby",
    "php": "php",
    "cs": "csharp",
    "ex": "elixir",
    "exs": "elixir",
}
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
# In these folders a file may be a test whatever its name is.
IN_FOLDER = {
    "javascript": re.compile(
        r"(?:^|/)(?:__tests__|tests?|spec)/(?!.*(?:fixtures?|helpers?|support|mocks?|__snapshots__)/)"
    ),
    "rust": re.compile(r"(?:^|/)tests/[^/]+\.rs$"),
}
NO_TESTS = re.compile(
    r"(?:^|/)(?:node_modules|vendor|third_party|site-packages|testdata|dist|__snapshots__|\.tox|\.venv)/"
)
BARE = re.compile(r"(?:^|/)tests?\.py$")
STEM = re.compile(
    r"^(?:tests?[_-](?=.)|Test(?=[A-Z]))?(.*?)(?:[._-](?:tests?|specs?|e2e|integration|unit)|(?<=[a-z0-9])(?:Tests?|TestCase|IT|Spec))*$"
)


def language_of(path: str) -> str | None:
    """The language of a source file by its ending; JavaScript stands for TypeScript, Java for Kotlin and Scala too."""
    return LANGUAGES.get(path.rpartition(".")[2].lower()) if "." in path.rpartition("/")[2] else None


def is_test_file(path: str) -> bool:
    """Does the file hold tests that a runner finds by itself?"""
    language = language_of(path)
    if language is None or NO_TESTS.search(path):
        return False
    name = path.rpartition("/")[2]
    if TEST_FILES[language].fullmatch(name):
        return not path.endswith(".d.ts")
    inside = IN_FOLDER.get(language)
    return bool(inside and inside.search(path)) and not name.endswith(".d.ts")


def tests_among(texts: Mapping[str, str]) -> tuple[str, ...]:
    """The test files of a repository, sorted. One that is called `test.py` must hold tests: it may be a command."""
    return tuple(
        sorted(
            path
            for path in texts
            if is_test_file(path) and (not BARE.search(path) or "def test" in texts[path])
        )
    )


def stem_of(path: str) -> str:
    """The name of a file without its ending; `__init__`, `index` and the like stand for their folder."""
    *folders, name = path.split("/")
    stem = name.split(".", 1)[0] if language_of(path) == "javascript" else name.rpartition(".")[0]
    if stem in ("__init__", "index", "mod", "lib", "main", "__main__") and folders:
        return folders[-1]
    return stem.lstrip("_")


def tested_stem(path: str) -> str:
    """The stem that a test file is named after: `config` for `test_config.py` and `config.spec.ts`."""
    name = path.rpartition("/")[2]
    found = STEM.match(name.rpartition(".")[0])
    return found[1] if found else ""


def alike(one: str, other: str) -> bool:
    """Are two stems the same name, however it is written?"""
    return bool(one) and _flat(one) == _flat(other)


def _flat(stem: str) -> str:
    return re.sub(r"[\W_]", "", stem).lower()


def shared_folders(path: str, test: str) -> int:
    """How many folders the test file has in common with the source file, wherever they stand in its path."""
    return len(set(path.split("/")[:-1]) & set(test.split("/")[:-1]))
