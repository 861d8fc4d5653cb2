"""The kind of a file, by its path, and how much it counts when the question does not ask for that kind."""

import re
from collections.abc import Callable
from functools import lru_cache

from cli_guard.code.classify import (
    GENERATED_NAMES,
    HEADER_CHARS,
    is_vendored,
    says_generated,
)
from cli_guard.code.test_files import is_test_code
from cli_guard.rules.catalog import read_table

KINDS = read_table("retrieval/path_kinds.toml")["kind"]
PATTERNS: list[tuple[str, re.Pattern[str]]] = [
    (kind["name"], re.compile("|".join(kind["paths"]))) for kind in KINDS
]
# What `cli_guard.code` says of a path counts beside the patterns.
OWNERS: dict[str, Callable[[str], object]] = {
    "vendored": is_vendored,
    "test": is_test_code,
    "generated": GENERATED_NAMES.search,
}
WEIGHTS: dict[str, float] = {
    "source": 1.0,
    **{kind["name"]: kind["weight"] for kind in KINDS},
}
ASKED_FOR = 1.2
# Documentation, where it is asked how to do something.
HOW_TO = 0.6
# Written by hand, a file is shorter.
LONGEST_SOURCE = 600_000
# The front page of a package mostly re-exports names.
FRONT_PAGE = re.compile(r"(?:^|/)(?:__init__\.py|index\.[jt]sx?|index\.mjs|mod\.rs)$")
FRONT_PAGE_SHARE = 0.85


@lru_cache(maxsize=20_000)
def kind_of(path: str) -> str:
    """Classify a path; "source" if no pattern matches."""
    lower = path.lower()
    for kind, pattern in PATTERNS:
        if pattern.search(lower) or (kind in OWNERS and OWNERS[kind](path)):
            return kind
    return "source"


def weigh(path: str, text: str, asked_for: frozenset[str]) -> float:
    """Weigh a file from 0 to a little over 1; a kind that was asked for weighs most."""
    kind = kind_of(path)
    if kind == "source" and (
        len(text) > LONGEST_SOURCE or says_generated(text[:HEADER_CHARS])
    ):
        kind = "generated"
    if kind in asked_for:
        return ASKED_FOR
    if kind == "doc" and "how" in asked_for:
        return HOW_TO
    return WEIGHTS[kind] * (FRONT_PAGE_SHARE if FRONT_PAGE.search(path) else 1.0)
