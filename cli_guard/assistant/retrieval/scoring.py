"""The ranking: words counted in all texts, then BM25F over the definitions of the files that are worth parsing."""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from cli_guard.assistant.request_question import Concept, SearchQuery
from cli_guard.assistant.retrieval.hits import Matcher, TextLines, WordHit
from cli_guard.assistant.retrieval.path_kinds import FRONT_PAGE, kind_of, weigh
from cli_guard.assistant.stems import needles_of, stems_of
from cli_guard.code.definitions import Definition, find_definitions
from cli_guard.lazy import frozen
from cli_guard.model import Skipped

MOST_CANDIDATES = 50
CANDIDATE_CHARS = 3_000_000
MOST_CHARS = 400_000_000
SHORT_NEEDLE = 4
WHOLE_NEEDLE = 2
MOST_COUNTED = 50
IN_PATH = 3.0
NAME_WEIGHT = 2.0
COUNT_SATURATION = 1.5
# Above this share a word is the own word of a concept.
OWN = 0.8
SYNONYM = 0.5
# In these a word says little of what the repository does.
SIDE_KINDS = frozenset(("data", "test", "changes", "vendored"))


# A substring, a pattern that finds it as a word, and how well it stands for its concept.
Needles = tuple[tuple[str, re.Pattern[str] | None, float], ...]
# How much a hit counts by its place; tuned on the tuning half of fixtures/questions alone.
NAME = 4.0
TEXT = 0.7
FILE_NAME = 4.0
FOLDER = 0.6
SATURATION = 2.0
FILE_SATURATION = 4.0
USUAL_LINES = 25
USUAL_FILE = 300
MOST_TIMES = 8
# What the next definitions, the whole file, and a file name (or name) with no other words add.
NEXT_UNITS = 0.3
WHOLE_FILE = 0.5
FULL_NAME = 0.5
EXACT_NAME = 12.0
# A setting; a constant, and one where a default is asked for.
KEY = 0.75
CONSTANT = 0.8
DEFAULT = 1.4
# An error class, or a reader of the environment, where one is asked for.
ERROR = 1.4
ENVIRONMENT = 1.6
ERROR_NAME = re.compile(r"(?:Error|Exception|Err|Warning|Failure)s?$")
ERROR_FILE = re.compile(r"(?:^|[/_.-])(?:errors?|exceptions?|exc|err)(?:/|\.\w+$)")
READ_OF_ENVIRONMENT = re.compile(
    r"(?:environ(?:\.get|\.setdefault|\.pop)?\s{0,4}[\[(]|getenv\w{0,20}\s{0,4}\(|process\.env(?:\.|\[)|import\.meta\.env\."
    r"|env::var(?:_os)?\s{0,4}\(|\bENV(?:\.fetch)?\s{0,4}[\[(]|(?:Getenv|LookupEnv|GetEnvironmentVariable)\s{0,4}\()"
    r"\s{0,40}['\"]?([A-Za-z_]\w{1,80})['\"]?(?:\s{0,40},\s{0,40}([^)\n]{1,200}))?"
)
LINES_OF_UNIT = 5
# A line that gives something a value or declares an option: where a setting is asked for, it counts like a name.
SETS_VALUE = re.compile(
    r"['\"`]--?[A-Za-z][\w-]*|environ|getenv|process\.env|add_(?:argument|option)\b"
    r"|[\w'\"\]]\s{0,4}(?::[^:=,]{1,40})?(?<![=!<>])[=:](?![=:])\s{0,4}(?:[\w.]{1,40}\()?(?:default\s{0,2}[=:]\s{0,2})?"
    r"(?:['\"\d\[{]|-\d|(?i:true|false|none|null|undefined)\b)"
)
SETTING = 0.8
LONGEST_SETTING = 400


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
            w * r * n / (n + COUNT_SATURATION)
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
                share * min(MOST_COUNTED, times)
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


@frozen
class ScoredUnit:
    """A definition (`definition` None: the lines outside of any) with its score.

    `covered` is its share of each concept, `named` whether its name has any, `lines` are its best (line, weight).
    """

    definition: Definition | None
    score: float
    named: bool
    covered: tuple[float, ...]
    lines: tuple[tuple[int, float], ...]


@frozen
class ScoredFile:
    """A file with its units, best first."""

    path: str
    weight: float
    score: float
    covered: tuple[float, ...]
    units: tuple[ScoredUnit, ...]
    lines: TextLines


