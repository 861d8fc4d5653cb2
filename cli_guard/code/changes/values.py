"""Compare two values of the same key: does the new one protect less?

Numbers are read in any base, with units of time and products: `0o600`, `600_000`, `60 * 60`, `'15m'`, `7.days`,
`24 * time.Hour`. By which words a key is recognised is data: `rules/languages/strength.toml`.
"""

import re
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from itertools import pairwise

from cli_guard.code.changes.facts import IDENTIFIER, CodeFact, short_name, words_of_name
from cli_guard.rules.catalog import read_table

TABLE = "languages/strength.toml"
NUMBER = re.compile(r"0x[0-9a-f]{1,16}|0o[0-7]{1,8}|[0-9]{1,15}")
FACTOR = re.compile(
    r"\s*(?:(?P<number>0[xo][0-9a-f_]+|[0-9][0-9_]*)|(?P<unit>[a-z][a-z.]*))\s*(?:\*|\.(?![0-9]))?\s*"
)
# A value that the program finds out.
EXPRESSION = re.compile(r"[A-Za-z_$@][\w$.>-]*(?:\(.*\))?")
LONGEST_AMOUNT = 60
# A limit that grows with what people have is no weaker; so many times as much is none.
MUCH = 100
MOST_BITS = 200
OCTAL = frozenset("01234567")


@cache
def read_strength_words() -> Mapping[str, frozenset[str]]:
    """Return the sets of words of the table."""
    words = read_table(TABLE)["words"]
    return {name: frozenset(text.split()) for name, text in words.items()}


@cache
def units() -> Mapping[str, int]:
    """Return how many of the smallest unit each unit has."""
    rows = read_table(TABLE)["units"].items()
    return {word: int(size) for size, words in rows for word in words.split()}


def loosened_value(key: str, old: str, new: str, around: Iterable[str] = ()) -> str:
    """Return why a value is looser under its key, "" if it is not. `around`: the words of what the key stands in."""
    words = key_words(short_name(key))
    known = read_strength_words()
    was = plain(old)
    now = plain(new)
    if words & known["on"] and was in known["yes"] and now in known["no"]:
        return f"`{key}` is off now"
    if words & known["off"] and was in known["no"] and now in known["yes"]:
        return f"`{key}` is on now"
    if EXPRESSION.fullmatch(old) and was not in known["yes"] | known["no"]:
        if words & (known["off"] | {"allow"}) and now in ("true", ":true"):
            return f"`{key}` is on now, it was `{old}`"
        if words & known["on"] and now in ("false", ":false"):
            return f"`{key}` is off now, it was `{old}`"
    before = amount_of(was)
    after = amount_of(now)
    is_limit = not words.isdisjoint(known["bounds"])
    if (
        before
        and is_limit
        and (now in known["endless"] or (after == 0 and "timeout" in words))
    ):
        return f"`{key}` has no limit now"
    if before is None or after is None or before == after:
        return ""
    if before and "timeout" not in words and is_limit and after >= MUCH * before:
        return f"{now} is {after // before:,} times {was}"
    if words & known["bits"] and was[:1] == now[:1] == "0" and after & ~before:
        return f"{now} gives more rights than {was}"
    lives = words & known["life"] and {*key_words(key), *around} & known["credentials"]
    is_shorter = words & known["less"] and after < before
    is_longer = (words & known["more"] or lives) and after > before
    return f"{now} is looser than {was}" if is_shorter or is_longer else ""


def wider_type(old: CodeFact, new: CodeFact) -> str:
    """Return why a declared type takes more texts than the one before, "" if it does not."""
    known = read_strength_words()
    was = {word.lower() for word in IDENTIFIER.findall(old.detail)}
    now = {word.lower() for word in IDENTIFIER.findall(new.detail)}
    if old.name != new.name or not was & known["narrow"] or was & known["wide"]:
        return ""
    if not now & known["wide"] or was & now & known["narrow"]:
        return ""
    return f"`{old.name}` was `{old.detail}` and is `{new.detail}` now"


def key_words(key: str) -> frozenset[str]:
    """Return the words of a key, and each two neighbours as one: `max_age` is "max", "age", "maxage"."""
    words = words_of_name(key)
    joined = (one + two for one, two in pairwise(words))
    return frozenset((*words, *joined))


def plain(text: str) -> str:
    return text.strip("\"'`,; ").lower()


@lru_cache(maxsize=2_000)
def amount_of(text: str) -> int | None:
    """Return the number that a text is, as a product and with its unit, None for any other text."""
    rest = plain(text)
    if not rest[:1].isalnum() or len(rest) > LONGEST_AMOUNT:
        return None
    amount = 1
    has_number = False
    while rest:
        match = FACTOR.match(rest)
        if match is None or not match[0]:
            return None
        if match["unit"]:
            factor = units().get(match["unit"].strip(".").rpartition(".")[2])
        else:
            factor = number_of(match["number"])
            has_number = True
        if factor is None or factor.bit_length() + amount.bit_length() > MOST_BITS:
            return None
        amount *= factor
        rest = rest[match.end() :]
    return amount if has_number else None


def number_of(text: str) -> int | None:
    """Return the number that a text is in any base, None for none."""
    number = text.replace("_", "").lower()
    if not NUMBER.fullmatch(number):
        return None
    if number.startswith("0x"):
        return int(number, 16)
    octal = number.removeprefix("0o")
    if number.startswith("0") and not set(octal) - OCTAL:
        return int(octal, 8)
    return None if "o" in number else int(number)
