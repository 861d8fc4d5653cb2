"""Whether the conditions of a rule hold for a wish."""

from collections.abc import Iterable, Mapping

from cli_guard.assistant.requests.wishes import Wish
from cli_guard.assistant.requests.words import Word

INTO = frozenset(("in", "into", "to", "inside"))
PERSONS = frozenset(("i", "we", "you", "one"))
DEFINITE = frozenset("the my your our its all every this that".split())


def nouns_of(words: Iterable[Word]) -> frozenset[str]:
    """The classes of some words."""
    return frozenset(noun for word in words for noun in word.nouns)


def facts(wish: Wish) -> dict[str, frozenset[str]]:
    """What a wish offers to each condition of a rule."""
    after = wish.words[wish.verb + 1 :] if not wish.loose else wish.words
    first: frozenset[str] = frozenset()
    for word in wish.object:
        if word.nouns:
            first = word.nouns
            break
    places = [at for at, word in enumerate(wish.words) if word.text in INTO]
    into = nouns_of(wish.words[places[-1] :]) if places else frozenset()
    about = {"person"} if any(word.text in PERSONS for word in wish.words[:4]) else set()
    if wish.object and wish.object[0].text in DEFINITE:
        about.add("definite")
    if any(word.text in ("a", "an") for word in wish.object[:1]):
        about.add("indefinite")
    if any(word.text in ("we", "our", "us") for word in wish.words):
        about.add("ours")
    if wish.words and wish.words[-1].text == "do":
        about.add("doing")
    return {
        "second": frozenset(verb for word in wish.words[1:2] if "third" in word.forms for verb in word.verbs),
        "into": into,
        "about": frozenset(about),
        "unless_about": frozenset(about),
        "mood": frozenset((wish.mood,)),
        "asks": frozenset((wish.asks,)),
        "verb": wish.leading(),
        "object": nouns_of(wish.object),
        "head": wish.head.nouns if wish.head else frozenset(),
        "has": nouns_of(after),
        "also_has": nouns_of(after),
        "any": frozenset(verb for word in wish.words for verb in word.verbs),
        "first": first,
        "unless": nouns_of(wish.words),
        "without": nouns_of(wish.without),
        "unless_object": nouns_of(wish.object),
        "unless_head": wish.head.nouns if wish.head else frozenset(),
        "unless_any": frozenset(verb for word in wish.words for verb in word.verbs),
    }


def holds(conditions: Mapping[str, frozenset[str]], given: Mapping[str, frozenset[str]]) -> bool:
    """Does every condition hold?"""
    return all(
        (not (wanted & given[name])) if name.startswith("unless") else bool(wanted & given[name])
        for name, wanted in conditions.items()
    )
