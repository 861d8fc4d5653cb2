"""The mood of a clause: a question, an order, a statement or a bare phrase; and with it the verb that leads."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from cli_guard.assistant.requests.tables import Tables, tables
from cli_guard.assistant.requests.wishes import (
    AUXILIARY,
    DETERMINERS,
    FIRST_PERSON,
    PREPOSITIONS,
    WH,
    Wish,
    object_at,
    opened,
)
from cli_guard.assistant.requests.words import STOP, Word

# What follows a noun at the beginning (`tests for utils`) rather than a verb.
AFTER_NOUN = frozenset("for of in on against to with".split())
PRONOUNS = frozenset("it one them that this those these some".split())
SUBJECTS = frozenset("it there this that you he she they".split())
STATING = frozenset("is are was were should must does needs need has have lacks can cannot".split())
BETWEEN_HOW_AND_VERB = AUXILIARY | frozenset("best go about properly to quickly just".split())
# What may stand between `show` and the question that it leads to.
BETWEEN_SHOW_AND_WHERE = frozenset(
    "me us to out for exactly team the in detail briefly over look at again".split()
)
PARTICLE_REACH = 10
TOPIC_WORDS = 4
WAY_REACH = 8
LIGHT_REACH = 4


def wish_of(clause: Sequence[Word], *, loose: bool) -> Wish:
    """A clause as a wish. `loose` is for languages that do not put the verb first."""
    known = tables()
    stop = clause[-1].text if clause and clause[-1].form == STOP else ""
    asked_mark = "?" in stop or "？" in stop
    words = [word for word in clause if word.form != STOP]
    start, asked = opened(words, known) if words else (0, False)
    words = words[start:]
    if not words:
        return Wish("phrase", ())
    words, cut = _cut_negation(words)
    if not words:
        return Wish("forbid", tuple(cut), without=tuple(cut))
    wish = _mood(words, asked=asked, asked_mark=asked_mark, loose=loose, known=known)
    if stop == ":" and wish.mood != "order" and len(words) <= TOPIC_WORDS:
        wish = replace(wish, mood="topic")
    elif wish.mood == "phrase" and not asked_mark:
        wish = _nominal(wish, known)
    if loose and wish.verb > 0 and not wish.object:
        # The verb ends the sentence in Japanese and often in German.
        before = tuple(
            word for word in wish.words[: wish.verb] if word.text not in DETERMINERS | PREPOSITIONS
        )
        wish = replace(wish, object=before, head=before[-1] if before else None)
    return replace(_lightened(wish, known), without=tuple(cut), loose=loose)


def _cut_negation(words: list[Word]) -> tuple[list[Word], list[Word]]:
    """A clause, and behind it what it says should not be done."""
    question = words[0].text in WH | AUXILIARY and words[0].text not in ("do", "must", "should")
    for at, (word, behind) in enumerate(pairwise(words)):
        refuses = word.text in ("do", "must", "should") and behind.text == "not"
        lacks = word.text == "no" and bool(behind.nouns & {"edits"})
        if word.text in ("without", "never") or (not question and (refuses or lacks)):
            return words[:at], words[at:]
    return words, []


def _mood(words: list[Word], *, asked: bool, asked_mark: bool, loose: bool, known: Tables) -> Wish:
    first = words[0]
    second = words[1] if len(words) > 1 else None
    if first.text in WH and not (first.text in ("when", "while") and not _asks(second)):
        return _question(words, 0)
    if first.text in PREPOSITIONS and second is not None and second.text in WH - {"where", "when"}:
        return _question(words, 1)
    if asked or (_asks(first) and second is not None and not _does(words, known)):
        return Wish("ask", tuple(words), first.text, -1, *object_at(words, 1))
    if loose:
        for at, word in enumerate(words):
            if word.text in WH:
                return _question_anywhere(words, at)
    if asked_mark and first.text in SUBJECTS:
        return Wish("ask", tuple(words), "is", -1, *object_at(words, 1))
    for at, word in enumerate(words if loose else words[:1]):
        if word.form == "word" and ("base" in word.forms or (at == 0 and "ing" in word.forms)):
            return _order(words, at, known, asked_mark=asked_mark)
    if asked_mark and any(_asks(word) or word.text in WH for word in words):
        return Wish("ask", tuple(words), "is", -1, *object_at(words, 0))
    if first.text in FIRST_PERSON and second is not None and "need" in second.verbs:
        return Wish("state", tuple(words), "", 1, *object_at(words, 2))
    if second is not None and _could_be_verb(first) and second.text in DETERMINERS - {"me", "us"}:
        return Wish("order", tuple(words), "", 0, *object_at(words, 1), unknown=True)
    states = any(word.text in STATING or "third" in word.forms for word in words[1:])
    mood = "state" if states or first.text in FIRST_PERSON else "phrase"
    return Wish(mood, tuple(words), "", -1, *object_at(words, 0))


def _asks(word: Word | None) -> bool:
    """Is it a verb that asks where it stands first: `is it`, `does the`?"""
    return word is not None and word.text in AUXILIARY


def _does(words: Sequence[Word], known: Tables) -> bool:
    """`Do the migration` is an order, `do the tests pass` a question."""
    what = (word.text in known.verbal for word in words[2:4])
    return words[0].text == "do" and words[1].text in ("a", "an", "the", "some", "another") and any(what)


def _could_be_verb(word: Word) -> bool:
    """May a word that is in no table be a verb that begins an order?"""
    known = word.nouns or word.text in DETERMINERS | PREPOSITIONS | FIRST_PERSON | AUXILIARY
    return word.form == "word" and not known and word.text.isalpha()


def _question(words: list[Word], at: int) -> Wish:
    """A question whose question word stands at a place."""
    asks = words[at].text
    place = at + 1
    while place < len(words) and _asks(words[place]):
        place += 1
    mood, verb = "ask", -1
    if asks == "how" and place < len(words):
        if words[place].text in FIRST_PERSON:
            mood, place = "how_to", place + 1
            while (
                place < len(words) and words[place].text in BETWEEN_HOW_AND_VERB and not _light(words[place:])
            ):
                place += 1
        elif place == at + 1 and "base" in words[place].forms:
            mood = "how_to"
    way = next(
        (n for n, (one, two) in enumerate(pairwise(words)) if one.text == "way" and two.text == "to"), -1
    )
    if asks == "what" and 0 <= way < at + WAY_REACH:
        # "What is the best way to start it?"
        mood, place = "how_to", way + 2
    if mood == "how_to" and place < len(words) and words[place].verbs:
        verb = place
    wish = Wish(mood, tuple(words), asks, verb, *object_at(words, verb + 1 if verb >= 0 else place))
    return _joined(wish, tables()) if verb >= 0 else wish


def _question_anywhere(words: list[Word], at: int) -> Wish:
    """A question of a language that may put its verb before the question word."""
    wish = _question(words, at)
    verb = next((place for place in range(at) if "base" in words[place].forms), -1)
    return replace(wish, mood="how_to", verb=verb) if wish.asks == "how" and wish.verb < 0 <= verb else wish


def _light(words: Sequence[Word]) -> bool:
    """`do the migration`: an auxiliary that is a verb of its own."""
    return len(words) > 1 and words[0].text in ("do", "have") and words[1].text in ("the", "a", "an")


def _order(words: list[Word], at: int, known: Tables, *, asked_mark: bool) -> Wish:
    """An imperative, or the question that one asks for (`show me where`)."""
    first = words[at]
    if first.verbs & {"explain", "show", "look", "check", "summarise"}:
        for place in range(at + 1, min(at + 5, len(words))):
            if words[place].text in WH or words[place].text in ("if", "whether"):
                return _question(words, place)
            if words[place].text not in BETWEEN_SHOW_AND_WHERE:
                break
    found, head = object_at(words, at + 1)
    # "Tests for utils?" and "Test coverage" begin with a noun that could be a verb.
    bare = (
        at == 0
        and asked_mark
        and bool(found)
        and found[0].form == "word"
        and found[0].text not in DETERMINERS
    )
    if first.nouns and (not found or bare):
        behind = words[at + 1].text if at + 1 < len(words) else ""
        if behind in AFTER_NOUN or asked_mark:
            return Wish("phrase", tuple(words), "", -1, *object_at(words, at))
    return _joined(Wish("order", tuple(words), "", at, found, head), known)


def _joined(wish: Wish, known: Tables) -> Wish:
    """A verb with the particle that stands behind its object: `pull the query out`."""
    verb = wish.words[wish.verb]
    for word in wish.words[wish.verb + 1 : wish.verb + PARTICLE_REACH]:
        meaning = known.separable.get((verb.text, word.text))
        if meaning is not None and not word.bound:
            joined = replace(verb, verbs=meaning.verbs, lemma=meaning.lemma)
            return replace(wish, words=(*wish.words[: wish.verb], joined, *wish.words[wish.verb + 1 :]))
    return wish


def _lightened(wish: Wish, known: Tables) -> Wish:
    """`Do a review of X` as `review X`: the noun says what to do, the verb in front of it nothing."""
    if wish.verb < 0 or wish.unknown or "light" not in wish.leading() or wish.head is None:
        return wish
    meaning = known.verbal.get(wish.head.text)
    at = next((at for at, word in enumerate(wish.words) if word is wish.head), -1)
    if meaning is None or not wish.verb < at <= wish.verb + LIGHT_REACH:
        return wish
    behind = at + 1
    while behind < len(wish.words) and wish.words[behind].text in ("of", "for", "on", "about", "to", "from"):
        behind += 1
    verb = replace(wish.head, verbs=meaning.verbs | wish.leading() & {"plan", "need"}, lemma=meaning.lemma)
    found, head = object_at(wish.words, behind)
    words = (*wish.words[:at], verb, *wish.words[at + 1 :])
    mood = "order" if wish.mood == "state" else wish.mood
    return replace(wish, mood=mood, words=words, verb=at, object=found or (verb,), head=head or verb)


def _nominal(wish: Wish, known: Tables) -> Wish:
    """`Audit of the staged changes` as an order to audit them."""
    meaning = known.verbal.get(wish.head.text) if wish.head else None
    if meaning is None or wish.head is None:
        return wish
    at = next(at for at, word in enumerate(wish.words) if word is wish.head)
    verb = replace(wish.head, verbs=meaning.verbs, lemma=meaning.lemma)
    found, head = object_at(wish.words, at + 2)
    words = (*wish.words[:at], verb, *wish.words[at + 1 :])
    return replace(wish, mood="order", words=words, verb=at, object=found or (verb,), head=head or verb)


def linked(wishes: Sequence[Wish]) -> Iterator[Wish]:
    """The wishes with what their pronouns stand for: `find the tests of X and run them` runs tests."""
    before: Wish | None = None
    for wish in wishes:
        if before is None:
            yield wish
        elif before.mood == "topic":
            yield replace(wish, words=wish.words + before.words, object=wish.object + before.words)
        elif wish.mood == "order" and wish.object and all(word.text in PRONOUNS for word in wish.object):
            stands_for = _matter(before)
            head = stands_for[-1] if stands_for else wish.head
            yield replace(wish, object=stands_for or wish.object, head=head, words=wish.words + stands_for)
        else:
            yield wish
        before = wish


def _matter(wish: Wish) -> tuple[Word, ...]:
    """What a wish or a statement is about."""
    if wish.mood == "order":
        return wish.object
    return tuple(word for word in wish.words if word.nouns and word.text not in DETERMINERS)
