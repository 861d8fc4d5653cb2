"""Judge a value on its own: a template, a placeholder, a word, or something only a secret looks like."""

import math
import re
import unicodedata
from enum import IntEnum
from itertools import pairwise

from cli_guard.secrets.names import compile_once, pattern, words, words_of


class Strength(IntEnum):
    """How much a value looks like a real secret, given that its name says it is one."""

    NONE = 0
    WEAK = 1
    LIKELY = 2
    STRONG = 3


DUMMY = r"example|placeholder|changeme|redacted|dummy|your[-_]|sample|replace|insert|notreal|xxxx|fake[-_]"
NAMING = ("filler", "technical", "passwords", "secrets")
MOST_GLUED = 40
ALPHABET = "abcdefghijklmnopqrstuvwxyz"
# No path or dotted name changes so often between letters and digits, whatever words are in it.
MIXED_BEYOND_NAMES = 6
# Signs that people write for letters.
LEET = str.maketrans("013457$@!", "oieastsai")
STEPS = tuple(
    "0123456789 1234567890 123456789a abcdefgh 987654321 qwertyui a1b2c3d4 1a2b3c4d".split()
)
SEQUENCES = tuple(
    "01234567890123456789 12345678901234567890 98765432109876543210 0987654321 1234567890abcdef".split()
)


def entropy(text: str) -> float:
    """Return the Shannon entropy in bits a character; 0.0 for an empty text."""
    length = len(text)
    counts = (text.count(char) for char in set(text))
    return -sum(count / length * math.log2(count / length) for count in counts)


def is_template(value: str) -> bool:
    """Return whether the value is filled in elsewhere: a variable, a template, a look-up."""
    return bool(pattern("template").search(value) or pattern("lookup", re.I).search(value))


def is_hashed(value: str) -> bool:
    return bool(pattern("hashed", re.I).search(value))


def is_made_up(value: str) -> bool:
    """Return whether a value in a token format is fake: it holds a word, or one character repeated.

    Only what random text does not hold by chance counts.
    """
    repeats = compile_once(r"(.)\1{5}|(..)\2{4}|(.{4})\3{3}")
    if compile_once(DUMMY).search(value.lower()) or repeats.search(value):
        return True
    if compile_once(r"(?:[0-9a-fA-F]{2}){8,}$").match(value):
        counted = bytes.fromhex(value)
        # The keys of test vectors count up, or repeat one byte.
        if len({(after - before) % 256 for before, after in pairwise(counted)}) == 1:
            return True
    body = value.rsplit("_", 1)[-1] if "_" in value[:12] else value
    return len(body) >= 20 and len(set(body.lower())) < 7


def is_sequence(value: str) -> bool:
    """Return whether the value counts, runs along the alphabet or repeats itself, like a hand-typed key."""
    folded = value.lower()
    parts = (
        folded,
        compile_once(r"[^a-z]").sub("", folded),
        compile_once(r"[^0-9]").sub("", folded),
    )
    if any(step in part for step in STEPS for part in parts):
        return True
    return bool(compile_once(r"(.{5,16})\1{2}").search(value))


def is_filler(value: str) -> bool:
    """Return whether the value is only placeholder words, with at most a sequence of digits."""
    folded = value.lower()
    if not folded.isascii():
        folded = _without_accents(folded)
    if len(set(folded)) <= 2:
        return True
    found = compile_once(r"[a-z]+").findall(folded)
    digits = "".join(compile_once(r"\d+").findall(folded))
    is_year = compile_once(r"(?:19|20)\d\d$").match(digits)
    if (
        digits
        and not is_year
        and not any(digits in sequence for sequence in SEQUENCES)
        and len(set(digits)) > 1
    ):
        return False
    if not found:
        return bool(digits)
    # `admin123` is not a placeholder: people do choose it. `changeme123` is one.
    if len(digits) >= 3 and all(word in words("weak") for word in found):
        return False
    return all(
        set(word) == {"x"} or ALPHABET.startswith(word) or _is_made_of_filler(word)
        for word in found
    )


def _is_made_of_filler(word: str) -> bool:
    """Return whether the letters are placeholder words, one or several without a mark: `tucontrasena`."""
    known = words("filler") | words("sentence")
    if word in known:
        return True
    ends = {0}
    for end in range(2, len(word) + 1 if len(word) <= MOST_GLUED else 0):
        if any(end - start > 1 and word[start:end] in known for start in ends):
            ends.add(end)
    return len(word) in ends


