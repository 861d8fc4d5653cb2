"""Read sums, to say which of two bounds is further out: `n - (k + 2)` is one `n`, less one `k`, less 2.

Numbers are counted together, every other term by its text. What a term is worth nobody knows but that sizes, counts and
places are not negative: a bound is further out if all that it has and the other has not points one way.
"""

import re
from collections import Counter

from cli_guard.code.changes.values import amount_of

ONE = ""
MOST_TERMS = 20
# What a sign behind it does not end: an operator, the exponent of a number.
NO_TERM = re.compile(r"[-+*/%&|^<>=]$|(?<![\w.])[0-9.]+e$")
OPENING = "([{"
CLOSING = ")]}"


def difference_of_sums(was: tuple[str, str], now: tuple[str, str]) -> Counter[str]:
    """Return by how much `left - right` grew: how often each term came, less how often it went."""
    found = Counter[str]()
    for (left, right), sign in ((now, 1), (was, -1)):
        add_terms(left, sign, found)
        add_terms(right, -sign, found)
    return Counter({term: count for term, count in found.items() if count})


def count_taken(*sums: str) -> int:
    """Return how many terms are taken off in some sums."""
    count = 0
    for each in sums:
        found = Counter[str]()
        add_terms(each, 1, found)
        count += sum(amount < 0 for amount in found.values())
    return count


def add_terms(text: str, sign: int, found: Counter[str]) -> None:
    """Count the terms of a sum; what is in brackets alone is a sum of its own."""
    for term, own_sign in split_sum(text)[:MOST_TERMS]:
        inside = term[1:-1]
        amount = amount_of(term)
        if term[:1] == "(" and term[-1:] == ")" and "(" not in inside:
            add_terms(inside, sign * own_sign, found)
        elif amount is not None:
            found[ONE] += sign * own_sign * amount
        else:
            found["".join(term.split())] += sign * own_sign


def split_sum(text: str) -> list[tuple[str, int]]:
    """Return the terms between `+` and `-` outside of all brackets, each with its sign; `->` and `--` are none."""
    terms: list[tuple[str, int]] = []
    depth = 0
    start = 0
    sign = 1
    for at, char in enumerate(text):
        depth += (char in OPENING) - (char in CLOSING)
        before = text[start:at].strip()
        is_sign = char in "+-" and text[at + 1 : at + 2] not in (">", char, "=")
        if depth or not is_sign or NO_TERM.search(before):
            continue
        if before:
            terms.append((before, sign))
        sign = 1 if char == "+" else -1
        start = at + 1
    rest = text[start:].strip()
    return [*terms, (rest, sign)] if rest else terms
