"""A question as what is looked for: concepts with their other words, exact names, the kind of file asked for."""

import re
from dataclasses import dataclass
from itertools import pairwise

from cli_guard.assistant.retrieval.synonyms import PHRASES, SYNONYMS
from cli_guard.assistant.retrieval.vocabulary import KINDS, ONE_WORD, PROPER, SOFT, STOP, WEAK
from cli_guard.assistant.retrieval.words import PART, stem, stems_of

QUESTION_CHARS = 2_000
MOST_CONCEPTS = 12
WEAK_WEIGHT, SOFT_WEIGHT = 0.3, 0.55
JOINED = 0.84
# One word of two that mean something together; both in one name are the whole.
HALF = 0.35
# An exact name: with an underscore, a dot, a capital inside, brackets behind it, or in quotes.
EXACT = re.compile(
    r"`([^`\n]{1,120})`|\"([\w.:-]{1,120})\"|'([\w.:-]{1,120})'|\b([A-Za-z_]\w*(?:(?:\.|::)\w+)+)\b"
    r"|\b(\w*_\w+)\b|\b([a-z]+[A-Z]\w*|[A-Z][a-z0-9]+[A-Z]\w*)\b|\b(\w+)\(\)"
)
# "Which class ..." asks for a class, not for the word.
ASKED_KIND = re.compile(
    r"\b(?:which|what|where(?:'s| is| are)?) (?:the |a )?(?:class|function|method|module|file|code|constant|variable)"
    r"(?:es|s)?\b(?= (?:that |which |is |are |does |do |to |where |in which )?[a-z]+(?:s|ed|es|d)?\b)",
    re.IGNORECASE,
)
COMPOUND = re.compile(r"\b(?:[A-Z][A-Za-z]*-(?:[A-Z][A-Za-z]*-)*[A-Z][A-Za-z]*)\b")
NAME = re.compile(r"[A-Za-z_$][\w$]*")
# What comes behind the question itself: another wish.
ANOTHER_WISH = re.compile(r"[?.;]\s|,? and (?:suggest|show|give|recommend|tell|propose|explain)\b")
ASKED_FOR = {
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
    "example": re.compile(r"\b(?:examples?|samples?|demos?)\b", re.IGNORECASE),
    "settings": re.compile(
        r"\b(?:(?:third[- ]party |runtime |dev |development )dependencies|(?:which|what) dependencies"
        r"|dependencies (?:of this|are)|python versions?|node versions?|build (?:system|backend)|licen[cs]e"
        r"|(?:github|ci) (?:workflows?|actions)|ci|(?:build|ci|deployment) pipelines?|docker ?file|docker image"
        r"|makefile|lint(?:er|ing)? (?:rules|config\w*|settings)|packag(?:e|ing) (?:metadata|name)|pyproject|tox"
        r"|(?:npm|console) scripts?|entry points?)\b",
        re.IGNORECASE,
    ),
    "benchmark": re.compile(r"\bbenchmarks?\b", re.IGNORECASE),
    "types": re.compile(r"\b(?:stubs?|type ?definitions?|typings?|\.d\.ts)\b", re.IGNORECASE),
}


ASKED_SYMBOLS = {
    "error": re.compile(
        r"\b(?:which|what) (?:\w+ )?(?:exceptions?|errors?)\b"
        r"|\b(?:exceptions?|errors?) (?:is|are) (?:raised|thrown)\b|\berror class",
        re.IGNORECASE,
    ),
    "default": re.compile(r"\bdefaults?\b", re.IGNORECASE),
    "environment": re.compile(r"\benv(?:ironment)? ?var|\benvironment\b", re.IGNORECASE),
}


@dataclass(frozen=True, slots=True)
class Concept:
    """One thing asked about. `variants` are (stem, weight), the asked word first with weight 1.

    `essential`: an answer that has nothing of it is none. `halves` are the words of a phrase,
    `proper` marks a name of something: what never names it has nothing of it.
    `literal` is a compound as it is written, with any joint: it is looked for as a whole.
    """

    word: str
    variants: tuple[tuple[str, float], ...]
    weight: float
    essential: bool
    halves: tuple[str, ...] = ()
    proper: bool = False
    literal: str = ""


@dataclass(frozen=True, slots=True)
class Query:
    """What is looked for. `names` are exact identifiers, `kinds` the kinds of symbol asked for."""

    concepts: tuple[Concept, ...]
    names: tuple[str, ...]
    asked_for: frozenset[str]
    kinds: frozenset[str]

    @property
    def terms(self) -> tuple[str, ...]:
        """The words that are looked for, as asked."""
        return tuple(dict.fromkeys((*self.names, *(concept.word for concept in self.concepts))))


