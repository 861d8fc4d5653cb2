"""Mask secrets in text before it is shown, logged or sent."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

from cli_guard.secrets.added import GAP
from cli_guard.secrets.candidates import SecretHit
from cli_guard.secrets.engine import scan

STARS = "****"
# Slow on purpose: a fingerprint is stored and shown, and must not let a short password be guessed.
HASH_ROUNDS = 2_000
PREFIX = 4
SHARE = 5
EVIDENCE_WIDTH = 120
LITERAL_LIMIT = 2_000
JOINED_LITERALS = 20
OPERATOR = r"[\s\\]{0,80}(?P<operator>[+.&]|\|\||<>)?[\s\\]{0,80}"
NEXT = rf"""["'`]{OPERATOR}[fFbBrRuU]{{0,2}}["'`](?P<literal>[^"'`]{{1,{LITERAL_LIMIT}}})"""
BEFORE = rf"""["'`](?P<literal>[^"'`]{{1,{LITERAL_LIMIT}}})["'`]{OPERATOR}[fFbBrRuU]{{0,2}}["'`]$"""


def mask(value: str) -> str:
    """Return at most the first four characters, at most a fifth of the value, and stars for the rest."""
    return (
        value[: min(PREFIX, len(value) // SHARE)] + STARS
        if len(value) >= PREFIX * SHARE
        else STARS
    )


def mask_hits(
    text: str, hits: Sequence[SecretHit], start: int = 0, end: int | None = None
) -> str:
    """Return `text[start:end]` with every hit that overlaps it masked, and every other place of its value."""
    end = len(text) if end is None else end
    parts = []
    position = start
    for first, last, shown in _spans(text, hits, start, end):
        if last > position and first < end:
            parts += [text[position : max(first, position)], shown]
            position = min(last, end)
    return "".join((*parts, text[position:end]))


def _spans(
    text: str, hits: Sequence[SecretHit], start: int, end: int
) -> list[tuple[int, int, str]]:
    """Return what to hide: the hits, and other copies of their values, also those cut by the edge."""
    spans = [(hit.start, hit.end, _mask_of(hit)) for hit in hits]
    for value in {hit.value for hit in hits if len(hit.value) >= PREFIX}:
        low = max(start - len(value), 0)
        high = end + len(value)
        position = text.find(value, low, high)
        while position >= 0:
            spans.append((position, position + len(value), mask(value)))
            position = text.find(value, position + len(value), high)
    spans += ((*span, STARS) for span in _joined_to(text, hits))
    return sorted(spans, key=lambda span: (span[0], -span[1], -len(span[2])))


def _joined_to(text: str, hits: Sequence[SecretHit]) -> list[tuple[int, int]]:
    """Return the literals joined to one in which a secret begins or ends: they may be the rest of it."""
    spans: list[tuple[int, int]] = []
    reached = 0
    for hit in sorted(hits, key=lambda hit: hit.start):
        # Literals are read once, however many secrets are among them.
        spans += _joined_before(text, hit.start, max(hit.start - LITERAL_LIMIT, reached, 0))
        if hit.end < reached:
            continue
        reached = hit.end
        while (match := re.compile(NEXT).match(text, reached)) and _may_be_rest(match):
            spans.append(match.span("literal"))
            reached = match.end()
    return spans


def _joined_before(text: str, start: int, low: int) -> list[tuple[int, int]]:
    if text[start - 1 : start] not in ("'", '"', "`"):
        return []
    spans: list[tuple[int, int]] = []
    line = max(text.rfind("\n", low, start) + 1, low)
    while len(spans) < JOINED_LITERALS:
        match = re.search(BEFORE, text[line:start])
        # A text with blanks before a secret is a label: `"Authorization: Bearer " + "..."`.
        if not match or re.search(r"\s|://", match["literal"]):
            break
        first, last = match.span("literal")
        spans.append((line + first, line + last))
        start = line + first
    return spans


def _may_be_rest(match: re.Match[str]) -> bool:
    """Return whether a literal may continue a secret: without an operator two literals may be two arguments."""
    return bool(match["operator"]) or not re.search(r"\s|://", match["literal"])


def evidence(text: str, hits: Sequence[SecretHit], hit: SecretHit) -> str:
    """Return the line around a hit, every secret in it masked, in at most `EVIDENCE_WIDTH` characters."""
    start = max(text.rfind("\n", 0, hit.start) + 1, hit.start - EVIDENCE_WIDTH // 2)
    end = text.find("\n", hit.end, hit.end + EVIDENCE_WIDTH)
    end = (
        min(len(text), hit.end + EVIDENCE_WIDTH // 2)
        if end < 0
        else min(end, hit.end + EVIDENCE_WIDTH // 2)
    )
    near = [other for other in hits if other.end > start and other.start < end]
    shown = mask_hits(text, near, start, end)
    return " ".join(shown.replace(GAP, " ").split())[:EVIDENCE_WIDTH]


def _mask_of(hit: SecretHit) -> str:
    match = re.match(r"-{5}BEGIN [A-Z0-9 ]+-{5}", hit.value)
    if match:
        return match[0] + STARS
    return STARS if hit.encoded else mask(hit.value)


def redact(text: str, path: str = "") -> str:
    """Mask every secret that the rules recognise; `path` gives the kind of text, if known."""
    hits = scan(text, path).hits
    return mask_hits(text, hits) if hits else text


def masks_in(text: str) -> dict[str, str]:
    """Return each secret in a text with its mask."""
    return {hit.value: _mask_of(hit) for hit in scan(text).hits}


def mask_everywhere(value: Any, masks: Mapping[str, str]) -> Any:
    """Replace texts by their masks in plain data and the dataclasses in it."""
    if not masks:
        return value
    if type(value) is str:
        for text, masked in masks.items():
            value = value.replace(text, masked)
        return value
    if isinstance(value, dict):
        return {key: mask_everywhere(each, masks) for key, each in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        changed = {
            each.name: mask_everywhere(getattr(value, each.name), masks)
            for each in fields(value)
        }
        return replace(value, **changed)
    return (
        [mask_everywhere(each, masks) for each in value]
        if isinstance(value, list)
        else value
    )


def slow_hash(path: str, value: str) -> str:
    """Hash a secret, too slowly for it to be guessed from the hash."""
    import hashlib  # it loads OpenSSL, and most texts hold no secret

    salt = b"cli-guard/" + path.encode("utf-8", "surrogateescape")
    return hashlib.pbkdf2_hmac(
        "sha256", value.encode("utf-8", "surrogateescape"), salt, HASH_ROUNDS
    ).hex()