def score_file(
    path: str,
    text: str,
    query: SearchQuery,
    matcher: Matcher,
    rarity: Sequence[float],
    weight: float,
) -> ScoredFile:
    """Score a file and its definitions; `weight` is that of its kind."""
    definitions = find_definitions(path, text)
    lines = TextLines(text, definitions)
    hits = matcher.find(text)
    by_owner = defaultdict(list)
    for hit in hits:
        by_owner[lines.owners[hit.line]].append(hit)
    concepts = range(len(query.concepts))
    stems, folders = stem_path(path)
    in_name = matcher.match_stems(stems)
    in_folder = matcher.match_stems(folders)
    # A file name with other words says less.
    share = matcher.measure_share(stems)
    file_name = FILE_NAME * (0.4 + 0.6 * share)
    in_path = [
        file_name * in_name.get(c, 0.0) + FOLDER * in_folder.get(c, 0.0) for c in concepts
    ]
    weights = [
        rare * concept.weight for rare, concept in zip(rarity, query.concepts, strict=True)
    ]
    units = []
    for index, definition in enumerate(definitions):
        own = matcher.match_name(definition.name)
        is_asked = definition.name in query.names or definition.name == query.plain
        if own or is_asked or index in by_owner:
            here = by_owner.get(index, [])
            unit = _score_unit(
                definition, own, here, lines, matcher, in_path, weights, query
            )
            if is_asked:
                owners = set(definition.qualname.split("."))
                bonus = EXACT_NAME * sum(
                    name in owners for name in (*query.names, query.plain) if name
                )
                unit = replace(unit, score=unit.score + bonus, named=True)
            else:
                unit = replace(
                    unit,
                    score=unit.score * _weigh_kind(definition, own, path, query, lines),
                )
            units.append(unit)
    if -1 in by_owner or not units:
        units.append(
            _score_unit(None, {}, by_owner[-1], lines, matcher, in_path, weights, query)
        )
    units.sort(
        key=lambda unit: (-unit.score, unit.definition.line if unit.definition else 0)
    )
    whole = _score_whole(hits, lines, in_path)
    covered = tuple(map(max, whole, units[0].covered))
    score = units[0].score + NEXT_UNITS * sum(unit.score for unit in units[1:4])
    score += WHOLE_FILE * sum(map(float.__mul__, weights, whole))
    score *= 1 + FULL_NAME * share * sum(
        weights[c] * each for c, each in in_name.items()
    ) / (sum(weights) or 1.0)
    return ScoredFile(path, weight, score * weight, covered, tuple(units), lines)


def _score_unit(
    definition: Definition | None,
    own: dict[int, float],
    hits: list[WordHit],
    lines: TextLines,
    matcher: Matcher,
    in_path: list[float],
    weights: list[float],
    query: SearchQuery,
) -> ScoredUnit:
    settings = _find_settings(hits, lines) if "setting" in query.kinds else {}
    named = settings | own
    length = (
        definition.end_line - definition.line + 1 if definition else len(lines.lines) // 2
    )
    norm = 0.6 + 0.4 * (length if definition else max(USUAL_LINES, length)) / USUAL_LINES
    counts = [0.0] * len(weights)
    by_line: dict[int, float] = defaultdict(float)
    for hit in hits:
        by_line[hit.line] += weights[hit.concept] * hit.weight
        counts[hit.concept] += hit.weight
    covered = []
    for concept, count in enumerate(counts):
        amount = (
            NAME * named.get(concept, 0.0)
            + TEXT * min(MOST_TIMES, count) / norm
            + in_path[concept]
        )
        covered.append(amount / (amount + SATURATION))
    score = sum(map(float.__mul__, weights, covered))
    score *= 0.5 + 0.5 * score / (sum(weights) or 1.0)
    if definition and named:
        score *= 1 + FULL_NAME * matcher.measure_share(stems_of(definition.name))
    ranked = sorted(by_line.items(), key=lambda item: (-item[1], item[0]))
    return ScoredUnit(
        definition, score, bool(own), tuple(covered), tuple(ranked[:LINES_OF_UNIT])
    )


def _weigh_kind(
    definition: Definition,
    own: dict[int, float],
    path: str,
    query: SearchQuery,
    lines: TextLines,
) -> float:
    """Weigh a definition by the kinds that the question asks for."""
    if definition.kind == "key":
        return KEY
    if definition.kind == "constant":
        if "default" in query.kinds and own:
            return DEFAULT
        return 1.0 if len(own) > 1 else CONSTANT
    if "error" in query.kinds and definition.kind in ("class", "type"):
        return (
            ERROR if ERROR_NAME.search(definition.name) or ERROR_FILE.search(path) else 1.0
        )
    if "environment" in query.kinds:
        start = definition.line - 1
        end = min(definition.end_line, definition.line + USUAL_LINES)
        return (
            ENVIRONMENT
            if READ_OF_ENVIRONMENT.search("\n".join(lines.lines[start:end]))
            else 1.0
        )
    return 1.0


def _find_settings(hits: list[WordHit], lines: TextLines) -> dict[int, float]:
    """Weigh the concepts on lines that set a value."""
    setting = (
        hit
        for hit in hits
        if SETS_VALUE.search(lines.lines[hit.line - 1][:LONGEST_SETTING])
    )
    return {hit.concept: SETTING * hit.weight for hit in setting}


def _score_whole(
    hits: list[WordHit], lines: TextLines, in_path: list[float]
) -> list[float]:
    amounts = [2.0 * each for each in in_path]
    norm = 0.5 + 0.5 * len(lines.lines) / USUAL_FILE
    for hit in hits:
        amounts[hit.concept] += hit.weight / norm
    return [amount / (amount + FILE_SATURATION) for amount in amounts]
