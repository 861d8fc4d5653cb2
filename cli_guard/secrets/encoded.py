"""Looks one level into base64: the data of a Kubernetes Secret, a key wrapped to fit into a variable."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache

from cli_guard.model import Confidence
from cli_guard.secrets.candidates import Hit
from cli_guard.secrets.grading import decode_base64

RUN = r"[A-Za-z0-9+/]{24,}+={0,2}"
KUBERNETES_ENTRY = (
    r"^[ \t]+(?P<name>[\w.-]{2,80}):[ \t]+[\"']?(?P<value>[A-Za-z0-9+/]{6,400}={0,2})[\"']?[ \t]*\r?$"
)
CLEAR = 0.97


@cache
def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.M)


def find_encoded(
    text: str, scan: Callable[[str], Sequence[Hit]], check_time: Callable[[int], None]
) -> Iterator[Hit]:
    """Secrets of a provider's format inside base64, and any sure one if that is JSON or of a Kubernetes Secret.

    The hit covers the whole base64 run, its value is what was found inside. `check_time` raises when time is up.
    """
    if "kind: Secret" in text:
        yield from _kubernetes(text, scan, check_time)
    for match in _compile(RUN).finditer(text):
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
    for match in _compile(KUBERNETES_ENTRY).finditer(text):
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
