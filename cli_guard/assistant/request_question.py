"""Parses a question: concepts, exact names, the kinds of file and of definition that it asks for."""

import re
from collections.abc import Collection, Iterator
from functools import cache
from itertools import pairwise

from cli_guard.assistant.request_words import pattern
from cli_guard.assistant.stems import parts_of, stem, stems_of
from cli_guard.lazy import frozen
from cli_guard.rules.catalog import read_table

QUESTION_CHARS = 2_000
MOST_CONCEPTS = 12
# What a word counts: what is looked for, what is done with it, what any code does.
RANK_WEIGHTS = (1.0, 0.55, 0.3)
# What two words written as one, a synonym, one word of a phrase count; a phrase counts more than a word.
JOINED = 0.84
SYNONYM = 0.5
HALF = 0.35
PHRASE_WEIGHT = 1.4
KIND_WORDS: dict[str, str] = read_table("retrieval/vocabulary.toml")["asking"]
STOP, WEAK, SOFT = (
    frozenset(read_table("retrieval/vocabulary.toml")[kind].split())
    for kind in ("stop", "weak", "soft")
)
SOFT |= frozenset(read_table("retrieval/vocabulary.toml")["common"].split())
# An exact name: with an underscore, a dot, a capital inside, brackets after it, or in quotes.
EXACT = pattern("exact_name")
NAME = re.compile(r"[A-Za-z_$][\w$]*")
# Not the first word of a sentence, and not GitHub, which code may split.
PROPER = pattern("proper_name")
ASKED_FILES = {kind: pattern(f"asks_{kind}") for kind in ("test", "doc", "changes", "how")}
ASKED_DEFINITIONS = {
    kind: pattern(f"asks_{kind}")
    for kind in ("error", "default", "environment", "setting", "use", "raise")
}
NAMED = pattern("asks_name")
MARK = pattern("asks_mark")
CAPITAL = re.compile(r"(?<=[a-z,] )[A-Z]\w+")
# A file, or a folder in another one.
FILE = re.compile(
    r"(?<![\w/.-])(?:[\w@./-]*\w\.[a-z]\w{0,5}(?![\w/(])|[\w@.-]+(?:/[\w@.-]*\w){1,20}/?)"
)
MESSAGE = pattern("asks_message")
QUOTED = pattern("quoted_message")
FIELD = pattern("message_field")
# The shortest text that is searched for as it is.
MESSAGE_WORDS = 2
MESSAGE_MOST = 60
# What points at a thing without its name, and the words beside it from which on it is no longer vague.
POINTING = frozenset("it this that thing things something stuff everything here".split())
LEAST_SAID = 3
ASKS_VERSION = re.compile(
    r"(?i)(?:please |so )?(?:which|what(?:'s| is| are)?|show|tell me|do we|is there)\b.{0,80}?\bversions?\b"
)
VERSIONED = re.compile(r"@?[A-Za-z][\w.+/-]{0,80}")
MOST_VERSIONED = 60


@frozen
class Concept:
    """One thing asked about: its own stem, those of it joined to its neighbours (`file size`: filesize), and synonyms.

    `stems` says how well each stands for it, from 0 to 1.

    Without anything of an `essential` concept there is no answer; `proper` marks the name of something.
    """

    word: str
    stems: dict[str, float]
    weight: float
    essential: bool
    proper: bool = False


@frozen
class SearchQuery:
    """What to search for. `names` are exact identifiers; `asked_for` are kinds of file, `kinds` of definition.

    `written` are names and files as they are written; `marks` are those of comments. `plain` is a name that may be an
    ordinary word (`where is run defined`). `messages` are texts of messages, word by word with "" where a field was,
    and `is_quoted` says that they were marked as such. `points` says that it means something by "it" and says
    little else. `said` are the parts of all words that say what is asked.
    """

    concepts: tuple[Concept, ...]
    names: tuple[str, ...]
    asked_for: frozenset[str]
    kinds: frozenset[str]
    written: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    plain: str = ""
    messages: tuple[tuple[str, ...], ...] = ()
    is_quoted: bool = False
    points: bool = False
    said: tuple[str, ...] = ()

    @property
    def is_vague(self) -> bool:
        """Return whether a question points at something, and only words that any code has say at what."""
        return self.points and all(
            _rank(each) for concept in self.concepts for each in concept.word.split()
        )

    @property
    def terms(self) -> tuple[str, ...]:
        """Return the words to search for, as they were asked."""
        return tuple(
            dict.fromkeys((*self.names, *(concept.word for concept in self.concepts)))
        )


