"""What a run takes of tables that only the night tests whole: `CI_NIGHTLY=1`."""

import hashlib
import os
from collections.abc import Callable, Collection, Hashable, Iterable
from typing import TypeVar

NIGHTLY = os.environ.get("CI_NIGHTLY") == "1"
Row = TypeVar("Row")


def choose_rows(
    rows: Iterable[Row],
    kinds: Callable[[Row], Collection[Hashable]],
    name: Callable[[Row], str],
    *,
    takes_all: bool = NIGHTLY,
) -> list[Row]:
    """Choose rows, in their order, so that each kind of each row occurs: a way, a place, a pair of both.

    Which row stands for a kind is a matter of the names alone: the one with the most kinds that are still missing, of
    several the first by the hash of its name.
    """
    rows = list(rows)
    if takes_all:
        return rows
    kinds_of = {name(row): set(kinds(row)) for row in rows}
    by_hash = sorted(kinds_of, key=lambda each: hashlib.sha256(each.encode()).digest())
    missing = set().union(*kinds_of.values())
    chosen = set()
    while missing:
        best = max(by_hash, key=lambda each: len(missing & kinds_of[each]))
        missing -= kinds_of[best]
        chosen.add(best)
    return [row for row in rows if name(row) in chosen]
