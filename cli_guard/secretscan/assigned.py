"""Judges assignments: `name = "value"` in any language, setting file or command line."""

import re

from cli_guard.secretscan import names, places, values
from cli_guard.secretscan.candidates import Candidate, Judgement
from cli_guard.secretscan.checks import decode_base64, graded
from cli_guard.secretscan.names import Kind
from cli_guard.secretscan.values import Strength

NAME_CHARS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.")
NAME_LIMIT = 60
# Calls whose text argument is a question, a key to look up, or something already encrypted.
LOOKUPS = "|".join(
    (
        r"(?i)env|get|read|load|fetch|find|lookup|resolve|decrypt|input|prompt|translate|gettext|^_$|^t$|^tr$",
        r"field|column|label|attr|option|argument|hash|verify|select|query|contains|equals|match|replace|split",
        r"format|print|log|error|exception|warn",
    )
)
FALLBACKS = ("or", "OR", "||", "??", ":-")
SPACED = r"(?i)(?:^|[\s;&|(])(?:env|arg|setenv|setx|set|config set)\s+$"


def name_before(text: str, position: int) -> int:
    """Where the name begins in which a keyword stands at `position`."""
    start = position
    while start > 0 and position - start < NAME_LIMIT and text[start - 1] in NAME_CHARS:
        start -= 1
    return start


def assigned(candidate: Candidate) -> Judgement | None:
    """A value that is given to a name: judged by the name, by how it is given, and by the value."""
    if places.is_lock(candidate.path):
        return None
    start = name_before(candidate.text, candidate.keyword_at)
    name = candidate.text[start : candidate.name_end]
    kind = names.kind_of(name)
    if kind is None or (kind is Kind.PASSWORD) != (candidate.detector.kinds == ("password",)):
        return None
    bare = candidate.groups.get("bare") is not None
    operator = (candidate.groups.get("op") or "").strip()
    if not _given(candidate, operator, name, start, bare=bare):
        return None
    value, end = candidate.value, candidate.end
    if bare:
        value = value.rstrip(",;)]}").rstrip("\\")
        end = candidate.start + len(value)
    if _is_expression(candidate, value, bare=bare) or _echoes(name, value):
        return None
    strength = strength_of(kind, name, value)
    if strength <= Strength.WEAK and _is_word(candidate, kind, operator, value):
        strength = Strength.LIKELY
    if strength is not Strength.STRONG and _needs_strong(candidate, operator, bare=bare):
        return None
    return graded(candidate, strength, candidate.start, end, name.lstrip("-."))


def _is_expression(candidate: Candidate, value: str, *, bare: bool) -> bool:
    """Is the value computed: by a look-up around it, or by a call that it begins with?"""
    wrap = candidate.groups.get("wrap")
    if wrap:
        return bare or bool(re.search(LOOKUPS, wrap))
    return bare and bool(re.search(r"\w\.\w+\(", value))


def _needs_strong(candidate: Candidate, operator: str, *, bare: bool) -> bool:
    """Calls, prose, and words without quotes outside settings mean little by themselves."""
    if operator in ("(", "{", "is", "IS"):
        return True
    return bare and not places.is_settings(candidate.path)


def named(candidate: Candidate) -> Judgement | None:
    """A value beside its name: an XML element, or a pair of name and value."""
    if places.is_lock(candidate.path):
        return None
    start = name_before(candidate.text, candidate.keyword_at)
    name = candidate.text[start : candidate.name_end]
    kind = names.kind_of(name)
    quoted = candidate.text[candidate.start - 1 : candidate.start] in ("'", '"', ">", "[")
    if kind is None or (places.is_code(candidate.path) and not quoted):
        return None
    return graded(candidate, strength_of(kind, name, candidate.value), candidate.start, candidate.end, name)


