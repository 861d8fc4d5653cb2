"""Tells from the name of a file that it usually holds credentials."""

from fnmatch import fnmatchcase
from functools import cache

from cli_guard.rules import catalog
from cli_guard.secretscan.values import is_template

RULE = "secret-file-name"


@cache
def rule() -> catalog.Rule:
    """The rule with its lists of names."""
    return next(rule for rule in catalog.load("secrets") if rule.id == RULE)


def is_risky(path: str) -> bool:
    """Does a file of this name usually hold credentials? Templates and public halves do not."""
    folded = path.lower()
    return _matches(folded, rule().extra["names"]) and not _matches(folded, rule().extra["but"])


def has_no_value(line: str) -> bool:
    """Is a line of settings blank, a comment, `NAME=`, or `NAME=op://vault/entry`?"""
    line = line.strip()
    name, sign, value = line.partition("=")
    if not line or line.startswith("#") or not sign:
        return not line or line.startswith("#")
    value = value.strip("\"' ")
    return name.strip().removeprefix("export ").isidentifier() and (not value or is_template(value))


def _matches(path: str, patterns: list[str]) -> bool:
    name = path.rpartition("/")[2]
    return any(fnmatchcase(path if "/" in pattern else name, pattern) for pattern in patterns)
