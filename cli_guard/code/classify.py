"""Files that need no review of their form: generated, minified, vendored."""

import re
from statistics import median_low

from cli_guard.code.languages import language_of
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
# A long line among short ones is a comment, a table or an image; if most are long, a program wrote them.
LONG_LINE_MEDIAN = 300
# A program that shortens these is rare, and a person who hides code in one long line is not.
NEVER_MINIFIED = ("python", "go", "java", "bash", "yaml")


def is_vendored(path: str) -> bool:
    """Return whether the file is in a folder of third-party code."""
    return not VENDORED_FOLDERS.isdisjoint(path.split("/")[:-1])


def is_generated(path: str, text: str) -> bool:
    """Return whether it is generated or vendored, by its folder, its name, or the median length of its lines.

    A header `@generated` does not count: it is as easy to write as what it would hide. Files in `dist/` or `build/`,
    which may be written by hand, are left out only if minified.
    """
    if is_vendored(path) or MINIFIED_OR_LOCK.search(path.rpartition("/")[2]):
        return True
    if language_of(path, text[:200].split("\n", 1)[0]) in NEVER_MINIFIED:
        return False
    if len(text) <= max(LONGEST_LINE, LONG_LINE_MEDIAN * text.count("\n") // 2):
        return False  # short, or fewer than half of the lines can be that long
    return median_low(len(line) for line in text.split("\n") if line.strip()) > LONG_LINE_MEDIAN


def unreadable(path: str, text: str, file_chars: int) -> str | None:
    """Say why the form of a file is not reviewed (too long, generated, minified); None if it is."""
    if len(text) > file_chars:
        return f"longer than {file_chars} characters"
    *folders, name = path.split("/")
    if GENERATED_NAMES.search(name) or is_vendored(path) or not BUILT_FOLDERS.isdisjoint(folders):
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
    return ("generated" in lower or "do not" in lower) and GENERATED_WORDS.search(header) is not None


def has_long_line(text: str) -> bool:
    """Return whether a line is longer than `LONGEST_LINE`, reading only the places where one would have to end."""
    start = 0
    while len(text) - start > LONGEST_LINE:
        end = text.rfind("\n", start, start + LONGEST_LINE + 1)
        if end < 0:
            return True
        start = end + 1
    return False
