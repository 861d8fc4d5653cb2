"""What a run takes of tables that only the night tests whole: `CI_NIGHTLY=1`."""

import hashlib
import os
from collections.abc import Callable, Collection, Hashable, Iterable
from itertools import groupby
from typing import TypeVar

import pytest

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


def choose_items(items: Iterable[pytest.Item]) -> list[pytest.Item]:
    """Choose of tests that are the product of decorators and of fixtures with parameters."""
    chosen = []
    # No kind occurs in two files, and the time grows with the square of what is chosen from.
    for _, of_file in groupby(items, key=lambda item: item.path):
        chosen += choose_rows(of_file, kinds_of, lambda item: item.nodeid)
    return chosen


def kinds_of(item: pytest.Item) -> list[Hashable]:
    """A test with each value of its own; each value of a fixture in each file, also in a process of its own."""
    test = (item.path, getattr(item, "originalname", item.name))
    values = dict(item.callspec.params) if hasattr(item, "callspec") else {}
    kinds: list[Hashable] = [test]
    for mark in item.iter_markers("parametrize"):
        names = mark.args[0]
        columns = names.split(",") if isinstance(names, str) else names
        row = [id(values.pop(column.strip())) for column in columns]
        kinds.append((test, *columns, *row))
    is_cold = item.get_closest_marker("cold") is not None
    kinds += [(item.path, name, id(value), is_cold) for name, value in values.items()]
    return kinds
