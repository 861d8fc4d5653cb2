"""Takes secrets out of text before it is shown, logged or sent anywhere, and shows where one was."""

import re
from collections.abc import Sequence

from cli_guard.secrets.added import GAP
from cli_guard.secrets.candidates import Hit
from cli_guard.secrets.engine import scan

STARS = "****"
PREFIX = 4
SHARE = 5
EVIDENCE_WIDTH = 120
LITERAL_LIMIT = 2_000
JOINED_LITERALS = 20
OPERATOR = r"[\s\\]{0,80}(?P<operator>[+.&]|\|\||<>)?[\s\\]{0,80}"
NEXT = rf"""["'`]{OPERATOR}[fFbBrRuU]{{0,2}}["'`](?P<literal>[^"'`]{{1,{LITERAL_LIMIT}}})"""
BEFORE = rf"""["'`](?P<literal>[^"'`]{{1,{LITERAL_LIMIT}}})["'`]{OPERATOR}[fFbBrRuU]{{0,2}}["'`]$"""


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
    spans = [(hit.start, hit.end, _mask_of(hit)) for hit in hits]
    for value in {hit.value for hit in hits if len(hit.value) >= PREFIX}:
        low, high = max(start - len(value), 0), end + len(value)
        position = text.find(value, low, high)
        while position >= 0:
            spans.append((position, position + len(value), mask(value)))
            position = text.find(value, position + len(value), high)
    spans += ((*span, STARS) for span in _joined_to(text, hits))
    return sorted(spans, key=lambda span: (span[0], -span[1], -len(span[2])))


def _joined_to(text: str, hits: Sequence[Hit]) -> list[tuple[int, int]]:
    """The literals that are joined to one which a secret ends or begins: they may be the rest of it."""
    spans: list[tuple[int, int]] = []
    reached = 0
    for hit in sorted(hits, key=lambda hit: hit.start):
        # Literals are looked at once, however many secrets stand among them.
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
    """Without an operator two literals may be two arguments of a command."""
    return bool(match["operator"]) or not re.search(r"\s|://", match["literal"])


def evidence(text: str, hits: Sequence[Hit], hit: Hit) -> str:
    """The line around a hit, every secret in it masked, in at most `EVIDENCE_WIDTH` characters."""
    start = max(text.rfind("\n", 0, hit.start) + 1, hit.start - EVIDENCE_WIDTH // 2)
    end = text.find("\n", hit.end, hit.end + EVIDENCE_WIDTH)
    end = (
        min(len(text), hit.end + EVIDENCE_WIDTH // 2) if end < 0 else min(end, hit.end + EVIDENCE_WIDTH // 2)
    )
    near = [other for other in hits if other.end > start and other.start < end]
    shown = mask_hits(text, near, start, end)
    return " ".join(shown.replace(GAP, " ").split())[:EVIDENCE_WIDTH]


def _mask_of(hit: Hit) -> str:
    match = re.match(r"-{5}BEGIN [A-Z0-9 ]+-{5}", hit.value)
    if match:
        return match[0] + STARS
    return STARS if hit.encoded else mask(hit.value)


def redact(text: str, path: str = "") -> str:
    """The text with every secret the rules recognise masked; `path` tells what kind of text it is, if known."""
    hits = scan(text, path).hits
    return mask_hits(text, hits) if hits else text
