"""Tell by what stands beside a word whether it is a password: a user, and a host that is somewhere else.

`password=Winterreise` alone may be anything; in a connection string or a command that names a user and a host of
another network, it logs in there.
"""

import re

from cli_guard.secrets import values
from cli_guard.secrets.candidates import Candidate
from cli_guard.secrets.names import compile_once, pattern, words, words_of
from cli_guard.secrets.values import Strength

JOINED = r"(?:[A-Z][a-z]{3,12}){2,4}$"
REACH = 400
ENDS = "\n\"'`"
HOST = (
    r"(?i)(?:(?<![\w.-])(?:server|data source|address|addr|network address|host|hostname|hostaddr)\s?=\s?"
    r"(?:(?:tcp|np|lpc):)?|(?:jdbc:(?:\w{1,20}:){1,3}@?|https?:)//|(?<!\S)(?:-h\s{0,3}|--host[=\s])|\s[\w.-]{1,60}@)"
    r"[\"']?([^\s;,&\"'`?\\]{1,200})"
)
USER = (
    r"(?i)(?:(?<![\w.-])(?:user id|userid|uid|user|username|user name)\s?=\s?"
    r"|(?<!\S)(?:-u\s{0,3}|--user(?:name)?[=\s])|\s(?=[\w.-]{1,60}@))[\"']?([\w.@\\-]{1,100})"
)


def weigh_login(candidate: Candidate, strength: Strength, *, is_command: bool) -> Strength:
    """Return how strong a password is beside its user and host: a word that logs in elsewhere counts."""
    value = candidate.value.strip("\"'")
    if strength is not Strength.WEAK or is_usual(value):
        return strength
    if is_joined_words(value):
        return Strength.LIKELY
    groups = candidate.groups
    user = groups.get("user")
    host = groups.get("host")
    if host is None:
        text = _beside(candidate, "\n" if is_command else ENDS)
        user = _find(USER, text)
        host = _find(HOST, text)
    if not user or not host or value.lower() == user.lower():
        return strength
    return Strength.LIKELY if is_elsewhere(host) else strength


def _find(form: str, text: str) -> str | None:
    found = compile_once(form).search(text)
    return found[1] if found else None


def is_joined_words(value: str) -> bool:
    """Return whether the value is two words or more with capitals, and none that a password or key is called by."""
    if not compile_once(JOINED).match(value) or is_usual(value):
        return False
    return pattern("password_words", re.I).search(value) is None


def is_usual(value: str) -> bool:
    """Return whether the value is a usual password of installations, or says that a password stands here."""
    known = words("passwords") | words("secrets")
    parts = set(words_of(value))
    is_filled = all(part in words("filler") for part in parts)
    return is_filled or bool(parts & known) or value.lower() in words("trivial")


def is_elsewhere(address: str) -> bool:
    """Return whether an address has a domain, or is a number, and is neither local nor made up."""
    host = address.rpartition("//")[2].partition("/")[0].lower()
    invented = ("local_hosts", "made_up_hosts")
    if values.is_template(address) or any(pattern(name).search(host) for name in invented):
        return False
    return "." in address.strip(".")


def _beside(candidate: Candidate, ends: str) -> str:
    """Return the text around the value, up to where its literal or its line ends."""
    text = candidate.text[max(candidate.start - REACH, 0) : candidate.end + REACH]
    at = min(candidate.start, REACH)
    behind = at + len(candidate.value)
    start = max(text.rfind(end, 0, at) for end in ends) + 1
    found = [place for end in ends if (place := text.find(end, behind)) >= 0]
    return text[start : min(found, default=len(text))]
