"""Compare what went with what came in the same place: is the new one true more often, or weaker?

Which words are weaker than which, which functions and which numbers, is data: `rules/languages/strength.toml`.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import product

from cli_guard.code.changes.calls import (
    lost_actions,
    lost_flag,
    lost_name,
    lost_owner,
    lost_owner_column,
    lost_parameter,
    lost_scope,
    lost_subject,
    lost_width,
)
from cli_guard.code.changes.comparisons import (
    asks_less,
    looser_comparison,
    overflowing_sum,
    sides_of_equality,
)
from cli_guard.code.changes.facts import (
    JUDGED,
    ONLY_SAYS,
    VALUES,
    CodeFact,
    FactKind,
    Looser,
    short_name,
    words_of_name,
)
from cli_guard.code.changes.order import values_of
from cli_guard.code.changes.patterns import (
    looser_pattern,
    looser_pattern_operand,
)
from cli_guard.code.changes.ranks import (
    MOST_PAIRS,
    TextChange,
    loosened_words,
    weaker_text,
)
from cli_guard.code.changes.values import (
    loosened_value,
    plain,
    read_strength_words,
    wider_type,
)
from cli_guard.lazy import frozen
from cli_guard.model import group_by

NAMED = (FactKind.CALL, FactKind.DECORATOR, FactKind.OPTION)
COMPARED = (
    FactKind.CALL,
    FactKind.DECORATOR,
    FactKind.OPTION,
    FactKind.TEXT,
    FactKind.OUTPUT,
    FactKind.TYPE,
    FactKind.ARGUMENT,
    *JUDGED,
)
ALSO = re.compile(r"&&|\band\b")
INSTEAD = re.compile(r"\|\||\bor\b")
SEPARATOR = re.compile(
    r"(?:[\s+.\"'`/\\,]|os|path|sep|File|separator(?:Char)?|DIRECTORY_SEPARATOR|DirectorySeparatorChar"
    r"|AltDirectorySeparatorChar|Path|filepath|Separator|string|\(|\))+"
)
# `$this->token()` is a value as well.
CALLED = re.compile(r"(\w+)\(\)")
NOTHING = re.compile(r"return(?: (?:None|null|nil|undefined))?;?")
DENYING = re.compile(r"\breturn (?:[Ff]alse|nil|None);?$")
PATH = re.compile(r"[\w$.>-]+(?:\[[\w'\"-]+\])?")


def looser_facts(went: Sequence[CodeFact], came: Sequence[CodeFact]) -> Iterator[Looser]:
    """Yield the facts of one unit that became looser, each with the one that it became."""
    left = [fact for fact in came if fact.kind in COMPARED]
    by_name = group_by(left, name_key)
    elsewhere = Conditions(list_operands(went), list_operands(came))
    count = 0
    for old in went:
        if old.kind not in COMPARED:
            continue
        # One of the same name is what it became.
        for new in by_name.get(name_key(old), left):
            count += 1
            if count > MOST_PAIRS:
                return
            if found := compare(old, new, elsewhere):
                yield found
                left.remove(new)
                by_name[name_key(new)].remove(new)
                break


def name_key(fact: CodeFact) -> tuple[FactKind, str]:
    """Return the name that a fact keeps, though what it is called on may get another one."""
    return fact.kind, fact.last_name if fact.is_call else fact.name


def list_operands(facts: Iterable[CodeFact]) -> frozenset[tuple[str, ...]]:
    """Return the operands of each condition."""
    return frozenset(fact.operands for fact in facts if fact.is_judged)


@frozen
class Conditions:
    """What else a unit asked, and asks now: an operand may have moved from one condition to another."""

    before: frozenset[tuple[str, ...]]
    now: frozenset[tuple[str, ...]]

    @property
    def operands_before(self) -> list[str]:
        """Return all operands that were asked."""
        return [operand for operands in self.before for operand in operands]

    def has_moved(self, operand: str, old: CodeFact, new: CodeFact) -> bool:
        """Return whether another condition of the unit had, or has, the operand."""
        others = (self.before - {old.operands}) | (self.now - {new.operands})
        return any(operand in operands for operands in others)


def compare(old: CodeFact, new: CodeFact, elsewhere: Conditions) -> Looser | None:
    """Return how one fact became the other, looser one; None if they differ in anything else."""
    is_named = old.kind is new.kind and (old.is_judged or old.name == new.name)
    if is_named and (why := lost_width(old, new)):
        return Looser(old, new, "bound", why)
    is_asked = old.is_judged and new.is_judged
    if is_asked and (found := loosened_condition(old, new, elsewhere)):
        return found
    if old.kind is not new.kind:
        return None
    if is_raw_now(old, new):
        return Looser(
            old, new, "output", f"`{new.name}` is printed as it is, without an escape"
        )
    if old.kind is FactKind.TYPE:
        return Looser(old, new, "type", why) if (why := wider_type(old, new)) else None
    if why := lost_scope(old, new):
        return Looser(old, new, "owner", why)
    if why := lost_owner(old, new) or lost_subject(old, new):
        return Looser(old, new, "member", why)
    if gone := lost_name(old, new):
        return Looser(old, new, "member", f"`{new.last_name}` no longer names `{gone}`")
    if why := lost_parameter(old, new):
        return Looser(old, new, "query", why)
    if why := lost_actions(old, new):
        return Looser(old, new, "filter", why)
    if why := lost_owner_column(old, new):
        return Looser(old, new, "owner", why)
    if why := lost_flag(old, new):
        return Looser(old, new, "value", why)
    if old.kind in NAMED and old.name != new.name and old.detail != new.detail:
        return None
    if old.is_option and old.name == new.name:
        around = words_of_name(old.unit)
        place = TextChange.between(old.detail, new.detail)
        # The whole value, or the default at its end.
        for was, now in (
            (old.detail, new.detail),
            (place.gone, place.new) if place else ("", ""),
        ):
            if why := loosened_value(old.name, was, now, around):
                return Looser(old, new, "value", why)
    if why := looser_pattern(old, new, elsewhere.operands_before):
        return Looser(old, new, "match", why)
    change = TextChange.between(old.text, new.text)
    if change is None:
        return None
    return next(
        (Looser(old, new, sort, why) for sort, why in reasons(old, new, change)), None
    )


def loosened_condition(
    old: CodeFact, new: CodeFact, elsewhere: Conditions
) -> Looser | None:
    """Return how a condition holds back less than before, None if it does not or nobody can say."""
    was = set(old.operands)
    now = set(new.operands)
    for gone, added in product(was - now, now - was):
        if overflowing_sum(gone, added):
            why = f"`{added}` may wrap around, `{gone}` could not"
            return Looser(old, new, "bound", why)
    if (not was & now and len(was | now) > 2) or any(
        elsewhere.has_moved(each, old, new) for each in was ^ now
    ):
        return None
    leaves = old.is_guard and not is_admission(old)
    if leaves and was == now and not new.is_guard:
        says = "only says so and " if new.detail == ONLY_SAYS else ""
        why = f"what followed `{old.name}` left here; now it {says}goes on"
        return Looser(old, new, "condition", why)
    if old.kind is not new.kind:
        return None
    if was == now and (old.joiner, new.joiner) == (
        ("or", "and") if leaves else ("and", "or")
    ):
        return Looser(old, new, "asked", f"`{new.name}` is enough now")
    if len(was - now) == len(now - was) == 1:
        gone = min(was - now)
        added = min(now - was)
        return loosened_operand(old, new, gone, added)
    # A guard refuses where it is true; any other condition lets in where it is.
    if now < was and old.joiner == ("or" if leaves else "and"):
        gone = min(was - now, key=old.operands.index)
        return Looser(old, new, "condition", f"`{gone}` is no longer part of the condition")
    if was < now and new.joiner == ("and" if leaves else "or"):
        added = min(now - was, key=new.operands.index)
        return Looser(old, new, "condition", f"`{added}` now makes an exception")
    return None


def is_admission(guard: CodeFact) -> bool:
    """Return whether a guard leaves a function that is a check by its name, and refuses nothing: `return` alone."""
    words = words_of_name(short_name(guard.unit))
    known = read_strength_words()
    is_check = not known["checks"].isdisjoint(words[:1])
    # Whether a check is needed at all.
    is_need = not known["needs"].isdisjoint(words) and not known["judges"].isdisjoint(words)
    denies = DENYING.search(guard.detail) is not None
    return (is_check and NOTHING.fullmatch(guard.detail) is not None) or (
        is_need and denies
    )


def loosened_operand(old: CodeFact, new: CodeFact, gone: str, added: str) -> Looser | None:
    """Return how an operand became looser by another one inside its brackets, or by its comparison."""
    leaves = old.is_guard and not is_admission(old)
    sign = ALSO if leaves else INSTEAD
    if gone in added and sign.search(added.replace(gone, "")):
        return Looser(old, new, "condition", f"`{added}` is enough now")
    if asks_less(gone, added, refuses=leaves):
        return Looser(old, new, "comparison", f"`{gone}` is only `{added}` now")
    if why := asks_another(gone, added):
        return Looser(old, new, "asked", why)
    if why := looser_pattern_operand(gone, added, refuses=leaves):
        return Looser(old, new, "comparison", why)
    found = looser_comparison(gone, added, refuses=leaves)
    if found is None:
        return None
    return Looser(old, new, "bound" if found.is_bound else "comparison", found.why)


def asks_another(gone: str, added: str) -> str:
    """Return that an operand asks about another one than who asks, or about what they sent; "" if it does not."""
    change = TextChange.between(gone, added)
    if change is None or not PATH.fullmatch(change.new):
        return ""
    known = read_strength_words()
    was = frozenset(words_of_name(change.gone))
    now = frozenset(words_of_name(change.new))
    is_other = was & known["asking"] and not now & known["asking"]
    is_sent = now & known["sent"] and not was & known["sent"]
    return f"`{added}` is asked now, not `{gone}`" if is_other or is_sent else ""


def reasons(old: CodeFact, new: CodeFact, change: TextChange) -> Iterator[tuple[str, str]]:
    """Yield the sort and the reason of each way in which an edit is looser."""
    is_flag_gone = change.gone == "g" and not change.new and change.before.endswith("/")
    if old.kind is FactKind.TEXT and is_flag_gone:
        yield "match", "only the first occurrence is replaced now"
    if old.kind in (FactKind.CALL, *JUDGED) and is_prefix_without_separator(change):
        yield (
            "prefix",
            "the prefix no longer ends with a separator, so a folder beside it fits as well",
        )
    if old.kind is FactKind.TEXT and (
        sort := weaker_text(plain(old.name), plain(new.name))
    ):
        yield sort, f"{new.name} is weaker than {old.name}"
    if words := loosened_words(change):
        yield words


def is_raw_now(old: CodeFact, new: CodeFact) -> bool:
    """Return whether a template printed an expression with an escape, or a filter, and prints it without one."""
    if old.kind is not FactKind.OUTPUT or new.detail != "raw":
        return False
    value, *filters = map(str.strip, old.name.split("|"))
    _, *left = map(str.strip, new.name.split("|"))
    # What was raw before has lost a filter.
    is_less = old.detail == "escaped" or set(left) < set(filters)
    return is_less and value in new.name


def is_prefix_without_separator(change: TextChange) -> bool:
    gone = change.gone.strip()
    # A backslash before anything but a quote is no separator.
    is_escape = gone == "\\" and change.after[:1] not in ("'", '"', "`", "\\")
    if change.new.strip() or not gone or is_escape:
        return False
    names = words_of_name(change.before)
    is_prefix = any(name in read_strength_words()["begins"] for name in names)
    has_sign = re.search(r"[/\\]|[sS]ep|SEPARATOR", change.gone) is not None
    return is_prefix and has_sign and SEPARATOR.fullmatch(change.gone) is not None


def plain_comparisons(
    went: Sequence[CodeFact], came: Sequence[CodeFact], constant: Collection[CodeFact]
) -> Iterator[Looser]:
    """Yield the calls that compared two values where `==` compares the same two now.

    Such are those that are known to take `constant` time; of any other one value is a secret by its name.
    """
    calls = [fact for fact in went if fact in constant or is_comparing(fact)]
    compared = (
        (new, operand, sides)
        for new in (came if calls else ())
        if new.is_judged
        for operand in new.operands
        if (sides := names_of_sides(operand))
    )
    for new, operand, sides in compared:
        is_secret = has_secret(name for side in sides for name in side)
        for old in calls:
            values = values_of(old)
            is_same = all(side <= values for side in sides)
            is_of_secret = is_secret or has_secret((old.last_name,))
            if is_same and (is_of_secret or old in constant):
                why = f"`{operand}` takes the place of `{old.name}`"
                yield Looser(old, new, "timing", why)
                break


def is_comparing(fact: CodeFact) -> bool:
    """Return whether a call says whether two values are equal, by the words of its name."""
    known = read_strength_words()
    name = fact.last_name
    is_named = not known["compares"].isdisjoint(words_of_name(name))
    return fact.is_call and is_named and name.lower() not in known["differences"]


def names_of_sides(operand: str) -> tuple[frozenset[str], ...]:
    """Return the names of values on each side of a comparison for equality, none if one side is a constant."""
    selves = read_strength_words()["selves"]
    sides = sides_of_equality(operand)
    named = tuple(
        frozenset(VALUES.findall(side) + CALLED.findall(side)) - selves for side in sides
    )
    is_fixed = any(side[0] in "'\"" for side in sides) or not all(named)
    return () if is_fixed or len(set(named)) < len(named) else named


def has_secret(names: Iterable[str]) -> bool:
    known = read_strength_words()
    words = {word for name in names for word in words_of_name(name)}
    return not words.isdisjoint(known["credentials"] | known["secrets"])
