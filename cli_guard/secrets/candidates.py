"""The types between the engine and the checks: a match and its severity and confidence."""

import base64
import re
import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace

from cli_guard.lazy import frozen
from cli_guard.model import Confidence, Severity
from cli_guard.secrets import places, values
from cli_guard.secrets.detectors import Detector
from cli_guard.secrets.names import pattern
from cli_guard.secrets.values import Strength

MOST_UNPACKED = 1_000_000
# Why a value is rated lower than its rule.
IN_TEST = "it is in a test or a document"
IN_ORDER = "its letters or digits count or repeat"
OTHER_FORM = "its length or alphabet is not the provider's"
ON_PAGE = "a browser gets it"
EXAMPLE = "the file shows it as an example"
# Counts a step of work at this offset; raises OutOfWorkError once all that a scan may do is done.
Spend = Callable[[int], None]
URL_SAFE = str.maketrans("-_", "+/")
# What begins gzip and zlib (RFC 1952, RFC 1950).
COMPRESSED = (b"\x1f\x8b", b"x\x01", b"x\x9c", b"x\xda")


@frozen
class Candidate:
    """A match of a pattern: the value with its place in the text, and the match's groups by name."""

    detector: Detector
    text: str
    path: str
    keyword_at: int
    start: int
    end: int
    value: str
    groups: dict[str, str | None]
    name_end: int


@frozen
class CandidateJudgement:
    """The result of a check: severity, confidence, and the exact place of the value; `proven` by its checksum.

    `doubt` says why it is rated lower than its rule.
    """

    severity: Severity
    confidence: Confidence
    start: int
    end: int
    name: str = ""
    proven: bool = False
    doubt: str = ""


@frozen
class SecretHit:
    """A secret in a text: `value` is `text[start:end]`, `name` what it was assigned to, if known.

    `encoded`: the place holds the value in base64. `proven`: its checksum shows that its provider issued it.
    `doubt`: see `CandidateJudgement`.
    """

    rule: str
    severity: Severity
    confidence: Confidence
    start: int
    end: int
    value: str
    name: str = ""
    generic: bool = False
    encoded: bool = False
    proven: bool = False
    doubt: str = ""


@frozen
class Scan:
    """The hits of a text in order, without overlaps, and what was not read.

    `stopped_at` is the offset at which the scan had done all that it may, `left_out` that of the first stretch of a
    long line in which generic rules did not judge all.
    """

    hits: Sequence[SecretHit] = ()
    stopped_at: int | None = None
    left_out: int | None = None


class OutOfWorkError(Exception):
    """The scan has to stop here; `args[0]` is the offset that was reached."""


def plain(
    candidate: Candidate,
    severity: Severity | None = None,
    confidence: Confidence | None = None,
    doubt: str = "",
) -> CandidateJudgement:
    """Accept the candidate, by default with the severity and confidence of its rule."""
    return CandidateJudgement(
        severity or candidate.detector.severity,
        confidence or candidate.detector.confidence,
        candidate.start,
        candidate.end,
        doubt=doubt,
    )


def claim(candidate: Candidate) -> CandidateJudgement:
    """Say that the value is public by design, whatever other rules make of its name: `scan` drops it at the end."""
    return plain(candidate, Severity.INFO)


def doubtful(candidate: Candidate, doubt: str = IN_ORDER) -> CandidateJudgement | None:
    """Accept what may be a key typed by hand as needing a look; tests and documents are left out."""
    if places.is_test_or_document(candidate.path):
        return None
    return plain(candidate, Severity.HIGH, Confidence.LOW, doubt)


def shown(candidate: Candidate) -> CandidateJudgement:
    """Accept what a test or a document shows as advice."""
    return plain(candidate, Severity.MEDIUM, Confidence.LOW, IN_TEST)


def grade(
    candidate: Candidate, strength: Strength, start: int, end: int, name: str = ""
) -> CandidateJudgement | None:
    """Grade a generic credential by the strength of its value; in tests and documents it is only advice."""
    if strength <= Strength.WEAK:
        return None
    severity = Severity.HIGH
    confidence = Confidence.MEDIUM
    if strength is Strength.STRONG:
        severity = candidate.detector.severity
        confidence = candidate.detector.confidence
    if values.is_typed_key(candidate.text[start:end]):
        return (
            replace(judged, start=start, end=end, name=name)
            if (judged := doubtful(candidate))
            else None
        )
    near = _beside(candidate)
    is_key = "password" not in candidate.detector.kinds
    if is_key and pattern("browser_form", re.I).search(near):
        return None
    is_public = is_key and bool(pattern("browser", re.I).search(near))
    is_shown = places.is_test_or_document(candidate.path)
    if is_shown and (
        values.is_dummy(candidate.text[start:end])
        or pattern("published", re.I).search(near)
    ):
        return None
    doubt = ""
    if is_shown or is_public:
        severity = Severity.MEDIUM
        confidence = Confidence.LOW
        doubt = IN_TEST if is_shown else ON_PAGE
    return CandidateJudgement(severity, confidence, start, end, name, doubt=doubt)


def _beside(candidate: Candidate) -> str:
    """Return the comment above a value and its line, with a NUL for the value."""
    *above, line = candidate.text[max(candidate.start - 200, 0) : candidate.start].split(
        "\n"
    )
    comment = (
        above[-1] if above and re.match(r"\s*(?:#|//|/?\*|--|<!--)", above[-1]) else ""
    )
    return f"{comment} {line}\0{candidate.text[candidate.end : candidate.end + 80]}"


def decode_base64(text: str) -> str | None:
    """Decode standard or URL-safe base64, and gzip, zlib or UTF-16 inside it; return None if the result is not text."""
    padded = text.rstrip("=").translate(URL_SAFE)
    try:
        raw = base64.b64decode(padded + "=" * (-len(padded) % 4), validate=True)
        if raw.startswith(COMPRESSED):
            raw = zlib.decompressobj(zlib.MAX_WBITS | 32).decompress(raw, MOST_UNPACKED)
        return (raw.replace(b"\0", b"") if b"\0" in raw[:2] else raw).decode("utf-8")
    except (ValueError, zlib.error):  # not base64, or bytes that are not text
        return None


def decode_base32(text: str) -> str | None:
    """Decode base32 in capitals or small letters, padded or not; return None if the result is not ASCII."""
    if not (text.isupper() or text.islower()):
        return None
    body = text.rstrip("=").upper()
    try:
        return base64.b32decode(body + "=" * (-len(body) % 8)).decode("ascii")
    except ValueError:
        return None
