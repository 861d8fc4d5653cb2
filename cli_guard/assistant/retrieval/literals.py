"""Places found by their exact text: a message, the line that raises an error."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise

from cli_guard.assistant.request_question import SearchQuery
from cli_guard.assistant.retrieval.path_kinds import weigh
from cli_guard.lazy import frozen

# A prefix of a string is no word of its message.
WORD = re.compile(r"(?!(?:[fFrRbBuU]{1,2})[\"'])\w+")
# What is beyond in a file is data.
MOST_CHARS = 3_000_000
# Characters between two pairs of words of one message.
MOST_BETWEEN = 120
WordPair = tuple[str, str]
# The share of a message that has to be there: more of one that was not marked as such.
QUOTED_SHARE = 0.5
LEAST_SHARE = 0.7
LEAST_PAIRS = 2
STRING = re.compile(r"[\"'`]")
EMITS = re.compile(
    r"raise|throw|error|warn|log|print|echo|write|fail|abort|exit|message|msg|panic",
    re.IGNORECASE,
)
EMITTED = 0.15
# Files that count less than this share of the best one are left out.
SIDE_SHARE = 0.6
ABOVE = 3


@frozen
class ExactPlace:
    """A line (from 1) of a file that holds the very text that was asked for; `share` is how much of it (0 to 1)."""

    path: str
    line: int
    share: float


def find_exact(
    query: SearchQuery, texts: Mapping[str, str], paths: Sequence[str]
) -> list[ExactPlace]:
    """List the best place of each file, the best file first; nothing where no exact text is asked for."""
    found = []
    name = next(iter(query.names), query.plain)
    # `Which exception is raised when ...` asks for its class.
    if query.is_quoted or "error" not in query.kinds:
        for message in query.messages:
            found += _find_message(message, texts, paths, is_quoted=query.is_quoted)
    if not found and name and "raise" in query.kinds:
        found = _find_raising(name, texts, paths)
    weights = {each.path: weigh(each.path, "", query.asked_for) for each in found}
    # A document may quote what the source says.
    least = SIDE_SHARE * max(weights.values(), default=0.0)
    found = [each for each in found if weights[each.path] >= least]
    found.sort(key=lambda each: (-each.share * weights[each.path], each.path, each.line))
    return list({each.path: each for each in reversed(found)}.values())[::-1]


def _find_message(
    message: Sequence[str],
    texts: Mapping[str, str],
    paths: Sequence[str],
    *,
    is_quoted: bool,
) -> list[ExactPlace]:
    """Find the words of a message side by side, be its text split over lines or filled with fields."""
    pairs = {pair for pair in pairwise(message) if all(pair)}
    if not pairs:
        return []
    words = {word for pair in pairs for word in pair}
    found = []
    for path in paths:
        lower = texts[path][:MOST_CHARS].lower()
        present = sum(word in lower for word in words)
        if present < max(2, QUOTED_SHARE * len(words)):
            continue
        all_lines = texts[path].split("\n")
        best = ExactPlace(path, 0, 0.0)
        here = [
            (a.start(), (a[0], b[0]))
            for a, b in pairwise(WORD.finditer(lower))
            if (a[0], b[0]) in pairs
        ]
        for run in _split_runs(here):
            distinct = len({pair for _, pair in run})
            if distinct < min(LEAST_PAIRS, len(pairs)):
                continue
            share = distinct / len(pairs)
            # The line with most of it, the first of several.
            on_line = Counter(lower.count("\n", 0, at) + 1 for at, _ in run)
            line = on_line.most_common(1)[0][0]
            lines = all_lines[max(0, line - 1 - ABOVE) : line + 1]
            # The line itself, and those on which its string may begin or end.
            share *= 1.0 if STRING.search("\n".join(lines[-3:])) else 0.5
            share += EMITTED * bool(EMITS.search("\n".join(lines)))
            best = max(best, ExactPlace(path, line, share), key=lambda each: each.share)
        if best.share >= (QUOTED_SHARE if is_quoted else LEAST_SHARE):
            found.append(best)
    return found


def _split_runs(here: list[tuple[int, WordPair]]) -> list[list[tuple[int, WordPair]]]:
    """Split the pairs of a message, by their positions, where too much other text stands between them."""
    runs: list[list[tuple[int, WordPair]]] = []
    for each in here:
        if runs and each[0] - runs[-1][-1][0] <= MOST_BETWEEN:
            runs[-1].append(each)
        else:
            runs.append([each])
    return runs


def _find_raising(
    name: str, texts: Mapping[str, str], paths: Sequence[str]
) -> list[ExactPlace]:
    raising = re.compile(
        rf"(?:\braise|\bthrow|\bnew|\breturn|\breject\(|\bErr\(|\bpanic\w*!?\()\s{{0,4}}(?:new\s)?[\w.:]{{0,60}}\b{re.escape(name)}\b"
    )
    return [
        ExactPlace(path, texts[path].count("\n", 0, match.start()) + 1, 1.0)
        for path in paths
        if name in texts[path] and (match := raising.search(texts[path]))
    ]
