"""How well one file, and each definition in it, answers a query: BM25F over names, heads, comments, code and path."""

import re
from collections import defaultdict
from dataclasses import dataclass

from cli_guard.assistant.retrieval.hits import Hit, Lines, Vocabulary, lines_read
from cli_guard.assistant.retrieval.question import Query
from cli_guard.assistant.retrieval.survey import path_stems
from cli_guard.assistant.retrieval.words import stems_of
from cli_guard.code.definitions import Definition, find_definitions

# What a hit counts by where it stands. Tuned on the tuning half of fixtures/questions alone.
NAME, OWNER, HEAD, DOC, BODY, FILE_NAME, FOLDER = 4.0, 1.5, 1.0, 0.8, 0.7, 4.0, 0.6
SATURATION = 2.0
USUAL_LINES = 25
USUAL_COMMENT = 10
WHOLE_FILE = 0.5
PRECISION = 0.5
KEY, CONSTANT = 0.75, 0.8
FILE_TOLD = 0.5
FURTHER_UNITS = 0.3
EXACT_NAME = 12.0
ASKED_KIND, WHOLE_NAME = 1.1, 1.4
# An error class where an error is asked for, what reads the environment, a constant where a default is.
ERROR, READS, DEFAULT = 1.4, 1.6, 1.4
ERROR_NAME = re.compile(r"(?:Error|Exception|Err|Warning|Failure)s?$")
ERROR_FILE = re.compile(r"(?:^|[/_.-])(?:errors?|exceptions?|exc|err)(?:/|\.\w+$)")


@dataclass(frozen=True, slots=True)
class Unit:
    """A definition (or a stretch of lines outside of any, `symbol` None) with what it holds of each concept."""

    symbol: Definition | None
    score: float
    named: bool
    covered: tuple[float, ...]
    lines: tuple[tuple[int, float], ...]


@dataclass(frozen=True, slots=True)
class Scored:
    """A file with its units, best first."""

    path: str
    score: float
    covered: tuple[float, ...]
    units: tuple[Unit, ...]
    lines: Lines


def score_file(path: str, text: str, query: Query, vocabulary: Vocabulary, idf: tuple[float, ...]) -> Scored:
    """Scores a file and what is in it; the prior of its kind is not in it yet."""
    symbols = find_definitions(path, text)
    lines = Lines(text, symbols)
    hits = vocabulary.hits(text)
    in_name, in_folder = (vocabulary.of_parts(each) for each in path_stems(path))
    by_owner: dict[int, list[Hit]] = defaultdict(list)
    for hit in hits:
        by_owner[lines.owners[hit.line]].append(hit)
    # A file whose whole name is about the question says more than one that has a word of it in a long name.
    stems = path_stems(path)[0]
    told = sum(1 for each in stems if each in vocabulary.meanings) / (len(stems) or 1)
    path_amount = [
        FILE_NAME * in_name.get(c, 0.0) * (0.4 + 0.6 * told) + FOLDER * in_folder.get(c, 0.0)
        for c in range(len(query.concepts))
    ]
    weights = [rare * concept.weight for rare, concept in zip(idf, query.concepts, strict=True)]
    exact = frozenset(query.names)
    environment = lines_read(text) if "environment" in query.kinds else frozenset()
    units = []
    for number, symbol in enumerate(symbols):
        own = vocabulary.of_name(symbol.name)
        wanted = symbol.name in exact
        if own or wanted or number in by_owner:
            unit = _unit(symbol, own, by_owner.get(number, []), lines, vocabulary, path_amount, weights)
            if wanted:
                unit = _exactly(unit, query)
            if "error" in query.kinds and _is_error(symbol, path):
                unit = _more(unit, ERROR)
            elif "environment" in query.kinds and not environment.isdisjoint(
                range(symbol.line, min(symbol.end_line, symbol.line + USUAL_LINES) + 1)
            ):
                unit = _more(unit, READS)
            elif "default" in query.kinds and unit.named and symbol.kind == "constant":
                unit = _more(unit, DEFAULT)
            elif symbol.kind in query.kinds and unit.named:
                # `DEFAULT_TIMEOUT` is the answer to a question for the default timeout.
                unit = _more(unit, WHOLE_NAME if symbol.kind == "constant" and len(own) > 1 else ASKED_KIND)
            elif symbol.kind == "constant" and "constant" not in query.kinds and not wanted:
                unit = _more(unit, CONSTANT)
            elif symbol.kind == "key" and not wanted:
                unit = _more(unit, KEY)
            units.append(unit)
    if -1 in by_owner or not units:
        units.append(_unit(None, {}, by_owner[-1], lines, vocabulary, path_amount, weights))
    units.sort(key=lambda unit: (-unit.score, unit.symbol.line if unit.symbol else 0))
    whole, covered = _whole(hits, symbols, units, lines, path_amount, weights)
    best = units[0].score if units else 0.0
    further = sum(unit.score for unit in units[1:4])
    meant = sum(w * min(1.0, in_name.get(c, 0.0)) for c, w in enumerate(weights)) / (sum(weights) or 1.0)
    total = (best + FURTHER_UNITS * further + WHOLE_FILE * whole) * (1 + FILE_TOLD * told * meant)
    return Scored(path, total, covered, tuple(units), lines)


