"""What a change lets pass without a question that was asked about, denied or shut in before, by each tool's semantics.

How an entry is read:
    flag      `wide` is the value that lets something pass; a missing value does not
    rank      `ranks` are values from the strictest on, several in one are equal; `missing` is the rank without one
    grant     see `grants`; `beaten_by` are places that win over it; `is_ordered`: of two that match the later wins,
              `is_first`: the earlier;
              `but` is a sort that is left out; `is_exception`: it counts where the state before denied the same
    denial    what is denied (`strength` 2) or asked about (1), missed when nothing as strong covers it any more;
              `secret` is a pattern for words of secrets: what has none and reads no credentials is not missed
    listing   each value lets something pass
    folder    each value is a folder that the tool may read and write
"""

import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from cli_guard.reviewers.agents.findings import SurfaceRemark
from cli_guard.reviewers.agents.grants import Grant, danger_of, grant_of, shorten
from cli_guard.reviewers.agents.statements import SurfaceStatement
from cli_guard.reviewers.agents.tables import steps_of

STRONGEST = 2
# Of one file: each is a question to the judge.
MOST_JUDGED = 400
# A folder beside the tree, or below a temporary one, is not the home of a person.
HARMLESS_FOLDERS = re.compile(r"(?:\./)?(?!\.\.)[\w@][^~$]*|/tmp(?:/.*)?|\.")


def widenings(
    before: Sequence[SurfaceStatement],
    after: Sequence[SurfaceStatement],
    beside: Sequence[SurfaceStatement],
) -> Iterator[SurfaceRemark]:
    """Yield what the state after a change lets pass, of all its statements.

    `beside` are those of other files that hold in both states.
    """
    old = [*before, *beside]
    new = [*after, *beside]
    known = {each.identity for each in old}
    old_grants = [(each, grant_of(each)) for each in grants_in(old)]
    judged = 0
    for statement in after:
        read = statement.entry.word("read")
        if read in ("flag", "rank"):
            yield from find_raised_modes(statement, old)
        elif read == "grant":
            judged += statement.identity not in known
            if judged > MOST_JUDGED:
                words = f"more than {MOST_JUDGED} new grants, which are not all judged"
                yield SurfaceRemark("permission-tool", statement, words)
                break
            yield from find_wider_grants(statement, old_grants, old, new)
        elif read in ("listing", "folder"):
            yield from find_new_items(statement, old)
    yield from find_lost_denials(before, new)
    yield from find_lost_modes(before, new)


def find_raised_modes(
    statement: SurfaceStatement, old: Sequence[SurfaceStatement]
) -> Iterator[SurfaceRemark]:
    """Yield a flag that is set, or a mode that asks about less than the one before."""
    same = [each for each in old if each.about == statement.about]
    level = level_of(statement)
    if level > default_level(statement) or same:
        was = max((level_of(each) for each in same), default=default_level(statement))
        if level > was:
            rule = rule_of(statement, "permission-mode")
            yield SurfaceRemark(rule, statement, sentence(statement))


def level_of(statement: SurfaceStatement) -> int:
    """Return how much a value lets pass; one that no table knows asks as the widest that was known."""
    entry = statement.entry
    value = statement.value.strip()
    if entry.word("read") == "flag":
        return int(re.fullmatch(entry.word("wide"), value) is not None)
    ranks: list[str] = entry.words["ranks"]
    for rank, values in enumerate(ranks):
        if value in values.split():
            return rank
    return len(ranks) - 1 if re.fullmatch(r"[\w-]+", value) else default_level(statement)


def default_level(statement: SurfaceStatement) -> int:
    return int(statement.entry.words.get("missing", 0))


def find_wider_grants(
    statement: SurfaceStatement,
    old_grants: Sequence[tuple[SurfaceStatement, Grant]],
    old: Sequence[SurfaceStatement],
    new: Sequence[SurfaceStatement],
) -> Iterator[SurfaceRemark]:
    """Yield a grant of what nothing granted before, if it lets something dangerous pass."""
    grant = grant_of(statement)
    if grant.sort == statement.entry.word("but") or is_beaten(statement, grant, new):
        return
    denials = map(grant_of, denials_in(old))
    if statement.entry.words.get("is_exception") and not any(
        each.covers(grant) for each in denials
    ):
        return
    for other, held in old_grants:
        if held.covers(grant) and not is_beaten(other, held, old):
            return
    danger = danger_of(grant)
    if danger:
        sort = "command" if grant.sort == "command" else "tool"
        yield SurfaceRemark(rule_of(statement, f"permission-{sort}"), statement, danger)


def grants_in(statements: Sequence[SurfaceStatement]) -> Iterator[SurfaceStatement]:
    return (each for each in statements if each.entry.word("read") == "grant")


