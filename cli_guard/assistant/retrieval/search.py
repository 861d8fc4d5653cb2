"""Answers a question about a repository with locations, best first, and a confidence."""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise

from cli_guard.assistant.request_question import SearchQuery, parse_question
from cli_guard.assistant.retrieval.facts import collect_facts, quote_statement
from cli_guard.assistant.retrieval.hits import Matcher
from cli_guard.assistant.retrieval.literals import ExactPlace, find_exact
from cli_guard.assistant.retrieval.masked_lines import MaskedLines
from cli_guard.assistant.retrieval.path_kinds import (
    LONGEST_SOURCE,
    kind_of,
    weigh,
)
from cli_guard.assistant.retrieval.scoring import (
    ScoredFile,
    ScoredUnit,
    Survey,
    count_words,
    score_file,
)
from cli_guard.assistant.retrieval.types import (
    FoundFact,
    FoundPlace,
    LocationKind,
    NameReference,
    NameUses,
    SearchConfidence,
    SearchResult,
)
from cli_guard.assistant.retrieval.uses import DOTTED_NAME, find_references, find_uses
from cli_guard.assistant.stems import stem, stems_of
from cli_guard.code.definitions import Definition, find_definitions
from cli_guard.model import Skipped

UNITS_OF_BEST = 3
BEST_FILES = 2
# Few files were named: then their text is asked about, be it a document or a test.
NAMED_FILES = 5
# By how much of the question the best file covers.
HIGH = 0.8
MEDIUM = 0.65
LOW = 0.42
LOW_UNWEIGHTED = 0.55
SIDE_FILE = 0.5
# A file that counts less, such as a test or an example, is no sure answer unless it was asked for.
ASIDE = 0.4
# A class that another one may hand a member down to.
HAS_BASE = re.compile(r"\(\s*\w|\bextends\b|\bimplements\b|<|:\s*\w|\bwith\b")
# Places shown where nothing answers the question.
NEAREST = 3
# Lines that say what else is asked of a message.
BESIDES = 3
# How many a vague question may choose from.
CHOICES = 2
# A concept with less than this share is missing.
MISSING = 0.2
# What is done with a thing is often said in another word than in the code.
VERB_FORM = re.compile(r"(?:ed|ing|ly|i[sz]es?|able|ful)$")


def find(
    question: str,
    texts: Mapping[str, str],
    *,
    allowed: Collection[str] | None = None,
    limit: int = 8,
) -> SearchResult:
    """Find the answer to a question in plain English in `texts` (path -> text).

    `allowed` are the paths to search (None: all), `limit` bounds the locations; what is over the bounds of the work is
    listed in `skipped`. The same input gives the same answer.
    """
    query = parse_question(question)
    paths = sorted(
        texts if allowed is None else (path for path in set(allowed) if path in texts)
    )
    if query.is_vague:
        return ask_back(texts, paths)
    if not query.concepts and not query.names:
        return SearchResult()
    if "test" in query.asked_for:
        tests = [path for path in paths if kind_of(path) == "test"]
        if not tests:
            return SearchResult(looked_at=len(paths), terms=query.terms, absent=("tests",))
        paths = tests
    skipped: list[Skipped] = []
    if lacking := _lacks_member(query, texts, paths):
        return SearchResult(looked_at=len(paths), terms=query.terms, absent=(lacking,))
    if uses := find_uses(query, texts, paths, skipped):
        return _answer_uses(uses, query, len(paths), limit, skipped)
    survey = count_words(query, texts, paths)
    skipped += survey.skipped
    matcher = Matcher(query)
    files = []
    for path in survey.candidates:
        weight = weigh(path, texts[path], query.asked_for)
        files.append(score_file(path, texts[path], query, matcher, survey.rarity, weight))
    files.sort(key=lambda each: (-each.score, each.path))
    is_named = allowed is not None and len(paths) <= NAMED_FILES
    exact = find_exact(query, texts, paths)
    if exact:
        places, facts, confidence = _answer_exact(exact, files, query, texts, limit)
    else:
        confidence = _estimate_confidence(query, survey, files, is_named=is_named)
        places = _list_locations(files, texts, NEAREST if confidence == "none" else limit)
        facts = []
        if confidence != "none":
            facts = collect_facts(
                files[0].path, texts[files[0].path], files[0].units, query
            )
    if "default" in query.kinds and confidence == "high":
        values = [each for each in facts if each.kind not in ("function", "class")]
        confidence = "high" if any(each.value for each in values) else "medium"
    if confidence == "none" and query.points:
        return ask_back(texts, paths)
    essential = [(i, each.word) for i, each in enumerate(query.concepts) if each.essential]
    is_none = confidence == "none"
    return SearchResult(
        () if is_none else tuple(places),
        tuple(facts),
        confidence,
        survey.looked_at,
        query.terms,
        tuple(skipped),
        nearest=tuple(places) if is_none else (),
        kinds=tuple(Counter(map(kind_of, paths[: survey.looked_at])).most_common()),
        absent=tuple(word for i, word in essential if not survey.spread[i])
        + survey.absent_names,
        missing=tuple(
            word for i, word in essential if files and files[0].covered[i] < MISSING
        ),
    )


