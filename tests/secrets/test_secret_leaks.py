"""Leaks as they happen and their near misses, with what has to come of each."""

import tomllib
from pathlib import Path

from examples import examples

from cli_guard.rules.examples import expand
from cli_guard.secrets import scan

LEVELS = ("silent", "advise", "review", "deny")
LEVEL_OF = {"critical": "deny", "high": "review", "medium": "advise", "low": "advise"}
TABLE = tomllib.loads((Path(__file__).parent / "leaks.toml").read_text("utf-8"))["leak"]


@examples(
    ("level", "path", "text", "is_leak"),
    [(*row, row[0] != "silent") for row in TABLE],
    fires="is_leak",
)
def test_leak_is_found_at_its_level(
    level: str, path: str, text: str, is_leak: bool
) -> None:
    for seed in range(4):
        found = [LEVEL_OF[hit.severity] for hit in scan(expand(text, seed), path).hits]
        assert max(found, key=LEVELS.index, default="silent") == level


def test_the_table_is_large_enough_to_mean_something() -> None:
    leaks = [row for row in TABLE if row[0] != "silent"]
    assert len(leaks) >= 100 and len(TABLE) - len(leaks) >= 45
