"""A wish: one thing that a request asks for, its mood, its leading verb, and what the verb acts on."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cli_guard.assistant.requests.tables import Phrase, Tables, tables
from cli_guard.assistant.requests.words import STOP, Word

WH = frozenset("where what which who whom whose when why how".split())
AUXILIARY = frozenset(
    "is are was were does do did has have had can could should would will may might must am any anything something "
    "anyone exist exists".split()
)
FIRST_PERSON = frozenset("i we you one to u".split())
DETERMINERS = frozenset(
    "the a an this that these those my our your its their his all every each any some no both it them him me us".split()
)
ARTICLES = frozenset("the a an".split())
# What ends an object: prepositions, verbs that follow it, and what only describes it.
PREPOSITIONS = frozenset(
    "to for in of from on with into onto that which who so by about at as when if where while within without via "
    "under inside using against during before after between across because until than instead per through is are "
    "was were does do been be has have only whether how why what like since everywhere and or but & then necessary "
    "needed required used called named responsible containing".split()
)
# Nouns that look like a verb in front of another noun: `lint and format commands`.
THINGS = frozenset("tests docs command operation change build code".split())
COORDINATORS = frozenset("and then also plus but or & afterwards".split())
NOT = frozenset("not never without no nothing none avoid".split())
# "the contents of .env" is about what follows.
TRANSPARENT = frozenset(
    "value values content contents list copy dump all any rest lot set part text none some out one".split()
)
SKIPPED_BEFORE_OBJECT = frozenset("me us for up out please just only again now in to with".split())


EDITS = frozenset(("edit", "write", "add", "remove", "create"))
FORBIDDERS = frozenset(("do", "not", "without", "never", "no", "must", "should", "need"))


@dataclass(frozen=True)
class Wish:
    """One thing a request asks for.

    `words` are all of it, without what stands politely before. `verb` is the place of the leading verb in them, -1
    where there is none; `object` its direct object, `head` the last word of that.
    """

    mood: str
    words: tuple[Word, ...]
    asks: str = ""
    verb: int = -1
    object: tuple[Word, ...] = ()
    head: Word | None = None
    unknown: bool = False
    without: tuple[Word, ...] = ()
    loose: bool = False

    @property
    def contrary(self) -> bool:
        """Does it forbid every edit? `without editing files` does; `without changing the API` only sets a bound."""
        verbs = frozenset(verb for word in self.without for verb in word.verbs)
        _, head = object_at(
            self.without, next((at + 1 for at, word in enumerate(self.without) if word.verbs), 0)
        )
        if head is not None and head.text in FORBIDDERS:
            head = None
        return bool((verbs & EDITS and head is None) or (head is not None and head.nouns & {"edits"}))

    def leading(self) -> frozenset[str]:
        """The classes of the leading verb."""
        if self.unknown:
            return frozenset(("unknown",))
        return self.words[self.verb].verbs if self.verb >= 0 else frozenset()


def _skip(words: Sequence[Word], at: int, phrases: dict[str, tuple[Phrase, ...]]) -> int:
    """The place after the longest of some phrases that stands at a place; that place where none does."""
    for phrase in phrases.get(words[at].text.split(" ", 1)[0], ()):
        behind, left = at, phrase
        # A word of ours may be several of theirs: `would like`.
        while left and behind < len(words):
            parts = tuple(words[behind].text.split(" "))
            if left[: len(parts)] != parts:
                break
            behind, left = behind + 1, left[len(parts) :]
        if not left:
            return behind
    return at


def opened(words: Sequence[Word], known: Tables) -> tuple[int, bool]:
    """Where a wish begins behind its courtesies, and whether they make it a question."""
    at, asked = 0, False
    while at < len(words):
        behind = _skip(words, at, dict(known.asking))
        follows = words[behind].text if behind < len(words) else ""
        if behind > at and follows in ("me", "us"):
            behind += 1
            follows = words[behind].text if behind < len(words) else ""
        if (
            behind > at
            and follows in PREPOSITIONS - WH
            and behind + 1 < len(words)
            and words[behind + 1].text in WH
        ):
            return behind + 1, True
        if behind > at and (follows in WH or follows in ("if", "whether")):
            return behind + (follows in ("if", "whether")), True
        behind = _skip(words, at, dict(known.openers))
        word, last = words[at], at + 1 >= len(words)
        if behind == at and not last and (word.text in known.opener_words or _adverb(word)):
            behind = at + 1
        if behind == at and not last and word.text in ("to", "for") and "base" in words[at + 1].forms and at:
            behind = at + 1
        if (
            behind == at
            and at + 2 < len(words)
            and word.text in ("i", "we")
            and "need" in words[at + 1].verbs
        ):
            # "I want change the name" lacks its "to".
            wanted = words[at + 2]
            behind = at + 2 if "base" in wanted.forms and (wanted.bound or not wanted.nouns) else at
        if behind == at or behind >= len(words):
            break
        at = behind
    return at, asked


def _adverb(word: Word) -> bool:
    """Does a word only say how: `permanently`, `briefly`?"""
    return word.text.endswith("ly") and len(word.text) > 4 and not word.verbs and not word.nouns


def _begins(words: Sequence[Word], at: int, known: Tables) -> bool:
    """Does a wish of its own begin at a place, after a comma or an `and`?"""
    rest = words[at : at + 14]
    if not rest:
        return False
    start, asked = opened(rest, known)
    if asked or start >= len(rest):
        return asked
    word = rest[start]
    following = rest[start + 1] if start + 1 < len(rest) else None
    if word.text in WH or word.text in ("not", "never", "without") or word.text in ("do", "no"):
        return word.text in WH or word.text in NOT or (following is not None and following.text in NOT)
    if "base" not in word.forms:
        return False
    if not word.nouns & THINGS or start > 0:
        return True
    return (
        following is None
        or not (following.nouns and following.form == "word")
        or following.text in DETERMINERS
    )


def clauses(words: Sequence[Word]) -> Iterator[list[Word]]:
    """The clauses of a request: cut at stops, and where `and`, `but` or a comma leads to another wish."""
    known = tables()
    clause: list[Word] = []
    for at, word in enumerate(words):
        if word.form == STOP:
            comma = set(word.text) <= set(",、，")
            if all(each.text in known.opener_words for each in clause) and at + 1 < len(words):
                clause = []
                continue
            ends = (
                not comma or (clause and clause[0].text in known.background) or _begins(words, at + 1, known)
            )
            if ends and clause:
                if word.text == ":" or "?" in word.text or "？" in word.text:
                    clause.append(word)
                yield clause
                clause = []
        elif word.text in COORDINATORS and clause and _begins(words, at + 1, known):
            yield clause
            clause = []
        else:
            clause.append(word)
    if clause:
        yield clause


def object_at(words: Sequence[Word], at: int) -> tuple[tuple[Word, ...], Word | None]:
    """The direct object that begins at a place, and its last word."""
    while at < len(words) and words[at].text in SKIPPED_BEFORE_OBJECT:
        at += 1
    found: list[Word] = []
    while at < len(words):
        word = words[at]
        if word.form == STOP:
            break
        if word.form == "word" and word.text in PREPOSITIONS and not word.bound:
            if not found and word.text in ("of", "that", "some"):
                at += 1
                continue
            if word.text == "of" and found and found[-1].text in TRANSPARENT:
                at += 1
                continue
            break
        if found and found[-1].text not in DETERMINERS and word.text in ARTICLES:
            # "Give the method a name" acts on the method; a German genitive has no preposition either.
            break
        found.append(word)
        at += 1
    while found and found[-1].text in (
        "please",
        "now",
        "again",
        "too",
        "instead",
        "first",
        "here",
        "there",
        "yet",
    ):
        found.pop()
    return tuple(found), found[-1] if found else None
