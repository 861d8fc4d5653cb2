"""The words of a request with what each can be, by the vocabulary of rules/requests.toml; typing slips repaired."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from cli_guard.lazy import frozen
from cli_guard.rules.catalog import read_table

TABLES: Mapping[str, Any] = read_table("requests.toml")


@cache
def pattern(name: str) -> re.Pattern[str]:
    """Return a regular expression of rules/requests.toml."""
    return re.compile("".join(TABLES["patterns"][name]))


STOP = "stop"
VOWELS = "aeiou"
Phrase = tuple[str, ...]
# What a verb may leave behind its object: `pull the query out`.
PARTICLES = frozenset(
    "out up off on down apart over away back into running going working".split()
)
REFUSED_VERBS = frozenset(("chat", "daily", "attack", "steal"))
QUOTES = ("fence", "code", "double", "curly", "single")
# Each alternative begins with another character or is bounded, so that a scan stays linear.
PIECE = pattern("piece")
CODE_WORD = pattern("code_word")
SHELL = pattern("shell")
SECRET_NAME = pattern("secret_name")
SECRET_FILE = pattern("secret_file")
TEST_COMMAND = pattern("test_command")
TEST_NAME = pattern("test_name")
DOCS_FILE = pattern("docs_file")


@frozen
class RequestWord:
    """A word or a name of a request. `form` is word, name, quoted, number or stop.

    `verbs` and `nouns` are the classes that it can have, `forms` the forms of a verb that it can be, `lemma` its base
    form. `bound` marks a phrase of several words.
    """

    text: str
    form: str = "word"
    verbs: frozenset[str] = frozenset()
    nouns: frozenset[str] = frozenset()
    forms: frozenset[str] = frozenset()
    lemma: str = ""
    bound: bool = False


@frozen
class RequestVocabulary:
    """The words of rules/requests.toml in the form in which they are looked up.

    `near` are words without one of their letters, `verbal` nouns that stand for a verb, `separable` verbs with a
    particle.
    """

    meanings: Mapping[Phrase, RequestWord]
    longest: Mapping[str, int]
    near: Mapping[str, str]
    verbal: Mapping[str, RequestWord]
    separable: Mapping[Phrase, RequestWord]


@cache
def word_set(table: str, name: str) -> frozenset[str]:
    """Return the words of an entry of a table."""
    return frozenset(TABLES[table][name].split())


@cache
def phrases_by_first_word(name: str) -> Mapping[str, list[Phrase]]:
    """Return the phrases of an entry under [openers] by their first word, the longest first."""
    table: dict[str, list[Phrase]] = {}
    for phrase in sorted(split_entries(TABLES["openers"][name]), key=len, reverse=True):
        table.setdefault(phrase[0], []).append(phrase)
    return table


@cache
def vocabulary() -> RequestVocabulary:
    """Read the words, once."""
    data = TABLES
    meanings = collect_meanings(data)
    longest: dict[str, int] = {}
    for phrase in meanings:
        longest[phrase[0]] = max(longest.get(phrase[0], 1), len(phrase))
    # What a word of five letters or more is without one of them, to find slips of one letter.
    near: dict[str, str] = {}
    for (word, *rest), meaning in meanings.items():
        # What is refused is read as it is written: "signed" is not "singed".
        is_refused = not REFUSED_VERBS.isdisjoint(meaning.verbs)
        if not rest and not is_refused and len(word) >= 5 and word.isalpha():
            for at in range(1, len(word)):
                near.setdefault(word[:at] + word[at + 1 :], word)
    separable: dict[Phrase, RequestWord] = {
        phrase: meaning
        for phrase, meaning in meanings.items()
        if len(phrase) == 2 and phrase[1] in PARTICLES and "base" in meaning.forms
    }
    verbal = {noun: meanings[verb,] for noun, verb in data["verbal"].items()}
    return RequestVocabulary(meanings, longest, near, verbal, separable)


def split_entries(line: str) -> list[Phrase]:
    """Return the entries of a line of words; `_` joins the words of one."""
    return [tuple(entry.split("_")) for entry in line.split()]


def collect_meanings(data: Mapping[str, Any]) -> dict[Phrase, RequestWord]:
    """Return what each phrase can be, class by class."""
    verbs: dict[Phrase, set[str]] = {}
    nouns: dict[Phrase, set[str]] = {}
    forms: dict[Phrase, set[str]] = {}
    lemmas: dict[Phrase, str] = {}

    def add_verb(phrase: Phrase, form: str, group: str, lemma: str) -> None:
        verbs.setdefault(phrase, set()).add(group)
        forms.setdefault(phrase, set()).add(form)
        lemmas.setdefault(phrase, lemma)

    for group, line in data["verbs"].items():
        for base in split_entries(line):
            for inflected, form in inflect(base[0]):
                add_verb((inflected, *base[1:]), form, group, base[0])
    for irregular, base_word in data["forms"].items():
        form = "ing" if irregular.endswith("ing") else "past"
        for group in sorted(verbs.get((base_word,), ())):
            add_verb((irregular,), form, group, base_word)
    for group, line in data["nouns"].items():
        for entry in split_entries(line):
            nouns.setdefault(entry, set()).add(group)
            nouns.setdefault((*entry[:-1], plural_of(entry[-1])), set()).add(group)
    return {
        phrase: RequestWord(
            " ".join(phrase),
            verbs=frozenset(verbs.get(phrase, ())),
            nouns=frozenset(nouns.get(phrase, ())),
            forms=frozenset(forms.get(phrase, ())),
            lemma=lemmas.get(phrase, ""),
            bound=len(phrase) > 1,
        )
        for phrase in sorted({*verbs, *nouns})
    }


def inflect(base: str) -> Iterator[tuple[str, str]]:
    """Yield the regular forms of an English verb, each with its name."""
    yield base, "base"
    if base.endswith("y") and base[-2:-1] not in VOWELS:
        yield base[:-1] + "ies", "third"
        yield base[:-1] + "ied", "past"
        yield base + "ing", "ing"
        return
    yield base + ("es" if base.endswith(("s", "x", "z", "ch", "sh")) else "s"), "third"
    stem = base.removesuffix("e") if not base.endswith(("ee", "ye", "oe")) else base
    stems = [stem]
    if (
        len(base) >= 3
        and base[-1] not in VOWELS + "wxyh"
        and base[-2] in VOWELS
        and base[-3] not in VOWELS
    ):
        stems.append(base + base[-1])
    for each in stems:
        yield each + "ed", "past"
        yield each + "ing", "ing"


def plural_of(word: str) -> str:
    """Return the plural of a noun; a participle has none."""
    if word.endswith("ed"):
        return word
    if word.endswith("y") and word[-2:-1] not in VOWELS:
        return word[:-1] + "ies"
    return word + ("es" if word.endswith(("s", "x", "ch", "sh")) else "s")


def read_words(text: str) -> list[RequestWord]:
    """Return the words and names of a text in order, with its stops."""
    words: list[RequestWord] = []
    run = []
    for match in PIECE.finditer(text):
        form = match.lastgroup or ""
        plain = plain_words(form, match[form])
        run += plain
        if not plain:
            words += look_up(run)
            run = []
            words.append(name_of(form, match[form]))
    return [*words, *look_up(run)]


def plain_words(form: str, text: str) -> list[str]:
    """Return the words of a piece that is no name, in small letters; none for one that is."""
    lowered = text.casefold().replace("’", "'")
    if form == "arrow":
        return ["to"]
    if form != "word":
        return []
    if lowered in TABLES["shortened"]:
        return str(TABLES["shortened"][lowered]).split()
    if (lowered,) in vocabulary().meanings or not CODE_WORD.fullmatch(text):
        return [lowered.removesuffix("'s").removesuffix("'")]
    return []


def look_up(texts: list[str]) -> Iterator[RequestWord]:
    """Yield some plain words by the longest phrases that are known."""
    known = vocabulary()
    at = 0
    while at < len(texts):
        text = texts[at]
        sizes = range(min(known.longest.get(text, 1), len(texts) - at), 0, -1)
        size = next(
            (size for size in sizes if tuple(texts[at : at + size]) in known.meanings), 0
        )
        if size:
            yield known.meanings[tuple(texts[at : at + size])]
        elif "-" in text:
            yield from look_up(text.split("-"))
        elif (repaired := repair(text)) != text:
            yield from look_up([repaired])
        else:
            yield RequestWord(text)
        at += size or 1


def repair(word: str) -> str:
    """Return a word with one letter left out, doubled, wrong or exchanged put right, if that is a word we know."""
    known = vocabulary()
    if not 5 <= len(word) <= 30 or not word.isalpha():
        return word
    if word in known.near:
        return known.near[word]
    for at in range(1, len(word)):
        shorter = word[:at] + word[at + 1 :]
        if (shorter,) in known.meanings and len(shorter) >= 5:
            return shorter
        found = known.near.get(shorter)
        if found is not None and sorted(found) == sorted(word):
            return found
    return word


def name_of(form: str, text: str) -> RequestWord:
    """Return a stop, number, name, path or quotation: never read as words, but known for what it is."""
    if form == STOP:
        return RequestWord(text, STOP)
    if form == "number":
        return RequestWord(text, "number", nouns=frozenset(("number",)))
    nouns = set()
    quoted = form in QUOTES
    if quoted and SHELL.match(text):
        nouns |= {"shell", "tests"} if TEST_COMMAND.search(text) else {"shell"}
    elif form in ("call", "word") or (
        form == "code" and re.fullmatch(r"[\w.]+(?:\(\))?", text)
    ):
        nouns.add("symbol")
    elif quoted:
        nouns.add("quoted")
    elif form == "url":
        nouns.add("url")
    elif form == "flag":
        nouns |= {"flag", "shell"}
    if form in ("path", "dotted") or (quoted and "/" in text and " " not in text):
        nouns.add("path")
        meaning = vocabulary().meanings.get((text.casefold(),))
        nouns |= meaning.nouns if meaning else set()
        nouns |= {"docs_place"} if DOCS_FILE.search(text) else set()
    if SECRET_FILE.search(text):
        nouns.add("secret_path")
    if "symbol" in nouns:
        nouns |= {"test_name"} if TEST_NAME.match(text) else set()
        nouns |= {"secret_symbol"} if SECRET_NAME.search(text) else set()
    return RequestWord(text, "quoted" if quoted else "name", nouns=frozenset(nouns))
