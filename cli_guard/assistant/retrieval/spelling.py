"""Words of a question that stand nowhere, read as the word of the repository that they differ from by one slip."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping

# A shorter word is too near to too many others; of a longer text the beginning has its words.
SHORTEST = 6
TEXT_CHARS = 200_000
MOST_CHARS = 60_000_000


def correct_words(
    words: Iterable[str], texts: Mapping[str, str], paths: Collection[str]
) -> dict[str, str]:
    """Return the word that is meant for each that has a letter too few or too many, or two that changed places.

    A letter in place of another is no such slip: `graphql` is not `graphml`. The most frequent word is taken.
    """
    left = MOST_CHARS
    found: dict[str, str] = {}
    for word in words:
        if len(word) < SHORTEST or not word.isalpha():
            continue
        # A slip in the first two letters is rare, and without them every word would have to be compared.
        form = re.compile(
            rf"(?<![a-z]){word[:2]}[a-z]{{{len(word) - 3},{len(word) - 1}}}(?![a-z])"
        )
        near: Counter[str] = Counter()
        for path in paths:
            left -= min(len(texts[path]), TEXT_CHARS)
            if left < 0:
                break
            near.update(
                each
                for each in form.findall(texts[path][:TEXT_CHARS].lower())
                if is_slip(word, each)
            )
        if near:
            found[word] = min(near, key=lambda each: (-near[each], each))
    return found


def is_slip(word: str, meant: str) -> bool:
    """Return whether one letter is missing or doubled, or two neighbours are swapped."""
    if len(word) == len(meant):
        differing = [
            at
            for at, pair in enumerate(zip(word, meant, strict=True))
            if pair[0] != pair[1]
        ]
        return (
            len(differing) == 2
            and differing[1] - differing[0] == 1
            and sorted(word) == sorted(meant)
        )
    short, long = sorted((word, meant), key=len)
    return len(long) - len(short) == 1 and any(
        long[:at] + long[at + 1 :] == short for at in range(len(long))
    )