def ask_back(texts: Mapping[str, str], paths: Sequence[str]) -> SearchResult:
    """Answer a question that says nothing of what it is about: with the longest sources, which it may be about."""
    source = [path for path in paths if kind_of(path) == "source"]
    source.sort(key=lambda path: (-min(len(texts[path]), LONGEST_SOURCE), path))
    choices = []
    for path in source[:CHOICES]:
        public = (
            each
            for each in find_definitions(path, texts[path])
            if each.kind in ("class", "function") and not each.name.startswith("_")
        )
        longest = max(public, key=lambda each: each.end_line - each.line, default=None)
        line = longest.line if longest else 1
        name = longest.name if longest else ""
        text = MaskedLines(path, texts[path]).line(line)
        choices.append(FoundPlace(path, line, text, "path", name, 0.0))
    return SearchResult(looked_at=len(paths), nearest=tuple(choices), is_vague=True)


def _answer_uses(
    uses: NameUses, query: SearchQuery, looked_at: int, limit: int, skipped: list[Skipped]
) -> SearchResult:
    """Answer with the uses of a name; with its definition where nothing uses it."""
    shown = (*uses.uses, *uses.tests) or uses.definitions
    if "test" in query.asked_for:
        shown = uses.tests or shown
    best: dict[str, NameReference] = {}
    for each in shown:
        # Of each file a call rather than its import.
        if best.setdefault(each.path, each).kind == "import" != each.kind:
            best[each.path] = each
    places = tuple(
        FoundPlace(
            each.path,
            each.line,
            each.text,
            "definition" if each.kind == "definition" else "use",
            uses.name,
            1.0,
        )
        for each in list(best.values())[:limit]
    )
    return SearchResult(
        places, (), "high", looked_at, query.terms, tuple(skipped), uses=uses
    )


def _answer_exact(
    exact: list[ExactPlace],
    files: list[ScoredFile],
    query: SearchQuery,
    texts: Mapping[str, str],
    limit: int,
) -> tuple[list[FoundPlace], list[FoundFact], SearchConfidence]:
    """Put the places with the very text before those that are ranked, and quote its statement."""
    paths = [each.path for each in exact[:limit]]
    others = _list_locations(
        [each for each in files if each.path not in paths], texts, limit
    )
    above = max((place.score for place in others), default=0.0)
    places = []
    for each in exact[:limit]:
        around = _find_around(each.path, texts[each.path], each.line)
        text = MaskedLines(each.path, texts[each.path]).line(each.line)
        symbol = around.qualname if around else ""
        score = round(above + each.share, 3)
        places.append(FoundPlace(each.path, each.line, text, "use", symbol, score))
    best = places[0]
    said = quote_statement(best.path, texts[best.path], best.line, best.symbol)
    besides, lacks = _list_besides(best, query, texts[best.path])
    is_sure = exact[0].share > HIGH and not lacks
    return [*places, *others][:limit], [said, *besides], "high" if is_sure else "medium"


def _find_around(path: str, text: str, line: int) -> Definition | None:
    """Find the innermost definition around a line."""
    around = [e for e in find_definitions(path, text) if e.line <= line <= e.end_line]
    return around[-1] if around else None


def _list_besides(
    place: FoundPlace, query: SearchQuery, text: str
) -> tuple[list[FoundFact], bool]:
    """List the lines around a message with what else is asked of it, and whether some of that is not there."""
    told = {word for message in query.messages for word in message}
    words = {*query.said} - told
    asked = [c for c in query.concepts if c.essential and c.word in words]
    around = _find_around(place.path, text, place.line)
    found: dict[int, FoundFact] = {}
    missing = {concept.word for concept in asked}
    masked = MaskedLines(place.path, text)
    lines = text.split("\n")
    for number in range(around.line, around.end_line + 1) if around and asked else ():
        stems = stems_of(lines[number - 1]) if number <= len(lines) else ()
        held = [c.word for c in asked if stem(c.word) in stems]
        if held and len(found) < BESIDES:
            line = masked.line(number)
            found[number] = FoundFact("statement", place.symbol, line, place.path, number)
        missing.difference_update(held)
    return list(found.values()), bool(missing)


def _list_locations(
    files: list[ScoredFile], texts: Mapping[str, str], limit: int
) -> list[FoundPlace]:
    """Take the best unit of each file, then further units of the best files; scores never rise."""
    chosen = [(file, file.units[0], file.score) for file in files if file.score > 0]
    for file in files[:BEST_FILES]:
        best = file.units[0].score or 1.0
        chosen += [
            (file, unit, file.score * unit.score / best)
            for unit in file.units[1 : 1 + UNITS_OF_BEST]
        ]
    ceiling = float("inf")
    places = []
    for file, unit, score in chosen[:limit]:
        ceiling = min(ceiling, score)
        places.append(
            _locate(file, unit, ceiling, MaskedLines(file.path, texts[file.path]))
        )
    return places


