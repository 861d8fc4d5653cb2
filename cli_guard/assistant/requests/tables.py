"""Reads the words and rules of requests into the form in which they are looked up."""

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from cli_guard.assistant.requests.model import RiskKind
from cli_guard.model import TaskType
from cli_guard.rules.catalog import FOLDER

VOWELS = "aeiou"
# What a verb may leave behind its object: `pull the query out`.
PARTICLES = frozenset("out up off on down apart over away back into running going working".split())
Phrase = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a word can be: classes of verbs, classes of nouns, and the forms of a verb that it can be."""

    verbs: frozenset[str] = frozenset()
    nouns: frozenset[str] = frozenset()
    forms: frozenset[str] = frozenset()
    lemma: str = ""


NOTHING = Meaning()


@dataclass(frozen=True)
class Rule:
    """One `[[score]]` table: the points that a wish gives a kind where every condition holds."""

    kind: TaskType
    points: int
    conditions: Mapping[str, frozenset[str]]


@dataclass(frozen=True)
class RiskRule:
    """One `[[risk]]` table: conditions as those of a score, and what is said of a wish that meets them."""

    kind: RiskKind
    supported: bool
    reason: str
    conditions: Mapping[str, frozenset[str]]


@dataclass(frozen=True)
class Language:
    """What a language's words are in English; a key that ends in `*` is the beginning of a word."""

    marks: frozenset[str]
    whole: Mapping[Phrase, str]
    starts: Mapping[str, str]
    longest: int = 1


@dataclass(frozen=True)
class Tables:
    """All that the classification looks up."""

    meanings: Mapping[Phrase, Meaning]
    longest: Mapping[str, int]
    opener_words: frozenset[str]
    openers: Mapping[str, tuple[Phrase, ...]]
    asking: Mapping[str, tuple[Phrase, ...]]
    background: frozenset[str]
    means: frozenset[str]
    order: tuple[TaskType, ...]
    rules: tuple[Rule, ...]
    risks: tuple[RiskRule, ...]
    commands: tuple[tuple[str, RiskKind, str], ...]
    languages: Mapping[str, Language]
    endings: frozenset[str]
    verbal: Mapping[str, Meaning]
    separable: Mapping[tuple[str, str], Meaning]
    brands: frozenset[str]


def forms_of(base: str) -> Iterator[tuple[str, str]]:
    """The regular forms of an English verb, each with its name."""
    yield base, "base"
    if base.endswith(("s", "x", "z", "ch", "sh")):
        yield base + "es", "third"
    elif base.endswith("y") and base[-2:-1] not in VOWELS:
        yield base[:-1] + "ies", "third"
        yield base[:-1] + "ied", "past"
        yield base + "ing", "ing"
        return
    else:
        yield base + "s", "third"
    stem = base.removesuffix("e") if not base.endswith(("ee", "ye", "oe")) else base
    yield stem + "ed", "past"
    yield stem + "ing", "ing"
    if len(base) >= 3 and base[-1] not in VOWELS + "wxyh" and base[-2] in VOWELS and base[-3] not in VOWELS:
        yield base + base[-1] + "ed", "past"
        yield base + base[-1] + "ing", "ing"


def words_in(line: str) -> tuple[Phrase, ...]:
    """The entries of a line of words; `_` joins the words of one."""
    return tuple(tuple(entry.split("_")) for entry in line.split())


def verb_forms(phrase: Phrase) -> Iterator[tuple[Phrase, str]]:
    for form, name in forms_of(phrase[0]):
        yield (form, *phrase[1:]), name


def plural(word: str) -> str:
    if word.endswith("ed"):
        return word
    if word.endswith(("s", "x", "ch", "sh")):
        return word + "es"
    if word.endswith("y") and word[-2:-1] not in VOWELS:
        return word[:-1] + "ies"
    return word + "s"


def by_first(phrases: Iterable[Phrase]) -> dict[str, tuple[Phrase, ...]]:
    """Phrases by their first word, the longest first."""
    table: dict[str, list[Phrase]] = {}
    for phrase in sorted(phrases, key=len, reverse=True):
        table.setdefault(phrase[0], []).append(phrase)
    return {first: tuple(found) for first, found in table.items()}


