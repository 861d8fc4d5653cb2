"""Chooses the tier of a request or a change: light, medium or heavy, by the points of rules/routing.toml."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from math import log2
from typing import NamedTuple

from cli_guard.assistant.request_intents import find_intents
from cli_guard.assistant.request_words import read_words
from cli_guard.code.classify import is_generated
from cli_guard.code.languages import language_of
from cli_guard.lazy import frozen
from cli_guard.policy.language_model import TIERS, RoutingSection, Tier
from cli_guard.rules.catalog import read_table

DATA = "routing.toml"
KINDS = ("request", "change")
# What is asked is at the beginning or at the end of a long text.
HEAD_CHARS = 2_000
TAIL_CHARS = 1_000
# Of a change: further files count by their lines as if people had written them.
FILES_READ = 200
FINDINGS_READ = 100
PATH_CHARS = 200
# The grammar of a longer request takes milliseconds, and says less.
MOOD_CHARS = 300
CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
NO_WORD = re.compile(r"[\W_]+")


@frozen
class Route:
    """The tier of a request, its score, and the features that decided, each with its points."""

    tier: Tier
    score: float = 0.0
    features: tuple[tuple[str, float], ...] = ()

    def __str__(self) -> str:
        shown = ", ".join(f"{name} {points:+g}" for name, points in self.features)
        return f"{self.tier} (score {self.score:g}{': ' if shown else ''}{shown})"


class ChangedFile(NamedTuple):
    """A file of a change, with its numbers of added and removed lines."""

    path: str
    added: int
    removed: int


@frozen
class RequestGroup:
    """Words of one meaning, with their points by the kind of input.

    `where` is the source that they are read in, `unless` are the groups that silence this one.
    """

    name: str
    points: Mapping[str, float]
    where: str
    unless: frozenset[str]
    pattern: re.Pattern[str]


@cache
def groups() -> tuple[RequestGroup, ...]:
    """Return the groups of words, in the order of the data."""
    return tuple(
        RequestGroup(
            name,
            {kind: each["read"][kind] for kind in KINDS if kind in each["read"]},
            each["read"].get("where", "text"),
            frozenset(each["read"].get("unless", ())),
            compile_words(each.get("words", ""), each.get("patterns", ())),
        )
        for name, each in read_table(DATA)["group"].items()
    )


def compile_words(words: str, patterns: Iterable[str]) -> re.Pattern[str]:
    """Compile the words of a group: `_` stands for a blank or a hyphen, `*` for any ending."""
    parts = (
        re.escape(word).replace("_", r"[\s_-]+").replace(r"\*", r"\w*")
        for word in words.split()
    )
    listed = "|".join(parts)
    every = (rf"(?<!\w)(?:{listed})(?!\w)" if listed else "", *patterns)
    return re.compile("|".join(filter(None, every)), re.MULTILINE)


@cache
def pattern(name: str) -> re.Pattern[str]:
    """Compile one of the single patterns of the data."""
    return re.compile(read_table(DATA)["patterns"][name], re.MULTILINE)


def route_request(request: str, own: RoutingSection | None = None) -> Route:
    """Return the tier of a developer's request; of a long one the beginning and the end are read."""
    return decide(
        "request", request_features(request), own, remove_pasted(shorten(request))
    )


def route_change(
    message: str,
    files: Sequence[ChangedFile],
    findings: Collection[str],
    text: str,
    own: RoutingSection | None = None,
) -> Route:
    """Return the tier of a request about a change.

    `message` is that of the commit, `findings` are the ids of the rules that fired, `text` is what is asked.
    """
    features = change_features(message, files, findings, text)
    return decide("change", features, own, f"{message}\n{text}".lower())


