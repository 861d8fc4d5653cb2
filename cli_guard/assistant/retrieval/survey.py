"""The first look: which files hold which words, at the speed of substring search, and which are worth reading."""

import math
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from cli_guard.assistant.retrieval.files import Roles, kind_of, prior
from cli_guard.assistant.retrieval.question import Concept, Query
from cli_guard.assistant.retrieval.words import needles_of, stems_of
from cli_guard.model import Skipped

MOST_CANDIDATES = 50
CANDIDATE_CHARS = 3_000_000
LONGEST_TEXT = 3_000_000
SHORT_NEEDLE, WHOLE_NEEDLE = 4, 2
STRONG = 0.85
# These stand for their folder, whose name says what they are about.
FRONT_PAGES = frozenset(("__init__.py", "index.js", "index.ts", "index.mjs", "index.tsx", "mod.rs"))


@dataclass(frozen=True, slots=True)
class Survey:
    """What the first look found.

    By concept: `idf` is how rare it is, `own` in how many files of note it stands in its own words, `spread` in how
    many files it stands in any words. `candidates` are the paths to read, most promising first.
    """

    idf: tuple[float, ...]
    spread: tuple[int, ...]
    own: tuple[int, ...]
    candidates: tuple[str, ...]
    looked_at: int
    skipped: tuple[Skipped, ...]
    roles: Roles


def survey(query: Query, texts: Mapping[str, str], paths: Iterable[str], deadline: float) -> Survey:
    """Counts the words of a query in all texts, and ranks the files by these counts."""
    searched = [needles(concept) for concept in query.concepts]
    exact = [name.lower() for name in query.names]
    counts: dict[str, tuple[float, ...]] = {}
    skipped: list[Skipped] = []
    looked_at = 0
    for path in paths:
        if time.monotonic() > deadline:
            skipped.append(Skipped(path, "this file and those after it: no time left", by_limit=True))
            break
        low = texts[path][:LONGEST_TEXT].lower()
        looked_at += 1
        name = path.lower()
        row = [strength(each, low) + 3.0 * strength(each, name) for each in searched]
        row += [float(each in low) for each in exact]
        if any(row):
            counts[path] = tuple(row)
    width = len(searched) + len(exact)
    pool = [path for path in counts if kind_of(path) == "source"] or list(counts)
    total = max(
        1, looked_at if len(pool) == len(counts) else sum(1 for p in counts if kind_of(p) == "source")
    )
    spread = tuple(sum(1 for path in counts if counts[path][index] > 0) for index in range(width))
    inside = [sum(1 for path in pool if counts[path][index] >= STRONG) for index in range(width)]
    idf = tuple(math.log(1 + (total + 1) / (each + 0.5)) for each in inside)
    weights = [*(concept.weight for concept in query.concepts), *([2.0] * len(exact))]
    roles = Roles.of(texts.keys())
    points = {
        path: prior(path, texts[path], query.asked_for, roles)
        * sum(w * rare * amount / (amount + 1.5) for w, rare, amount in zip(weights, idf, row, strict=True))
        for path, row in counts.items()
    }
    ranked = sorted(points, key=lambda path: (-points[path], path))
    chosen: list[str] = []
    chars = 0
    for path in ranked[:MOST_CANDIDATES]:
        if chars + len(texts[path]) > CANDIDATE_CHARS and chosen:
            continue
        chars += len(texts[path])
        chosen.append(path)
    told = [
        row for path, row in counts.items() if kind_of(path) not in ("data", "test", "changes", "vendored")
    ]
    own = tuple(sum(1 for row in told if row[index] >= STRONG) for index in range(width))
    return Survey(idf[: len(searched)], spread, own, tuple(chosen), looked_at, tuple(skipped), roles)


def needles(concept: Concept) -> tuple[tuple[str, float], ...]:
    """The substrings that a concept is searched by, and how much each counts."""
    found: dict[str, float] = {}
    if concept.literal:
        return tuple((concept.literal.replace("-", joint), 1.0) for joint in ("-", "_", " ", ""))
    for stemmed, weight in concept.variants:
        for needle in needles_of(stemmed):
            found[needle] = max(weight, found.get(needle, 0.0))
    return tuple(found.items())


def strength(searched: tuple[tuple[str, float], ...], low: str) -> float:
    """How much of a concept a text holds: its own word by count, other words by being there."""
    amount = 0.0
    for needle, weight in searched:
        if needle not in low:
            continue
        # A short needle is found in many words that it is no part of.
        times = low.count(needle) if len(needle) > SHORT_NEEDLE else len(alone(needle).findall(low))
        if weight >= STRONG:
            amount += weight * min(times, 50)
        elif times:
            amount += 0.5 * weight
    return amount


@lru_cache(maxsize=1_000)
def alone(needle: str) -> re.Pattern[str]:
    """A needle at the beginning of a word; one of two letters as a word of its own."""
    return re.compile(
        rf"(?<![a-z]){re.escape(needle)}" + ("(?![a-z])" if len(needle) <= WHOLE_NEEDLE else "")
    )


def path_stems(path: str) -> tuple[list[str], list[str]]:
    """The stems of a path's file name, and those of its folders."""
    folder, _, name = path.rpartition("/")
    if name in FRONT_PAGES and folder:
        folder, _, name = folder.rpartition("/")
    stemmed = stems_of(name.split(".", 1)[0] if not name.startswith(".") else name)
    return stemmed, stems_of(folder)
