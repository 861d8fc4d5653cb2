"""Tokens that are not written as one literal: joined from parts on a line, or one level deep in base64."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from cli_guard.model import Confidence
from cli_guard.secrets.candidates import Hit, decode_base64
from cli_guard.secrets.names import compile_once

# From the quote that ends one literal to that which begins the next, inside what may be one token. What is
# between may be a literal of its own: to read over it costs nothing, since only providers' formats count.
INSIDE = r"[\w\-.+/=]"
JOINT = (
    rf"""(?P<quote>["'`])(?<={INSIDE}["'`])[ \t]{{0,8}}+(?:[+.&][ \t]{{0,8}}+)?"""
    rf"""[fFbBrRuU]{{0,2}}+(?P=quote)(?={INSIDE})"""
)
RUN = r"[A-Za-z0-9+/]{24,}+={0,2}"
KUBERNETES_ENTRY = (
    r"^[ \t]+(?P<name>[\w.-]{2,80}):[ \t]+[\"']?(?P<value>[A-Za-z0-9+/]{6,400}={0,2})[\"']?[ \t]*\r?$"
)
CLEAR = 0.97


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
    for steps, match in enumerate(compile_once(JOINT).finditer(text)):
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


def find_encoded(
    text: str, scan: Callable[[str], Sequence[Hit]], check_time: Callable[[int], None]
) -> Iterator[Hit]:
    """Secrets of a provider's format inside base64, and any sure one if that is JSON or of a Kubernetes Secret.

    The hit covers the whole base64 run, its value is what was found inside. `check_time` raises when time is up.
    """
    if "kind: Secret" in text:
        yield from _kubernetes(text, scan, check_time)
    for match in compile_once(RUN, re.M).finditer(text):
        check_time(match.start())
        decoded = decode_base64(match[0]) if _may_be_text(match[0]) else None
        if decoded is None or not _is_clear(decoded):
            continue
        for hit in scan(decoded):
            if not hit.generic or (hit.confidence is Confidence.HIGH and decoded.startswith("{")):
                yield replace(hit, start=match.start(), end=match.end(), encoded=True, generic=False)
                break


def _kubernetes(
    text: str, scan: Callable[[str], Sequence[Hit]], check_time: Callable[[int], None]
) -> Iterator[Hit]:
    for match in compile_once(KUBERNETES_ENTRY, re.M).finditer(text):
        check_time(match.start())
        decoded = decode_base64(match["value"])
        if not decoded or not _is_clear(decoded):
            continue
        for hit in scan(f'{match["name"]} = "{decoded}"'):
            start, end = match.span("value")
            yield replace(hit, start=start, end=end, encoded=True, generic=False)
            break


def _may_be_text(run: str) -> bool:
    """Do the first bytes of the run decode to printable ASCII? Spares decoding most hashes and images."""
    start = decode_base64(run[:16])
    return start is not None and start.isprintable()


def _is_clear(decoded: str) -> bool:
    printable = sum(char.isprintable() or char in "\r\n\t" for char in decoded)
    return bool(decoded) and decoded.isascii() and printable >= CLEAR * len(decoded)