def is_beaten(
    statement: SurfaceStatement, grant: Grant, every: Sequence[SurfaceStatement]
) -> bool:
    """Return whether something in the same state asks about, or denies, all that a statement grants."""
    if statement.entry.words.get("is_ordered"):
        return any(is_behind(each, statement) for each in denials_in(every))
    places = {steps_of(each) for each in statement.entry.words.get("beaten_by", ())}
    is_first = bool(statement.entry.words.get("is_first"))
    return any(
        not places.isdisjoint(each.entry.places)
        # A regular expression is known to match the same as one that reads the same.
        and (each.value == statement.value or grant_of(each).covers(grant))
        and (not is_first or each.order < statement.order)
        for each in denials_in(every)
    )


def is_behind(winner: SurfaceStatement, loser: SurfaceStatement) -> bool:
    """Return whether a pattern stands behind another one of its list, and matches all that this does."""
    return (
        winner.order > loser.order
        and winner.path == loser.path
        and winner.entry.word("sort") == loser.entry.word("sort")
        and fnmatchcase(loser.name, winner.name)
    )


def denials_in(statements: Sequence[SurfaceStatement]) -> Iterator[SurfaceStatement]:
    return (each for each in statements if each.entry.word("read") == "denial")


def find_lost_denials(
    before: Sequence[SurfaceStatement], new: Sequence[SurfaceStatement]
) -> Iterator[SurfaceRemark]:
    """Yield what was denied or asked about and is not any more."""
    there = {each.identity: each for each in denials_in(new)}
    after = [
        (strength_of(each), grant_of(each))
        for each in denials_in(new)
        if not winner_over(each, new)
    ]
    for statement in denials_in(before):
        if winner_over(statement, before):
            continue
        grant = grant_of(statement)
        strength = strength_of(statement)
        secret = statement.entry.word("secret")
        if secret and not re.search(secret, grant.text) and not danger_of(grant):
            continue
        if any(other >= strength and each.covers(grant) for other, each in after):
            continue
        verb = "denied" if strength == STRONGEST else "asked about"
        says = statement.entry.word("says") or verb
        words = f"`{shorten(statement.wording)}` is no longer {says}"
        if kept := there.get(statement.identity):
            cause = winner_over(kept, new)
            side = "before" if cause and cause.entry.words.get("is_first") else "behind"
            words += f": what stands {side} it allows it"
            yield SurfaceRemark("permission-denial", kept, words, cause=cause)
        else:
            yield SurfaceRemark("permission-denial", statement, words, is_gone=True)


def winner_over(
    denial: SurfaceStatement, statements: Sequence[SurfaceStatement]
) -> SurfaceStatement | None:
    """Return the grant that takes a denial back, for a tool that reads its list in order; None if there is none."""
    for each in grants_in(statements):
        words = each.entry.words
        if words.get("is_ordered") and is_behind(each, denial):
            return each
        if words.get("is_first") and is_ahead(each, denial):
            return each
    return None


def is_ahead(grant: SurfaceStatement, denial: SurfaceStatement) -> bool:
    """Return whether a grant stands before a denial of its list, and covers all of it."""
    return (
        grant.order < denial.order
        and grant.path == denial.path
        and grant.entry.places == denial.entry.places
        and grant_of(grant).covers(grant_of(denial))
    )


def strength_of(statement: SurfaceStatement) -> int:
    return int(statement.entry.words["strength"])


def find_lost_modes(
    before: Sequence[SurfaceStatement], new: Sequence[SurfaceStatement]
) -> Iterator[SurfaceRemark]:
    """Yield a mode that was stricter than what holds without it, and is gone."""
    there = {each.about for each in new}
    for statement in before:
        is_gone = statement.entry.word("read") == "rank" and statement.about not in there
        if is_gone and level_of(statement) < default_level(statement):
            words = f"{statement.name} is no longer {shorten(statement.value)}"
            rule = rule_of(statement, "permission-mode")
            yield SurfaceRemark(rule, statement, words, is_gone=True)


def find_new_items(
    statement: SurfaceStatement, old: Sequence[SurfaceStatement]
) -> Iterator[SurfaceRemark]:
    """Yield an item that a list did not hold before."""
    if any(each.identity == statement.identity for each in old):
        return
    if statement.entry.word("read") == "folder":
        if HARMLESS_FOLDERS.fullmatch(statement.value):
            return
        words = f"files outside the repository may be read and written: {shorten(statement.value)}"
        yield SurfaceRemark("permission-folder", statement, words)
        return
    rule = rule_of(statement, "permission-tool")
    yield SurfaceRemark(rule, statement, sentence(statement))


def rule_of(statement: SurfaceStatement, otherwise: str) -> str:
    return statement.entry.word("rule") or otherwise


def sentence(statement: SurfaceStatement) -> str:
    """Return what an entry says of its value."""
    words = statement.entry.word("says") or "{name} is {value}"
    for key, value in (
        ("{value}", shorten(statement.value)),
        ("{name}", shorten(statement.name)),
        ("{tool}", statement.tool),
    ):
        words = words.replace(key, value)
    return words
