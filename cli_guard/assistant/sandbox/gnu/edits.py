"""The shortest edit between two lists of lines, placed as GNU diff places it.

Sources: E. Myers, "An O(ND) Difference Algorithm and Its Variations", 1986; the boundaries of runs are shifted as
diffutils does (analyze.c, shift_boundaries), so that a change ends where a reader expects it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

# Beyond so many edits or steps the shortest script is not looked for, and beyond so many lines none: what differs
# counts as rewritten.
MOST_EDITS = 600
MOST_STEPS = 3_000_000
MOST_LINES = 20_000


@dataclass(frozen=True, slots=True)
class Change:
    """Lines `a:a_end` of the old list give way to `b:b_end` of the new one; from 0, the ends not included."""

    a: int
    a_end: int
    b: int
    b_end: int


def changes_between(old: Sequence[bytes], new: Sequence[bytes]) -> list[Change]:
    """The changes in order."""
    start = 0
    while start < len(old) and start < len(new) and old[start] == new[start]:
        start += 1
    end = 0
    while end < len(old) - start and end < len(new) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    removed = [False] * len(old)
    added = [False] * len(new)
    a, b = old[start : len(old) - end], new[start : len(new) - end]
    kept = common(a, b)
    kept_a, kept_b = {x for x, _ in kept}, {y for _, y in kept}
    for at in range(len(a)):
        removed[start + at] = at not in kept_a
    for at in range(len(b)):
        added[start + at] = at not in kept_b
    shift(removed, added, old)
    shift(added, removed, new)
    return runs(removed, added)


def common(a: Sequence[bytes], b: Sequence[bytes]) -> list[tuple[int, int]]:
    """The pairs of equal lines that stay, none where there are too many edits."""
    if not a or not b:
        return []
    furthest = {1: 0}
    steps = 0
    trail: list[dict[int, int]] = []
    for edits in range(min(len(a) + len(b), MOST_EDITS) + 1):
        if steps > MOST_STEPS:
            break
        trail.append(dict(furthest))
        for k in range(-edits, edits + 1, 2):
            down = k == -edits or (k != edits and furthest[k - 1] < furthest[k + 1])
            x = furthest[k + 1] if down else furthest[k - 1] + 1
            y = x - k
            while x < len(a) and y < len(b) and a[x] == b[y]:
                x, y = x + 1, y + 1
            steps += 1 + x - max(furthest.get(k, 0), 0)
            furthest[k] = x
            if x >= len(a) and y >= len(b):
                return backtrack(trail, len(a), len(b))
    return roughly(a, b)


def roughly(a: Sequence[bytes], b: Sequence[bytes]) -> list[tuple[int, int]]:
    """Pairs of equal lines found by long matches, not the most there are; none of texts that are too long."""
    if len(a) + len(b) > MOST_LINES:
        return []
    import difflib

    blocks = difflib.SequenceMatcher(None, a, b).get_matching_blocks()
    return [(block.a + at, block.b + at) for block in blocks for at in range(block.size)]


def backtrack(trail: list[dict[int, int]], x: int, y: int) -> list[tuple[int, int]]:
    """The diagonal steps of the path that was found, from its end."""
    pairs = []
    for edits in range(len(trail) - 1, -1, -1):
        furthest, k = trail[edits], x - y
        down = k == -edits or (k != edits and furthest[k - 1] < furthest[k + 1])
        before = k + 1 if down else k - 1
        from_x = furthest[before]
        from_y = from_x - before
        while x > from_x and y > from_y and x > 0 and y > 0:
            x, y = x - 1, y - 1
            pairs.append((x, y))
        x, y = from_x, from_y
    return pairs


def shift(changed: list[bool], other: list[bool], lines: Sequence[bytes]) -> None:
    """Moves each run of changed lines: onto the run before it, else as far down as its lines repeat."""
    # A run may be asked for its neighbours beyond both ends: there is none.
    changed.append(False)
    other.append(False)
    size, i, j = len(lines), 0, 0
    while True:
        while i < size and not changed[i]:
            while other[j]:
                j += 1
            j += 1
            i += 1
        if i == size:
            break
        begin = i
        while changed[i]:
            i += 1
        while other[j]:
            j += 1
        while True:
            length = i - begin
            while begin and lines[begin - 1] == lines[i - 1]:
                begin, i = begin - 1, i - 1
                changed[begin], changed[i] = True, False
                while begin and changed[begin - 1]:
                    begin -= 1
                j -= 1
                while j > 0 and other[j]:
                    j -= 1
            matching = i if j and other[j - 1] else size
            while i != size and lines[begin] == lines[i]:
                changed[begin], changed[i] = False, True
                begin, i = begin + 1, i + 1
                while changed[i]:
                    i += 1
                j += 1
                while other[j]:
                    j += 1
                    matching = i
            if length == i - begin:
                break
        while matching < i:
            begin, i = begin - 1, i - 1
            changed[begin], changed[i] = True, False
            j -= 1
            while j > 0 and other[j]:
                j -= 1
    changed.pop()
    other.pop()


def runs(removed: list[bool], added: list[bool]) -> list[Change]:
    """The changes that the flags tell."""
    found = []
    a = b = 0
    while a < len(removed) or b < len(added):
        from_a, from_b = a, b
        while a < len(removed) and removed[a]:
            a += 1
        while b < len(added) and added[b]:
            b += 1
        if (a, b) != (from_a, from_b):
            found.append(Change(from_a, a, from_b, b))
        else:
            a, b = a + 1, b + 1
    return found
