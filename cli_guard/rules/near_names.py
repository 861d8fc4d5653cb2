"""Names at distance one: what a person mistypes, or somebody registers for those who do.

Two neighbours that changed places count as one mistake, which they are for a person.
"""

from collections.abc import Collection, Iterator

LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789-_./@"
# The names at distance one of a longer one are too many.
LONGEST = 100


def edits(name: str) -> Iterator[str]:
    """Yield what one edit makes of a name: a letter less, two swapped, another letter, one more."""
    for at in range(len(name) + 1):
        head = name[:at]
        tail = name[at:]
        if tail:
            yield head + tail[1:]
        if len(tail) > 1:
            yield head + tail[1] + tail[0] + tail[2:]
        for letter in LETTERS:
            if tail:
                yield head + letter + tail[1:]
            yield head + letter + tail


def shorter(name: str) -> set[str]:
    """Return a name and what is left of it without one letter: two names one edit apart have one of these in common."""
    return {name, *(name[:at] + name[at + 1 :] for at in range(len(name)))}


def find_near(name: str, known: Collection[str], shortest: int) -> str:
    """Return the known name that an unknown one resembles, "" if there is none or it is known itself.

    A name of fewer than `shortest` characters is one letter away from many words, and resembles none.
    """
    if name in known or not shortest <= len(name) <= LONGEST:
        return ""
    near = (each for each in edits(name) if len(each) >= shortest)
    return next((each for each in near if each in known), "")
