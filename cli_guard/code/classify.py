"""Which files are not worth a reader's remarks: generated, minified, vendored."""

import re
from statistics import median_low

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
# A long line among short ones is a comment, a table or an image; where the lines are long, a program wrote them.
LONG_LINE_MEDIAN = 300


def is_vendored(path: str) -> bool:
    """Does the file lie in a folder of other people's code?"""
    return not VENDORED_FOLDERS.isdisjoint(path.split("/")[:-1])


def is_generated(path: str, text: str) -> bool:
    """Is it the work of somebody else or of a program, by its folder or name, or by the median length of its lines?

    What a file says of itself does not count: a header `@generated` is as easy to write as what it would hide.
    So a folder such as `dist/` or `build/`, which may well be written by hand, is left out only as far as it
    is minified.
    """
    if is_vendored(path) or MINIFIED_OR_LOCK.search(path.rpartition("/")[2]):
        return True
    if len(text) <= max(LONGEST_LINE, LONG_LINE_MEDIAN * text.count("\n") // 2):
        return False  # short, or fewer than half of the lines can be that long
    return median_low(len(line) for line in text.split("\n") if line.strip()) > LONG_LINE_MEDIAN


def unreadable(path: str, text: str, file_chars: int) -> str | None:
    """Why a file is not reviewed for its form (too long, generated, minified), None if it is."""
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
