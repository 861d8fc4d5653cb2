"""What is left out by day: never a whole kind."""

from collections.abc import Callable, Collection
from itertools import product

import pytest
from examples import table
from sampling import choose_rows, kinds_of

ROWS = list(product(("add", "move", "link"), "abcd"))


@table(
    ("kinds", "number"),
    [
        (lambda row: row, 4),
        (lambda row: [row], 12),
        (lambda row: row[:1], 3),
        (lambda row: (), 0),
    ],
    ids=["each way, each place", "each pair", "each way", "none"],
)
def test_each_kind_is_there(
    kinds: Callable[[tuple[str, str]], Collection[object]], number: int
) -> None:
    chosen = choose_rows(ROWS, kinds, "-".join, takes_all=False)
    assert {kind for row in chosen for kind in kinds(row)} == {
        kind for row in ROWS for kind in kinds(row)
    }
    assert len(chosen) == number
    assert chosen == [row for row in ROWS if row in chosen]
    # The place of a row in its table says nothing.
    assert choose_rows(ROWS[::-1], kinds, "-".join, takes_all=False) == chosen[::-1]


def test_the_night_has_all() -> None:
    assert choose_rows(ROWS, lambda row: (), "-".join, takes_all=True) == ROWS


@pytest.fixture(params=["cold", "warm"])
def host(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize("place", ["index", "push"])
@pytest.mark.parametrize(("way", "says"), [("add", "added"), ("move", "moved")])
def test_the_kinds_of_a_product(
    request: pytest.FixtureRequest, host: str, place: str, way: str, says: str
) -> None:
    test = (request.path, "test_the_kinds_of_a_product")
    assert {*kinds_of(request.node)} == {
        test,
        (test, "place", id(place)),
        (test, "way", "says", id(way), id(says)),
        (request.path, "host", id(host), False),
    }
