"""What is weaker than what: words of one order, and functions that do a thing more or less safely.

The orders are data, the strongest first: `[[order]]` and `[functions]` in `rules/languages/strength.toml`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import takewhile

from cli_guard.code.changes.facts import VALUES, CodeFact, Looser
from cli_guard.code.changes.naming import PLAIN_NAME
from cli_guard.code.changes.order import values_of
from cli_guard.code.changes.values import TABLE, key_words
from cli_guard.lazy import frozen
from cli_guard.rules.catalog import read_table

TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
WHOLE_WORD = re.compile(r"[a-z0-9][a-z0-9._-]*")
SIGN = re.compile(r"[=!<>]+")
MOST_PAIRS = 400
LONGEST_WORDS = 4
# The sorts of orders that say what fits, not who may or how.
FITS = ("match", "comparison")
ROUTE = re.compile(r"[\"'`]/[\w/-]*\Z")
Ranks = Mapping[str, int]


@lru_cache(maxsize=2_000)
def tokens_of(text: str) -> tuple[str, ...]:
    return tuple(TOKEN.findall(text))


@frozen
class TextChange:
    """The one place where two texts differ, in whole words."""

    before: str
    gone: str
    new: str
    after: str

    @classmethod
    def between(cls, old: str, new: str) -> "TextChange | None":
        """Return the place, None if the texts are equal or have too little in common."""
        one = tokens_of(old)
        two = tokens_of(new)
        start = common(one, two)
        end = common(reversed(one[start:]), reversed(two[start:]))
        gone = one[start : len(one) - end]
        added = two[start : len(two) - end]
        if old == new or start + end < len(gone) + len(added) - 2:
            return None
        return cls(
            "".join(one[:start]),
            "".join(gone),
            "".join(added),
            "".join(one[len(one) - end :]),
        )


def common(one: Iterable[str], two: Iterable[str]) -> int:
    pairs = zip(one, two, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


@cache
def orders() -> tuple[tuple[str, Mapping[str, int]], ...]:
    """Return the orders of the table: of what sort, and the rank of each word."""
    found = []
    for row in read_table(TABLE)["order"]:
        ranks = {
            word: rank
            for rank, words in enumerate(row["strongest_first"])
            for word in words.split()
        }
        found.append((row["sort"], ranks))
    return tuple(found)


def loosened_words(change: TextChange) -> tuple[str, str] | None:
    """Return the sort and why, if a word became one that is weaker in one of the orders."""
    gone = change.gone.strip()
    new = change.new.strip()
    known = every_ordered_word()
    # The name of what fetches a thing does not say what the thing is, the path of a route not who may call it.
    if ("(" in new and "(" not in gone) or ROUTE.search(change.before):
        return None
    if known.isdisjoint(ordered_words(gone)) or known.isdisjoint(ordered_words(new)):
        return None
    length = max(len(TOKEN.findall(gone)), len(TOKEN.findall(new)))
    for sort, ranks in orders():
        longest = 1 if sort in FITS else LONGEST_WORDS
        if length <= 2 * longest and is_weaker(new, gone, ranks):
            return sort, f"`{new}` is weaker than `{gone}`"
    return None


def weaker_text(old: str, new: str) -> str:
    """Return the sort of the order in which a whole text, such as the name of a module, is weaker than another."""
    known = (each for each in orders() if old in each[1] and new in each[1])
    return next((sort for sort, ranks in known if ranks[new] > ranks[old]), "")


def weaker_member(old: CodeFact, new: CodeFact) -> str:
    """Return why one member of a family is weaker than another that it takes the place of, "" if it is not."""
    for sort, ranks in orders():
        if sort not in FITS and is_weaker(new.text, old.text, ranks):
            return f"`{new.name}` is weaker than `{old.name}`"
    return ""


def is_weaker(new: str, old: str, ranks: Mapping[str, int]) -> bool:
    was = rank_of(old, ranks)
    now = rank_of(new, ranks)
    return was is not None and now is not None and now > was


def rank_of(text: str, ranks: Mapping[str, int]) -> int | None:
    """Return the rank of a text in an order: its own, or of its words the strongest."""
    whole = text.lower()
    if whole in ranks:
        return ranks[whole]
    return min((ranks[word] for word in ordered_words(text) & ranks.keys()), default=None)


@lru_cache(maxsize=2_000)
def ordered_words(text: str) -> frozenset[str]:
    """Return the words and signs of a text that may be in an order."""
    whole = text.lower()
    return frozenset(
        (whole, *key_words(text), *WHOLE_WORD.findall(whole), *SIGN.findall(whole))
    )


@cache
def every_ordered_word() -> frozenset[str]:
    return frozenset(word for _, ranks in orders() for word in ranks)


@cache
def functions() -> Sequence[Ranks]:
    """Return the orders of functions of the table: the rank of each name."""
    return tuple(
        {name: rank for rank, names in enumerate(order) for name in names.split()}
        for order in read_table(TABLE)["functions"]["strongest_first"]
    )


def weaker_functions(
    went: Sequence[CodeFact], came: Sequence[CodeFact]
) -> Iterator[Looser]:
    """Yield the calls of a unit in whose place a weaker one on the same value came, and none as strong."""
    calls = [fact for fact in came if fact.is_call]
    lost = [fact for fact in went if fact.is_call]
    for ranks in functions():
        ranked = [
            (fact, rank)
            for fact in calls
            if (rank := rank_of_call(fact, ranks)) is not None
        ]
        for old in lost if ranked else ():
            was = rank_of_call(old, ranks)
            if was is None or any(rank <= was for _, rank in ranked):
                continue
            same = (new for new, _ in ranked[:MOST_PAIRS] if share_values(old, new))
            if new := next(same, None):
                yield Looser(
                    old, new, "function", f"`{new.name}` is weaker than `{old.name}`"
                )


def share_values(one: CodeFact, other: CodeFact) -> bool:
    """Return whether two calls speak of the same value, or neither of any: `token_hex(32)` is given none."""
    is_named = all(map(PLAIN_NAME.fullmatch, (one.name, other.name)))
    is_bare = is_named and not any(VALUES.search(each.detail) for each in (one, other))
    return is_bare or not values_of(one).isdisjoint(values_of(other))


def rank_of_call(call: CodeFact, ranks: Ranks) -> int | None:
    """Return the rank of a function by the last part of its name, or by its words."""
    names = (call.name.lower(), call.last_name.lower())
    known = (ranks[name] for name in names if name in ranks)
    return next(known, rank_of(names[-1], ranks))