def decide(
    kind: str, features: Mapping[str, float], own: RoutingSection | None, text: str
) -> Route:
    """Add up the points of features by their weights for a kind of input (`request`, `change`).

    `own` is what the user has configured, whose words are looked for in `text`, in lower case.
    """
    own = own or RoutingSection()
    table = read_table(DATA)[kind] | own.model_dump(
        include={"medium", "heavy"}, exclude_none=True
    )
    weights = {group.name: group.points.get(kind, 0.0) for group in groups()} | table
    points = {name: round(value * weights[name], 2) for name, value in features.items()}
    points |= {
        phrase: value for phrase, value in own.points.items() if has_phrase(text, phrase)
    }
    score = round(sum(points.values()), 2)
    tier: Tier = "light"
    if score >= table["heavy"]:
        tier = "heavy"
    elif score >= table["medium"]:
        tier = "medium"
    for each in reversed(TIERS):
        named = [one for one in own.tiers.get(each, ()) if has_phrase(text, one)]
        if named:
            return Route(each, score, ((f"chosen by {named[0]!r}", 0.0),))
    shown = sorted(
        (each for each in points.items() if each[1]), key=lambda each: -abs(each[1])
    )
    return Route(tier, score, tuple(shown))


def has_phrase(text: str, phrase: str) -> bool:
    """Return whether a text has the words of a phrase, in a row."""
    return bool(compile_words("_".join(phrase.lower().split()), ()).search(text))


def request_features(request: str) -> dict[str, float]:
    """Return the groups that a request has words of, each 1."""
    raw = shorten(request)
    prose = remove_pasted(raw)
    return find_groups({"text": prose, "raw": raw, "mood": find_mood(prose)})


def change_features(
    message: str, files: Sequence[ChangedFile], findings: Collection[str], text: str
) -> dict[str, float]:
    """Return the groups that a change has words of, each 1, and the sizes of what people wrote of it."""
    known = files[:FILES_READ]
    # What a program wrote, or what holds data, is less work.
    written = [
        file
        for file in known
        if not pattern("mechanical").search(file.path[-PATH_CHARS:])
        and not is_generated(file.path[-PATH_CHARS:])
    ]
    lines = max(
        0, sum(file.added + file.removed for file in (*written, *files[FILES_READ:]))
    )
    paths = "\n".join(split_words(file.path[-PATH_CHARS:]) for file in written)
    ids = " ".join(
        split_words(each[:PATH_CHARS]) for each in sorted(findings)[:FINDINGS_READ]
    )
    asked = remove_pasted(f"{shorten(message)}.\n{shorten(text)}")
    message_words = shorten(message).lower()
    found = find_groups(
        {"text": asked, "message": message_words, "paths": paths, "findings": ids}
    )
    languages = {language_of(file.path) for file in written} - {None}
    sizes = {
        "lines": log2(1 + lines),
        "files": log2(1 + len(written) + max(0, len(files) - FILES_READ)),
        "languages": log2(1 + len(languages)),
        "mechanical": float(bool(files) and not lines),
    }
    return found | sizes


def find_groups(sources: Mapping[str, str]) -> dict[str, float]:
    """Return the groups with words in the source that they are read in, without those that others silence."""
    found = {
        each.name
        for each in groups()
        if each.where in sources and each.pattern.search(sources[each.where])
    }
    return {
        each.name: 1.0
        for each in groups()
        if each.name in found and not each.unless & found
    }


def find_mood(prose: str) -> str:
    """Return "state" for a short text that only states what is, without a question, an order or a need, else ""."""
    if len(prose) > MOOD_CHARS or pattern("requirement").search(prose):
        return ""
    moods = {intent.mood for intent in find_intents(read_words(prose))}
    return "state" if "state" in moods and moods <= {"state", "phrase", "topic"} else ""


def shorten(text: str) -> str:
    """Return the beginning and the end of a long text."""
    return (
        text
        if len(text) <= HEAD_CHARS + TAIL_CHARS
        else f"{text[:HEAD_CHARS]}\n{text[-TAIL_CHARS:]}"
    )


def remove_pasted(text: str) -> str:
    """Return what a person wrote of a text, in lower case, without lines of logs, traces and data."""
    plain = pattern("fences").sub(" ", text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'"))
    return (pattern("pasted_lines").sub("", plain).strip() or plain.strip()).lower()


def split_words(name: str) -> str:
    """Return the words of a path or an id, in lower case."""
    return NO_WORD.sub(" ", CAMEL.sub(" ", name)).lower()
