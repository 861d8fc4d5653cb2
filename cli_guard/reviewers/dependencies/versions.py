"""Versions and ranges: whether a version is in a range, and whether a move is one to another major version.

Ranges of npm, Cargo, Composer, Poetry, RubyGems and PEP 440, as far as they are plain; anything else has no answer.
"""

import re

CLAUSE = re.compile(r"(===|==|~=|~>|>=|<=|!=|>|<|=|\^|~)?\s*v?(\d[\w.*+!-]*|\*|[xX])")
PRE_RELEASE = re.compile(
    r"\d(?:[._-]?(?:a|b|c|rc|alpha|beta|pre|dev|next|canary|snapshot|m)[._-]?\d*)|-\w",
    re.IGNORECASE,
)
Parts = tuple[int, ...]


def parts_of(version: str) -> Parts:
    """Return the numbers of a version up to its first word: `1.2.3rc1` and `v1.2.3-4` give (1, 2, 3)."""
    found = re.match(r"[^\d]*(\d+(?:\.\d+)*)", version.split("!")[-1])
    return tuple(map(int, found[1].split("."))) if found else ()


def is_major_move(old: str, new: str) -> bool:
    """Return whether a version or range moves up to another first number."""
    if re.fullmatch(r"\s*>=?[^,<]*", old):
        return False  # the new version was accepted before
    before = parts_of(old)[:1]
    after = parts_of(new)[:1]
    return bool(before and after and after > before and after[0] < 1_900)


def is_patch_move(old: str, new: str) -> bool:
    """Return whether an exact version moves up, but keeps its first two numbers, the first of which is not 0."""
    before = parts_of(old)
    after = parts_of(new)
    is_stable = len(after) > 2 and after[0] > 0
    return is_stable and old != new and before[:2] == after[:2] and after >= before


def is_in_range(version: str, wanted: str, ecosystem: str) -> bool | None:
    """Return whether a version satisfies a range, None if this reader cannot tell."""
    wanted = wanted.strip()
    if not wanted or wanted in ("*", "latest"):
        return True
    if PRE_RELEASE.search(wanted) or not parts_of(version):
        return None
    answers = [
        _all_hold(parts_of(version), each, ecosystem) for each in re.split(r"\|\|?", wanted)
    ]
    if True in answers:
        return None if PRE_RELEASE.search(version) else True
    return None if None in answers else False


def _all_hold(version: Parts, wanted: str, ecosystem: str) -> bool | None:
    if " - " in wanted:
        low, _, high = wanted.partition(" - ")
        wanted = f">={low.strip()} <={high.strip()}"
    rest = CLAUSE.sub("", wanted)
    clauses = CLAUSE.findall(wanted)
    if rest.strip(" ,\t\"'") or not clauses:
        return None
    bare = {"cargo": "^", "npm": "=", "composer": "=", "gem": "="}.get(ecosystem, "==")
    if ecosystem == "composer":
        # There ~2.1 leaves the last number that is written free, as ~> does for gems.
        clauses = [(operator.replace("~", "~>"), text) for operator, text in clauses]
    return all(_holds(version, operator or bare, text) for operator, text in clauses)


def _holds(version: Parts, operator: str, text: str) -> bool:
    stars = re.split(r"[.]?[*xX]", text, maxsplit=1)
    prefix = parts_of(stars[0])
    if len(stars) > 1 or (operator == "=" and len(prefix) < 3):
        matches = version[: len(prefix)] == prefix
        if operator == "!=":
            return not matches
        return matches or operator not in ("=", "==", "^", "~", "===")
    size = max(len(version), len(prefix), 4)
    have, want = (_pad(each, size) for each in (version, prefix))
    if operator in ("==", "===", "=", "!="):
        return (have == want) != (operator == "!=")
    if operator in (">", ">=", "<", "<="):
        return {">": have > want, ">=": have >= want, "<": have < want, "<=": have <= want}[
            operator
        ]
    if operator == "^":
        lead = next((at for at, each in enumerate(prefix) if each), len(prefix) - 1)
    elif operator == "~":
        lead = min(1, len(prefix) - 1)
    else:  # ~= and ~>: the last number that is written may grow
        lead = max(len(prefix) - 2, 0)
    return have >= want and have[: lead + 1] == want[: lead + 1]


def _pad(parts: Parts, size: int) -> Parts:
    return (*parts, *(0,) * (size - len(parts)))
