"""The rules of rules/requests.toml: what an intent offers to their conditions, and which of them hold for it."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from cli_guard.assistant.request_intents import Intent, nouns_of
from cli_guard.assistant.request_words import TABLES

INTO = frozenset(("in", "into", "to", "inside"))
PERSONS = frozenset(("i", "we", "you", "one"))
DEFINITE = frozenset("the my your our its all every this that".split())
# What a rule says; all its other entries are conditions.
SAID = ("kind", "points", "reason", "supported")
IntentFacts = Mapping[str, frozenset[str]]


@cache
def rules(name: str) -> tuple[tuple[IntentFacts, Mapping[str, Any]], ...]:
    """Return the rules of a table of rules/requests.toml: the conditions of each, and what it says."""
    return tuple(
        (
            {
                key: frozenset(value.split())
                for key, value in table.items()
                if key not in SAID
            },
            table,
        )
        for table in TABLES[name]
    )


def matching(name: str, facts: IntentFacts) -> Iterator[Mapping[str, Any]]:
    """Yield the rules of a table whose conditions all hold for the facts of an intent."""
    for conditions, table in rules(name):
        if all(holds(key, wanted, facts) for key, wanted in conditions.items()):
            yield table


def holds(key: str, wanted: frozenset[str], facts: IntentFacts) -> bool:
    """Return whether a condition holds: `has`, `also_has` (a second one), `unless_has` (none of them)."""
    fact = key.removeprefix("unless_").removeprefix("also_")
    return key.startswith("unless") != bool(wanted & facts[fact])


def facts_of(intent: Intent) -> IntentFacts:
    """Return what an intent offers to each condition of a rule, see rules/requests.toml."""
    words = intent.words
    target = intent.object
    into = max(
        (at for at, word in enumerate(words) if word.text in INTO), default=len(words)
    )
    about = {
        "person": any(word.text in PERSONS for word in words[:4]),
        "definite": bool(target) and target[0].text in DEFINITE,
        "indefinite": bool(target) and target[0].text in ("a", "an"),
        "ours": any(word.text in ("we", "our", "us") for word in words),
        "doing": bool(words) and words[-1].text == "do",
    }
    return {
        "mood": frozenset((intent.mood,)),
        "asks": frozenset((intent.asks,)),
        "verb": intent.verbs,
        "any": frozenset(verb for word in words for verb in word.verbs),
        "second": frozenset(
            verb for word in words[1:2] if "third" in word.forms for verb in word.verbs
        ),
        "object": nouns_of(target),
        "head": intent.head.nouns if intent.head else frozenset(),
        "first": next((word.nouns for word in target if word.nouns), frozenset()),
        "has": nouns_of(words[intent.verb + 1 :]),
        "into": nouns_of(words[into:]),
        "about": frozenset(name for name, is_so in about.items() if is_so),
        "without": nouns_of(intent.without),
        "unless": nouns_of(words),
    }
