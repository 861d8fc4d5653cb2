"""Judges what a pattern matched. Each check takes a candidate and answers None, or how bad and how sure."""

import base64
import re
from collections.abc import Callable

from cli_guard.model import Confidence, Severity
from cli_guard.secretscan import places, values
from cli_guard.secretscan.candidates import Candidate, Judgement
from cli_guard.secretscan.values import Strength
from cli_guard.secretscan.words import words

Check = Callable[[Candidate], Judgement | None]
LOCAL = "|".join(
    (
        r"^(?:localhost|127\.|0\.0\.0\.0|\[?::1|host\.docker\.internal)",
        r"\.(?:local|localhost|localdomain)(?::|$)",
    )
)
MADE_UP = "|".join(
    (
        r"(?:^|\.)example\.(?:com|org|net|edu|io)(?:[:,]|$)|\.(?:test|invalid|example)(?:[:,]|$)|\bexample\b",
        r"^(?:host|hostname|server|servername|your\S*|my\S*|some\S*|foo|bar|ip|address)(?:\.com|\.org|\.net)?(?:[:,]|$)",
        r"^(?:proxy|domain|url|site|h|x|a|b|c)(?:\.com|\.org|\.net)?(?:[:,]|$)|^1\.2\.3\.4",
    )
)


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


def graded(
    candidate: Candidate, strength: Strength, start: int, end: int, name: str = ""
) -> Judgement | None:
    """A generic credential by the strength of its value; in tests and documents it is advice and no more."""
    if strength <= Strength.WEAK:
        return None
    severity, confidence = Severity.HIGH, Confidence.MEDIUM
    if strength is Strength.STRONG:
        severity, confidence = candidate.detector.severity, candidate.detector.confidence
    if places.is_test_or_document(candidate.path):
        severity, confidence = Severity.MEDIUM, Confidence.LOW
    return Judgement(severity, confidence, start, end, name)


def token(candidate: Candidate) -> Judgement | None:
    """A provider's format: all but made-up ones."""
    value = candidate.value
    if values.is_dummy_token(value) or (len(value) >= 20 and values.entropy(value) < 2.6):
        return None
    if len(value) >= 20 and value.isascii() and not re.search(r"\d|[a-z][A-Z]", value):
        return None
    return plain(candidate)


def crc62(candidate: Candidate) -> Judgement | None:
    """A token that ends in the CRC-32 of its body.

    One that fails keeps its severity and loses confidence: other makers of the same form (GitHub Enterprise
    Server, older npm) may compute it differently, and a real key that passes unseen is the worse mistake.
    """
    from cli_guard.rules.examples import base62_crc32

    judgement = token(candidate)
    body = candidate.value.partition("_")[2]
    if judgement and len(body) == 36 and base62_crc32(body[:30]) != body[30:]:
        return plain(candidate, confidence=Confidence.MEDIUM)
    return judgement


def random_text(candidate: Candidate) -> Judgement | None:
    """A value that only its name gives away has to look drawn at random."""
    if not values.is_random(candidate.value) and not values.is_uuid(candidate.value):
        return None
    return token(candidate)


def mixed(candidate: Candidate) -> Judgement | None:
    """Random base64 with letters of both cases, so that no hexadecimal digest passes."""
    value = candidate.value
    if not (re.search(r"[A-Z]", value) and re.search(r"[a-z]", value) and values.entropy(value) >= 3.9):
        return None
    return random_text(candidate)


def tail(candidate: Candidate) -> Judgement | None:
    """The part behind the constant head of the value has to look random."""
    return plain(candidate) if values.is_random(candidate.value.lstrip("A").replace("%", "")) else None


def firebase(candidate: Candidate) -> Judgement | None:
    """A Google key in a Firebase configuration identifies the app and is public by design.

    Source: https://firebase.google.com/docs/projects/api-keys
    """
    judgement = token(candidate)
    near = candidate.text[max(candidate.start - 400, 0) : candidate.end + 400]
    name = candidate.path.rpartition("/")[2].lower()
    if judgement and (
        name in ("google-services.json", "googleservice-info.plist")
        or re.search("(?i)firebase|messagingSenderId", near)
    ):
        return plain(candidate, Severity.MEDIUM, Confidence.MEDIUM)
    return judgement


def discord(candidate: Candidate) -> Judgement | None:
    """The first part of a bot token is the id of the bot in base64."""
    decoded = decode_base64(candidate.value.partition(".")[0])
    return plain(candidate) if decoded and decoded.isdigit() and 16 <= len(decoded) <= 20 else None


def jwt(candidate: Candidate) -> Judgement | None:
    """A signed token with a header; one that serves as an example, or is public by design, is none."""
    header, payload = (_json_object(part) for part in candidate.value.split(".")[:2])
    if not header or not payload or str(header.get("alg", "none")).lower() == "none":
        return None
    if (
        payload.get("role") == "anon"
        or str(payload.get("sub")) == "1234567890"
        or payload.get("name") == "John Doe"
    ):
        return None
    if payload.get("role") == "service_role":
        return plain(candidate, Severity.CRITICAL, Confidence.HIGH)
    if places.is_test_or_document(candidate.path):
        return plain(candidate, Severity.MEDIUM, Confidence.LOW)
    return plain(candidate)