def is_dummy(value: str) -> bool:
    """Return whether the value is placeholder words with digits and signs for letters: `Passw0rd!`."""
    letters = compile_once(r"\d{0,2}[!?.#]*$").sub("", value).translate(LEET)
    return is_filler(" ".join(words_of(letters)))


def _without_accents(text: str) -> str:
    parts = unicodedata.normalize("NFKD", text)
    return "".join(char for char in parts if not unicodedata.combining(char))


def is_path_or_name(value: str) -> bool:
    """Return whether the value is a URL, a path, a file name, a dotted name or an e-mail address."""
    if pattern("page_file").search(value):
        return True
    return bool(pattern("named").search(value)) and not _is_scrambled(value)


def _is_scrambled(value: str) -> bool:
    """Return whether letters of both cases and digits change so often that their parts name nothing."""
    mixed = _digits_mixed(value)
    wordy = share_of_words(value)
    if mixed >= 3 and len(value) >= 16 and (wordy < 0.5 or mixed >= MIXED_BEYOND_NAMES):
        return True
    has_cases = value not in (value.lower(), value.upper()) or (mixed >= 2 and not wordy)
    is_mute = wordy < (0.45 if mixed >= 2 else 0.3)
    is_long = len(value) >= 10 and not _technical(value)
    return mixed >= 1 and is_long and has_cases and is_mute


def is_uuid(value: str) -> bool:
    return bool(
        compile_once(r"^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$", re.I).match(value)
    )


def _digits_mixed(value: str) -> int:
    """Return how often letters turn into digits or back without a separator between them."""
    return len(compile_once(r"(?<=[A-Za-z])(?=\d)|(?<=\d)(?=[A-Za-z])").findall(value))


def _turns(value: str) -> float:
    """Return the share of neighbours of different kinds (lower, upper, digit, other), capitals aside."""
    turns = compile_once(
        r"(?<=[a-z])(?=[^a-z])|(?<=\d)(?=\D)|(?<=[A-Z])(?=[^A-Za-z])|(?<=[^A-Za-z0-9])(?=[A-Za-z0-9])"
    )
    return len(turns.findall(value)) / max(len(value) - 1, 1)


def is_wordy(value: str) -> bool:
    """Return whether the value is mostly words, as names and prose are."""
    return share_of_words(value) >= 0.55


def share_of_words(value: str) -> float:
    """Return the share of the value in pronounceable runs of four letters or more."""
    runs = compile_once(r"[A-Z]?[a-z]{3,}|[A-Z]{4,}").findall(value)
    mute = compile_once(r"(?i)[^aeiouy]{5}|^[^aeiouy]+$")
    return sum(len(run) for run in runs if not mute.search(run)) / len(value)


def is_spoken(value: str) -> bool:
    """Return whether the value is pronounceable words of any language, as in `sk_live_deinGeheimerSchluessel12`.

    One part may have no vowel, as the prefix of a provider has none.
    """
    letters = compile_once(r"\d{0,4}$").sub("", value)
    numbers = compile_once(r"\d+").findall(letters)
    if not all(any(number in counted for counted in SEQUENCES) for number in numbers):
        return False
    parts = words_of(letters)
    mute = [part for part in parts if not compile_once(r"[aeiouy]").search(part)]
    has_crowd = any(compile_once(r"[^aeiouy]{5}").search(part) for part in parts)
    return len(parts) > 2 and len(mute) <= 1 and not has_crowd


def is_random(value: str) -> bool:
    """Return whether the value looks random (hexadecimal, base 36, 62 or 64), not made of words."""
    if len(value) < 16 or not compile_once(r"^[A-Za-z0-9+/=_.~:-]+$").match(value):
        return False
    if compile_once(r"^[0-9a-fA-F]+$").match(value):
        return entropy(value) >= 2.8 and _digits_mixed(value) >= 3
    if entropy(value.rstrip("=")) < 3.2 or (
        not compile_once(r"\d").search(value) and len(value) < 24
    ):
        return False
    turns = _turns(value)
    return (turns >= 0.25 and share_of_words(value) < 0.6) or (
        turns >= 0.15 and share_of_words(value) < 0.3
    )


