"""The language of a file, under the names that ast-grep uses."""

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import PurePosixPath

from cli_guard.rules.catalog import read_table

_TABLE = read_table("languages/files.toml")


def _by_word(rows: Mapping[str, str]) -> dict[str, str]:
    return {word: language for language, words in rows.items() for word in words.split()}


# The languages that reviewers read, and all that have a grammar, by file extension.
REVIEWED = _by_word(_TABLE["reviewed"])
ENDINGS = REVIEWED | _by_word(_TABLE["others"])
GRAMMARS = frozenset(ENDINGS.values())
# What rules say of the second language holds for the first.
FAMILY = {"typescript": "javascript", "tsx": "javascript", "cpp": "c"}
INTERPRETERS = _by_word(_TABLE["interpreters"])
# Languages whose risks no reviewer knows, under the names that people use.
SECRETS_ONLY = _by_word(_TABLE["secrets_only"])
COMMENTS = _by_word(_TABLE["comments"])
SHEBANG = re.compile(
    r"#! ?(?:\S{0,80}/)?(?:env (?:-S )?)?([a-z]{1,20})[0-9.]{0,10}(?:\s|$)"
)


@lru_cache(maxsize=10_000)
def suffix_of(path: str) -> str:
    """Return the extension of a path with its dot, in lower case, "" if none; cached, as every reviewer asks."""
    return PurePosixPath(path).suffix.lower()


def language_of(path: str, first_line: str = "") -> str | None:
    """Return the language of a file that reviewers read, None for any other.

    It follows from the extension or, without one, from the interpreter in `first_line`.
    """
    suffix = suffix_of(path)
    if suffix or not first_line.startswith("#!"):
        return REVIEWED.get(suffix)
    named = SHEBANG.match(first_line)
    return INTERPRETERS.get(named[1]) if named else None


def language_for(path: str, text: str = "") -> str | None:
    """Return the language of any file, None without a grammar; `text` counts if the path has no extension."""
    return ENDINGS.get(suffix_of(path)) or language_of(path, text[:200].split("\n", 1)[0])


def unread_language(path: str) -> str | None:
    """Return the name of a programming language whose files are searched for secrets only, None for others."""
    return SECRETS_ONLY.get(suffix_of(path))


def comment(path: str, text: str) -> str | None:
    """Return a text as a comment in the language of a file, None if it has no comments or its sign is not known."""
    names = (
        language_for(path),
        unread_language(path),
        suffix_of(path),
        PurePosixPath(path).name.lower(),
    )
    begin, _, end = next(
        (COMMENTS[name] for name in names if name in COMMENTS), ""
    ).partition(" ")
    return f"{begin} {text} {end}".rstrip() if begin else None
