"""Answers a question about a repository with places, best first, and says how sure it is."""

import time
from collections.abc import Collection, Mapping

from cli_guard.assistant.retrieval.facts import facts_at
from cli_guard.assistant.retrieval.files import kind_of, prior
from cli_guard.assistant.retrieval.hits import Vocabulary
from cli_guard.assistant.retrieval.model import Confidence, Found, Place, PlaceKind
from cli_guard.assistant.retrieval.question import Query, understand
from cli_guard.assistant.retrieval.scoring import Scored, Unit, score_file
from cli_guard.assistant.retrieval.shown import Shown
from cli_guard.assistant.retrieval.survey import Survey, survey
from cli_guard.model import Skipped

LEAST = 0.42

FEW = 5


def find(
    question: str,
    texts: Mapping[str, str],
    *,
    allowed: Collection[str] | None = None,
    limit: int = 8,
    seconds: float = 5.0,
) -> Found:
    """Where in `texts` (path -> text) the answer to a question in plain words stands.

    `allowed` are the paths that may be looked at (None: all), `limit` bounds the places, `seconds` the time; what is
    left out for lack of time is named in `skipped`. The same input gives the same answer, time permitting.
    """
    deadline = time.monotonic() + seconds
    query = understand(question)
    paths = sorted(texts if allowed is None else (path for path in set(allowed) if path in texts))
    if not query.concepts and not query.names:
        return Found((), (), "none", 0, ())
    looked = survey(query, texts, paths, time.monotonic() + seconds * 0.6)
    skipped = list(looked.skipped)
    vocabulary = Vocabulary(query)
    scored: list[tuple[float, Scored]] = []
    for number, path in enumerate(looked.candidates):
        if time.monotonic() > deadline:
            left = len(looked.candidates) - number
            skipped.append(Skipped(path, f"this file and {left - 1} others: no time left", by_limit=True))
            break
        file = score_file(path, texts[path], query, vocabulary, looked.idf)
        scored.append((file.score * prior(path, texts[path], query.asked_for, looked.roles), file))
    scored.sort(key=lambda pair: (-pair[0], pair[1].path))
    # Whoever names a document wants what is said in it; without that, words in documents alone are no answer.
    named = allowed is not None and len(paths) <= FEW
    confidence = sure(query, looked, scored, texts, named=named)
    if confidence == "none":
        return Found((), (), "none", looked.looked_at, query.terms, tuple(skipped))
    places: list[Place] = []
    for score, file in scored[:limit]:
        if score > 0:
            places.append(place_of(file, file.units[0], score, Shown(file.path, texts[file.path])))
    for score, file in scored[:2]:
        for unit in file.units[1:4]:
            if len(places) < limit:
                part = score * unit.score / (file.units[0].score or 1.0)
                places.append(place_of(file, unit, part, Shown(file.path, texts[file.path])))
    best = scored[0][1]
    facts = facts_at(best.path, texts[best.path], best.units, query)
    return Found(
        tuple(places[:limit]), tuple(facts), confidence, looked.looked_at, query.terms, tuple(skipped)
    )


def sure(
    query: Query,
    looked: Survey,
    scored: list[tuple[float, Scored]],
    texts: Mapping[str, str],
    *,
    named: bool,
) -> Confidence:
    """How sure the best place is: by how much of what is asked for, rare words above all, it covers."""
    if not scored or not scored[0][1].units:
        return "none"
    best = scored[0][1]
    asked = [(index, c) for index, c in enumerate(query.concepts) if c.essential]
    names = set(query.names)
    defined = {unit.symbol.name for unit in best.units if unit.symbol} & names
    if names and not any(looked.spread[len(query.concepts) + n] for n in range(len(query.names))):
        return "none"
    if defined:
        return "high"
    total = sum(looked.idf[i] * c.weight for i, c in asked)
    if not total:
        return "low"
    covered = sum(looked.idf[i] * c.weight * min(1.0, best.covered[i] * 1.6) for i, c in asked)
    share = covered / total
    if any(c.proper and not looked.own[i] for i, c in asked):
        return "none"
    said = sum(c.weight * min(1.0, best.covered[i] * 1.6) for i, c in enumerate(query.concepts))
    spoken = said / sum(c.weight for c in query.concepts)
    missing = sum(1 for i, _ in asked if best.covered[i] < 0.2)
    nowhere = sum(1 for i, _ in asked if not looked.spread[i])
    near = best.units[0].named and missing <= 1 and len(asked) > 1 + nowhere
    if share < LEAST and spoken < 0.55 and not near:
        return "none"
    aside = not named and prior(best.path, texts[best.path], query.asked_for, looked.roles) < 0.5
    if aside and share < 0.8:
        return "none"
    if share <= 0.65 and not any(looked.own[i] for i, _ in asked):
        # Only other words for what was asked stand there.
        return "none"
    second = scored[1][0] if len(scored) > 1 else 0.0
    clear = scored[0][0] > 1.15 * second
    if share > 0.8 and spoken > 0.75 and best.units[0].named and clear:
        return "high"
    return "medium" if share > 0.65 else "low"


def place_of(file: Scored, unit: Unit, score: float, shown: Shown) -> Place:
    """The line to show of a unit: its definition if its name is what was asked for, else its best line."""
    symbol = unit.symbol
    documentary = kind_of(file.path) in ("doc", "changes")
    kind: PlaceKind
    if symbol is not None and (unit.named or not unit.lines):
        line, end, kind = symbol.line, symbol.end_line, "mention" if documentary else "definition"
    elif unit.lines:
        line = end = unit.lines[0][0]
        spoken = documentary or line in file.lines.documented
        kind = "mention" if spoken else "use"
    else:
        line, end, kind = 1, 1, "path"
    return Place(
        file.path,
        line,
        end,
        shown.line(line),
        kind,
        symbol.qualname if symbol else "",
        round(score, 3),
    )
