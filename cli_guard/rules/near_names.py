"""Names at distance one: what a person mistypes, or somebody registers for those who do.

Two neighbours that changed places count as one mistake, which they are for a person.
"""

from collections.abc import Collection

# A shorter name is one letter away from many words.
SHORTEST = 7


def is_one_off(one: str, other: str) -> bool:
    """Return whether two names differ by one character, or by two neighbours that changed places."""
    if one == other or abs(len(one) - len(other)) > 1:
        return False
    start = 0
    while start < min(len(one), len(other)) and one[start] == other[start]:
        start += 1
    rest = one[start:]
    left = other[start:]
    return (
        has_swapped(rest, left)
        or rest[1:] == left[1:]
        or rest[1:] == left
        or rest == left[1:]
    )


def has_swapped(one: str, other: str) -> bool:
    """Return whether two texts are the same but for their first two characters, which changed places."""
    is_pair = len(one) > 1 and one[:2] == other[:2][::-1]
    return is_pair and one[2:] == other[2:]


def find_near(name: str, known: Collection[str]) -> str:
    """Return the known name that an unknown one resembles, "" if there is none or it is known itself."""
    if name in known:
        return ""
    for each in known:
        if len(each) >= SHORTEST and is_one_off(name, each):
            return each
    return ""
