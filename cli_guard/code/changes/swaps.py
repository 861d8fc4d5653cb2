"""Calls in whose place a weaker function came: `strlcpy` to `strcpy`, `html.escape` to replacing one character."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from cli_guard.code.changes.facts import CodeFact
from cli_guard.code.changes.loosening import MOST_PAIRS, Looser, rank_of
from cli_guard.code.changes.order import values_of
from cli_guard.code.changes.values import TABLE
from cli_guard.rules.catalog import read_table

Ranks = Mapping[str, int]


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
            same = (
                new for new, _ in ranked[:MOST_PAIRS] if values_of(new) & values_of(old)
            )
            if new := next(same, None):
                yield Looser(
                    old, new, "function", f"`{new.name}` is weaker than `{old.name}`"
                )


def rank_of_call(call: CodeFact, ranks: Ranks) -> int | None:
    """Return the rank of a function by the last part of its name, or by its words."""
    last = call.last_name.lower()
    return ranks.get(last, rank_of(last, ranks))
