"""Values that were made one spelling, or one type, before they are used, and are used as they come now.

`name = host.toLowerCase()` has become `name = host`, `limit = (int) $_GET["limit"]` is `$_GET["limit"]`.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from cli_guard.code.changes.facts import (
    IDENTIFIER,
    CodeFact,
    FactKind,
    Looser,
    has_word,
    words_of_name,
)
from cli_guard.code.changes.values import read_strength_words

CALL = re.compile(
    r"(?:\.|->)?(?P<name>[A-Za-z_][\w.:\\]*)\(|\((?P<cast>int|integer|float|bool|boolean|string)\)"
)
ENDED = re.compile(r"(?:\.|->)(?P<name>to_[is]|downcase|strip)\b(?!\()")
# Of one expression: with each fold left out, and with several.
MOST_FORMS = 20
BLANKS = re.compile(r"\s+")
# Another argument of such a function: the form, the base, the encoding.
CONSTANT_BEFORE = re.compile(r"^(?:[\"'][\w-]+[\"']|[\w.]*(?:NFKC|NFC)),")
CONSTANT_BEHIND = re.compile(r",(?:\d+|[\"'][\w-]+[\"'])$")
# In names of functions that compare or look up.
ASKING = (
    "has|includes?|contains|test|match|index_?of|strpos|in_array|starts?_?with|prefix|equals"
    "|check|valid|allowed|blocked"
)
# Whoever sends a request writes it.
FROM_OUTSIDE = re.compile(
    r"\$_(?:GET|POST|REQUEST|COOKIE)\b|\b(?:req|request)\b(?:\.|\[|->)|\bparams\["
)


def unfolded_values(went: Sequence[CodeFact], came: Sequence[CodeFact]) -> Iterator[Looser]:
    """Yield what was folded or cast where a name or key is bound to it, and is not now."""
    after = [fact for fact in came if fact.is_option]
    for old in (fact for fact in went if fact.is_option):
        for sort, function, rest in islice(without_folds(old.detail), MOST_FORMS):
            again = [
                each for each in after if (each.name, each.unit) == (old.name, old.unit)
            ]
            new = next((e for e in again if BLANKS.sub("", e.detail) == rest), None)
            # `name = fold(name)` went, and the name stands for the same.
            is_taken_out = rest == old.name and not again and sort == "unfolded"
            if new or is_taken_out:
                why = f"`{rest}` no longer goes through `{function}`"
                yield Looser(old, new or old, sort, why)
                break


def untyped_parameters(
    went: Sequence[CodeFact], came: Sequence[CodeFact]
) -> Iterator[Looser]:
    """Yield the parameters of PHP that took few texts by their type, and take any now that they have none."""
    typed = {(fact.unit, fact.name) for fact in came if fact.kind is FactKind.TYPE}
    headings = [fact for fact in came if fact.kind is FactKind.DEFINITION]
    narrow = read_strength_words()["narrow"]
    for old in went:
        is_typed = old.kind is FactKind.TYPE and old.name.startswith("$")
        if (
            not is_typed
            or old.detail.strip("?") not in narrow
            or (old.unit, old.name) in typed
        ):
            continue
        untyped = re.compile(rf"[(,] ?{re.escape(old.name)}\b")
        new = next((each for each in headings if untyped.search(each.detail)), None)
        if new:
            why = f"`{old.name}` was `{old.detail}` and is of any type now"
            yield Looser(old, new, "type", why)


def without_folds(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield "unfolded" or "uncast", the function, and a text without it and without blanks; of several all forms."""
    waiting = [BLANKS.sub("", text.strip().rstrip(";"))]
    while waiting:
        text = waiting.pop(0)
        for name, rest in without_one(text):
            folds = read_strength_words()["folds"]
            yield ("unfolded" if name.lower() in folds else "uncast"), name, rest
            waiting.append(rest)


def without_one(text: str) -> Iterator[tuple[str, str]]:
    """Yield the name of each fold or cast in a text, and the text without it."""
    known = read_strength_words()["folds"] | read_strength_words()["casts"]
    for match in (*CALL.finditer(text), *ENDED.finditer(text)):
        name = match["name"] or match["cast"]
        last = name.replace("::", ".").rpartition(".")[2]
        if last.lower() not in known:
            continue
        if "cast" in match.re.groupindex and match["name"]:
            yield from without_call(text, match, last)
        else:
            yield last, text[: match.start()] + text[match.end() :]


def without_call(text: str, match: re.Match[str], last: str) -> Iterator[tuple[str, str]]:
    """Yield a text with what a call is given in its place, or if that is nothing, with what it is called on."""
    inside, *behind = split_at_bracket(text[match.end() - 1 :])
    given = CONSTANT_BEHIND.sub("", CONSTANT_BEFORE.sub("", inside))
    rest = "".join(behind)
    if IDENTIFIER.search(given):
        yield last, text[: match.start()] + given + rest
    elif "." in match[0] or "->" in match[0]:
        end = max(match[0].rfind("."), match[0].rfind("->"))
        yield last, text[: match.start() + end] + rest


def split_at_bracket(text: str) -> tuple[str, str]:
    """Return what is in the brackets that a text begins with, and what stands behind them."""
    depth = 0
    for at, char in enumerate(text):
        depth += (char in "([{") - (char in ")]}")
        if depth == 0:
            return text[1:at], text[at + 1 :]
    return text[1:], ""


def is_from_outside(text: str) -> bool:
    """Return whether a text names what whoever sends a request writes."""
    return FROM_OUTSIDE.search(text) is not None


def is_compared(name: str, text: str) -> bool:
    """Return whether a line compares a name, or looks it up, but in what lets in: there one spelling is less."""
    word = re.escape(name)
    form = (
        rf"(?<![\w$]){word}(?: ?(?:[!=]==?|in\b|not in\b)|\.\w*(?:{ASKING})\w*\()"
        rf"|[!=]==? ?{word}\b|\bin \(?{word}\b|\[{word}\]"
        rf"|\b\w*(?:{ASKING})\w*\??\((?:[^()\n]{{0,80}}, ?)?{word}\b"
    )
    asking = re.compile(form, re.IGNORECASE)
    admits = read_strength_words()["admits"]
    return has_word(text, name.lstrip("$")) and any(
        asking.search(line) and admits.isdisjoint(words_of_name(line))
        for line in text.split("\n")
    )
