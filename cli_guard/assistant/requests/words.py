"""The words of a request with what each can be: typing slips mended, other languages glossed into English."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from cli_guard.assistant.requests.tables import NOTHING, Language, Meaning, tables
from cli_guard.assistant.requests.text import QUOTES, SCRIPT, Piece, pieces, spaced

STOP = "stop"
LANGUAGE_WORDS = 400
CODE_WORD = re.compile(r"[a-z]+[A-Z]\w*|[A-Z]+[a-z0-9]+[A-Z]\w*|\w*[^\W_]_\w+|_\w+")
SHORTENED = {
    "don't": "do not", "dont": "do not", "doesn't": "does not", "doesnt": "does not", "didn't": "did not",
    "isn't": "is not", "aren't": "are not", "can't": "can not", "cannot": "can not", "won't": "will not",
    "shouldn't": "should not", "mustn't": "must not", "what's": "what is", "whats": "what is", "where's": "where is",
    "wheres": "where is", "who's": "who is", "how's": "how is", "why's": "why is", "i'm": "i am", "im": "i am",
    "i'd": "i would", "i've": "i have", "we've": "we have", "it's": "it is", "there's": "there is", "we're": "we are",
    "i'll": "i will", "you're": "you are", "couldn't": "could not", "wouldn't": "would not", "that's": "that is",
    "wanna": "want to", "pls": "please", "plz": "please", "u": "you", "hows": "how is", "let's": "lets",
    "wasn't": "was not", "hasn't": "has not", "haven't": "have not", "gimme": "give me", "how2": "how to",
}  # fmt: skip
KANA = re.compile("[\u3040-\u30ff]")
CYRILLIC = re.compile("[\u0400-\u04ff]")
SHELL = re.compile(
    r"\s*(?:\$ )?(?:sudo )?(?:git|npm|npx|yarn|pnpm|pip|python3?|docker|kubectl|make|cargo|go|rm|ls|grep|sed|awk|find"
    r"|curl|chmod|tar|ssh|pytest|tox|ruff|mypy|black|poetry|uv|terraform|helm|gradle|mvn|node|deno|bun|bash|sh|cat|xargs"
    r"|docker-compose|systemctl|rsync|just|brew|apt|dd|mkfs\S*)\s+\S"
)


@dataclass(frozen=True, slots=True)
class Word:
    """A word or a name of a request; `form` is that of its piece. `bound` marks a word that is part of a phrase."""

    text: str
    form: str
    verbs: frozenset[str] = frozenset()
    nouns: frozenset[str] = frozenset()
    forms: frozenset[str] = frozenset()
    lemma: str = ""
    bound: bool = False


def language_of(text: str) -> str:
    """The name of the language whose words a text holds; empty for English and for what is not known."""
    known = tables().languages
    if KANA.search(text):
        return "ja"
    if SCRIPT.search(text):
        return "zh"
    if CYRILLIC.search(text):
        return "ru"
    words = re.findall(r"[^\W\d_]+", text.casefold())[:LANGUAGE_WORDS]
    english = sum(word in ENGLISH for word in words)
    best, most = "", 0
    for name, language in sorted(known.items()):
        marks = sum(word in language.marks for word in words)
        glossed = [word for word in words if _known_to(language, word)]
        foreign = marks or any(not word.isascii() for word in glossed)
        if foreign and max(marks, 1) > english and marks + len(glossed) > most:
            best, most = name, marks + len(glossed)
    return best


def _known_to(language: Language, word: str) -> bool:
    return (word,) in language.whole or any(
        word[:size] in language.starts for size in range(3, len(word) + 1)
    )


ENGLISH = frozenset(
    "the is are what where how do does for and to of with please this that it which why can you my in from".split()
)


def _glossed(text: str, language: Language) -> str:
    """A text of a language with scripts that leave no space between words."""
    out: list[str] = []
    at = 0
    keys = language.whole
    longest = max(len(key[0]) for key in keys)
    while at < len(text):
        for size in range(min(longest, len(text) - at), 0, -1):
            gloss = keys.get((text[at : at + size],))
            if gloss is not None:
                out.append(f" {gloss} ")
                at += size
                break
        else:
            out.append(text[at])
            at += 1
    return "".join(out)


def _in_english(words: list[str], language: Language) -> Iterator[str]:
    """Words of a language by the longest entries of its table; what is not there stays."""
    words = [part for word in words for part in re.split(r"['-]", word) if part]
    at = 0
    while at < len(words):
        for size in range(min(language.longest, len(words) - at), 0, -1):
            gloss = language.whole.get(tuple(words[at : at + size]))
            if gloss is not None:
                yield from gloss.split()
                at += size
                break
        else:
            word = words[at]
            starts = (language.starts.get(word[:size]) for size in range(len(word), 2, -1))
            yield from next((gloss for gloss in starts if gloss is not None), word).split()
            at += 1


@cache
def _near() -> dict[str, str]:
    """Slips by one letter: what a word of six letters or more is without one of them -> that word."""
    slips: dict[str, str] = {}
    for phrase, meaning in tables().meanings.items():
        word = phrase[0]
        if len(phrase) == 1 and len(word) >= 5 and meaning.verbs | meaning.nouns and word.isalpha():
            for at in range(1, len(word)):
                slips.setdefault(word[:at] + word[at + 1 :], word)
    return slips


def mended(word: str) -> str:
    """A word with one letter left out, doubled, wrong or exchanged put right, where that gives a word we know."""
    meanings = tables().meanings
    if len(word) < 5 or len(word) > 30 or (word,) in meanings or not word.isalpha():
        return word
    near = _near()
    if word in near:
        return near[word]
    for at in range(1, len(word)):
        shorter = word[:at] + word[at + 1 :]
        if (shorter,) in meanings and len(shorter) >= 5:
            return shorter
        found = near.get(shorter)
        if found is not None and len(found) == len(word) and sorted(found) == sorted(word):
            return found
    return word


def _meaning(texts: list[str], at: int) -> tuple[int, Meaning]:
    """The longest phrase at a place that is known, and its length."""
    known = tables()
    for size in range(min(known.longest.get(texts[at], 1), len(texts) - at), 0, -1):
        meaning = known.meanings.get(tuple(texts[at : at + size]))
        if meaning is not None:
            return size, meaning
    return 1, NOTHING


def _looked_up(texts: list[str]) -> Iterator[Word]:
    at = 0
    while at < len(texts):
        size, meaning = _meaning(texts, at)
        if meaning is NOTHING and "-" in texts[at]:
            yield from _looked_up(texts[at].split("-"))
        elif meaning is NOTHING and (better := mended(texts[at])) != texts[at]:
            yield from _looked_up([better])
        else:
            text = " ".join(texts[at : at + size])
            yield Word(text, "word", meaning.verbs, meaning.nouns, meaning.forms, meaning.lemma, size > 1)
        at += size


SECRET_NAME = re.compile(
    r"(?i)(secret|password|passwd|api_?key|private_?key|access_?key|(?:^|_)token(?:$|_)|credential)"
)
SECRET_FILE = re.compile(
    r"(?i)(?:^|/)(?:\.env(?:\.(?!example|sample|template|dist)\w+)?|id_(?:rsa|ed25519|ecdsa|dsa)|credentials(?:\.json)?|\.npmrc|\.pypirc|\.netrc"
    r"|[\w.-]+\.(?:pem|key|p12|pfx|keystore|jks)|\.git-credentials|shadow|secrets?\.(?:ya?ml|json|toml|env))$"
)
TEST_COMMAND = re.compile(r"\b(?:pytest|tox|jest|vitest|rspec|phpunit|unittest|ctest|nox)\b|\btest\b")
DOCS_FILE = re.compile(
    r"(?i)(?:^|/)(?:readme|changelog|contributing)(?:\.\w+)?$|(?:^|/)docs?/|\.(?:md|rst|adoc)$"
)
TEST_NAME = re.compile(r"test_\w|(?:Test[A-Z]|test[A-Z])\w|Test_\w")
TEST_FILE = re.compile(r"(?i)(?:^|/)(?:tests?|specs?|__tests__)/|(?:^|/)test_|_test\.|\.(?:test|spec)\.")


def _named(piece: Piece) -> Word:
    """A name, path or quotation: never read as words, but known for what it is."""
    text = piece.text
    nouns: set[str] = set()
    form = piece.form
    if form in QUOTES:
        if SHELL.match(text):
            nouns.add("shell")
            nouns |= {"tests"} if TEST_COMMAND.search(text) else set()
        elif re.fullmatch(r"[\w.]+(?:\(\))?", text) and form == "code":
            nouns.add("symbol")
        else:
            nouns.add("quoted")
    elif form == "url":
        nouns.add("url")
    elif form == "flag":
        nouns |= {"flag", "shell"}
    elif form == "call":
        nouns.add("symbol")
    if form in ("path", "dotted") or (form in QUOTES and "/" in text and " " not in text):
        nouns.add("path")
        nouns |= tables().meanings.get((text.casefold(),), NOTHING).nouns
        if DOCS_FILE.search(text):
            nouns.add("docs_place")
        if TEST_FILE.search(text):
            nouns.add("test_path")
    if SECRET_FILE.search(text):
        nouns.add("secret_path")
    if "symbol" in nouns and TEST_NAME.match(text):
        nouns.add("test_name")
    if "symbol" in nouns and SECRET_NAME.search(text):
        nouns.add("secret_symbol")
    return Word(text, "name" if form not in QUOTES else "quoted", nouns=frozenset(nouns))


def _plain_slash(text: str) -> bool:
    """`lint/format` is two words, `src/auth` is a place."""
    parts = text.split("/")
    known = tables().meanings
    return len(parts) == 2 and all((part.casefold(),) in known for part in parts)


def _plain(piece: Piece) -> Iterator[str]:
    """The words of a piece that is no name, in small letters; nothing for one that is."""
    text = piece.text
    lowered = text.casefold().replace("’", "'")
    if piece.form == "word":
        if lowered in SHORTENED:
            yield from SHORTENED[lowered].split()
        elif (lowered,) in tables().meanings or not CODE_WORD.fullmatch(text):
            yield lowered.removesuffix("'s").removesuffix("'")
    elif piece.form == "arrow":
        yield "to"
    elif piece.form == "path" and _plain_slash(text):
        yield from lowered.split("/")
    elif piece.form == "dotted" and lowered in ("e.g", "i.e"):
        return


def read(text: str) -> tuple[list[Word], str]:
    """The words of a request, and the language that they were glossed from (empty for English)."""
    name = language_of(text)
    language = tables().languages.get(name)
    if language and name in ("zh", "ja"):
        text = _glossed(spaced(text), language)
    return list(_words(pieces(text), language if name not in ("zh", "ja") else None)), name


def _words(found: Iterable[Piece], language: Language | None) -> Iterator[Word]:
    run: list[str] = []
    for piece in found:
        plain = list(_plain(piece))
        if plain:
            run += plain
            continue
        if run:
            yield from _looked_up(list(_in_english(run, language)) if language else run)
            run = []
        if piece.form == STOP:
            yield Word(piece.text, STOP)
        elif piece.form == "word":
            yield _symbol(piece.text)
        elif piece.form == "number":
            yield Word(piece.text, "number", nouns=frozenset(("number",)))
        else:
            yield _named(piece)
    if run:
        yield from _looked_up(list(_in_english(run, language)) if language else run)


def _symbol(text: str) -> Word:
    nouns = {"symbol", "secret_symbol"} if SECRET_NAME.search(text) else {"symbol"}
    nouns |= {"test_name"} if TEST_NAME.match(text) else set()
    return Word(text, "name", nouns=frozenset(nouns))
