"""What the path of a file says about the text in it."""

import re
from functools import cache, lru_cache
from pathlib import PurePosixPath

from cli_guard.secrets.words import words

PATHS = 64  # a scan asks about one path over and over
TESTS = "|".join(
    (
        r"(?:^|[/_.-])(?:tests?|testing|testdata|test-data|specs?|__tests__|__mocks__|mocks?|conftest)(?:[/_.-]|$)",
        r"(?:^|[/_.-])(?:fixtures?|examples?|samples?|demos?|e2e|cypress|snapshots?|stubs?|cassettes)(?:[/_.-]|$)",
        r"(?:^|[/_.-])(?:benchmarks?|tutorials?|docs?|documentation|man|locales?|i18n|translations?)(?:[/_.-]|$)",
        r"(?:test|tests|spec|specs|mock|Test|Tests|Spec)\.\w+$",
    )
)


@cache
def _tests() -> re.Pattern[str]:
    return re.compile(TESTS, re.I)


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
    return ending(path) in words("documents") or bool(_tests().search(path))


@lru_cache(maxsize=PATHS)
def kind_of(path: str) -> str:
    """`lock`, `code`, `settings`, or `prose` for the rest: documents, notes, a commit message."""
    tests = {"lock": is_lock, "code": is_code, "settings": is_settings}
    return next((kind for kind, test in tests.items() if test(path)), "prose")
