"""Brace expansion (bash(1), Brace Expansion): `{a,b}` and `{1..3}` in the unquoted parts of a word.

Groups inside of each other are outside of the plain subset, and only the innermost is expanded.
"""

import math
import re
from collections.abc import Iterator
from itertools import product

from cli_guard.commands.parse.tree import Part, Text
from cli_guard.commands.scope import OutOfBudget
from cli_guard.lazy import regex

MOST_BRACES = 100
GROUP = regex(r"(?<!\$)\{([^{}]*,[^{}]*|(-?\d{1,3})\.\.(-?\d{1,3}))\}")
# What is quoted or expanded is one private-use character while braces are matched.
STAND_IN = 0xE000


def expand_braces(parts: tuple[Part, ...]) -> Iterator[tuple[Part, ...]]:
    """Return the words that a word with braces expands to, in order; one without braces is returned as it is."""
    plain = "".join(
        part.text if isinstance(part, Text) and not part.quoted else chr(STAND_IN + at)
        for at, part in enumerate(parts)
    )
    groups = list(GROUP.finditer(plain))
    if not groups:
        yield parts
        return
    choices = [list_choices(group) for group in groups]
    if math.prod(map(len, choices)) > MOST_BRACES:
        raise OutOfBudget("more words in braces than are judged")
    pieces = GROUP.split(plain)[:: GROUP.groups + 1]
    for chosen in product(*choices):
        text = pieces[0] + "".join(map("".join, zip(chosen, pieces[1:], strict=True)))
        yield tuple(restore_parts(text, parts)) or (Text(""),)


def list_choices(group: "re.Match[str]") -> list[str]:
    if group[2] is None:
        return group[1].split(",")
    first = int(group[2])
    last = int(group[3])
    width = (
        max(map(len, group.groups()[1:]))
        if re.search(r"(?:^|-)0\d", f"{group[2]} {group[3]}")
        else 0
    )
    step = 1 if last >= first else -1
    return [f"{number:0{width}d}" for number in range(first, last + step, step)]


def restore_parts(text: str, parts: tuple[Part, ...]) -> Iterator[Part]:
    """Put back what the private-use characters stand for."""
    for piece in filter(None, re.split("([\ue000-\uf8ff])", text)):
        at = ord(piece[0]) - STAND_IN
        yield parts[at] if 0 <= at < len(parts) else Text(piece)