def parse_question(question: str) -> SearchQuery:
    """Parse a question; one without words of content has no concepts."""
    text = question[:QUESTION_CHARS]
    asked_for = frozenset(kind for kind, form in ASKED_FILES.items() if form.search(text))
    kinds = frozenset(kind for kind, form in ASKED_DEFINITIONS.items() if form.search(text))
    messages, is_quoted = _find_messages(text)
    # What says which kind is asked for is not what is looked for there.
    asking = {
        word for kind in asked_for | kinds for word in KIND_WORDS.get(kind, "").split()
    }
    is_marked = is_quoted or "\n" in text
    for around in MESSAGE.finditer(text) if messages and is_marked else ():
        asking.update(parts_of(around[0]))
    # What stands in the fields of a message is no name.
    plain_text = FIELD.sub(" ", text) if messages else text
    words = parts_of(text)
    joined = _join_neighbours(words)
    # A digit counts in a name (`RESP3`).
    content = [
        w
        for w in words
        if w not in STOP
        and (len(w) > 1 or (re.search(rf"[A-Za-z]{re.escape(w)}", text) and w.isdigit()))
    ]
    content = [word for word in content if word not in asking] or content
    proper = {part for match in PROPER.finditer(text) for part in parts_of(match[1])}
    # Where nothing better is asked, the weaker words are what is asked for.
    concepts: dict[str, Concept] = _find_phrases(words)
    lightest = min([*map(_rank, content), *([0] if concepts else [])], default=0)
    for word in content:
        rank = _rank(word) - lightest
        essential = rank == 0
        stems = {stem(word): 1.0}
        for other in joined.get(word, ()):
            stems.setdefault(other, JOINED)
        if rank < len(RANK_WEIGHTS) - 1:
            for other, share in _read_synonyms("synonyms").get(stem(word), {}).items():
                stems.setdefault(other, share * SYNONYM)
        weight = RANK_WEIGHTS[rank]
        concepts.setdefault(
            stem(word), Concept(word, stems, weight, essential, word in proper)
        )
    unique = tuple({id(each): each for each in concepts.values()}.values())[:MOST_CONCEPTS]
    names = _find_exact_names(plain_text)
    named = NAMED.search(text)
    plain = named[1] if named and not names and named[1].lower() not in STOP else ""
    things = [word for word in content if not _rank(word)]
    if "use" in kinds and not plain and not names and len(things) == 1:
        plain = things[0]
    mark = MARK.search(text)
    return SearchQuery(
        unique,
        names,
        asked_for,
        kinds,
        _find_written_names(text),
        tuple(filter(None, mark.groups())) if mark else (),
        plain,
        messages,
        is_quoted,
        not names and len(content) < LEAST_SAID and not POINTING.isdisjoint(words),
        tuple(part for part in _list_parts(plain_text) if part not in asking),
    )


def _find_messages(text: str) -> tuple[tuple[tuple[str, ...], ...], bool]:
    """Find the words of messages in a question, "" where a field stood; and whether they stood in quotes.

    Each line below a question is a message of its own: it was pasted.
    """
    quoted = max(
        (next(filter(None, match.groups()), "") for match in QUOTED.finditer(text)),
        key=len,
        default="",
    )
    is_quoted = len(quoted.split()) >= MESSAGE_WORDS
    _, *pasted = text.split("\n")
    lines = []
    if is_quoted:
        lines = [quoted]
    elif pasted:
        lines = pasted
    elif MESSAGE.search(text) or "!" in text:
        lines = [MESSAGE.sub(" ", text)]
    found = []
    for line in lines:
        pieces = [re.findall(r"\w+", piece.lower()) for piece in FIELD.split(line)]
        words = [word for piece in pieces for word in (*piece, "")][:MESSAGE_MOST]
        if sum(map(bool, words)) >= MESSAGE_WORDS:
            found.append(tuple(words))
    return tuple(found), is_quoted and bool(found)


def _list_parts(text: str) -> Iterator[str]:
    """Yield the parts of the words that say something, short ones too: `o` and `auth` of OAuth, 3 of HTTP/3."""
    for word in re.findall(r"\w+", text):
        if (len(word) > 1 or word.isdigit()) and word.lower() not in STOP:
            yield from (part for part in parts_of(word) if part not in STOP)


def _rank(word: str) -> int:
    if word in WEAK:
        return 2
    return int(word in SOFT)


def _find_phrases(words: list[str]) -> dict[str, Concept]:
    """Find words side by side that mean one thing, by the stem of each."""
    found: dict[str, Concept] = {}
    for left, right in pairwise(words):
        halves = [stem(left), stem(right)]
        others = _read_synonyms("phrases").get(" ".join(halves))
        if others:
            stems = {**dict.fromkeys(halves, HALF), **others, stem(left + right): 1.0}
            found |= dict.fromkeys(
                halves, Concept(f"{left} {right}", stems, PHRASE_WEIGHT, essential=True)
            )
    return found


@cache
def _read_synonyms(table: str) -> dict[str, dict[str, float]]:
    """Read a table of rules/retrieval/synonyms.toml: by stems, the stems that may stand for them and how well."""
    return {
        " ".join(stems_of(words)): {
            stem(part): share for other, share in others.items() for part in parts_of(other)
        }
        for words, others in read_table("retrieval/synonyms.toml")[table].items()
    }


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
        found += [
            part for part in NAME.findall(named) if match[1] or part.lower() not in STOP
        ]
    return tuple(dict.fromkeys(found))[:MOST_CONCEPTS]


def _find_written_names(text: str) -> tuple[str, ...]:
    """Return files, exact names with their owners, and names with a capital, as they are written."""
    exact = (
        next(group for group in match.groups() if group is not None)
        for match in EXACT.finditer(text)
    )
    found = (*FILE.findall(text), *exact, *CAPITAL.findall(text))
    return tuple(dict.fromkeys(each.removesuffix("()") for each in found))[:MOST_CONCEPTS]


def find_versioned(question: str) -> frozenset[str]:
    """Return the words of a question for the version of something, none of another question."""
    if not ASKS_VERSION.match(question):
        return frozenset()
    words = VERSIONED.findall(question)[:MOST_VERSIONED]
    return frozenset(word.lower().strip("./") for word in words)


def leave_out(question: str, stems: Collection[str]) -> str:
    """Return a question without the words of some stems."""
    return " ".join(
        word for word in question.split() if stem(word.strip(".,?!").lower()) not in stems
    )
