"""Compare lists of constants: does one let in what it did not?

What a list is for says its name, or what it holds: beside `https` a list of schemes lets `data` in. The kinds of entry
are data: `[[list]]` in `rules/languages/strength.toml`.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

from cli_guard.code.changes.facts import CodeFact, FactKind, Looser
from cli_guard.code.changes.values import TABLE, key_words, plain, read_strength_words
from cli_guard.rules.catalog import read_table

LISTED = "listed"
# So many doubtful entries of one kind are a decision.
MANY = 3
# A handler of events, whatever it is for.
HANDLERS = "on*"
Kind = Mapping[str, frozenset[str]]


@cache
def kinds_of_list() -> Sequence[Kind]:
    """Return the kinds of list: what is ordinary in one, and what is risky or doubtful."""
    names = ("ordinary", "risky", "doubtful")
    rows = read_table(TABLE)["list"]
    return [{name: frozenset(row.get(name, "").split()) for name in names} for row in rows]


def looser_lists(went: Sequence[CodeFact], came: Sequence[CodeFact]) -> Iterator[Looser]:
    """Yield the entries that came into a list which lets them in."""
    before = {entry_of(fact) for fact in went}
    many = Counter(list_of(fact) for fact in came if is_doubtful(entry_of(fact)))
    for new in came:
        entry = entry_of(new)
        is_new = bool(entry) and entry not in before
        if is_new and lets_in(entry, new, is_one_of_many=many[list_of(new)] >= MANY):
            why = f"`{entry}` is one of {show_list(new)} now"
            yield Looser(holder_of(new, went) or new, new, LISTED, why)


def entry_of(fact: CodeFact) -> str:
    """Return the entry of a list that a fact is, "" for none: `params.permit(:name, :admin)` has entries, too."""
    if fact.kind is FactKind.ENTRY:
        return plain_entry(fact.detail)
    return plain_entry(fact.name) if fact.kind is FactKind.ARGUMENT else ""


def list_of(fact: CodeFact) -> str:
    """Return the name of the list that a fact is in."""
    return fact.detail if fact.kind is FactKind.ARGUMENT else fact.name


def show_list(fact: CodeFact) -> str:
    name = list_of(fact)
    return f"`{name}`" if name else ", ".join(f"`{each}`" for each in fact.operands[:3])


def plain_entry(text: str) -> str:
    return plain(text).lstrip(".:").removesuffix("//").removesuffix(":")


def is_doubtful(entry: str) -> bool:
    return any(entry in kind["doubtful"] for kind in kinds_of_list())


def lets_in(entry: str, fact: CodeFact, *, is_one_of_many: bool) -> bool:
    words = key_words(list_of(fact))
    known = read_strength_words()
    # What is handed over together with a function is settled by that.
    if words & (known["refused"] | known["fixed"]) or any("(" in e for e in fact.operands):
        return False
    is_admitting = not words.isdisjoint(known["admits"])
    # Names that are written without quotes are those of fields, too.
    is_of_fields = fact.kind is FactKind.ARGUMENT or bool(words & known["assigns"])
    beside = set(map(plain_entry, fact.operands)) - {entry}
    for kind in kinds_of_list():
        if is_of_fields and kind["ordinary"]:
            continue
        is_risky = is_one_of(entry, kind["risky"])
        is_of_kind = not kind["ordinary"] or not beside.isdisjoint(
            kind["ordinary"] | kind["risky"]
        )
        if is_admitting and is_of_kind and (is_risky or is_one_of(entry, kind["doubtful"])):
            return True
        is_risky = is_risky or (
            is_one_of_many and bool(kind["risky"]) and entry in kind["doubtful"]
        )
        if is_risky and not beside.isdisjoint(kind["ordinary"]):
            return True
    return False


def is_one_of(entry: str, entries: frozenset[str]) -> bool:
    is_handler = HANDLERS in entries and entry.startswith("on") and len(entry) > len("once")
    return entry in entries or is_handler


def holder_of(fact: CodeFact, went: Iterable[CodeFact]) -> CodeFact | None:
    """Return the option that held the list before, None if it went on over lines that the change left alone."""
    names = list_of(fact).split(".")
    return next((each for each in went if each.is_option and each.last_name in names), None)