def password(candidate: Candidate) -> Judgement | None:
    """A password by its looks."""
    value = candidate.value
    if places.is_lock(candidate.path):
        return None
    return graded(candidate, values.password_strength(value), candidate.start, candidate.end)


def url(candidate: Candidate) -> Judgement | None:
    """The password of an address, judged with the host: at a made-up one only a strong value counts."""
    value, user = candidate.value, candidate.groups.get("user") or ""
    host = (candidate.groups.get("host") or "").lower()
    if (
        len(value) < 3
        or values.is_template(value)
        or values.is_template(user)
        or values.is_template(host)
        or "%s" in user
    ):
        return None
    if value == "x-oauth-basic":
        return _userinfo_token(candidate, user)
    unescaped = re.sub("%[0-9A-Fa-f]{2}", "-", value)
    folded = unescaped.lower()
    if (
        values.is_filler(folded)
        or folded in words("trivial")
        or folded == user.lower()
        or values.is_dummy_token(value)
    ):
        return None
    strength = max(values.password_strength(unescaped), values.key_strength(value))
    local, made_up = (bool(re.search(pattern, host)) for pattern in (LOCAL, MADE_UP))
    if (made_up and strength < Strength.LIKELY) or (
        local and strength < Strength.LIKELY and not re.search(r"\d", value)
    ):
        return None
    strength = Strength.LIKELY if local else Strength.STRONG
    return graded(candidate, strength, candidate.start, candidate.end)


def _userinfo_token(candidate: Candidate, user: str) -> Judgement | None:
    start = candidate.keyword_at + len("://")
    return graded(candidate, values.key_strength(user), start, start + len(user))


def header(candidate: Candidate) -> Judgement | None:
    """The value of an authenticating HTTP header."""
    scheme = (candidate.groups.get("scheme") or candidate.groups.get("scheme2") or "").lower()
    if scheme == "basic":
        return basic(candidate)
    strength = values.key_strength(candidate.value)
    if strength is not Strength.STRONG and (not scheme or len(candidate.value) < 16):
        return None
    return graded(candidate, strength, candidate.start, candidate.end)


def basic(candidate: Candidate) -> Judgement | None:
    """User and password in base64 (RFC 7617)."""
    decoded = decode_base64(candidate.value)
    user, colon, secret = (decoded or "").partition(":")
    if (
        not colon
        or not user
        or secret.lower() in words("trivial")
        or secret == user
        or values.is_filler(secret)
    ):
        return None
    if values.is_template(secret) or values.is_dummy_token(secret) or secret.lower() == "open sesame":
        return None
    strength = max(values.password_strength(secret), values.key_strength(secret))
    return graded(candidate, max(strength, Strength.LIKELY), candidate.start, candidate.end)


def rc(candidate: Candidate) -> Judgement | None:
    """The value of an entry that can be nothing but a credential."""
    value = candidate.value
    if places.is_code(candidate.path):
        return None
    decoded = decode_base64(value)
    secret = decoded.rpartition(":")[2] if decoded and decoded.isprintable() else value
    if values.is_template(value) or any(
        values.is_filler(text) or values.is_dummy_token(text) or text.lower() in words("trivial")
        for text in (value, secret)
    ):
        return None
    strength = Strength.STRONG if re.search(r"\d", secret) and len(secret) >= 8 else Strength.LIKELY
    return graded(candidate, strength, candidate.start, candidate.end)


def command(candidate: Candidate) -> Judgement | None:
    """The argument that a command takes for a password."""
    value = candidate.value.strip("\"'")
    start = candidate.start + candidate.value.index(value) if value else candidate.start
    if not value or value[0] in "-$" or re.match(r"^\d+:\d+$|^\d{1,5}$", value):
        return None
    if value.lower() in words("trivial"):
        return None
    strength = max(values.password_strength(value), values.key_strength(value))
    return graded(candidate, strength, start, start + len(value))


def none(candidate: Candidate) -> Judgement | None:
    """The pattern says it all, unless the value is a placeholder."""
    if values.is_filler(candidate.value):
        return None
    return graded(candidate, Strength.STRONG, candidate.start, candidate.end)


def decode_base64(text: str) -> str | None:
    """The text behind standard or URL-safe base64, None if it is no text."""
    padded = text.rstrip("=").translate(str.maketrans("-_", "+/"))
    try:
        return base64.b64decode(padded + "=" * (-len(padded) % 4), validate=True).decode("utf-8")
    except ValueError:  # not base64, or bytes that are no text
        return None


def _json_object(part: str) -> dict[str, object] | None:
    import json

    try:
        value = json.loads(decode_base64(part) or "null")
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
