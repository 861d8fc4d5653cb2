"""Recognise files that usually hold credentials by their names."""

import re
from fnmatch import translate
from functools import cache

from cli_guard.rules import catalog
from cli_guard.secrets.names import BUNDLED
from cli_guard.secrets.values import is_template

RULE = "secret-file-name"
NEVER = r"(?!)"


def rule() -> catalog.Rule:
    return catalog.one("secrets", RULE)


def is_risky(path: str) -> bool:
    """Return whether a file of this name usually holds credentials; templates and public halves do not."""
    folded = path.lower()
    return _matches(folded, "names") and not _matches(folded, "but")


def risky_patterns() -> tuple[str, ...]:
    """Return the patterns of such names, in lower case, for fnmatch(3) over whole paths; they take templates too."""
    patterns: list[str] = rule().extra["names"]
    anywhere = (f"*/{pattern}" for pattern in patterns if "/" not in pattern)
    return (*patterns, *anywhere)


def has_no_value(line: str) -> bool:
    """Return whether a line of settings is blank, a comment, `NAME=`, `NAME=op://vault/entry` or public by name."""
    line = line.strip()
    name, sign, value = line.partition("=")
    if not line or line.startswith("#") or not sign:
        return not line or line.startswith("#")
    name = name.strip().removeprefix("export ")
    value = value.strip("\"' ")
    if not name.isidentifier():
        return False
    return not value or is_template(value) or re.match(BUNDLED, name) is not None


def _matches(path: str, listed: str) -> bool:
    for_paths, for_names = _patterns(listed)
    return bool(for_names.match(path.rpartition("/")[2]) or for_paths.match(path))


@cache
def _patterns(listed: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Join the patterns of a list into two, for speed: those with a slash match the whole path."""
    patterns: list[str] = rule().extra[listed]
    of_paths = [translate(pattern) for pattern in patterns if "/" in pattern]
    of_names = [translate(pattern) for pattern in patterns if "/" not in pattern]
    return _any_of(of_paths), _any_of(of_names)


def _any_of(patterns: list[str]) -> re.Pattern[str]:
    return re.compile("|".join(patterns) if patterns else NEVER)