def understand(question: str) -> Query:
    """The query that a question makes; one without any words of content has no concepts."""
    text = question[:QUESTION_CHARS]
    first, *rest = ANOTHER_WISH.split(text, maxsplit=1)
    if len(re.findall(r"\w+", first)) >= 3 and rest:
        text = first
    asked_for = frozenset(kind for kind, pattern in ASKED_FOR.items() if pattern.search(text))
    names = exact_names(text)
    words = [word.lower() for word in _words(ASKED_KIND.sub(" ", text))]
    concepts = [*_compounds(text), *_phrases(words)]
    taken = {word for concept in concepts for word in re.split(r"[ -]", concept.word)}
    spoken = [word for word in words if word not in STOP and (len(word) > 1 or word.isdigit())]
    # Where nothing better was said, the weaker words are what is asked for.
    lightest = min((rank_of(word) for word in (*spoken, *(["phrase"] if concepts else []))), default=0)
    joined = joined_words(words)
    proper = proper_names(text)
    seen = {stem(word) for word in taken}
    for word in spoken:
        if stem(word) in seen:
            continue
        seen.add(stem(word))
        concepts.append(concept_of(word, rank_of(word) - lightest, joined.get(word, ()), word in proper))
    kinds = _kinds(text)
    return Query(tuple(concepts[:MOST_CONCEPTS]), names, asked_for, kinds)


def _kinds(text: str) -> frozenset[str]:
    """The kinds of symbol that a question asks for, `error`, `default` and `environment` among them."""
    kinds = {kind for kind, pattern in ASKED_SYMBOLS.items() if pattern.search(text)}
    return frozenset(kinds | {KINDS[word] for word in re.findall(r"[a-z]+", text.lower()) if word in KINDS})


def _words(text: str) -> list[str]:
    """The parts of the words of a question; a brand such as SQLite stays whole."""
    return [
        part
        for word in re.findall(r"[^\W_]+", text)
        for part in ([word] if word.lower() in ONE_WORD else PART.findall(word))
    ]


def exact_names(text: str) -> tuple[str, ...]:
    """The identifiers that a question names as they are written in code."""
    found = []
    for match in EXACT.finditer(text):
        named = next(group for group in match.groups() if group is not None)
        found += [part for part in NAME.findall(named) if part.lower() not in STOP | ONE_WORD]
    return tuple(dict.fromkeys(found))[:MOST_CONCEPTS]


def rank_of(word: str) -> int:
    """0 for a word that says what is looked for, 1 for what is done with it, 2 for what any code does."""
    return 2 if word in WEAK else 1 if word in SOFT else 0


def joined_words(words: list[str]) -> dict[str, tuple[str, ...]]:
    """By word, what it makes with its neighbours written as one: `file size` is `filesize` in a name."""
    found: dict[str, list[str]] = {}
    for left, right in pairwise(words):
        if left not in STOP and right not in STOP and len(left) > 1 and len(right) > 1:
            for word in (left, right):
                found.setdefault(word, []).append(left + right)
    return {word: tuple(pairs) for word, pairs in found.items()}


def concept_of(word: str, rank: int, joined: tuple[str, ...], proper: bool) -> Concept:
    """A word with what may stand for it; `rank` as `rank_of` says, from the best word of the question."""
    own = stem(word)
    variants = {own: 1.0}
    for pair in joined:
        variants.setdefault(stem(pair), JOINED)
    for other, weight in () if rank > 1 else BY_STEM.get(own, ()):
        for each in stems_of(other):
            variants.setdefault(each, weight)
    weight = (1.0, SOFT_WEIGHT, WEAK_WEIGHT)[rank]
    return Concept(word, tuple(variants.items()), weight, rank == 0, proper=proper)


def proper_names(text: str) -> frozenset[str]:
    """The words that name something: known products, and what is written with a capital inside a sentence."""
    found = {word for word in re.findall(r"[a-z0-9]+", text.lower()) if word in PROPER}
    # Not the first word, and no part of an identifier.
    for match in re.finditer(r"(?<=[a-z,] )([A-Z][A-Za-z0-9]+)(?=[\s?.,!]|$|'s\b)", text):
        if not re.search(r"[a-z][A-Z]", match[1]) or match[1].lower() in PROPER:
            found.add(match[1].lower())
    return frozenset(found)


def _compounds(text: str) -> list[Concept]:
    """Compounds such as `Retry-After`: names of headers and options, which code writes as they are."""
    found = []
    for match in COMPOUND.finditer(text):
        word = match[0].lower()
        if sum(part not in STOP for part in word.split("-")) > 1 or match[0][0].isupper():
            found.append(Concept(word, ((word, 1.0),), 1.4, essential=True, literal=word))
    return found


def _phrases(words: list[str]) -> list[Concept]:
    """Words side by side that mean one thing; each counts as one concept beside its parts' own."""
    found = []
    for left, right in pairwise(words):
        others = BY_PHRASE.get((stem(left), stem(right)))
        if others:
            pair = f"{left}{right}"
            variants = {stem(pair): 1.0}
            for other, weight in others:
                for each in stems_of(other):
                    variants.setdefault(each, weight)
            halves = (stem(left), stem(right))
            for half in halves:
                variants.setdefault(half, HALF)
            found.append(
                Concept(f"{left} {right}", tuple(variants.items()), 1.4, essential=True, halves=halves)
            )
    return found


BY_STEM = {stem(word): others for word, others in SYNONYMS.items()}
BY_PHRASE = {(stem(left), stem(right)): others for (left, right), others in PHRASES.items()}
