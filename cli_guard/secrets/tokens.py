"""Judge values in a provider's own format."""

import re

from cli_guard.model import Confidence, Severity
from cli_guard.secrets import places, values
from cli_guard.secrets.candidates import (
    IN_ORDER,
    OTHER_FORM,
    Candidate,
    CandidateJudgement,
    claim,
    decode_base64,
    doubtful,
    plain,
    shown,
)
from cli_guard.secrets.names import BUNDLED

# Entries of the tokens that documentation prints, and of one that Supabase means to be public.
PRINTED = {
    ("role", "anon"),
    ("sub", "1234567890"),
    ("name", "John Doe"),
    ("some", "payload"),
}

# On each side of a piece of data.
DATA_CHARS = 40
DATA = re.compile(rf"[A-Za-z0-9+/]{{{DATA_CHARS}}}")


def token(candidate: Candidate) -> CandidateJudgement | None:
    """Accept a provider's format unless it is made up; a sequence of digits or letters is worth a look."""
    value = candidate.value
    if values.is_made_up(value) or is_within_data(candidate):
        return None
    if values.is_sequence(value):
        return doubtful(candidate)
    share = values.share_of_words(value.removeprefix("AKIA"))
    has_one_case = not re.search(r"\d|[a-z][A-Z]", value)
    is_name = values.is_spoken(value.removeprefix("AKIA"))
    is_name = is_name or (has_one_case and share >= 0.55)
    if len(value) >= 20 and (is_name or values.entropy(value) < 2.6):
        return None
    return plain(candidate)


def is_within_data(candidate: Candidate) -> bool:
    """Return whether a value is a piece of longer base64, which goes on with `+` or `/` on its sides."""
    text = candidate.text
    before = text[max(candidate.start - DATA_CHARS, 0) : candidate.start]
    after = text[candidate.end : candidate.end + DATA_CHARS]
    return bool(DATA.fullmatch(before) and DATA.fullmatch(after))


def near(candidate: Candidate) -> CandidateJudgement | None:
    """Judge a provider's prefix before a body of another length or alphabet than the provider's own."""
    value = candidate.value
    tests = (values.is_made_up, values.is_template, values.is_path_or_name)
    if any(test(value) for test in tests) or not re.search(r"\d", value):
        return None
    is_typed = values.is_sequence(value)
    if not is_typed and values.is_wordy(value):
        return None
    return doubtful(candidate, IN_ORDER if is_typed else OTHER_FORM)


def random_text(candidate: Candidate) -> CandidateJudgement | None:
    """Require a random value where only the name gives it away."""
    value = candidate.value
    if (
        not values.is_random(value)
        and not values.is_uuid(value)
        and not values.is_sequence(value)
    ):
        return None
    return token(candidate)


def judge_mixed_case(candidate: Candidate) -> CandidateJudgement | None:
    """Require random base64 with letters of both cases, so that no hexadecimal digest passes."""
    value = candidate.value
    mixed_case = bool(re.search(r"[A-Z]", value) and re.search(r"[a-z]", value))
    if not values.is_sequence(value) and not (mixed_case and values.entropy(value) >= 3.9):
        return None
    return random_text(candidate)


def tail(candidate: Candidate) -> CandidateJudgement | None:
    """Require the part after the constant head of the value to be random."""
    return (
        plain(candidate)
        if values.is_random(candidate.value.lstrip("A").replace("%", ""))
        else None
    )


def wallet(candidate: Candidate) -> CandidateJudgement | None:
    """Judge a key of 32 bytes; one with a long run is a number, not a key in use."""
    digits = candidate.value.removeprefix("0x")
    if values.entropy(digits) < 3.0 or values.is_made_up(digits):
        return None
    if values.is_sequence(digits):
        return doubtful(candidate)
    if places.is_test_or_document(candidate.path):
        return shown(candidate)
    return plain(candidate)


def firebase(candidate: Candidate) -> CandidateJudgement | None:
    """Judge a Google key: in the configuration of a Firebase client it is no secret, in the address of a map public.

    Source: https://firebase.google.com/docs/projects/api-keys
    """
    judgement = token(candidate)
    near = candidate.text[max(candidate.start - 400, 0) : candidate.end + 400]
    names = r"(?i)google-services\.json$|googleservice-info\.plist$"
    # What else such a configuration has, or its variable.
    client = r"messagingSenderId|authDomain|GCM_SENDER_ID|mobilesdk_app_id|FIREBASE_API_KEY\W{1,4}AIza"
    if re.search(names, candidate.path) or re.search(client, near):
        return claim(candidate)
    public = rf"(?i)(?:{BUNDLED})\w{{1,40}}\W{{1,4}}AIza|firebase|/maps/(?:api/js|embed)[^\s\"']{{2,200}}AIza"
    if judgement and re.search(public, near):
        return plain(candidate, Severity.MEDIUM, Confidence.MEDIUM)
    return judgement


def discord(candidate: Candidate) -> CandidateJudgement | None:
    """Require the first part of a bot token to be the id of the bot in base64."""
    decoded = decode_base64(candidate.value.partition(".")[0])
    return (
        token(candidate)
        if decoded and decoded.isdigit() and 16 <= len(decoded) <= 20
        else None
    )


def jwt(candidate: Candidate) -> CandidateJudgement | None:
    """Judge a signed token with a header; examples and public ones are not secrets."""
    header, payload = (_json_object(part) for part in candidate.value.split(".")[:2])
    if not header or not payload or str(header.get("alg", "none")).lower() == "none":
        return None
    if PRINTED & {(key, str(value)) for key, value in payload.items()}:
        return claim(candidate)
    if payload.get("role") == "service_role":
        return plain(candidate, Severity.CRITICAL, Confidence.HIGH)
    if places.is_test_or_document(candidate.path):
        return shown(candidate)
    return plain(candidate)


def _json_object(part: str) -> dict[str, object] | None:
    import json

    try:
        value = json.loads(decode_base64(part) or "null")
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
