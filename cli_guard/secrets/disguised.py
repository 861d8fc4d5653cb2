"""Tokens that are not written as they are: in base64 or another encoding, in escapes, backwards."""

import base64
import binascii
import codecs
import re
import string
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from cli_guard.model import Confidence
from cli_guard.repository.texts import find_runs
from cli_guard.secrets.candidates import SecretHit, Spend, decode_base32, decode_base64
from cli_guard.secrets.names import compile_once

# Base64: the characters of a run, 24 or more, and how it ends (`find_runs`).
BASE64 = f"{string.ascii_letters}{string.digits}+/".encode()
KINDS = bytes.maketrans(BASE64, b"r" * len(BASE64))
RUN = (b"r" * 24, re.compile(b"r*+={0,2}"))
# A literal of escapes (`\x41`, `\u0041`, `%41`, `\101`), of character codes; a run of hex digits.
ESCAPE = (
    r"&(?:#\w{2,5}|shy|zwn?j);|%([0-9A-Fa-f]{2})"
    r"|\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|u\{([0-9A-Fa-f]{1,6})\}|U([0-9A-Fa-f]{8})|([0-7]{2,3}))"
)
# A longer run is read in pieces: each step of the loop is kept until it ends.
ESCAPES = rf"(?>(?:{ESCAPE}|[\w.=+/-]){{8,50000}})"
BEFORE_ESCAPE = 200
PLAIN = f"{string.ascii_letters}{string.digits}_.=+/-"
OCTAL = 6  # its group
HEX = r"(?:0x)?((?:[2-7][0-9A-Fa-f]){16,})"
CODE = r"\b(?:0x[2-7][0-9A-Fa-f]|[3-9]\d|1[01]\d|12[0-6])\b"
CODES = rf"(?>(?:{CODE}\)?[ \t]*+[,+.][ \t]*+\r?\n?[ \t]*+(?:[cC]hr\()?){{15,}})(?:{CODE})?"
# Quoted text next to a word for the trick: reversed (`[::-1]`, `.reverse()`, `strrev`), or turned by 13 letters.
TURNED = r"[\"'`]([\w.=+/-]{16,})[\"'`]"
BACKWARDS = r"\[::-1\]|rev(?:ers|(?<=strrev)|(?<=\brev)\b)"
ROTATED = r"(?i)rot_?13"
# Any literal without blanks, next to the name of the encoding, or between its own marks.
NAMED_85 = (
    r"85(?:(?<=[Ss][Ee]85)|(?<=[Ii][Ii]85)|(?<=[Ee][_-]85)|(?<=\b[ABab]85)(?:en|de|\b))"
)
IN_85 = r"(\"{3}|'{3}|[\"'`])((?>(?:(?!\1)[!-~]){20,}))\1|<~([!-uz\s]{20,}+)~>"
UUENCODED = r"(?m)^begin [0-7]{3,4} [^\n]{1,200}\n((?:[ -`]{1,62}\r?\n)+)"
# What every match of CODES holds, and a search finds or rules out at ten times the speed.
IN_CODES = r",[ \t]*\r?\n?[ \t]*(?:0x[2-7]|[1-9])[\dA-Fa-f]{1,2}[ \t]*,"
# An entry of base64, on the line of its name or as the lines of a block.
KUBERNETES_ENTRY = (
    r"^[ \t]+(?P<name>[\w.-]{2,80}):[ \t]+(?:[|>][-+\d]{0,2}[ \t]*\r?\n[ \t]+)?[\"']?"
    r"(?P<value>[A-Za-z0-9+/]{6,400}(?:\r?\n[ \t]+[A-Za-z0-9+/]{1,400}){0,50}={0,2})[\"']?[ \t]*\r?$"
)
CLEAR = 0.97
# Scans a decoded text; False: only for the formats of providers, as no other hit would count.
ScanText = Callable[[str, bool], Sequence[SecretHit]]
Find = Callable[[str, ScanText, Spend], Iterator[SecretHit]]


def find_encoded(text: str, scan: ScanText, spend: Spend) -> Iterator[SecretHit]:
    """Find secrets of a provider's format inside base64, base32 or hex, any certain one in JSON or a Kubernetes Secret.

    The hit covers the whole run, its value is the inner secret. `spend` counts the work.
    """
    if "kind: Secret" in text:
        yield from _kubernetes(text, scan, spend)
    for start, end in find_runs(text.encode("latin-1", "replace").translate(KINDS), *RUN):
        spend(start)
        decoded = _decode(text[start:end])
        if decoded is None or not _is_clear(decoded):
            continue
        is_json = decoded.startswith("{")
        for hit in scan(decoded, is_json):
            if not hit.generic or (hit.confidence is Confidence.HIGH and is_json):
                yield replace(hit, start=start, end=end, encoded=True, generic=False)
                break


