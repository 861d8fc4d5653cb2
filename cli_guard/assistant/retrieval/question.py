"""Parses a question: concepts, exact names, the kinds of file and of definition that it asks for."""

import re
from dataclasses import dataclass
from itertools import pairwise

from cli_guard.assistant.retrieval.vocabulary import STOP, WEAK
from cli_guard.assistant.retrieval.words import parts_of, stem

QUESTION_CHARS = 2_000
MOST_CONCEPTS = 12
WEAK_WEIGHT = 0.45
WEAK_STEMS = frozenset(map(stem, WEAK))
# An exact name: with an underscore, a dot, a capital inside, brackets after it, or in quotes.
EXACT = re.compile(
    r"`([^`\n]{1,120})`|\"([\w.:-]{1,120})\"|'([\w.:-]{1,120})'|\b([A-Za-z_]\w*(?:(?:\.|::)\w+)+)\b"
    r"|\b(\w*_\w+)\b|\b([a-z]+[A-Z]\w*|[A-Z][a-z0-9]+[A-Z]\w*)\b|\b(\w+)\(\)"
)
NAME = re.compile(r"[A-Za-z_$][\w$]*")
# Not the first word of a sentence.
PROPER = re.compile(r"(?<=[a-z,] )([A-Z][A-Za-z0-9]+)(?=[\s?.,!]|$|'s\b)")
ASKED_FILES = {
    "test": re.compile(
        r"\b(?:(?:which|what|where(?: are| is)?)(?: the| a)? (?:unit |integration )?tests?\b|unit tests?"
        r"|integration tests?|test (?:suite|files?|cases?|coverage)|tests? (?:for|of|cover\w*|that cover|about)"
        r"|(?:is|are) .{1,80} tested)\b",
        re.IGNORECASE,
    ),
    "doc": re.compile(r"\b(?:documentation|documented|docs?|readme|guide|tutorial)\b", re.IGNORECASE),
    "changes": re.compile(
        r"\b(?:change ?log|release notes|what(?:'s| is) new|breaking changes)\b", re.IGNORECASE
    ),
}
ASKED_DEFINITIONS = {
    "error": re.compile(
        r"\b(?:which|what) (?:\w+ )?(?:exceptions?|errors?)\b"
        r"|\b(?:exceptions?|errors?) (?:is|are) (?:raised|thrown)\b|\berror class",
        re.IGNORECASE,
    ),
    "environment": re.compile(r"\benv(?:ironment)? ?var|\benvironment\b", re.IGNORECASE),
}


@dataclass(frozen=True, slots=True)
class Concept:
    """One thing asked about: its own stem, then those of it joined to its neighbours (`file size`: filesize).

    Without anything of an `essential` concept there is no answer; `proper` marks the name of something.
    """

    word: str
    stems: tuple[str, ...]
    weight: float
    essential: bool
    proper: bool = False


@dataclass(frozen=True, slots=True)
class Query:
    """What to search for. `names` are exact identifiers; `asked_for` are kinds of file, `kinds` of definition."""

    concepts: tuple[Concept, ...]
    names: tuple[str, ...]
    asked_for: frozenset[str]
    kinds: frozenset[str]

    @property
    def terms(self) -> tuple[str, ...]:
        """The words to search for, as they were asked."""
        return tuple(dict.fromkeys((*self.names, *(concept.word for concept in self.concepts))))


def parse_question(question: str) -> Query:
    """Parse a question; one without words of content has no concepts."""
    text = question[:QUESTION_CHARS]
    words = parts_of(text)
    joined = _join_neighbours(words)
    content = [word for word in words if word not in STOP and (len(word) > 1 or word.isdigit())]
    proper = _find_proper_names(text)
    # Where nothing better is asked, the weak words are what is asked for.
    all_weak = all(stem(word) in WEAK_STEMS for word in content)
    concepts: dict[str, Concept] = {}
    for word in content:
        essential = all_weak or stem(word) not in WEAK_STEMS
        stems = tuple(dict.fromkeys((stem(word), *joined.get(word, ()))))
        weight = 1.0 if essential else WEAK_WEIGHT
        concepts.setdefault(stem(word), Concept(word, stems, weight, essential, word in proper))
    return Query(
        tuple(concepts.values())[:MOST_CONCEPTS],
        _find_exact_names(text),
        frozenset(kind for kind, pattern in ASKED_FILES.items() if pattern.search(text)),
        frozenset(kind for kind, pattern in ASKED_DEFINITIONS.items() if pattern.search(text)),
    )


def _join_neighbours(words: list[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for pair in pairwise(words):
        if STOP.isdisjoint(pair) and min(map(len, pair)) > 1:
            for word in pair:
                found.setdefault(word, []).append(stem("".join(pair)))
    return found


def _find_exact_names(text: str) -> tuple[str, ...]:
    found = []
    for match in EXACT.finditer(text):
        named = next(group for group in match.groups() if group is not None)
        found += [part for part in NAME.findall(named) if part.lower() not in STOP]
    return tuple(dict.fromkeys(found))[:MOST_CONCEPTS]


def _find_proper_names(text: str) -> frozenset[str]:
    return frozenset(part for match in PROPER.finditer(text) for part in parts_of(match[1]))
