"""Path and name patterns: `*` within a folder, `**` across folders, `?` one character; nothing else is special."""

import re
from functools import lru_cache


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    out = []
    position = 0
    while position < len(pattern):
        if pattern.startswith("**/", position):
            out.append("(?:.*/)?")
            position += 3
        elif pattern.startswith("**", position):
            out.append(".*")
            position += 2
        else:
            char = pattern[position]
            out.append({"*": "[^/]*", "?": "[^/]"}.get(char, re.escape(char)))
            position += 1
    return re.compile("".join(out), re.DOTALL)


def matches(pattern: str, path: str) -> bool:
    """Does the whole path match? A pattern without a slash matches the name in any folder."""
    if "/" not in pattern:
        path = path.rsplit("/", 1)[-1]
    return _compiled(pattern).fullmatch(path) is not None


def rule_matches(pattern: str, rule: str) -> bool:
    """Does a rule id match an id or a prefix with `*`?"""
    return rule.startswith(pattern[:-1]) if pattern.endswith("*") else rule == pattern
