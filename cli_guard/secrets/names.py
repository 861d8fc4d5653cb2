"""The word lists of the rules, and what a name says of its value: a password, a key, or neither (`token_type`)."""

import re
from enum import StrEnum
from functools import cache, lru_cache

from cli_guard.rules.catalog import read_table


class SecretKind(StrEnum):
    """What a name says its value is."""

    PASSWORD = "password"  # noqa: S105 - a kind, not a password
    SECRET = "secret"  # noqa: S105
    TOKEN = "token"  # noqa: S105


PASSWORD_ENDS = ("password", "passwd", "passphrase", "passwort")
SECRET_ENDS = (
    "apikey",
    "secretkey",
    "accesskey",
    "clientsecret",
    "appsecret",
    "signingsecret",
)
# Variables that bundlers write into what browsers load.
BUNDLED = "(?:NEXT|EXPO|NUXT)_PUBLIC_|VITE_|REACT_APP_|GATSBY_"
PARTS = r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+"
# Most changes need few of the patterns.
compile_once = cache(re.compile)
TOKEN_ENDS = ("authtoken", "accesstoken", "bottoken", "apitoken")


def words_of(name: str) -> list[str]:
    """Split an identifier in any style into words, in lower case: `dbPassword_2` -> db, password, 2."""
    return [word.lower() for word in compile_once(PARTS).findall(name)]


_LISTS = "secrets/words.toml"


@cache
def words(name: str) -> frozenset[str]:
    """Return one list of `cli_guard/rules/secrets/words.toml`, such as `filler`."""
    return frozenset(read_table(_LISTS)[name].split())


@cache
def pattern(name: str, flags: int = 0) -> re.Pattern[str]:
    """Compile one list of regular expressions as one at its first use: most changes need none."""
    return re.compile("|".join(read_table(_LISTS)[name].split()), flags)


@lru_cache(maxsize=1024)
def kind_of(name: str) -> SecretKind | None:
    """Return what the name says its value is; None if it names no credential."""
    parts = words_of(name)
    while len(parts) > 1 and (parts[-1].isdigit() or parts[-1] in words("qualifiers")):
        parts.pop()
    if not parts or words("not_secret") & set(parts[:-1]):
        return None
    last = parts[-1]
    before = parts[-2] if len(parts) > 1 else ""
    if _is_password(last, before):
        return SecretKind.PASSWORD
    if last == "key" and before in words("key_owners"):
        return SecretKind.SECRET
    if (
        last in words("secrets")
        or last.endswith(SECRET_ENDS)
        or parts[-3:] == ["secret", "key", "base"]
    ):
        return SecretKind.SECRET
    if (last in words("tokens") or last.endswith(TOKEN_ENDS)) and before not in words(
        "no_token"
    ):
        return SecretKind.TOKEN
    return None


def _is_password(last: str, before: str) -> bool:
    if before == "pass" and last in ("word", "phrase"):
        return True
    return last in words("passwords") or last.endswith(PASSWORD_ENDS)
