"""Words: identifiers split where their parts meet, and cut down to what their forms have in common."""

import re
from functools import lru_cache

from cli_guard.assistant.retrieval.vocabulary import IRREGULAR, ONE_WORD, WHOLE

PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")
# (ending, what stands for it), longest first. What is left must keep `SHORTEST` letters.
ENDINGS = (
    *(
        ("ifications", "ify"),
        ("ification", "ify"),
        ("ations", ""),
        ("ation", ""),
        ("itions", ""),
        ("ition", ""),
    ),
    *(("ators", ""), ("ator", ""), ("ating", ""), ("ated", ""), ("ates", ""), ("ively", ""), ("ments", "")),
    *(
        ("ment", ""),
        ("ings", ""),
        ("ing", ""),
        ("ions", ""),
        ("ion", ""),
        ("ives", ""),
        ("ive", ""),
        ("able", ""),
    ),
    *(("ible", ""), ("ures", ""), ("ure", ""), ("iers", "y"), ("ier", "y"), ("ies", "y"), ("ied", "y")),
    *(("ers", ""), ("ors", ""), ("ate", ""), ("ely", ""), ("ed", ""), ("er", ""), ("or", ""), ("es", "")),
    *(("ly", ""), ("e", ""), ("s", "")),
)
SHORTEST = 4
SHORT_ENDINGS = frozenset(("s", "es", "e", "ies", "ied", "ed", "ing"))
LONGEST_WORD = 64


def parts_of(text: str) -> list[str]:
    """The parts of identifiers and words, in lower case: `maxRetries` and `MAX_RETRIES` are both max, retries."""
    return [part.lower() for part in PART.findall(text)]


@lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """What the forms of a word have in common: `redirects`, `redirected` and `redirection` are `redirect`.

    Light and greedy: the aim is that a question meets an identifier, not that the stem is a word.
    """
    if word in IRREGULAR:
        return IRREGULAR[word]
    if len(word) > LONGEST_WORD or word in WHOLE or word in ONE_WORD or not word.isascii():
        return word
    if word.endswith("s") and not word.endswith("ss") and word[:-1] in WHOLE:
        return word[:-1]
    for ending, stand_in in ENDINGS:
        if not word.endswith(ending):
            continue
        rest = word.removesuffix(ending)
        if len(rest) + len(stand_in) < (SHORTEST - 1 if ending in SHORT_ENDINGS else SHORTEST):
            continue
        if (ending == "s" and rest.endswith(("s", "u", "i"))) or (ending == "ed" and rest.endswith("e")):
            return word
        return rest + stand_in if stand_in else undoubled(rest)
    return word


def undoubled(rest: str) -> str:
    """`stopp` of `stopped` is `stop`; `pass` and `poll` stay."""
    if len(rest) > SHORTEST and rest[-1] == rest[-2] and rest[-1] in "bdgmnprt":
        return rest[:-1]
    return rest


def stems_of(text: str) -> list[str]:
    """The stems of the parts of a text."""
    return [stem(part) for part in parts_of(text)]


@lru_cache(maxsize=1_000)
def needles_of(stemmed: str) -> tuple[str, ...]:
    """Substrings of which at least one is in every form of a stem: what a text is searched for, before any split."""
    forms = sorted({form for form, common in IRREGULAR.items() if common == stemmed} or {stemmed})
    found: list[str] = []
    for form in sorted((form.removesuffix("y") or form for form in forms), key=len):
        if not any(form.startswith(shorter) for shorter in found):
            found.append(form)
    return tuple(found)