def find_transformed(text: str, scan: ScanText, spend: Spend) -> Iterator[SecretHit]:
    """Find secrets of a provider's format in literals that a program turns into them: the hit covers the literal."""
    for start, end, clear in _undo_tricks(text):
        spend(start)
        for hit in scan(clear, False):
            if not hit.generic:
                yield replace(hit, start=start, end=end, encoded=True)
                break


def _undo_tricks(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the places of such literals, with what they mean."""
    yield from _undo_escapes(text)
    for match in compile_once(CODES).finditer(text) if _may_hold_codes(text) else ():
        codes = (int(code, 0) for code in compile_once(CODE).findall(match[0]))
        yield *match.span(), "".join(map(chr, codes))
    if compile_once(NAMED_85).search(text):
        for match in compile_once(IN_85).finditer(text):
            for decode in (base64.b85decode, base64.a85decode):
                with suppress(ValueError):
                    yield *match.span(), decode(match[2] or match[3]).decode("ascii")
    if "begin " in text:
        for match in compile_once(UUENCODED).finditer(text):
            with suppress(binascii.Error):
                yield (
                    *match.span(),
                    b"".join(map(binascii.a2b_uu, match[1].splitlines())).decode("latin-1"),
                )
    clues = (
        (("[::-1]", "rev"), BACKWARDS, lambda text: text[::-1]),
        (("13",), ROTATED, lambda text: codecs.encode(text, "rot13")),
    )
    for signs, clue, turn in clues:
        if any(sign in text for sign in signs) and compile_once(clue).search(text):
            for match in compile_once(TURNED).finditer(text):
                yield *match.span(1), turn(match[1])


def _undo_escapes(text: str) -> Iterator[tuple[int, int, str]]:
    escape = compile_once(ESCAPE)
    end = 0
    for first in escape.finditer(text):
        if first.start() < end:
            continue
        before = text[max(end, first.start() - BEFORE_ESCAPE) : first.start()]
        start = first.start() - len(before) + len(before.rstrip(PLAIN))
        if match := compile_once(ESCAPES).match(text, start):
            end = match.end()
            yield start, end, escape.sub(_unescape, match[0])


def _unescape(match: re.Match[str]) -> str:
    if match[0].startswith("&"):
        import html  # its table of names takes longer to load than a command to judge

        return html.unescape(match[0])
    code = int(next(filter(None, match.groups())), 8 if match[OCTAL] else 16)
    return chr(min(code, 0x10FFFF))


def _kubernetes(text: str, scan: ScanText, spend: Spend) -> Iterator[SecretHit]:
    for match in compile_once(KUBERNETES_ENTRY, re.M).finditer(text):
        spend(match.start())
        decoded = decode_base64("".join(match["value"].split()))
        if not decoded or not _is_clear(decoded):
            continue
        for hit in scan(f'{match["name"]} = "{decoded}"', True):
            start, end = match.span("value")
            yield replace(hit, start=start, end=end, encoded=True, generic=False)
            break


def _may_hold_codes(text: str) -> bool:
    return "hr(" in text or bool(compile_once(IN_CODES).search(text))


def _decode(run: str) -> str | None:
    """Decode hex, or base64 or base32 that begins with printable ASCII or compressed data: no hashes, no images."""
    if digits := compile_once(HEX).fullmatch(run):
        return bytes.fromhex(digits[1]).decode("ascii", "replace")
    if run.startswith(("H4sI", "eJ", "eN", "eA")):
        return decode_base64(run)
    start = binascii.a2b_base64(run[:16])
    if b"\0" in start[:2]:  # UTF-16
        start = start.replace(b"\0", b"")
    if start.isascii() and start.decode().isprintable():
        return decode_base64(run)
    text = decode_base32(run[:16])
    return decode_base32(run) if text and text.isprintable() else None


def _is_clear(decoded: str) -> bool:
    printable = sum(char.isprintable() or char in "\r\n\t" for char in decoded)
    return bool(decoded) and decoded.isascii() and printable >= CLEAR * len(decoded)
