"""What the path of a file says about the text in it."""

from functools import lru_cache
from pathlib import PurePosixPath

from cli_guard.code.test_files import has_test_words, words_of
from cli_guard.secrets.names import words

PATHS = 64  # a scan asks about one path over and over
DOCUMENT_WORDS = frozenset(
    "benchmark benchmarks tutorial tutorials doc docs documentation man locale locales i18n translation"
    " translations".split()
)


@lru_cache(maxsize=PATHS)
def ending(path: str) -> str:
    """The ending of the file name in lower case, with its dot; `.env` and `.env.local` end in `.env`."""
    name = path.rpartition("/")[2].lower()
    if name.startswith((".env", "dockerfile", "containerfile")):
        return ".env" if name.startswith(".") else ".dockerfile"
    return PurePosixPath(name).suffix


@lru_cache(maxsize=PATHS)
def is_code(path: str) -> bool:
    """Is the file source code, where only literals in quotes are values?"""
    return ending(path) in words("code")


@lru_cache(maxsize=PATHS)
def is_lock(path: str) -> bool:
    """Is the file written by a package manager and full of hashes?"""
    name = path.rpartition("/")[2].lower()
    return name in words("locks") or name.endswith((".min.js", ".min.css", ".js.map", ".css.map", ".sum"))


@lru_cache(maxsize=PATHS)
def is_settings(path: str) -> bool:
    """Is the file one of settings, where values stand as they are used?"""
    return ending(path) in words("settings")


@lru_cache(maxsize=PATHS)
def is_test_or_document(path: str) -> bool:
    """Is the file of tests, fixtures, examples or documentation, where made-up credentials are usual?"""
    if ending(path) in words("documents") or has_test_words(path):
        return True
    return not DOCUMENT_WORDS.isdisjoint(words_of(path))


@lru_cache(maxsize=PATHS)
def kind_of(path: str) -> str:
    """`lock`, `code`, `settings`, or `prose` for the rest: documents, notes, a commit message."""
    tests = {"lock": is_lock, "code": is_code, "settings": is_settings}
    return next((kind for kind, test in tests.items() if test(path)), "prose")