def _unit(
    symbol: Definition | None,
    own: dict[int, float],
    hits: list[Hit],
    lines: Lines,
    vocabulary: Vocabulary,
    path_amount: list[float],
    weights: list[float],
) -> Unit:
    around = vocabulary.of_parts(stems_of(symbol.qualname.rpartition(".")[0])) if symbol else {}
    head = range(symbol.line, symbol.line + 1) if symbol else range(0)
    length = (symbol.end_line - symbol.line + 1) if symbol else max(USUAL_LINES, len(lines.lines) // 2)
    norm = 0.6 + 0.4 * length / USUAL_LINES
    spoken = lines.documented_in(symbol.line, symbol.end_line) if symbol else len(lines.documented)
    said = 0.5 + 0.5 * spoken / USUAL_COMMENT
    documentation = [0.0] * len(weights)
    body = [0.0] * len(weights)
    heads = [0.0] * len(weights)
    by_line: dict[int, float] = defaultdict(float)
    for hit in hits:
        by_line[hit.line] += weights[hit.concept] * hit.weight
        if hit.line in head:
            heads[hit.concept] = max(heads[hit.concept], hit.weight)
        elif hit.line in lines.documented:
            documentation[hit.concept] += hit.weight
        else:
            body[hit.concept] += hit.weight
    score, covered = 0.0, []
    for concept, weight in enumerate(weights):
        named = own.get(concept, 0.0)
        amount = (
            NAME * named
            + OWNER * around.get(concept, 0.0)
            + (HEAD * heads[concept] if not named else 0.0)
            + DOC * min(3.0, documentation[concept]) / said
            + BODY * min(8.0, body[concept]) / norm
            + path_amount[concept]
        )
        share = amount / (amount + SATURATION)
        covered.append(share)
        score += weight * share
    total = sum(weights) or 1.0
    score *= 0.5 + 0.5 * score / total
    if symbol and own:
        parts = stems_of(symbol.name)
        told = sum(1 for part in parts if part in vocabulary.meanings)
        score *= 1 + PRECISION * told / len(parts)
    ranked = sorted(by_line.items(), key=lambda item: (-item[1], item[0]))
    return Unit(symbol, score, bool(own), tuple(covered), tuple(ranked[:5]))


def _exactly(unit: Unit, query: Query) -> Unit:
    """A definition of the very name that was asked for; of a dotted name the owner counts too."""
    assert unit.symbol is not None  # noqa: S101 - only a symbol has a name
    around = set(unit.symbol.qualname.split("."))
    met = sum(1 for name in query.names if name in around)
    bonus = EXACT_NAME * met
    return Unit(unit.symbol, unit.score + bonus, True, unit.covered, unit.lines)


def _is_error(symbol: Definition, path: str) -> bool:
    """Is it an error that can be raised, told by its name or by its file?"""
    return symbol.kind in ("class", "type") and bool(
        ERROR_NAME.search(symbol.name) or ERROR_FILE.search(path)
    )


def _more(unit: Unit, factor: float) -> Unit:
    return Unit(unit.symbol, unit.score * factor, unit.named, unit.covered, unit.lines)


def _whole(
    hits: list[Hit],
    symbols: tuple[Definition, ...],
    units: list[Unit],
    lines: Lines,
    path_amount: list[float],
    weights: list[float],
) -> tuple[float, tuple[float, ...]]:
    amount = [2.0 * each for each in path_amount]
    norm = 0.5 + 0.5 * len(lines.lines) / 300
    for hit in hits:
        amount[hit.concept] += hit.weight / norm
    score, covered = 0.0, []
    for concept, weight in enumerate(weights):
        share = amount[concept] / (amount[concept] + 4.0)
        covered.append(max([share, *(unit.covered[concept] for unit in units[:1])]))
        score += weight * share
    return score, tuple(covered)
