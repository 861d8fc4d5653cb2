"""Files that need no review of their form: generated, minified, vendored."""

import re
from posixpath import basename

from cli_guard.rules.catalog import read_table

_TABLE = read_table("languages/files.toml")
GENERATED_NAMES, MINIFIED_OR_LOCK, GENERATED_WORDS = (
    re.compile(_TABLE["patterns"][name])
    for name in ("generated_names", "minified_or_lock", "generated_words")
)
VENDORED_FOLDERS = frozenset(_TABLE["words"]["vendored_folders"].split())
BUILT_FOLDERS = frozenset(_TABLE["words"]["built_folders"].split())
HEADER_CHARS = 1_000
LONGEST_LINE = 5_000
AVERAGE_LINE = 250


def is_vendored(path: str) -> bool:
    """Return whether the file is in a folder of third-party code."""
    return not VENDORED_FOLDERS.isdisjoint(path.split("/")[:-1])


def is_generated(path: str) -> bool:
    """Return whether the folder or the name of a file says that a program wrote it, or that it is a copy."""
    return is_vendored(path) or MINIFIED_OR_LOCK.search(basename(path)) is not None


def unreadable(path: str, text: str, file_chars: int) -> str | None:
    """Say why the form of a file is not reviewed (too long, generated, minified); None if it is."""
    if len(text) > file_chars:
        return f"longer than {file_chars} characters"
    *folders, name = path.split("/")
    if (
        GENERATED_NAMES.search(name)
        or is_vendored(path)
        or not BUILT_FOLDERS.isdisjoint(folders)
    ):
        return "generated or vendored, by its name"
    if says_generated(text[:HEADER_CHARS]):
        return "generated, by its header"
    lines = text.count("\n") + 1
    if len(text) > AVERAGE_LINE * lines and len(text) > AVERAGE_LINE * 4:
        return "minified or data"
    return "minified or data" if has_long_line(text) else None


def says_generated(header: str) -> bool:
    """Return whether the head of a file says that it is generated."""
    lower = header.lower()
    # The pattern tries every line; each match contains one of these words, which few files do.
    return ("generated" in lower or "do not" in lower) and GENERATED_WORDS.search(
        header
    ) is not None


def has_long_line(text: str) -> bool:
    """Return whether a line is longer than `LONGEST_LINE`, reading only the places where one would have to end."""
    start = 0
    while len(text) - start > LONGEST_LINE:
        end = text.rfind("\n", start, start + LONGEST_LINE + 1)
        if end < 0:
            return True
        start = end + 1
    return False
