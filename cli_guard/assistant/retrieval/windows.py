"""The second ranking of files: BM25 over windows of 40 lines, with the words of the path in each window."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import accumulate

from cli_guard.assistant.retrieval.hits import WordHit

WINDOW_LINES = 40
STEP = 20
# The usual constants of BM25, not tuned.
SATURATION = 1.2
LENGTH_SHARE = 0.75
USUAL_CHARS = 35 * WINDOW_LINES
LONGEST_LINE = 400
# Reciprocal rank fusion: what a rank counts, and how much this ranking counts beside that of the definitions.
RANK_OFFSET = 1
WEIGHT = 0.5


def score_best_window(
    hits: Sequence[WordHit],
    lines: Sequence[str],
    in_path: Sequence[float],
    rarity: Sequence[float],
) -> float:
    """Score the window of a text that holds most of a query.

    `in_path` says by concept how well the path matches it, `rarity` is its inverse document frequency.
    """
    ends = [0, *accumulate(min(len(line), LONGEST_LINE) for line in lines)]
    windows: dict[int, list[float]] = defaultdict(lambda: list(in_path))
    for hit in hits:
        last = (hit.line - 1) // STEP
        for window in range(max(0, last - WINDOW_LINES // STEP + 1), last + 1):
            windows[window][hit.concept] += hit.weight
    best = 0.0
    for window, counts in windows.items() or [(0, list(in_path))]:
        start = min(window * STEP, len(lines))
        chars = ends[min(start + WINDOW_LINES, len(lines))] - ends[start]
        norm = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * chars / USUAL_CHARS)
        score = sum(
            rare * count * (SATURATION + 1) / (count + norm)
            for rare, count in zip(rarity, counts, strict=True)
        )
        best = max(best, score)
    return best


def fuse(first: Sequence[str], second: Sequence[str]) -> dict[str, float]:
    """Score each path by its ranks in two orders (best first); 1 for the path that leads in both."""
    other = {path: rank for rank, path in enumerate(second, 1)}
    best = (1 + WEIGHT) / (RANK_OFFSET + 1)
    return {
        path: (1 / (RANK_OFFSET + rank) + WEIGHT / (RANK_OFFSET + other[path])) / best
        for rank, path in enumerate(first, 1)
    }
