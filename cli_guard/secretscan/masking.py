"""Hides secrets in text that is going to be shown, logged or handed on."""

import re
from collections.abc import Sequence

from cli_guard.secretscan.candidates import Hit

STARS = "****"
PREFIX = 4
SHARE = 5


def mask(value: str) -> str:
    """The first characters of a value, at most four and at most a fifth of it, and stars for the rest."""
    return value[: min(PREFIX, len(value) // SHARE)] + STARS if len(value) >= PREFIX * SHARE else STARS


def mask_hits(text: str, hits: Sequence[Hit], start: int = 0, end: int | None = None) -> str:
    """`text[start:end]` with every hit that reaches into it masked, and every other place of its value."""
    end = len(text) if end is None else end
    parts, position = [], start
    for first, last, shown in _spans(text, hits, start, end):
        if last > position and first < end:
            parts += [text[position : max(first, position)], shown]
            position = min(last, end)
    return "".join((*parts, text[position:end]))


def _spans(text: str, hits: Sequence[Hit], start: int, end: int) -> list[tuple[int, int, str]]:
    """What to hide: the hits, and their values where no rule recognises them, cut by the edge or not."""
    spans = [(hit.start, hit.end, _shown(hit)) for hit in hits]
    for value in {hit.value for hit in hits if len(hit.value) >= PREFIX}:
        low, high = max(start - len(value), 0), end + len(value)
        position = text.find(value, low, high)
        while position >= 0:
            spans.append((position, position + len(value), mask(value)))
            position = text.find(value, position + len(value), high)
    return sorted(spans, key=lambda span: (span[0], -span[1], -len(span[2])))


def _shown(hit: Hit) -> str:
    """The mask of one hit; of a private key its first line says what it was."""
    match = re.match(r"-{5}BEGIN [A-Z0-9 ]+-{5}", hit.value)
    if match:
        return match[0] + STARS
    return STARS if hit.encoded else mask(hit.value)
