"""How bad and how sure: what every check answers with."""

import base64
from dataclasses import replace

from cli_guard.model import Confidence, Severity
from cli_guard.secrets import places, values
from cli_guard.secrets.candidates import Candidate, Judgement
from cli_guard.secrets.values import Strength


def plain(
    candidate: Candidate, severity: Severity | None = None, confidence: Confidence | None = None
) -> Judgement:
    """The candidate as it stands, by default as bad and as sure as its rule says."""
    return Judgement(
        severity or candidate.detector.severity,
        confidence or candidate.detector.confidence,
        candidate.start,
        candidate.end,
    )


def doubtful(candidate: Candidate) -> Judgement | None:
    """What may be a key that was typed for want of one: a person should look, but not in tests and documents."""
    if places.is_test_or_document(candidate.path):
        return None
    return plain(candidate, Severity.HIGH, Confidence.LOW)


def grade(candidate: Candidate, strength: Strength, start: int, end: int, name: str = "") -> Judgement | None:
    """A generic credential by the strength of its value; in tests and documents it is advice and no more."""
    if strength <= Strength.WEAK:
        return None
    severity, confidence = Severity.HIGH, Confidence.MEDIUM
    if strength is Strength.STRONG:
        severity, confidence = candidate.detector.severity, candidate.detector.confidence
    if values.is_typed_key(candidate.text[start:end]):
        return replace(judged, start=start, end=end, name=name) if (judged := doubtful(candidate)) else None
    if places.is_test_or_document(candidate.path):
        severity, confidence = Severity.MEDIUM, Confidence.LOW
    return Judgement(severity, confidence, start, end, name)


def decode_base64(text: str) -> str | None:
    """The text behind standard or URL-safe base64, None if it is no text."""
    padded = text.rstrip("=").translate(str.maketrans("-_", "+/"))
    try:
        return base64.b64decode(padded + "=" * (-len(padded) % 4), validate=True).decode("utf-8")
    except ValueError:  # not base64, or bytes that are no text
        return None
