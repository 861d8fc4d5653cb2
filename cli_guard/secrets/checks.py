"""Judge a value by the words around it: addresses, headers, commands, rc files.

Each check takes a candidate and returns its severity and confidence, or None.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise

from cli_guard.code.languages import comment
from cli_guard.code.test_files import has_test_words
from cli_guard.model import Confidence, Severity
from cli_guard.secrets import places, values
from cli_guard.secrets.candidates import (
    Candidate,
    CandidateJudgement,
    decode_base64,
    grade,
    plain,
)
from cli_guard.secrets.logins import is_elsewhere, is_usual, weigh_login
from cli_guard.secrets.names import compile_once, pattern, words
from cli_guard.secrets.values import Strength

# How far back a word tells that a sentence shows something.
SENTENCE = 160
COMMENT = r"(?:^|[\s;])(?:#|//|/?\*|--|;|<!--|REM\b)(?![!:@])"
# Words before `key` that make it one that everyone may read.
PUBLIC = r"(?i)\bp[uú]bli|öffentlich|公|открыт"
# What names the value behind it: a colon, or a word of a script that has no blanks between words.
NAMED = r"[:=：＝\u3040-\u9fff\uac00-\ud7af][\s\"'`«„「『]{0,4}\Z"
# A value in a list of them: `host: db.acme.io, user: shop`.
LISTED = r"\w[ \t]?[:=][ \t]?([^\s,;]{2,100})"
# Questions that no password answers.
OTHER_QUESTION = (
    r"(?i)(?:^|[:>\]]\s)(?:is|are|was|were|did|does|has|have|do\syou\shave|who|where|when|why|how"
    r"|wer|wo|wann|warum|où|quand|qui|dónde|quién|cuándo|chi|dove|quando)\s"
)
# What may follow the word for it: `the password policy` is none.
ASKED = (
    r"\w*(?=\W*\Z|[\s\W]{1,3}(?:for|of|on|to|at|in|there|here|again|now|does|did|do|is|was|nochmal|f[uü]r|von|vom"
    r"|der|des|zu[mr]|am|auf|del?|du|da|di|pour|para|per|voor|van)\b)"
)
NUMBER = r"-?(?:0x[0-9A-Fa-f]{1,2}|(?<![\dx])\d{1,3})"
Check = Callable[[Candidate], CandidateJudgement | None]


def password(candidate: Candidate) -> CandidateJudgement | None:
    value = candidate.value
    if places.is_lock(candidate.path) or re.match(r"\w+=$", value):
        return None
    return grade(candidate, values.password_strength(value), candidate.start, candidate.end)


def connection(candidate: Candidate) -> CandidateJudgement | None:
    """Judge a password in a connection string; a word counts if the string logs in somewhere else."""
    judgement = password(candidate)
    if judgement or places.is_lock(candidate.path):
        return judgement
    strength = values.password_strength(candidate.value)
    strength = weigh_login(candidate, strength, is_command=False)
    return grade(candidate, strength, candidate.start, candidate.end)


def url(candidate: Candidate) -> CandidateJudgement | None:
    """Judge the password of an address with its host: at a made-up host only a strong value counts."""
    value = candidate.value
    user = candidate.groups.get("user") or ""
    host = (candidate.groups.get("host") or "").lower()
    if len(value) < 3 or "%s" in user or any(map(values.is_template, (value, user, host))):
        return None
    if value == "x-oauth-basic":
        return _userinfo_token(candidate, user)
    unescaped = re.sub("%[0-9A-Fa-f]{2}", "-", value)
    folded = unescaped.lower()
    if (
        _is_placeholder(folded)
        or folded.rpartition(":")[2] in words("trivial")
        or folded == user.lower()
    ):
        return None
    strength = max(values.password_strength(unescaped), values.key_strength(value))
    local, made_up = (
        bool(pattern(name).search(host)) for name in ("local_hosts", "made_up_hosts")
    )
    if strength < Strength.LIKELY and (made_up or (local and not re.search(r"\d", value))):
        return None
    strength = Strength.LIKELY if local else Strength.STRONG
    return grade(candidate, strength, candidate.start, candidate.end)


def _userinfo_token(candidate: Candidate, user: str) -> CandidateJudgement | None:
    start = candidate.keyword_at + len("://")
    return grade(candidate, values.key_strength(user), start, start + len(user))


def header(candidate: Candidate) -> CandidateJudgement | None:
    """Judge the value of an authenticating HTTP header."""
    scheme = (
        candidate.groups.get("scheme") or candidate.groups.get("scheme2") or ""
    ).lower()
    if scheme == "basic":
        return basic(candidate)
    strength = values.key_strength(candidate.value)
    if strength is not Strength.STRONG and (not scheme or len(candidate.value) < 16):
        return None
    return grade(candidate, strength, candidate.start, candidate.end)


def basic(candidate: Candidate) -> CandidateJudgement | None:
    """Judge user and password in base64 (RFC 7617)."""
    decoded = decode_base64(candidate.value)
    user, colon, secret = (decoded or "").partition(":")
    if not colon or user in ("", secret) or _is_placeholder(secret):
        return None
    if values.is_template(secret) or secret.lower() == "open sesame":
        return None
    strength = max(values.password_strength(secret), values.key_strength(secret))
    graded = grade(
        candidate, max(strength, Strength.LIKELY), candidate.start, candidate.end
    )
    return _of_user(user, graded)


def rc(candidate: Candidate) -> CandidateJudgement | None:
    """Judge an entry that can only hold a credential."""
    value = candidate.value
    if places.is_code(candidate.path):
        return None
    decoded = decode_base64(value)
    secret = decoded.rpartition(":")[2] if decoded and decoded.isprintable() else value
    if values.is_template(value) or any(map(_is_placeholder, (value, secret))):
        return None
    strength = (
        Strength.STRONG
        if re.search(r"\d", secret) and len(secret) >= 8
        else Strength.LIKELY
    )
    return grade(candidate, strength, candidate.start, candidate.end)


def command(candidate: Candidate) -> CandidateJudgement | None:
    """Judge the argument that a command takes as a password."""
    value = candidate.value.strip("\"'")
    start = candidate.start + candidate.value.index(value) if value else candidate.start
    if not value or value[0] in "-$" or re.match(r"^\d+:\d+$|^\d{1,5}$", value):
        return None
    if value.lower() in words("trivial"):
        return None
    strength = max(values.password_strength(value), values.key_strength(value))
    strength = weigh_login(candidate, strength, is_command=True)
    graded = grade(candidate, strength, start, start + len(value))
    return graded and _in_document(candidate, graded)


def pair(candidate: Candidate) -> CandidateJudgement | None:
    """Judge the second of two adjacent words (`admin / x`) as a password if its characters are mixed."""
    value = candidate.value
    if _is_in_address(candidate):
        return None
    classes = [
        each
        for each in ("[a-z]", "[A-Z]", r"\d", r"[!@#$%^&*?+=~]")
        if re.search(each, value)
    ]
    has_version = re.search(r"\d\.\d", value)
    if has_version or len(classes) < 3 or values.password_strength(value) < Strength.LIKELY:
        return None
    graded = grade(candidate, Strength.LIKELY, candidate.start, candidate.end)
    user = candidate.groups.get("user") or ""
    return _of_user(user, graded and _in_document(candidate, graded))


def _is_in_address(candidate: Candidate) -> bool:
    """Return whether the two words are steps of a path: one begins before them, or the second is percent-encoded."""
    user_at = candidate.text.rfind(candidate.groups.get("user") or "", 0, candidate.start)
    between = candidate.text[user_at : candidate.start]
    is_tight = between.rstrip("`\"'").endswith("/") and " " not in between
    is_encoded = re.search("%[0-9A-Fa-f]{2}", candidate.value) is not None
    return is_tight and (is_encoded or candidate.text[:user_at][-1:] == "/")


def _of_user(user: str, graded: CandidateJudgement | None) -> CandidateJudgement | None:
    """Lower the judgement of a password to advice if its user is named as one for tests."""
    is_for_tests = has_test_words(user) or user.lower().startswith("test")
    if graded and is_for_tests:
        return replace(graded, severity=Severity.MEDIUM, confidence=Confidence.LOW)
    return graded


def _in_document(candidate: Candidate, graded: CandidateJudgement) -> CandidateJudgement:
    """Return the judgement of what a document says of a system in use rather than shows."""
    return (places.is_test_or_document(candidate.path) and statement(candidate)) or graded


def statement(
    candidate: Candidate, *, has_name: bool = False, least: Strength = Strength.LIKELY
) -> CandidateJudgement | None:
    """Judge a password in a sentence or a comment: kinds of characters as no word has, and no word of an example.

    What a column names as one (`has_name`) needs only a digit.
    """
    value = candidate.value.rstrip(".:!?")
    mixed = r"[a-z].*[A-Z]|[A-Z].*[a-z]|[a-z].*[!@#$%&+=]"
    form = rf"{mixed}|[a-z].*\d.*\d" if has_name else mixed
    if (
        not re.search(form, value)
        or values.is_filler(value.rstrip("0123456789!"))
        or _is_shown(candidate)
    ):
        return None
    strength = values.password_strength(value)
    if strength < least or (strength is Strength.WEAK and is_usual(value)):
        return None
    severity = Severity.HIGH
    if has_test_words(candidate.path):
        severity = Severity.MEDIUM
    return replace(
        plain(candidate, severity, Confidence.MEDIUM), end=candidate.start + len(value)
    )


def mention(candidate: Candidate) -> CandidateJudgement | None:
    """Judge a password after a word for it, in a document or the comment of a line."""
    if not _is_in_text(candidate):
        return None
    between = candidate.text[candidate.keyword_at : candidate.start]
    return _judge_told(candidate, has_name=bool(re.search(NAMED, between)))


def answer(candidate: Candidate) -> CandidateJudgement | None:
    """Judge the line after a question that asks for a password."""
    question = _line_before(candidate)
    if re.search(OTHER_QUESTION, question):
        return None
    words_for_it = pattern("password_words", re.I).pattern
    asks = compile_once(rf"(?:{words_for_it}){ASKED}", re.I).search(question)
    return statement(candidate, has_name=True) if asks else None


def key_mention(candidate: Candidate) -> CandidateJudgement | None:
    """Judge a key after a word for it, in a document or a comment: base64 or alike, no digest, and not public."""
    value = candidate.value
    is_mixed = re.search(r"[a-z]", value) and re.search(r"[A-Z]", value)
    if not is_mixed or not values.is_random(value) or not _is_in_text(candidate):
        return None
    if re.search(PUBLIC, _line_before(candidate)):
        return None
    return grade(candidate, Strength.STRONG, candidate.start, candidate.end)


def remark(candidate: Candidate) -> CandidateJudgement | None:
    """Judge a password after a word for it, in the comment of a line."""
    return _judge_told(candidate) if _is_in_comment(candidate) else None


def _judge_told(
    candidate: Candidate, *, has_name: bool = False
) -> CandidateJudgement | None:
    """Judge a password after a word for it: it has a digit, or stands among the data of a login."""
    if _is_login(candidate):
        return statement(candidate, has_name=has_name, least=Strength.WEAK)
    if not re.search(r"\d", candidate.value):
        return None
    return statement(candidate, has_name=has_name)


def _is_login(candidate: Candidate) -> bool:
    """Return whether the line lists a host of another network, and two more names with values: user and password."""
    rest = candidate.text[candidate.keyword_at : candidate.end + SENTENCE].partition("\n")[
        0
    ]
    listed = re.findall(LISTED, _line_before(candidate) + rest)
    return len(listed) > 2 and any(map(is_elsewhere, listed))


def _is_in_text(candidate: Candidate) -> bool:
    return places.kind_of(candidate.path) == "prose" or _is_in_comment(candidate)


def _is_in_comment(candidate: Candidate) -> bool:
    line = _line_before(candidate)
    return bool(re.search(COMMENT, line)) or line.lstrip().startswith(
        _comment_mark(candidate.path)
    )


@lru_cache(maxsize=places.PATHS)
def _comment_mark(path: str) -> str:
    """Return what begins a comment in the language of a file; what begins no line if that is not known."""
    return (comment(path, "") or "\n").partition(" ")[0]


def _line_before(candidate: Candidate) -> str:
    start = candidate.text.rfind("\n", 0, candidate.keyword_at) + 1
    start = max(start, candidate.keyword_at - SENTENCE)
    return candidate.text[start : candidate.keyword_at]


def _is_shown(candidate: Candidate) -> bool:
    near = candidate.text[max(candidate.start - SENTENCE, 0) : candidate.end]
    # A document about tests is none.
    folder, _, name = candidate.path.rpartition("/")
    place = folder if places.is_document(name) else candidate.path
    return has_test_words(place) or bool(pattern("shows", re.I).search(near))


def _is_placeholder(text: str) -> bool:
    return (
        values.is_filler(text)
        or values.is_made_up(text)
        or text.lower() in words("trivial")
    )


def foreign(candidate: Candidate) -> CandidateJudgement | None:
    """Judge a password under a word of another language, in a document as in a sentence."""
    quoted = candidate.text[candidate.start - 1 : candidate.start] in ("'", '"', "`")
    is_word = candidate.value.rstrip(".:!?").isalpha() and candidate.value[-1] in ".:!?"
    if is_word or (places.is_code(candidate.path) and not quoted):
        return None
    return (
        statement(candidate) if places.kind_of(candidate.path) == "prose" else None
    ) or password(candidate)


def wordlist(candidate: Candidate) -> CandidateJudgement | None:
    """Judge four or more quoted words that make no sentence as a passphrase."""
    found = candidate.value.replace("-", " ").split()
    if (
        words("sentence") & set(found)
        or len(set(found)) < len(found)
        or _is_shown(candidate)
    ):
        return None
    return plain(candidate)


def byte_array(candidate: Candidate) -> CandidateJudgement | None:
    """Judge the bytes of a key: neither counted up nor repeated."""
    numbers = [int(number, 0) % 256 for number in re.findall(NUMBER, candidate.value)]
    steps = {(after - before) % 256 for before, after in pairwise(numbers)}
    if len(steps) < len(numbers) // 2 or len(set(numbers)) < 12:
        return None
    return None if places.is_test_or_document(candidate.path) else plain(candidate)


def signing(candidate: Candidate) -> CandidateJudgement | None:
    """Judge the literal with which a call signs or encrypts: a phrase with a digit is enough."""
    value = candidate.value
    strength = max(values.password_strength(value), values.key_strength(value))
    parts = re.split("[-_ ]", value)
    words_alone = " " in value and not words("sentence") & set(parts)
    has_digit = bool(re.search(r"\d", value))
    is_phrase = len(parts) > 2 and value.islower() and not is_usual(value)
    if (
        (strength is Strength.WEAK or words_alone)
        and (has_digit or is_phrase)
        and len(value) >= 8
    ):
        strength = Strength.LIKELY
    return grade(candidate, strength, candidate.start, candidate.end)


def none(candidate: Candidate) -> CandidateJudgement | None:
    """Accept any value except a placeholder: the pattern is specific."""
    if values.is_filler(candidate.value):
        return None
    return grade(candidate, Strength.STRONG, candidate.start, candidate.end)
