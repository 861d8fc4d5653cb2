"""Words of code that documents repeat, and what the badge of a build is called."""

import posixpath
import re
from collections.abc import Iterator, Sequence
from itertools import islice

from cli_guard.code.facts import DATA
from cli_guard.code.languages import language_for
from cli_guard.reviewers.drift.documents import TABLE, is_page
from cli_guard.rules.catalog import read_table

# What documents may repeat of code: the name of a file of settings, and words that several parts make. In quotes such
# a word is a choice, a rule or a key, elsewhere an identifier.
JOINED_WORD = re.compile(
    r"(?<=[\"'`])(?:[\w-]{2,40}\.(?:ya?ml|toml|json|ini|cfg|conf)|[A-Za-z][A-Za-z\d]{1,30}(?:-[A-Za-z\d]{1,30}){1,5})"
    r"(?=[\"'`])|(?<![\w-])[A-Za-z_][A-Za-z\d]{1,30}(?:_[A-Za-z\d]{1,30}){1,5}(?![\w-])"
)
# What a file no longer imports is there for others.
IMPORT_LINE = re.compile(
    r"(?m)^(?:\s*(?:import|from|use|include|#include)\b|[^\n]*\brequire\b).*$"
)
MOST_WORDS = 150


def find_lost_words(files: Sequence[tuple[str, str, str]]) -> Iterator[tuple[str, str]]:
    """Yield the words of changed code that it no longer has, at most `MOST_WORDS`, each with the path of its file.

    A file is its path, the lines that the change removes, and its text after the change.
    """
    went: dict[str, str] = {}
    for path, removed, _ in files:
        if removed and is_code(path):
            used = IMPORT_LINE.sub("", removed)
            went.update(dict.fromkeys(JOINED_WORD.findall(used), path))
    left: set[str] = set()
    for _, _, text in files if went else ():
        left.update(JOINED_WORD.findall(text))
    for name in islice(sorted(went.keys() - left), MOST_WORDS):
        yield name, went[name]


def is_code(path: str) -> bool:
    return language_for(path) not in (None, "", *DATA) and not is_page(path)


def is_joined(name: str) -> bool:
    """Return whether a name is made of several words, so that no sentence has it by chance."""
    return JOINED_WORD.findall(f"`{name}`") == [name]


def build_of(path: str) -> str:
    """Return what the address of a badge says of the build that a file configures, "" if it configures none."""
    folder, name = posixpath.split(path)
    if folder == ".github/workflows":
        return f"workflows/{name}"
    build: str = read_table(TABLE)["builds"].get(path, "")
    return build
