"""Counts the words of a query in all texts by substring search, and picks the files that are worth parsing."""

import math
import re
from collections.abc import Iterable, Mapping

from cli_guard.assistant.request_question import Concept, SearchQuery
from cli_guard.assistant.retrieval.path_kinds import FRONT_PAGE, kind_of, weigh
from cli_guard.assistant.stems import needles_of, stems_of
from cli_guard.lazy import frozen
from cli_guard.model import Skipped

MOST_CANDIDATES = 50
CANDIDATE_CHARS = 3_000_000
MOST_CHARS = 400_000_000
SHORT_NEEDLE = 4
WHOLE_NEEDLE = 2
MOST_TIMES = 50
IN_PATH = 3.0
NAME_WEIGHT = 2.0
SATURATION = 1.5
# Above this share a word is the own word of a concept.
OWN = 0.8
SYNONYM = 0.5
# In these a word says little of what the repository does.
SIDE_KINDS = frozenset(("data", "test", "changes", "vendored"))


# A substring, a pattern that finds it as a word, and how well it stands for its concept.
Needles = tuple[tuple[str, re.Pattern[str] | None, float], ...]


@frozen
class Survey:
    """The counts of a query.

    By concept: `rarity` is the inverse document frequency, `spread` the number of files with it, `own` that of the
    files of note among them. `candidates` are the paths to read, the most promising first.
    """

    rarity: tuple[float, ...]
    spread: tuple[int, ...]
    own: tuple[int, ...]
    has_names: bool
    absent_names: tuple[str, ...]
    candidates: tuple[str, ...]
    looked_at: int
    skipped: tuple[Skipped, ...]


def count_words(
    query: SearchQuery, texts: Mapping[str, str], paths: Iterable[str]
) -> Survey:
    """Count the words of a query in all texts, and rank the files by these counts."""
    names = [name.lower() for name in query.names]
    needles = [_find_needles(each) for each in query.concepts]
    counts = {}
    skipped = []
    left = MOST_CHARS
    looked_at = 0
    sources = 0
    for path in paths:
        left -= min(len(texts[path]), CANDIDATE_CHARS)
        if left < 0:
            reason = f"this file and those after it: over {MOST_CHARS:,} characters"
            skipped.append(Skipped(path, reason, asks=True))
            break
        lower = texts[path][:CANDIDATE_CHARS].lower()
        lower_path = path.lower()
        looked_at += 1
        sources += kind_of(path) == "source"
        row = [_count(each, lower) + IN_PATH * _count(each, lower_path) for each in needles]
        row += [float(name in lower) for name in names]
        if any(row):
            counts[path] = row
    rows = list(counts.values())
    in_source = [row for path, row in counts.items() if kind_of(path) == "source"]
    of_note = [
        row
        for path, row in counts.items()
        if kind_of(path) not in SIDE_KINDS - query.asked_for
    ]
    total = max(1, sources if in_source else looked_at)
    width = range(len(query.concepts) + len(names))
    rarity = [
        math.log(1 + (total + 1) / (_spread(in_source or rows, each) + 0.5))
        for each in width
    ]
    weights = [
        *(concept.weight for concept in query.concepts),
        *([NAME_WEIGHT] * len(names)),
    ]
    points = {
        path: weigh(path, texts[path], query.asked_for)
        * sum(
            w * r * n / (n + SATURATION)
            for w, r, n in zip(weights, rarity, row, strict=True)
        )
        for path, row in counts.items()
    }
    ranked = sorted(points, key=lambda path: (-points[path], path))
    absent_names = tuple(
        name
        for i, name in enumerate(query.names, len(query.concepts))
        if not _spread(rows, i)
    )
    return Survey(
        tuple(rarity[: len(query.concepts)]),
        tuple(_spread(rows, each, 0.01) for each in width[: len(query.concepts)]),
        tuple(_spread(of_note, each) for each in width[: len(query.concepts)]),
        len(absent_names) < len(names),
        absent_names,
        tuple(_choose(ranked, texts)),
        looked_at,
        tuple(skipped),
    )


def _spread(rows: list[list[float]], index: int, least: float = OWN) -> int:
    return sum(row[index] >= least for row in rows)


def _choose(ranked: list[str], texts: Mapping[str, str]) -> list[str]:
    chosen: list[str] = []
    chars = 0
    for path in ranked[:MOST_CANDIDATES]:
        if not chosen or chars + len(texts[path]) <= CANDIDATE_CHARS:
            chars += len(texts[path])
            chosen.append(path)
    return chosen


def _find_needles(concept: Concept) -> Needles:
    """List what to search for; a name and short stems have a pattern too, which finds them as words."""
    needles = (
        {concept.word: 1.0}
        if concept.proper
        else {
            each: share
            for stemmed, share in reversed(concept.stems.items())
            for each in needles_of(stemmed)
        }
    )
    is_whole = [concept.proper or len(each) <= WHOLE_NEEDLE for each in needles]
    return tuple(
        (needle, re.compile(rf"(?<![a-z]){re.escape(needle)}{'(?![a-z])' * whole}"), share)
        if whole or len(needle) <= SHORT_NEEDLE
        else (needle, None, share)
        for (needle, share), whole in zip(needles.items(), is_whole, strict=True)
    )


def _count(needles: Needles, lower: str) -> float:
    """Count the words of a concept; a synonym counts once."""
    count = 0.0
    for needle, pattern, share in needles:
        if needle in lower:
            times = len(pattern.findall(lower)) if pattern else lower.count(needle)
            count += (
                share * min(MOST_TIMES, times)
                if share > OWN
                else SYNONYM * share * bool(times)
            )
    return count


def stem_path(path: str) -> tuple[list[str], list[str]]:
    """List the stems of a file name, and those of its folders."""
    folder, _, name = path.rpartition("/")
    if folder and FRONT_PAGE.search(path):
        # Its folder says what it is about.
        folder, _, name = folder.rpartition("/")
    return stems_of(name.split(".", 1)[0] if not name.startswith(".") else name), stems_of(
        folder
    )
