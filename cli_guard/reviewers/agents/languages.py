"""Orders in other languages than English: a verb in the form of an order, and what makes it a deed, in one sentence.

A table of `rules/orders/` holds the words of one language; which verb and which things make a deed is the same in all
of them (`SpokenDeed`). A verb is ordered where its clause begins, behind what `lead` allows, or behind "you must". A
word of `negation` in its clause forbids it, and is needed where the deed is to leave something out.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from cli_guard.lazy import frozen
from cli_guard.reviewers.agents.markdown import Block
from cli_guard.reviewers.agents.orders import (
    TABLE,
    FoundOrder,
    deeds,
    has_target,
    is_prose,
    may_quote,
    pattern_of,
    sentences_of,
)
from cli_guard.rules import data
from cli_guard.rules.catalog import read_table

FOLDER = "orders"
WORD = re.compile(r"\w+")
# Pieces of verbs that are no words, such as an ending.
LONGEST_PART = 4
MOST_LEADING = 4
MOST_CLAUSES = 40
# No word ends before one of these letters.
LETTER = "a-zà-ÿа-яё"


@frozen
class SpokenDeed:
    """What is ordered: a name of `text.toml`, a verb, and the things that must stand in its sentence.

    `is_near`: in its clause. `is_negated`: the deed is to leave the verb out.
    """

    name: str
    verb: str
    things: tuple[str, ...]
    is_negated: bool = False
    is_near: bool = False


@cache
def spoken_deeds() -> tuple[SpokenDeed, ...]:
    return tuple(
        SpokenDeed(**row | {"things": tuple(row["things"].split())})
        for row in read_table(TABLE)["spoken"]
    )


@frozen(eq=False)
class SpokenLanguage:
    """The words of one language, compiled."""

    clause: re.Pattern[str]
    negation: re.Pattern[str]
    without: re.Pattern[str]
    excuse: re.Pattern[str]
    common: frozenset[str]
    letters: re.Pattern[str]
    ordered: Mapping[str, re.Pattern[str]]
    things: Mapping[str, re.Pattern[str]]

    def may_be_spoken(self, text: str, words: frozenset[str]) -> bool:
        """Return whether a text has letters, or one of the most frequent words, of the language."""
        return not self.common.isdisjoint(words) or self.letters.search(text) is not None

    def excuses(self, block: Block) -> bool:
        """Return whether a block shows what an attack looks like, or what is forbidden; hidden text has no excuse."""
        if not may_quote(block):
            return False
        if self.excuse.search(block.intro):
            return True
        titles = block.headings if not has_target(block.text) else ()
        return any(self.excuse.search(title) for title in titles)

    def find_deed(self, sentence: str) -> SpokenDeed | None:
        """Return the first deed that a sentence orders, None if it orders none."""
        start = 0
        for clause in self.clause.split(sentence, maxsplit=MOST_CLAUSES):
            start = max(sentence.find(clause, start), start)
            for deed in spoken_deeds():
                if self.ordered[deed.verb].search(clause) and self._is_deed(
                    deed, clause, sentence, sentence[:start]
                ):
                    return deed
        return None

    def _is_deed(self, deed: SpokenDeed, clause: str, sentence: str, before: str) -> bool:
        if bool(self.negation.search(clause)) is not deed.is_negated:
            return False
        # "Never push without telling": what is forbidden before it is no order either.
        if self.without.match(clause.strip()) and self.negation.search(before):
            return False
        text = clause if deed.is_near else sentence
        return all(self.things[name].search(text) for name in deed.things)


@cache
def languages() -> tuple[SpokenLanguage, ...]:
    """Return the languages of all tables."""
    names = (name for name in data.names(FOLDER) if name.endswith(".toml"))
    return tuple(read_language(read_table(f"{FOLDER}/{name}")) for name in names)


def read_language(table: Mapping[str, Any]) -> SpokenLanguage:
    verbs: Mapping[str, list[str]] = table["verbs"]
    things = {**table["things"], "obey": verbs["obey"][0]}
    shared: Mapping[str, str] = read_table(TABLE)["shared"]
    # A short order may hold no other word of its language than the verb.
    forms = WORD.findall(" ".join(form for every in verbs.values() for form in every))
    return SpokenLanguage(
        clause=compile_words(table["clause"]),
        negation=compile_words(table["negation"]),
        without=compile_words(table["without"]),
        excuse=compile_words(table["excuse"]),
        common=frozenset([*table.get("common", "").split(), *filter(is_long, forms)]),
        letters=compile_words(table.get("letters", "(?!)")),
        ordered={name: pattern_of_order(table, forms) for name, forms in verbs.items()},
        things={
            name: pattern_of_thing(things.get(name), shared.get(name))
            for name in {name for deed in spoken_deeds() for name in deed.things}
        },
    )


def is_long(word: str) -> bool:
    return len(word) > LONGEST_PART


def compile_words(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def pattern_of_order(table: Mapping[str, Any], forms: Sequence[str]) -> re.Pattern[str]:
    """Return the pattern of a clause that orders a verb: where it begins, or behind "must" and "without"."""
    lead = f"(?:{table['lead']}){{0,{MOST_LEADING}}}"
    first = rf"\A\W*{lead}(?:{table['front']})?{lead}(?:{forms[0]})"
    behind = rf"(?:{table['modal']}|{table['without']}).*?(?:{forms[-1]})"
    return compile_words(rf"(?:{first}|{behind})(?![{LETTER}])")


def pattern_of_thing(words: str | None, shared: str | None) -> re.Pattern[str]:
    """Return the pattern of a thing; what is shared ends also where letters of another script follow."""
    parts = [f"(?a:{pattern_of(shared).pattern.removeprefix('(?i)')})"] if shared else []
    return compile_words("|".join([*parts, *filter(None, [words])]))


def find_spoken_orders(blocks: Sequence[Block]) -> Iterator[FoundOrder]:
    """Yield the orders of a text with a deed, in the languages of the tables."""
    says = {deed.name: deed.says for deed in reversed(deeds())}
    for block in filter(is_prose, blocks):
        words = frozenset(WORD.findall(block.text.lower()))
        spoken = [each for each in languages() if each.may_be_spoken(block.text, words)]
        spoken = [each for each in spoken if not each.excuses(block)]
        for sentence in sentences_of(block) if spoken else ():
            deed = deed_among(spoken, sentence.text)
            if deed:
                yield FoundOrder(
                    deed.name,
                    says[deed.name],
                    sentence.text,
                    sentence.line,
                    sentence.last,
                    block.kind,
                )


def deed_among(spoken: Sequence[SpokenLanguage], sentence: str) -> SpokenDeed | None:
    if sentence.rstrip().endswith(("?", "？")):
        return None
    found = (each.find_deed(sentence) for each in spoken)
    return next((deed for deed in found if deed), None)
