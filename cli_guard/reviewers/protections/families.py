"""The families of protections and their signs, from `rules/protections/*.toml`.

A `[[rule]]` is a family: what can happen once one of its members is gone. A `[[sign]]` says by what a member is
recognised; any file of the folder may hold signs, one file a topic. A sign has `family` (the rule's
id without `protection-`), examples (`fires`) and near misses (`silent`), and one or more of

    words      in the name of a call, list, argument, decorator or definition, or anywhere in a condition: `escape`,
               `check_permission` (words of a name that follow each other, in any style of writing)
    names      the end of a dotted name, as it was imported: `hmac.compare_digest`
    settings   keys, or ends of dotted paths of keys, with the safe values as a pattern: `{ "runAsNonRoot" = "true" }`;
               `runAsNonRoot`, `run_as_non_root` and `run-as-non-root` are one key
    pattern    a regular expression over the fact, as `CodeFact.text` writes it
    asks       a regular expression over the condition of a guard alone, not over how it leaves
    unless     a regular expression over the name or condition: what matches it is no member for all that
    kinds      the kinds of fact that it applies to; by default calls, arguments, decorators, definitions, guards,
               conditions and what templates print, for `settings` options
    given_to   of arguments, only those that are handed to a call with one of these last names: what runs before a route
    languages  only in files of these languages, as ast-grep names them
    instead    true: it may take the place of a member, but its own loss says nothing
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

from cli_guard.code.changes.comparisons import is_whole
from cli_guard.code.changes.facts import (
    JUDGED,
    CodeFact,
    FactKind,
    short_name,
    words_of_name,
)
from cli_guard.code.changes.values import read_strength_words
from cli_guard.lazy import frozen
from cli_guard.model import group_by
from cli_guard.rules import data

GROUP = "protections"
PREFIX = "protection-"
NAMED = (FactKind.CALL, FactKind.ARGUMENT, FactKind.DECORATOR, FactKind.DEFINITION)
PRINTED = (FactKind.OUTPUT, FactKind.ENTRY)
JOINING = str.maketrans("", "", "_-")
ERROR_CHECK = re.compile(
    r"!?\(?(?:\w+ :?= .{1,200}; ?)?!?\w*(?i:err|error|exception|rc|ret|res|result|status)\w*"
    r"(?: ?(?:[!=]==?|[<>]=?|is(?: not)?) ?(?:nil|null|NULL|None|undefined|-?\d|false|true))?\)?"
    r"|(?:\(\w{1,60} = )?[^()]{1,100}\([^()]{0,200}\)\)? ?< ?0|let Err\(.{1,250}"
)
# What an error says or is: whoever asks that turns one error into another.
ERROR_ASKED = re.compile(
    r"!?\(?(?:['\"][^'\"]*['\"] (?:not )?in )?(?:isinstance\([\w$.]+, ?)?[\w$@.?>-]*(?i:error|exception)\w*\)?"
    r"(?: ?(?:[!=]==?|is(?: not)?|in|not in) ?['\"\w.:-]+)?\)?"
)
# The arguments of a call among those of another one.
INNER = re.compile(r"(?<=\w)\([^()]*\)(?=[^()]*\))")
# A call is a fact of its own, whatever its result decides.
ONE_CALL = re.compile(r"!?[\w$.:>-]{1,100}\((.*)\)")
# How a check says that it refuses.
REFUSED = re.compile(r"(?i)\b(?:false|throw|raise|abort|die|deny|fail)\b")
# `name || ""` is a value, and asks nothing.
DEFAULTED = re.compile(
    r"(?:\|\||\bor\b) ?(?:\"\"|''|``|\[\]|\{\}|nil|null|None|undefined|0)$"
)
# A condition there says what is made, it lets nobody in.
DECLARATIVE = ("hcl",)


# `role == null`, `principal instanceof AccessToken`: whether there is a value, and of what type, is not what it may do.
ABSENT = r"""(?:null|nil|NULL|None|undefined|nullptr|''|"")"""
VALUE = r"[\w$@.?!&*>\[\]-]{1,100}(?:\([\w$.,* ]{0,60}\))?"
PRESENCE = re.compile(
    rf"{VALUE} ?(?:[!=]==?|~=|\bis not|\bis) ?{ABSENT}(?!\w)|{ABSENT} ?[!=]==? ?{VALUE}"
    rf"|\binstanceof [\w.$\\]{{1,200}}|\bIsNullOr(?:Empty|WhiteSpace)\({VALUE}\)"
)


@frozen(eq=False)
class Sign:
    """One `[[sign]]`, compiled."""

    family: str
    kinds: frozenset[FactKind]
    words: tuple[tuple[str, ...], ...]
    names: tuple[str, ...]
    settings: Mapping[str, re.Pattern[str]]
    pattern: re.Pattern[str] | None
    asks: re.Pattern[str] | None
    unless: re.Pattern[str] | None
    given_to: frozenset[str]
    languages: frozenset[str]
    instead: bool

    def applies(self, fact: CodeFact, language: str, *, came: bool) -> bool:
        """Return whether the sign speaks of facts of this kind and place."""
        if fact.kind not in self.kinds or (self.instead and not came):
            return False
        if self.languages and language not in self.languages:
            return False
        if self.unless and self.unless.search(fact.name):
            return False
        if fact.kind is not FactKind.ARGUMENT:
            return True
        given_to = short_name(fact.detail).lower()
        # `skip_before_action :require_login` asks for less.
        is_skipped = given_to.startswith("skip")
        return not is_skipped and (not self.given_to or given_to in self.given_to)


def compile_sign(table: Mapping[str, Any]) -> Sign:
    """Compile a table. Raises KeyError, ValueError or re.error for a wrong one."""
    settings = {
        squeeze_key(key): re.compile(value)
        for key, value in table.get("settings", {}).items()
    }
    usual = (FactKind.OPTION,) if settings else (*NAMED, *JUDGED, FactKind.OUTPUT)
    kinds = map(FactKind, table["kinds"].split()) if "kinds" in table else usual
    patterns = {
        name: re.compile(table[name]) if name in table else None
        for name in ("pattern", "asks", "unless")
    }
    return Sign(
        family=table["family"],
        kinds=frozenset(kinds),
        words=tuple(tuple(each.split("_")) for each in table.get("words", "").split()),
        names=tuple(table.get("names", "").lower().split()),
        settings=settings,
        **patterns,
        given_to=frozenset(table.get("given_to", "").split()),
        languages=frozenset(table.get("languages", "").split()),
        instead=table.get("instead", False),
    )


def squeeze_key(key: str) -> str:
    """Return a key as all styles of writing it have in common."""
    return key.lower().translate(JOINING)


@cache
def signs() -> tuple[Sign, ...]:
    """Return the signs of all files, in their order."""
    files = (data.read(f"{GROUP}/{name}") for name in data.names(GROUP))
    return tuple(compile_sign(table) for file in files for table in file.get("sign", ()))


@cache
def _by_word() -> Mapping[str, Sequence[tuple[tuple[str, ...], Sign]]]:
    """Return the signs with words, by the first of them."""
    pairs = ((words, sign) for sign in signs() for words in sign.words)
    return group_by(pairs, lambda pair: pair[0][0])


@cache
def _by_last_part() -> Mapping[str, Sequence[tuple[str, Sign]]]:
    pairs = ((name, sign) for sign in signs() for name in sign.names)
    return group_by(pairs, lambda pair: short_name(pair[0]))


@cache
def _by_key() -> Mapping[str, Sequence[tuple[str, re.Pattern[str], Sign]]]:
    """Return the settings of all signs by the last part of their keys."""
    rows = ((key, safe, sign) for sign in signs() for key, safe in sign.settings.items())
    return group_by(rows, lambda row: short_name(row[0]))


@cache
def _with_pattern(kind: FactKind) -> tuple[Sign, ...]:
    return tuple(s for s in signs() if kind in s.kinds and (s.pattern or s.asks))


@lru_cache(maxsize=20_000)
def families_of(fact: CodeFact, language: str, *, came: bool = False) -> frozenset[str]:
    """Return the families that a fact is a member of, or may take the place of a member if it `came`."""
    if fact.is_judged and language in DECLARATIVE:
        return frozenset()
    if fact.kind is FactKind.CONDITION and is_silent(fact.name, came=came):
        return frozenset()
    found = frozenset(
        sign.family for sign in _signs_of(fact) if sign.applies(fact, language, came=came)
    )
    return found | {"validation"} if is_refusal_of_check(fact) else found


def is_silent(condition: str, *, came: bool) -> bool:
    """Return whether a condition asks nothing, or only what a call says; that one may come for another condition."""
    call = None if came else ONE_CALL.fullmatch(condition)
    is_call = call is not None and is_whole(call[1])
    return is_call or DEFAULTED.search(condition) is not None


def is_check(fact: CodeFact, language: str) -> bool:
    """Return whether a call is a check, or what a condition stands in, by its name or as a member of a family."""
    known = read_strength_words()
    named = [CodeFact(FactKind.DEFINITION, short_name(fact.unit))]
    if fact.kind in NAMED:
        named.append(fact)
    for each in named:
        words = words_of_name(each.last_name)
        begins = len(words) > 1 and words[0] in known["checks"]
        if begins or not known["judges"].isdisjoint(words):
            return True
    return any(families_of(each, language) for each in (fact, *named))


def is_refusal_of_check(fact: CodeFact) -> bool:
    """Return whether a guard refuses, or lets another check judge, in a function that is a check by its name."""
    if not fact.is_guard:
        return False
    words = words_of_name(short_name(fact.unit))
    known = read_strength_words()
    is_judged = not known["judges"].isdisjoint(words_of_name(fact.detail))
    if not is_judged and REFUSED.search(fact.detail) is None:
        return False
    begins = not known["checks"].isdisjoint(words[:1])
    return begins or not known["judges"].isdisjoint(words)


def _signs_of(fact: CodeFact) -> Iterator[Sign]:
    if fact.kind in NAMED:
        # What it is called on says what it is about, not what it does: `allowlist.any()`.
        yield from _signs_of_words(fact.last_name)
        yield from _signs_of_name(fact.name.lower())
    elif fact.is_judged:
        # What went wrong in a call is no check of a value, whatever the message says of it.
        if all(map(asks_error, fact.operands or (fact.name,))):
            return
        yield from _signs_of_words(PRESENCE.sub("", fact.name))
    elif fact.kind in PRINTED:
        yield from _signs_of_words(fact.name)
    elif fact.is_option:
        yield from _signs_of_setting(fact)
    text = fact.text
    for sign in _with_pattern(fact.kind):
        if sign.pattern and sign.pattern.search(text):
            yield sign
        if sign.asks and sign.asks.search(fact.name):
            yield sign


def asks_error(condition: str) -> bool:
    """Return whether a condition asks whether something went wrong, or what."""
    return (
        ERROR_CHECK.fullmatch(INNER.sub("", condition)) is not None
        or ERROR_ASKED.fullmatch(condition) is not None
    )


def _signs_of_words(name: str) -> Iterator[Sign]:
    words = words_of_name(name)
    index = _by_word()
    for at, word in enumerate(words):
        for wanted, sign in index.get(word, ()):
            if words[at : at + len(wanted)] == wanted:
                yield sign


def _signs_of_name(name: str) -> Iterator[Sign]:
    for wanted, sign in _by_last_part().get(short_name(name), ()):
        if name == wanted or name.endswith(f".{wanted}"):
            yield sign


def _signs_of_setting(fact: CodeFact) -> Iterator[Sign]:
    path = squeeze_key(fact.name)
    value = fact.detail.strip("\"'` ,;")
    for key, safe, sign in _by_key().get(short_name(path), ()):
        if (path == key or path.endswith(f".{key}")) and safe.fullmatch(value):
            yield sign
