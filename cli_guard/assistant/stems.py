"""Words: identifiers split into their parts, and cut to what their forms have in common."""

import re
from functools import lru_cache

from cli_guard.rules.catalog import read_table

PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")
# (ending, replacement, the fewest letters before it), tried in this order until none fits.
ENDINGS = (
    ("ied", "y", 3),
    ("ier", "y", 3),
    ("ification", "ify", 1),
    *(
        (ending, "", 4)
        for ending in (
            "ation ition ator ating ated ate ive iv able ible ment ion er or ely ly"
        ).split()
    ),
    ("ing", "", 3),
    ("ed", "", 3),
    ("e", "", 3),
)
# Doubled before an ending: `stopped`, `running`; not in `passed`.
DOUBLED = re.compile(r"([bdgmnprt])\1$")
SHORTEST = 4
LONGEST_WORD = 64


def parts_of(text: str) -> list[str]:
    """Split identifiers and words, in lower case: `maxRetries` and `MAX_RETRIES` are both max, retries."""
    return [part.lower() for part in PART.findall(text)]


@lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """Cut a word to what its forms have in common: `redirects`, `redirected` and `redirection` are `redirect`.

    Light and greedy: a question has to meet an identifier, the stem need not be a word.
    """
    if word in FORM_OF or len(word) > LONGEST_WORD or not word.isascii():
        return FORM_OF.get(word, word)
    cut = _cut_plural(word)
    while (shorter := _cut(cut)) != cut:
        cut = shorter
    return FORM_OF.get(cut, cut)


def _cut_plural(word: str) -> str:
    if (
        len(word) < SHORTEST
        or not word.endswith("s")
        or word.endswith(("ss", "us", "is", "as"))
    ):
        return word
    return word[:-3] + "y" if word.endswith("ies") else word[:-1]


def _cut(word: str) -> str:
    for ending, replacement, fewest in ENDINGS:
        rest = word.removesuffix(ending)
        if rest == word or len(rest) < fewest:
            continue
        if ending == "ed" and rest.endswith("e"):
            continue
        if ending in ("ing", "ed", "er") and len(rest) >= SHORTEST and DOUBLED.search(rest):
            return rest[:-1]
        return rest + replacement
    return word


def stems_of(text: str) -> list[str]:
    """List the stems of the parts of a text."""
    return [stem(part) for part in parts_of(text)]


@lru_cache(maxsize=1_000)
def needles_of(stemmed: str) -> tuple[str, ...]:
    """List substrings, in lower case, of which each form of a stem has at least one."""
    forms = [stemmed, *(form for form, common in FORM_OF.items() if common == stemmed)]
    found: list[str] = []
    for form in sorted(
        (form.removesuffix("y") if len(form) >= SHORTEST else form for form in forms),
        key=len,
    ):
        if not any(form.startswith(shorter) for shorter in found):
            found.append(form)
    return tuple(found)


FORM_OF: dict[str, str] = {}
for _common, *_forms in map(
    str.split, read_table("retrieval/vocabulary.toml")["forms"].strip().splitlines()
):
    FORM_OF |= {
        each: _common
        for form in _forms
        for each in (stem(form), form)
        if len(each) > SHORTEST
    }
    FORM_OF |= dict.fromkeys(_forms, _common)
stem.cache_clear()