def key_strength(value: str) -> Strength:
    """Rate a machine-made key: length, alphabet and disorder."""
    if is_typed_key(value):
        return Strength.LIKELY
    # A number with a short prefix counts orders, customers or rooms.
    is_number = compile_once(r"[A-Za-z]{0,5}[-_]?\d+$").match(value)
    if is_number or not value.isascii() or not _is_candidate(value) or is_spoken(value):
        return Strength.NONE
    if is_uuid(value):
        return Strength.LIKELY
    if is_random(value):
        return Strength.STRONG if len(value) >= 20 else Strength.LIKELY
    if len(value) > 48:
        return Strength.NONE
    if not compile_once(r"\d").search(value) or share_of_words(value) >= 0.65:
        return Strength.NONE
    return min(password_strength(value), Strength.LIKELY)


def is_typed_key(value: str) -> bool:
    """Return whether the value has the form of a key, but follows the alphabet or the digits (`abcdef123456...`)."""
    if len(value) < 16 or not compile_once(r"^[A-Za-z0-9_.-]*\d[A-Za-z0-9_.-]*$").match(
        value
    ):
        return False
    found = [
        word
        for word in compile_once(r"[a-z]{3,}").findall(value.lower())
        if word not in ALPHABET
    ]
    return (
        is_sequence(value)
        and not is_made_up(value)
        and not any(word in words("filler") for word in found)
    )


def password_strength(value: str) -> Strength:
    """Rate a password that a person chose: which kinds of characters, how mixed."""
    if (
        not 5 <= len(value) <= 128
        or compile_once(r"\s").search(value)
        or not _is_candidate(value)
    ):
        return Strength.NONE
    kinds = (r"[a-z]", r"[A-Z]", r"\d", r"[!@#$%^&*?+=~|;]")
    lower, upper, digit, symbol = (bool(compile_once(kind).search(value)) for kind in kinds)
    if not (lower or upper):
        return Strength.LIKELY if digit and len(value) >= 6 and symbol else Strength.NONE
    if _technical(value):
        return Strength.NONE
    if symbol:
        rich = digit + (lower and upper) >= 1 and len(value) >= 8
        if rich:
            return Strength.STRONG
        return Strength.LIKELY if digit or len(value) >= 8 else Strength.WEAK
    if _is_phrase(value):
        return Strength.LIKELY
    if digit:
        return _with_digits(value, mixed_case=lower and upper)
    scrambled = len(value) >= 10 and _turns(value) >= 0.3 and share_of_words(value) < 0.5
    return Strength.LIKELY if scrambled else Strength.WEAK


def _is_phrase(value: str) -> bool:
    """Return whether the value is words with marks between them that name nothing: `Hopping-bunny-3`."""
    names = compile_once(r"[a-z]{3,}").findall(value.lower())
    if not pattern("phrase").match(value) or any(
        name in words(each) for name in names for each in NAMING
    ):
        return False
    long = sum(len(name) >= 4 for name in names)
    return long > 1 or (long == 1 and not value.islower() and value[-1].isdigit())


def _with_digits(value: str, *, mixed_case: bool) -> Strength:
    mixed = _digits_mixed(value)
    if not mixed:
        return (
            Strength.LIKELY
            if len(value) >= 8 and sum(map(str.isdigit, value)) >= 4
            else Strength.WEAK
        )
    if (
        len(value) >= 8
        and (mixed >= 2 or mixed_case)
        and (len(value) >= 12 or share_of_words(value) < 0.8)
    ):
        return Strength.STRONG
    return Strength.LIKELY if len(value) >= 6 else Strength.WEAK


def _technical(value: str) -> bool:
    """Return whether all digits belong to names of standards, as in `oauth2_token` and `sha256`."""
    parts = [
        part
        for part in compile_once(r"[^a-z0-9]+").split(value.lower())
        if not part.isalpha() and part
    ]
    return bool(parts) and all(part in words("technical") for part in parts)


def _is_candidate(value: str) -> bool:
    tests = (
        is_template,
        is_hashed,
        pattern("public").search,
        is_filler,
        is_path_or_name,
        is_made_up,
    )
    return len(value) >= 4 and not any(test(value) for test in tests)
