"""Find private keys of several lines, in files and inside string literals.

A header alone is not a key: documentation and code that looks for keys have it. It takes a body of base64, with
anything around its lines (quotes, plus signs, comment marks, indentation, escaped line ends).
"""

import re
from collections.abc import Iterator

from cli_guard.model import Confidence, Severity
from cli_guard.secrets.candidates import SecretHit
from cli_guard.secrets.detectors import for_blocks
from cli_guard.secrets.names import compile_once

HEADER = r"-{4,5} ?BEGIN (?P<label>(?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?) ?-{4,5}"
FOOTER = HEADER.replace("BEGIN", "END")
PUTTY = "PuTTY-User-Key-File-"
BLOCK_LIMIT = 20_000
MIN_BODY = 40
MARKS = ("private key", "putty-user-key-file-")


def find_blocks(text: str) -> Iterator[SecretHit]:
    """Return every private key in the text, from its header to its footer, or to the end of its body."""
    position = 0
    while match := compile_once(HEADER).search(text, position):
        position = match.end()
        found = _pem(text, match)
        if found:
            position = found.end
            yield found
    position = 0
    while (position := text.find(PUTTY, position)) >= 0:
        found = _putty(text, position)
        position = found.end if found else position + len(PUTTY)
        if found:
            yield found


def _pem(text: str, header: re.Match[str]) -> SecretHit | None:
    label = header["label"]
    limit = min(len(text), header.end() + BLOCK_LIMIT)
    following = compile_once(HEADER).search(text, header.end(), limit)
    limit = following.start() if following else limit
    footer = _footer(text, label, header.end(), limit)
    raw = text[header.end() : footer[0] if footer else limit]
    body, used = _body(raw, whole=footer is not None)
    if not _is_key(body):
        return None
    end = footer[1] if footer else header.end() + used
    encrypted = "ENCRYPTED" in label or "ENCRYPTED" in raw[:200]
    rule = "secret-pgp-private-key" if "PGP" in label else "secret-private-key"
    return _hit(rule, text, header.start(), end, encrypted=encrypted)


def _footer(text: str, label: str, start: int, limit: int) -> tuple[int, int] | None:
    for match in compile_once(FOOTER).finditer(text, start, limit):
        if match["label"] == label:
            return match.span()
    return None


def _body(raw: str, *, whole: bool) -> tuple[str, int]:
    """Return the base64 of a block, and its length in `raw`. Without a footer the first other line ends it."""
    body = []
    used = 0
    for line in compile_once(r"[^\n]*(?:\n|$)").findall(raw):
        for piece in compile_once(r"\\{1,8}r\\{1,8}n|\\{1,8}[nr]|<br>|[ \t]+|\n").split(
            line
        ):
            cleaned = (
                piece.strip("\"'`+,;#/*|>\\() \r") if len(piece) < 2 * BLOCK_LIMIT else ""
            )
            if compile_once(r"^[A-Za-z0-9+/]{16,}={0,2}$").match(cleaned):
                body.append(cleaned)
        if not whole and body and not _looks_like_body(line):
            break
        used += len(line)
    longest = max(map(len, body), default=0)
    return "".join(body) if longest >= MIN_BODY else "", used


def _looks_like_body(line: str) -> bool:
    return bool(compile_once(r"[A-Za-z0-9+/]{16,}={0,2}").search(line)) or not line.strip()


def _is_key(body: str) -> bool:
    return (
        len(body) >= MIN_BODY
        and len(set(body)) >= 18
        and not compile_once(r"(.)\1{11}").search(body)
        and bool(compile_once(r"\d").search(body))
        and bool(compile_once(r"[a-z]").search(body))
        and not compile_once(r"(?i)example|placeholder|yourprivatekey|redacted").search(
            body
        )
    )


def _putty(text: str, start: int) -> SecretHit | None:
    following = text.find(PUTTY, start + 1, start + BLOCK_LIMIT)
    part = text[start : following if following >= 0 else start + BLOCK_LIMIT]
    match = compile_once(
        r"Private-Lines:\s*(\d{1,3})\s*\n((?:[A-Za-z0-9+/=]+\r?(?:\n|$)){1,200})"
    ).search(part)
    if not match or not _is_key(match[2].replace("\n", "").rstrip("=")):
        return None
    encrypted = bool(compile_once(r"Encryption:\s*(?!none)\S").search(part))
    return _hit("secret-putty-key", text, start, start + match.end(), encrypted=encrypted)


def _hit(rule: str, text: str, start: int, end: int, *, encrypted: bool) -> SecretHit:
    detector = for_blocks()[rule]
    severity = detector.severity
    confidence = detector.confidence
    if encrypted:
        severity = Severity.HIGH
        confidence = Confidence.HIGH
    return SecretHit(rule, severity, confidence, start, end, text[start:end])
