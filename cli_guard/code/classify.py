"""Which files are not worth a reader's remarks: generated, minified, vendored."""

import re
from pathlib import PurePosixPath

from cli_guard.code.test_files import is_test_code

GENERATED_NAMES = re.compile(
    r"(_pb2(_grpc)?\.pyi?|\.pb(\.gw)?\.go|[._-]generated\.\w+|[.-]min\.[cm]?js|\.bundle\.js|\.d\.[cm]?ts|zz_generated.*\.go)$"
)
GENERATED_FOLDERS = frozenset(
    {
        "node_modules",
        "vendor",
        "vendored",
        "_vendor",
        "third_party",
        "thirdparty",
        "dist",
        "generated",
        "site-packages",
    }
)
GENERATED_WORDS = re.compile(
    r"@generated\b|\bDO NOT (EDIT|MODIFY)\b|\b(auto-?|automatically )generated (by|from|file|code)|"
    r"^\W*(this (file|code) (is|was) |file |code )?generated (by|from|using|with) ",
    re.IGNORECASE | re.MULTILINE,
)
HEADER_CHARS = 1_000
LONGEST_LINE = 5_000
AVERAGE_LINE = 250

is_test = is_test_code


def unreadable(path: str, text: str, file_chars: int) -> str | None:
    """Why a file is not reviewed for its form (too long, generated, minified), None if it is."""
    if len(text) > file_chars:
        return f"longer than {file_chars} characters"
    pure = PurePosixPath(path)
    if GENERATED_NAMES.search(pure.name) or not GENERATED_FOLDERS.isdisjoint(pure.parts[:-1]):
        return "generated or vendored, by its name"
    if says_generated(text[:HEADER_CHARS]):
        return "generated, by its header"
    lines = text.count("\n") + 1
    if len(text) > AVERAGE_LINE * lines and len(text) > AVERAGE_LINE * 4:
        return "minified or data"
    return "minified or data" if has_long_line(text) else None


def says_generated(header: str) -> bool:
    """Does the head of a file say that nobody wrote it?"""
    lower = header.lower()
    # The pattern tries every line; one of these words is in all that it finds, and in few files.
    return ("generated" in lower or "do not" in lower) and GENERATED_WORDS.search(header) is not None


def has_long_line(text: str) -> bool:
    """Is a line longer than `LONGEST_LINE`? Looks only where one of that length would have to end."""
    start = 0
    while len(text) - start > LONGEST_LINE:
        end = text.rfind("\n", start, start + LONGEST_LINE + 1)
        if end < 0:
            return True
        start = end + 1
    return False
