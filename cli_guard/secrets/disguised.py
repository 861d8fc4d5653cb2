"""Tokens that are not written as one literal: joined from parts on a line, or one level deep in base64."""

import codecs
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from cli_guard.model import Confidence
from cli_guard.secrets.candidates import CheckTime, Hit, decode_base64
from cli_guard.secrets.names import compile_once

# From the quote that ends one literal to that which begins the next, inside a possible token. What is
# between may be a literal of its own: skipping it is safe, since only providers' formats count.
INSIDE = r"[\w\-.+/=]"
# All forms begin with one set of characters: the search skips what begins with no other.
JOINT = (
    rf"""(?P<quote>["'`$])(?:(?<={INSIDE}["'`])[ \t]{{0,8}}+(?:[+.&][ \t]{{0,8}}+)?"""
    rf"""(?:\\?\r?\n[ \t]{{0,40}}+(?:[+.&][ \t]{{0,8}}+)?)?"""
    rf"""[fFbBrRuU]{{0,2}}+(?P=quote)(?={INSIDE})"""
    # A shell joins `"a"'b'`, a template `a${""}b`.
    rf"""|(?<!\$)["'`](?<={INSIDE}..)(?={INSIDE})|(?<=\$)\{{(?:""|'')\}}(?<={INSIDE}.{{5}})(?={INSIDE}))"""
)
RUN = r"[A-Za-z0-9+/]{24,}+={0,2}"
# A literal of escapes (`\x41`, `\u0041`, `%41`, `\101`), of hex digits, of character codes.
ESCAPES = (
    r"(?:\\(?:x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|u\{[0-9A-Fa-f]{1,6}\}|[0-7]{3})"
    r"|&#\w{2,3};|%[0-9A-Fa-f]{2}|[\w.=+/-]){8,}+"
)
ESCAPE = r"&#\w{2,3};|\\x([0-9A-Fa-f]{2})|\\u([0-9A-Fa-f]{4})|\\u\{([0-9A-Fa-f]{1,6})\}|%([0-9A-Fa-f]{2})|\\([0-7]{3})"
HEX = r"(?<![0-9A-Za-z])(?:0x)?((?:[2-7][0-9A-Fa-f]){16,})(?![0-9A-Za-z])"
CODES = r"(?:\b(?:0x[2-7][0-9A-Fa-f]|[3-9]\d|1[01]\d|12[0-6])\b[ \t]*,[ \t]*\r?\n?[ \t]*){15,}\d[\dxA-Fa-f]{1,3}\b"
# Quoted text next to a word for the trick: reversed (`[::-1]`, `.reverse()`, `strrev`), or turned by 13 letters.
TURNED = r"[\"'`]([\w.=+/-]{16,})[\"'`]"
BACKWARDS = r"\[::-1\]|revers|strrev|\brev\b"
ROTATED = r"(?i)rot_?13"
# What every match of HEX and of CODES holds, and a search finds or rules out at ten times the speed.
IN_HEX = r"[2-7][0-9A-Fa-f](?:[2-7][0-9A-Fa-f]){15}"
IN_CODES = r",[ \t]*\r?\n?[ \t]*(?:0x[2-7]|[1-9])[\dA-Fa-f]{1,2}[ \t]*,"
KUBERNETES_ENTRY = (
    r"^[ \t]+(?P<name>[\w.-]{2,80}):[ \t]+[\"']?(?P<value>[A-Za-z0-9+/]{6,400}={0,2})[\"']?[ \t]*\r?$"
)
CLEAR = 0.97
ScanText = Callable[[str], Sequence[Hit]]


def find_joined(text: str, scan: ScanText, check_time: CheckTime) -> list[tuple[int, int, Hit]]:
    """Return hits of `scan` across a joint, with their places in the text."""
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


def _pieces(text: str, check_time: CheckTime) -> Iterator[tuple[int, int]]:
    """Yield the parts between the joints, of lines that have any; each line's last part has its line end."""
    position = end = 0
    for steps, match in enumerate(compile_once(JOINT).finditer(text)):
        if steps % 1024 == 0:
            check_time(match.start())
        if match.start() >= end:
            if position < end:
                yield position, end
            position = text.rfind("\n", 0, match.start()) + 1
        if match.end() > end:  # the next joint of a literal over several lines begins before this end
            end = text.find("\n", match.end()) + 1 or len(text)
        if position < match.start():
            yield position, match.start()
        position = match.end()
    if position < end:
        yield position, end


def find_encoded(text: str, scan: ScanText, check_time: CheckTime) -> Iterator[Hit]:
    """Find secrets of a provider's format inside base64, and any certain one in JSON or a Kubernetes Secret.

    The hit covers the whole base64 run, its value is the inner secret. `check_time` raises when time is up.
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


def find_transformed(text: str, scan: ScanText, check_time: CheckTime) -> Iterator[Hit]:
    """Find secrets of a provider's format in literals that a program turns into them: the hit covers the literal."""
    for start, end, clear in _undo_tricks(text):
        check_time(start)
        for hit in scan(clear):
            if not hit.generic:
                yield replace(hit, start=start, end=end, encoded=True)
                break


def _undo_tricks(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the places of such literals, with what they mean."""
    escape = compile_once(ESCAPE)
    if escape.search(text):
        for match in compile_once(ESCAPES).finditer(text):
            if escape.search(match[0]):
                yield *match.span(), escape.sub(_unescape, match[0])
    for match in compile_once(HEX).finditer(text) if compile_once(IN_HEX).search(text) else ():
        yield *match.span(), bytes.fromhex(match[1]).decode("ascii", "replace")
    for match in compile_once(CODES).finditer(text) if compile_once(IN_CODES).search(text) else ():
        codes = (int(code.strip(), 0) for code in match[0].split(","))
        yield *match.span(), "".join(map(chr, codes))
    clues = (
        (("[::-1]", "rev"), BACKWARDS, lambda text: text[::-1]),
        (("13",), ROTATED, lambda text: codecs.encode(text, "rot13")),
    )
    for signs, clue, turn in clues:
        if any(sign in text for sign in signs) and compile_once(clue).search(text):
            for match in compile_once(TURNED).finditer(text):
                yield *match.span(1), turn(match[1])


def _unescape(match: re.Match[str]) -> str:
    if match[0].startswith("&"):
        import html  # its table of names takes longer to load than a command to judge

        return html.unescape(match[0])
    code = int(next(filter(None, match.groups())), 8 if match[5] else 16)
    return chr(min(code, 0x10FFFF))


def _kubernetes(text: str, scan: ScanText, check_time: CheckTime) -> Iterator[Hit]:
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
    """Return whether the first bytes decode to printable ASCII or begin a gzip, to skip most hashes and images."""
    if run.startswith("H4sI"):
        return True
    start = decode_base64(run[:16])
    return start is not None and start.isprintable()


def _is_clear(decoded: str) -> bool:
    printable = sum(char.isprintable() or char in "\r\n\t" for char in decoded)
    return bool(decoded) and decoded.isascii() and printable >= CLEAR * len(decoded)
