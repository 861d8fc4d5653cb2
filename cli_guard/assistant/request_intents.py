"""The intents of a request, clause by clause: question, order, statement or phrase, its verb and its object."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from cli_guard.assistant.request_words import (
    STOP,
    Phrase,
    RequestWord,
    phrases_by_first_word,
    vocabulary,
    word_set,
)
from cli_guard.lazy import frozen

# Rules are data: the words of each class are in rules/requests.toml, with what they do.
WH = word_set("grammar", "question_words")
AUXILIARY = word_set("grammar", "auxiliary")
FIRST_PERSON = word_set("grammar", "first_person")
ARTICLES = word_set("grammar", "articles")
DETERMINERS = word_set("grammar", "determiners")
PREPOSITIONS = word_set("grammar", "prepositions")
COORDINATORS = word_set("grammar", "coordinators")
NOT = word_set("grammar", "not")
TRANSPARENT = word_set("grammar", "transparent")
BEFORE_OBJECT = word_set("grammar", "before_object")
AFTER_OBJECT = word_set("grammar", "after_object")
AFTER_NOUN = word_set("grammar", "after_noun")
PRONOUNS = word_set("grammar", "pronouns")
SUBJECTS = word_set("grammar", "subjects")
STATING = word_set("grammar", "stating")
BETWEEN_HOW_AND_VERB = AUXILIARY | frozenset(
    "best go about properly to quickly just".split()
)
# What may be between `show` and the question that it leads to.
BETWEEN_SHOW_AND_WHERE = frozenset(
    "me us to out for exactly team the in detail briefly over look at again".split()
)
EDITS = frozenset("edit write add remove create".split())
FORBIDDERS = frozenset("do not without never no must should need".split())
PARTICLE_REACH = 10
NOUN_REACH = 4
TOPIC_WORDS = 4
INTENT_REACH = 14


@frozen
class Intent:
    """One thing that a request wants.

    `mood` is ask (a question), how_to ("how do I"), order, state, phrase (no verb), topic (`README:`) or forbid.
    `words` are all of it without courtesies. `asks` is the question word, `verb` the place of the leading verb in
    `words` or -1, `object` its direct object, `head` the last word of that. `unknown`: the verb is in no table.
    `without` are the words about what should not be done.
    """

    mood: str
    words: tuple[RequestWord, ...]
    asks: str = ""
    verb: int = -1
    object: tuple[RequestWord, ...] = ()
    head: RequestWord | None = None
    unknown: bool = False
    without: tuple[RequestWord, ...] = ()

    @property
    def verbs(self) -> frozenset[str]:
        """Return the classes of the leading verb."""
        if self.unknown:
            return frozenset(("unknown",))
        return self.words[self.verb].verbs if self.verb >= 0 else frozenset()

    @property
    def forbids_edits(self) -> bool:
        """Return whether it forbids every edit: `without editing files` does, `without changing the API` does not."""
        verbs = frozenset(verb for word in self.without for verb in word.verbs)
        _, head = object_at(
            self.without,
            next((at + 1 for at, word in enumerate(self.without) if word.verbs), 0),
        )
        head = None if head and head.text in FORBIDDERS else head
        return bool(
            (verbs & EDITS and not head) or (head is not None and head.nouns & {"edits"})
        )


def find_intents(words: Sequence[RequestWord]) -> Iterator[Intent]:
    """Yield the intents of a request in order, each pronoun with what it refers to (`find X and run them`)."""
    before: Intent | None = None
    for intent in map(intent_of, clauses(words)):
        if before and before.mood == "topic":
            intent = replace(
                intent,
                words=intent.words + before.words,
                object=intent.object + before.words,
            )
        elif (
            before
            and intent.mood == "order"
            and intent.object
            and all(word.text in PRONOUNS for word in intent.object)
        ):
            nouns = tuple(
                word for word in before.words if word.nouns and word.text not in DETERMINERS
            )
            meant = before.object if before.mood == "order" else nouns
            if meant:
                intent = replace(
                    intent, object=meant, head=meant[-1], words=intent.words + meant
                )
        yield intent
        before = intent


def clauses(words: Sequence[RequestWord]) -> Iterator[list[RequestWord]]:
    """Yield the clauses of a request: cut at stops, and where `and`, `but` or a comma leads to another intent."""
    clause: list[RequestWord] = []
    for at, word in enumerate(words):
        comma = word.form == STOP and set(word.text) == {","}
        if comma and all(each.text in word_set("openers", "words") for each in clause):
            clause = []
        elif word.form == STOP or (word.text in COORDINATORS and clause):
            ends = (word.form == STOP and not comma) or begins_intent(words, at + 1)
            if ends and clause:
                if word.text == ":" or "?" in word.text:
                    clause.append(word)
                yield clause
                clause = []
            elif word.form != STOP:
                clause.append(word)
        else:
            clause.append(word)
    if clause:
        yield clause


def begins_intent(words: Sequence[RequestWord], at: int) -> bool:
    """Return whether an intent of its own begins at a place, after a comma or an `and`."""
    rest = words[at : at + INTENT_REACH]
    start, asked = skip_courtesies(rest)
    if asked or start >= len(rest):
        return asked
    word = rest[start]
    return word.text in WH | NOT or "base" in word.forms


def skip_courtesies(words: Sequence[RequestWord]) -> tuple[int, bool]:
    """Return where an intent begins behind its courtesies (`could you please`), and whether they make it a question."""
    at = 0
    asked = False
    while at < len(words):
        behind = skip_phrase(words, at, phrases_by_first_word("asking"))
        if behind > at:
            following = words[behind].text if behind < len(words) else ""
            if following in WH or following in ("if", "whether"):
                return behind + (following not in WH), True
        behind = skip_phrase(words, at, phrases_by_first_word("phrases"))
        word = words[at]
        following_word = words[at + 1] if at + 1 < len(words) else None
        if behind == at and following_word:
            is_opener = word.text in word_set("openers", "words") or is_adverb(word)
            leads = at > 0 and word.text in ("to", "for") and "base" in following_word.forms
            behind += is_opener or leads
        if behind == at or behind >= len(words):
            break
        at = behind
    return at, asked


def skip_phrase(
    words: Sequence[RequestWord], at: int, phrases: Mapping[str, list[Phrase]]
) -> int:
    """Return the place after the longest of some phrases that is at a place; that place where none is."""
    for phrase in phrases.get(words[at].text.split(" ", 1)[0], ()):
        behind = at
        left = phrase
        # A word of ours may be several of theirs: `would like`.
        while left and behind < len(words):
            parts = tuple(words[behind].text.split(" "))
            if left[: len(parts)] != parts:
                break
            behind = behind + 1
            left = left[len(parts) :]
        if not left:
            return behind
    return at


def is_adverb(word: RequestWord) -> bool:
    """Return whether a word only says how: `permanently`, `briefly`."""
    return (
        word.text.endswith("ly")
        and len(word.text) > 4
        and not word.verbs
        and not word.nouns
    )


def intent_of(clause: Sequence[RequestWord]) -> Intent:
    """Return a clause as an intent."""
    stop = clause[-1].text if clause[-1].form == STOP else ""
    words = [word for word in clause if word.form != STOP]
    start, asked = skip_courtesies(words) if words else (0, False)
    words, cut = split_negation(words[start:])
    if not words:
        return (
            Intent("forbid", tuple(cut), without=tuple(cut))
            if cut
            else Intent("phrase", ())
        )
    intent = read_mood(words, asked=asked, marked="?" in stop)
    if stop == ":" and intent.mood != "order" and len(words) <= TOPIC_WORDS:
        intent = replace(intent, mood="topic")
    elif intent.mood == "phrase" and "?" not in stop and intent.head:
        # `Audit of the staged changes` is an order to audit them.
        intent = led_by_noun(intent, "order")
    elif intent.verb >= 0 and "light" in intent.verbs and intent.head:
        # `Do a review of X` is `review X`: the noun says what to do, the verb in front of it nothing.
        intent = led_by_noun(intent, "order" if intent.mood == "state" else intent.mood)
    return replace(intent, without=tuple(cut))


def led_by_noun(intent: Intent, mood: str) -> Intent:
    """Return an intent with the verb that its head noun stands for; the same where it stands for none."""
    at = next((at for at, word in enumerate(intent.words) if word is intent.head), -1)
    meaning = vocabulary().verbal.get(intent.words[at].text) if at >= 0 else None
    if not meaning or (
        intent.verb >= 0 and not intent.verb < at <= intent.verb + NOUN_REACH
    ):
        return intent
    place = at + 1
    while place < len(intent.words) and intent.words[place].text in PREPOSITIONS:
        place += 1
    verb = replace(
        intent.words[at],
        verbs=meaning.verbs | intent.verbs & {"plan", "need"},
        lemma=meaning.lemma,
    )
    found, head = object_at(intent.words, place)
    words = (*intent.words[:at], verb, *intent.words[at + 1 :])
    return replace(
        intent,
        mood=mood,
        words=words,
        verb=at,
        object=found or (verb,),
        head=head or verb,
        unknown=False,
    )


def split_negation(words: list[RequestWord]) -> tuple[list[RequestWord], list[RequestWord]]:
    """Return a clause, and behind it what it says should not be done."""
    question = bool(words) and words[0].text in (WH | AUXILIARY) - {"do", "must", "should"}
    for at, (word, behind) in enumerate(pairwise(words)):
        refuses = word.text in ("do", "must", "should") and behind.text == "not"
        lacks = word.text == "no" and bool(behind.nouns & {"edits"})
        if word.text in ("without", "never") or (not question and (refuses or lacks)):
            return words[:at], words[at:]
    return words, []


def read_mood(words: list[RequestWord], *, asked: bool, marked: bool) -> Intent:
    """Return the mood of a clause, and with it the verb that leads; `marked` by a question mark."""
    first = words[0]
    second = words[1] if len(words) > 1 else RequestWord("")
    if first.text in WH and (first.text != "when" or second.text in AUXILIARY):
        return read_question(words, 0)
    if asked or (first.text in AUXILIARY and second.text and not is_order_to_do(words)):
        return Intent("ask", tuple(words), first.text, -1, *object_at(words, 1))
    if first.form == "word" and first.forms & {"base", "ing"}:
        return read_order(words, marked=marked)
    if marked and (
        first.text in SUBJECTS or any(word.text in AUXILIARY | WH for word in words)
    ):
        return Intent("ask", tuple(words), "is", -1, *object_at(words, 0))
    if first.text in FIRST_PERSON and "need" in second.verbs:
        return Intent("state", tuple(words), "", 1, *object_at(words, 2))
    if second.text in DETERMINERS - {"me", "us"} and could_be_verb(first):
        return with_particle(
            Intent("order", tuple(words), "", 0, *object_at(words, 1), unknown=True)
        )
    states = any(word.text in STATING or "third" in word.forms for word in words[1:])
    mood = "state" if states or first.text in FIRST_PERSON else "phrase"
    return Intent(mood, tuple(words), "", -1, *object_at(words, 0))


def is_order_to_do(words: Sequence[RequestWord]) -> bool:
    """Return whether it is an order (`do the migration`) and no question (`do the tests pass`)."""
    nouns = vocabulary().verbal
    return (
        words[0].text == "do"
        and words[1].text in ARTICLES
        and any(w.text in nouns for w in words[2:4])
    )


def could_be_verb(word: RequestWord) -> bool:
    """Return whether a word that is in no table may be a verb that begins an order."""
    known = word.nouns or word.text in DETERMINERS | PREPOSITIONS | FIRST_PERSON | AUXILIARY
    return word.form == "word" and not known and word.text.isalpha()


def read_question(words: list[RequestWord], at: int) -> Intent:
    """Return a question whose question word is at a place."""
    asks = words[at].text
    place = at + 1
    while place < len(words) and words[place].text in AUXILIARY:
        place += 1
    mood = "ask"
    verb = -1
    if asks == "how" and place < len(words):
        if words[place].text in FIRST_PERSON:
            mood = "how_to"
            place = place + 1
            while place < len(words) and words[place].text in BETWEEN_HOW_AND_VERB:
                place += 1
        elif "base" in words[place].forms:
            mood = "how_to"
    way = next(
        (
            n
            for n, pair in enumerate(pairwise(words))
            if [w.text for w in pair] == ["way", "to"]
        ),
        -1,
    )
    if asks == "what" and way >= 0:
        # "What is the best way to start it?"
        mood = "how_to"
        place = way + 2
    if mood == "how_to" and place < len(words) and words[place].verbs:
        verb = place
    intent = Intent(
        mood, tuple(words), asks, verb, *object_at(words, verb + 1 if verb >= 0 else place)
    )
    return with_particle(intent) if verb >= 0 else intent


def read_order(words: list[RequestWord], *, marked: bool) -> Intent:
    """Return an imperative, or the question that it asks for (`show me where`)."""
    first = words[0]
    if first.verbs & {"explain", "show", "look", "check", "summarise"}:
        for place in range(1, min(5, len(words))):
            if words[place].text in WH or words[place].text in ("if", "whether"):
                return read_question(words, place)
            if words[place].text not in BETWEEN_SHOW_AND_WHERE:
                break
    found, head = object_at(words, 1)
    # "Tests for utils?" and "Test coverage" begin with a noun that could be a verb.
    bare = (
        marked
        and bool(found)
        and found[0].form == "word"
        and found[0].text not in DETERMINERS
    )
    if (
        first.nouns
        and (not found or bare)
        and (marked or (len(words) > 1 and words[1].text in AFTER_NOUN))
    ):
        return Intent("phrase", tuple(words), "", -1, *object_at(words, 0))
    return with_particle(Intent("order", tuple(words), "", 0, found, head))


def with_particle(intent: Intent) -> Intent:
    """Return an intent whose verb has its particle behind the object: `pull the query out`."""
    verb = intent.words[intent.verb]
    for word in intent.words[intent.verb + 1 : intent.verb + PARTICLE_REACH]:
        meaning = vocabulary().separable.get((verb.text, word.text))
        if meaning and not word.bound:
            joined = replace(verb, verbs=meaning.verbs, lemma=meaning.lemma)
            words = (*intent.words[: intent.verb], joined, *intent.words[intent.verb + 1 :])
            return replace(intent, words=words, unknown=False)
    return intent


def object_at(
    words: Sequence[RequestWord], at: int
) -> tuple[tuple[RequestWord, ...], RequestWord | None]:
    """Return the direct object that begins at a place, and its last word."""
    while at < len(words) and words[at].text in BEFORE_OBJECT:
        at += 1
    found: list[RequestWord] = []
    for word in words[at:]:
        if word.form == "word" and word.text in PREPOSITIONS and not word.bound:
            transparent = word.text == "of" and found and found[-1].text in TRANSPARENT
            if transparent or (not found and word.text in ("of", "that", "some")):
                continue
            break
        if found and found[-1].text not in DETERMINERS and word.text in ARTICLES:
            # "Give the method a name" acts on the method.
            break
        found.append(word)
    while found and found[-1].text in AFTER_OBJECT:
        found.pop()
    return tuple(found), found[-1] if found else None


def nouns_of(words: Iterable[RequestWord]) -> frozenset[str]:
    """Return the classes of some words."""
    return frozenset(noun for word in words for noun in word.nouns)