class _Words:
    """Collects what each word can be, class by class."""

    def __init__(self) -> None:
        self.verbs: dict[Phrase, set[str]] = {}
        self.nouns: dict[Phrase, set[str]] = {}
        self.forms: dict[Phrase, set[str]] = {}
        self.lemmas: dict[Phrase, str] = {}

    def verb(self, phrase: Phrase, form: str, group: str, lemma: str) -> None:
        self.verbs.setdefault(phrase, set()).add(group)
        self.forms.setdefault(phrase, set()).add(form)
        self.lemmas.setdefault(phrase, lemma)

    def noun(self, phrase: Phrase, group: str) -> None:
        self.nouns.setdefault(phrase, set()).add(group)

    def meanings(self) -> dict[Phrase, Meaning]:
        return {
            phrase: Meaning(
                frozenset(self.verbs.get(phrase, ())),
                frozenset(self.nouns.get(phrase, ())),
                frozenset(self.forms.get(phrase, ())),
                self.lemmas.get(phrase, ""),
            )
            for phrase in sorted({*self.verbs, *self.nouns})
        }


def _collected(data: Mapping[str, Any]) -> dict[Phrase, Meaning]:
    words = _Words()
    groups: dict[str, set[str]] = {}
    for group, line in data["verbs"].items():
        for base in words_in(line):
            if len(base) == 1:
                groups.setdefault(base[0], set()).add(group)
            for phrase, form in verb_forms(base):
                words.verb(phrase, form, group, base[0])
    for form, base_word in data["forms"].items():
        name = "ing" if form.endswith("ing") else "past"
        for group in sorted(groups.get(base_word, ())):
            words.verb((form,), name, group, base_word)
    for group, line in data["nouns"].items():
        for entry in words_in(line):
            words.noun(entry, group)
            words.noun((*entry[:-1], plural(entry[-1])), group)
    return words.meanings()


CONDITIONS = tuple(
    "mood asks verb object head has also_has any first second into about without unless unless_object unless_head "
    "unless_any unless_about".split()
)


def _conditions(table: Mapping[str, Any]) -> dict[str, frozenset[str]]:
    return {key: frozenset(table[key].split()) for key in CONDITIONS if key in table}


def _language(table: Mapping[str, Any]) -> Language:
    whole = {tuple(key.split()): value for key, value in table["words"].items() if not key.endswith("*")}
    starts = {key[:-1]: value for key, value in table["words"].items() if key.endswith("*")}
    longest = max((len(key) for key in whole), default=1)
    return Language(frozenset(table["marks"].split()), whole, starts, longest)


def _read(name: str) -> dict[str, Any]:
    with (FOLDER / name).open("rb") as file:
        return tomllib.load(file)


@cache
def tables() -> Tables:
    """The words and rules, read once."""
    data = _read("requests.toml")
    meanings = _collected(data)
    longest: dict[str, int] = {}
    for phrase in meanings:
        longest[phrase[0]] = max(longest.get(phrase[0], 1), len(phrase))
    openers = data["openers"]
    return Tables(
        meanings=meanings,
        longest=longest,
        opener_words=frozenset(openers["words"].split()),
        openers=by_first(words_in(openers["phrases"])),
        asking=by_first(words_in(openers["asking"])),
        background=frozenset(openers["background"].split()),
        means=frozenset(openers["means"].split()),
        order=tuple(data["order"].split()),
        rules=tuple(Rule(t["kind"], t["points"], _conditions(t)) for t in data["score"]),
        risks=tuple(
            RiskRule(t["kind"], t.get("supported", False), t["reason"], _conditions(t))
            for t in data.get("risk", ())
        ),
        commands=tuple((t["text"], t["kind"], t["reason"]) for t in data.get("command_risk", ())),
        languages={name: _language(t) for name, t in _read("requests_languages.toml").items()},
        verbal={noun: meanings[verb,] for noun, verb in data["verbal"].items()},
        separable={
            (phrase[0], phrase[1]): meaning
            for phrase, meaning in meanings.items()
            if len(phrase) == 2 and phrase[1] in PARTICLES and "base" in meaning.forms
        },
        endings=frozenset(data["names"]["endings"].split()),
        brands=frozenset(data["names"]["brands"].split()),
    )