def _estimate_confidence(
    query: SearchQuery, survey: Survey, files: list[ScoredFile], *, is_named: bool
) -> SearchConfidence:
    """Judge the best file by how much of the question it covers, rare words above all."""
    if not files or not files[0].units:
        return "none"
    best = files[0]
    if query.names and not survey.has_names:
        return "none"
    is_aside = best.weight < ASIDE and not is_named
    is_sure = not is_aside and _holds_every_word(query, best)
    names = {*query.names, query.plain}
    if any(unit.definition and unit.definition.name in names for unit in best.units):
        return "high" if is_sure else "medium"
    asked = [(index, each) for index, each in enumerate(query.concepts) if each.essential]
    if any(each.proper and not survey.own[i] for i, each in asked):
        return "none"
    things = [i for i, each in asked if not VERB_FORM.search(each.word)]
    absent = sum(not survey.own[i] for i in things)
    total = sum(survey.rarity[i] * each.weight for i, each in asked)
    if not total:
        return "low"
    shares = [min(1.0, share * 1.6) for share in best.covered]
    share = sum(survey.rarity[i] * each.weight * shares[i] for i, each in asked) / total
    weights = [each.weight for each in query.concepts]
    unweighted = sum(w * s for w, s in zip(weights, shares, strict=True)) / sum(weights)
    missing = sum(best.covered[i] < MISSING for i, _ in asked)
    nowhere = sum(not survey.spread[i] for i, _ in asked)
    if absent > 1 or (share < LOW and any(not survey.spread[i] for i in things)):
        return "none"
    is_near = best.units[0].named and missing <= 1 and len(asked) > 1 + nowhere
    if share < LOW and unweighted < LOW_UNWEIGHTED and not is_near:
        return "none"
    if best.weight < SIDE_FILE and share < HIGH and not is_named:
        return "none"
    if share <= MEDIUM and not any(survey.own[i] for i, _ in asked):
        return "none"
    if is_sure:
        return "high"
    if share > MEDIUM and not absent and not is_aside:
        return "medium"
    # A setting or a default is seldom called so where it stands ("database configuration").
    is_lacking = not query.kinds and _lacks_half_of_name(query, survey, best)
    return "none" if is_lacking else "low"


def _lacks_half_of_name(query: SearchQuery, survey: Survey, best: ScoredFile) -> bool:
    """Return whether the best file has one word of a name of two ("language server"), and not the rarest word asked."""
    things = [
        (survey.rarity[i], best.covered[i], each)
        for i, each in enumerate(query.concepts)
        if each.essential and each.word.isalpha() and not VERB_FORM.search(each.word)
    ]
    rarest = max((rarity for rarity, _, _ in things), default=0.0)
    for (rare, here, left), (other_rare, there, right) in pairwise(things):
        is_name = stem(left.word + right.word) in left.stems
        is_lacking = (rare == rarest and not here) or (other_rare == rarest and not there)
        if is_name and is_lacking:
            return True
    return False


def _holds_every_word(query: SearchQuery, best: ScoredFile) -> bool:
    """Return whether each word of a question stands in the best definition, its name or its path, in some form."""
    unit = best.units[0]
    if not unit.definition or not unit.named:
        return False
    text = best.lines.text_of(unit.definition)
    held = set(stems_of(f"{best.path} {unit.definition.qualname} {text}"))
    return all(stem(part) in held for part in query.said)


def _lacks_member(
    query: SearchQuery, texts: Mapping[str, str], paths: Sequence[str]
) -> str:
    """Return a dotted name whose member nothing has here, or whose owner is a class without it; "" if there is none."""
    for name in query.written:
        *owners, member = re.split(r"\.|::|#", name)
        if not owners or not DOTTED_NAME.fullmatch(name):
            continue
        some = {path: texts[path] for path in paths if owners[-1] in texts[path]}
        # A module or a class that is not here itself may have any member.
        whole = re.compile(rf"\b{re.escape(member)}\b")
        named = (path for path in paths if member in path or member in texts[path])
        if some and not any(whole.search(f"{path}\n{texts[path]}") for path in named):
            return name
        if find_references(f"{owners[-1]}.{member}", some).references:
            continue
        defined = [
            each
            for path in some
            for each in find_definitions(path, some[path])
            if each.name == owners[-1] and each.kind in ("class", "type")
        ]
        # What another class may hand down is not known.
        if defined and not any(HAS_BASE.search(each.signature) for each in defined):
            return name
    return ""


def _locate(
    file: ScoredFile, unit: ScoredUnit, score: float, lines: MaskedLines
) -> FoundPlace:
    """Show a unit by its definition if its name matches the question, else by its best line."""
    definition = unit.definition
    is_document = kind_of(file.path) in ("doc", "changes")
    kind: LocationKind
    if definition and (unit.named or not unit.lines):
        line = definition.line
        kind = "mention" if is_document else "definition"
    elif unit.lines:
        line = unit.lines[0][0]
        kind = "mention" if is_document or line in file.lines.documented else "use"
    else:
        line = 1
        kind = "path"
    symbol = definition.qualname if definition else ""
    return FoundPlace(file.path, line, lines.line(line), kind, symbol, round(score, 3))
