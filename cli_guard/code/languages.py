"""In which language a file is written, by the names that ast-grep has for languages."""

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import PurePosixPath

from cli_guard.rules.catalog import read_table

_TABLE = read_table("languages/files.toml")


def _by_word(rows: Mapping[str, str]) -> dict[str, str]:
    return {word: language for language, words in rows.items() for word in words.split()}


# The languages that reviewers read, and all that have a grammar, by the ending of a file.
REVIEWED = _by_word(_TABLE["reviewed"])
ENDINGS = REVIEWED | _by_word(_TABLE["others"])
GRAMMARS = frozenset(ENDINGS.values())
INTERPRETERS = _by_word(_TABLE["interpreters"])
SHEBANG = re.compile(r"#! ?(?:\S{0,80}/)?(?:env (?:-S )?)?([a-z]{1,20})[0-9.]{0,10}(?:\s|$)")


@lru_cache(maxsize=10_000)
def suffix_of(path: str) -> str:
    """The ending of a path with its dot, in lower case, "" if it has none: every reviewer asks it of every file."""
    return PurePosixPath(path).suffix.lower()


def language_of(path: str, first_line: str = "") -> str | None:
    """The language of a file that reviewers read, None for any other.

    The ending of its path tells, or, where it has none, the interpreter that `first_line` names.
    """
    suffix = suffix_of(path)
    if suffix or not first_line.startswith("#!"):
        return REVIEWED.get(suffix)
    named = SHEBANG.match(first_line)
    return INTERPRETERS.get(named[1]) if named else None


def language_for(path: str, text: str = "") -> str | None:
    """The language of any file, None for one that has no grammar; `text` counts where the path has no ending."""
    return ENDINGS.get(suffix_of(path)) or language_of(path, text[:200].split("\n", 1)[0])