def strength_of(kind: Kind, name: str, value: str) -> Strength:
    """How much the value looks like what its name says it is."""
    if kind is Kind.PASSWORD:
        return max(values.password_strength(value), values.key_strength(value))
    key = value.removeprefix("base64:")
    decoded = decode_base64(key)
    if decoded and ":" in decoded and values.is_filler(decoded.rpartition(":")[2]):
        return Strength.NONE
    strength = values.key_strength(key)
    if kind is Kind.SECRET:
        return max(strength, _phrase(value))
    if len(names.words_of(name)) > 1 or values.is_uuid(key):
        return strength
    # A lone `token` or `auth` is often one of a parser, a page or a module: only a random value counts, and
    # then a person should look.
    return Strength.LIKELY if strength is Strength.STRONG else Strength.NONE


def _is_word(candidate: Candidate, kind: Kind, operator: str, value: str) -> bool:
    """In settings even a plain word is the password (`password: letmein`); in code it may name anything."""
    ending = places.ending(candidate.path)
    if operator not in ("=", ":") or not value.isalpha() or values.is_filler(value):
        return False
    if kind is Kind.PASSWORD:
        return (
            places.is_settings(candidate.path) and ending != ".json" and bool(re.match("[a-z]{6,24}$", value))
        )
    return (
        kind is Kind.SECRET
        and ending in (".env", ".properties", ".ini")
        and bool(re.match("[a-z]{12,40}$", value))
    )


def _echoes(name: str, value: str) -> bool:
    """Does the value say no more than the name: `"chpasswd", "|chpasswd"`?"""
    letters = re.sub(r"[^a-z]", "", value.lower())
    return not re.search(r"\d", value) and letters in re.sub(r"[^a-z]", "", name.lower())


def _phrase(value: str) -> Strength:
    """Signing keys of web frameworks are drawn from letters, digits and symbols."""
    if len(value) < 24 or re.search(r"\s", value) or not re.search(r"[!@#$%^&*()+=]", value):
        return Strength.NONE
    return Strength.STRONG if values.password_strength(value) is Strength.STRONG else Strength.NONE


def _given(candidate: Candidate, operator: str, name: str, start: int, *, bare: bool) -> bool:
    """Is the value given to the name, by an operator that does that in this kind of file?"""
    flag = name.startswith("--") and len(name) > 4
    close = candidate.groups.get("close") or ""
    if ")" in close and operator not in FALLBACKS:
        return False
    if operator == ",":
        return (not bare and bool(re.search("[\"'`]", close)) and not flag) or (flag and not bare)
    if operator in ("(", "{"):
        return not bare and not close
    if operator in FALLBACKS:
        return not bare or operator == ":-"
    if operator in ("is", "IS"):
        return not places.is_code(candidate.path) and not places.is_settings(candidate.path)
    if operator == "":
        return _spaced(candidate, name, start, flag=flag, bare=bare)
    if not bare:
        return True
    if operator not in ("=", ":", "=>", "?=", ":=", "+="):
        return False
    if flag:
        return True
    if places.is_settings(candidate.path):
        return True
    return not places.is_code(candidate.path) and not (operator == "=" and _in_code_line(candidate, start))


def _spaced(candidate: Candidate, name: str, start: int, *, flag: bool, bare: bool) -> bool:
    """Name and value with nothing but blanks between: a flag, a directive, a define."""
    if candidate.groups.get("close"):
        return False
    if flag:
        return not candidate.value.startswith("-")
    line = candidate.text[max(candidate.text.rfind("\n", 0, start) + 1, start - 120) : start]
    if name in ("requirepass", "masterauth"):
        return not line.strip()
    if re.search(r"#\s*define\s+$", line):
        return not bare
    return bool(re.search(SPACED, line))


def _in_code_line(candidate: Candidate, start: int) -> bool:
    """Without a path that tells, a call or a statement on the line tells: `x = f(y)`."""
    value = candidate.value
    return (
        bool(re.search(r"\w\(|\)\s*[;{]|^\w+\.\w+", value))
        or candidate.text[max(start - 1, 0) : start] == "$"
    )
