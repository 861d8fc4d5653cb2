"""The word lists of `cli_guard/rules/secrets/words.toml`."""

import tomllib
from collections.abc import Mapping
from functools import cache

from cli_guard.rules.catalog import FOLDER


@cache
def _lists() -> Mapping[str, frozenset[str]]:
    with (FOLDER / "secrets" / "words.toml").open("rb") as file:
        return {name: frozenset(text.split()) for name, text in tomllib.load(file).items()}


@cache
def words(name: str) -> frozenset[str]:
    """One list by its name, such as `filler`."""
    return _lists()[name]
