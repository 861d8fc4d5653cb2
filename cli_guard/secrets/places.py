"""What the path of a file says about its text."""

import re
from functools import lru_cache
from pathlib import PurePosixPath

from cli_guard.code.test_files import has_test_words, words_of
from cli_guard.secrets.names import words

PATHS = 1_024  # a scan asks for one path many times
DOCUMENT_WORDS = frozenset(
    "benchmark benchmarks tutorial tutorials doc docs documentation man locale locales i18n translation"
    " translations beispiel ejemplo esempio exemple exemplo muster plantilla przyklad voorbeeld vorlage".split()
)


@lru_cache(maxsize=PATHS)
def ending(path: str) -> str:
    """Return the extension in lower case, with its dot; `.env` and `.env.local` end in `.env`."""
    name = path.rpartition("/")[2].lower()
    if name.startswith((".env", "dockerfile", "containerfile")):
        return ".env" if name.startswith(".") else ".dockerfile"
    return PurePosixPath(name).suffix


@lru_cache(maxsize=PATHS)
def is_code(path: str) -> bool:
    """Return whether the file is source code, where only quoted literals are values."""
    return ending(path) in words("code")


@lru_cache(maxsize=PATHS)
def is_lock(path: str) -> bool:
    """Return whether the file is a lock file of a package manager, full of hashes."""
    name = path.rpartition("/")[2].lower()
    return name in words("locks") or name.endswith(
        (".min.js", ".min.css", ".js.map", ".css.map", ".sum")
    )


@lru_cache(maxsize=PATHS)
def is_settings(path: str) -> bool:
    """Return whether the file holds settings, where values are literal."""
    return ending(path) in words("settings")


@lru_cache(maxsize=PATHS)
def is_literal(path: str) -> bool:
    """Return whether a word in quotes or without is a value there; JSON and XML name parts of programs too."""
    suffix = ending(path)
    is_named = suffix in (".json", ".xml", ".plist", ".config")
    return suffix in (".sql", ".tf") or (is_settings(path) and not is_named)


def is_document(path: str) -> bool:
    return ending(path) in words("documents")


@lru_cache(maxsize=PATHS)
def is_test_or_document(path: str) -> bool:
    """Return whether it is a test, fixture, example or document, where made-up credentials are usual."""
    # `org/example` in a path is a domain of a Java package.
    path = re.sub(r"(?<=/)(?:com|org|net|io)/example(?=/)", "", path)
    if is_document(path) or has_test_words(path):
        return True
    return not DOCUMENT_WORDS.isdisjoint(words_of(path))


@lru_cache(maxsize=PATHS)
def kind_of(path: str) -> str:
    """Return `lock`, `code`, `settings`, or `prose` for the rest: documents, notes, a commit message."""
    tests = {"lock": is_lock, "code": is_code, "settings": is_settings}
    return next((kind for kind, test in tests.items() if test(path)), "prose")
