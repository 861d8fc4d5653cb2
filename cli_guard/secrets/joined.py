"""Tokens whose literal is in parts on one line: `"ghp_" + "..."`, `"AKIA" "..."`, `"sk_" . "live_..."`."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import cache

from cli_guard.secrets.candidates import Hit

# From the quote that ends one literal to that which begins the next, inside what may be one token. What is
# between may be a literal of its own: to read over it costs nothing, since only providers' formats count.
INSIDE = r"[\w\-.+/=]"
JOINT = (
    rf"""(?P<quote>["'`])(?<={INSIDE}["'`])[ \t]{{0,8}}+(?:[+.&][ \t]{{0,8}}+)?"""
    rf"""[fFbBrRuU]{{0,2}}+(?P=quote)(?={INSIDE})"""
)


@cache
def joint() -> re.Pattern[str]:
    """Where one literal of a line ends and the one joined to it begins."""
    return re.compile(JOINT)


def find_joined(
    text: str, scan: Callable[[str], Sequence[Hit]], check_time: Callable[[int], None]
) -> list[tuple[int, int, Hit]]:
    """Hits of `scan` over a joint, with the place that each has in the text."""
    parts: list[str] = []
    lengths, places = [0], [0]
    for first, last in _pieces(text, check_time):
        parts.append(text[first:last])
        lengths.append(lengths[-1] + last - first)
        places.append(first)
    if not parts:
        return []

    def place(offset: int) -> int:
        piece = bisect_right(lengths, offset) - 1
        return places[piece + 1] + offset - lengths[piece]

    found = ((place(hit.start), place(hit.end - 1) + 1, hit) for hit in scan("".join(parts)))
    return [each for each in found if each[1] - each[0] > each[2].end - each[2].start]


def _pieces(text: str, check_time: Callable[[int], None]) -> Iterator[tuple[int, int]]:
    """The parts between the joints, of lines that have any; each line's last part has its line end."""
    position = end = 0
    for steps, match in enumerate(joint().finditer(text)):
        if steps % 1024 == 0:
            check_time(match.start())
        if match.start() >= end:
            if position < end:
                yield position, end
            position = text.rfind("\n", 0, match.start()) + 1
            end = text.find("\n", match.end()) + 1 or len(text)
        if position < match.start():
            yield position, match.start()
        position = match.end()
    if position < end:
        yield position, end
