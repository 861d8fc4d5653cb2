"""Compare a lock file before and after: only the pieces that differ are parsed, and compared as data.

An entry of the same name, version and content is the same one, wherever in the file it stands now.
"""

from collections import Counter
from collections.abc import Iterable
from operator import attrgetter

from cli_guard.lazy import frozen
from cli_guard.model import group_by
from cli_guard.reviewers.dependencies.lock_files import LockListing
from cli_guard.reviewers.dependencies.pieces import LockPiece, UnreadableLock
from cli_guard.reviewers.dependencies.reading import Dependency, Listing

# What is installed of one version, whatever else is said of it.
CONTENT = attrgetter("source", "ref", "package", "integrity", "files", "addresses")
# The entry that another one replaces, that one, and whether the first is still there.
Match = tuple[Dependency | None, Dependency, bool]


@frozen
class LockChanges:
    """Each entry that came, with the one that it replaces; `is_beside`: that one is still there.

    `problem` says what could not be read of what changed.
    """

    matches: tuple[Match, ...] = ()
    gone: tuple[Dependency, ...] = ()
    problem: str = ""


def compare_locks(old: Listing, new: Listing) -> LockChanges:
    """Return what changed from one lock file to another."""
    before = Counter(each.identity for each in _pieces_of(old))
    after = Counter(each.identity for each in _pieces_of(new))
    left, _ = _entries_in(old, before - after)
    came, problem = _entries_in(new, after - before)
    waiting = group_by(left, lambda each: each.name)
    matches: list[Match] = []
    # First those of the same version, so that none of them is taken for the update of another.
    came.sort(key=lambda each: not _same_version(each, waiting.get(each.name, ())))
    for entry in came:
        own = waiting.get(entry.name, [])
        there = (*own, *old.entries_named(entry.name))
        same = _same_version(entry, there)
        if any(CONTENT(each) == CONTENT(entry) for each in same):
            taken = next((each for each in own if CONTENT(each) == CONTENT(entry)), None)
            if taken:
                own.remove(taken)
            continue
        was = _nearest(entry, same) or _nearest(entry, own)
        if was in own:
            own.remove(was)
            matches.append((was, entry, False))
        elif was or there:
            matches.append((was or there[0], entry, True))
        else:
            matches.append((None, entry, False))
    matches.sort(key=lambda match: match[1].line)
    gone = tuple(each for own in waiting.values() for each in own)
    return LockChanges(tuple(matches), gone, problem)


def _pieces_of(listing: Listing) -> tuple[LockPiece, ...]:
    return listing.pieces if isinstance(listing, LockListing) else ()


def _entries_in(
    listing: Listing, wanted: Counter[tuple[str, str, str]]
) -> tuple[list[Dependency], str]:
    """Return the entries of some pieces, and why one of them could not be read."""
    found: list[Dependency] = []
    problem = ""
    if not isinstance(listing, LockListing):
        return found, problem
    for piece in listing.pieces:
        if wanted[piece.identity] <= 0:
            continue
        wanted[piece.identity] -= 1
        try:
            found += listing.entries_of(piece)
        except UnreadableLock as error:
            problem = f"line {piece.line:,}: {error}"
    return found, problem


def _same_version(entry: Dependency, others: Iterable[Dependency]) -> list[Dependency]:
    return [
        each
        for each in others
        if each.spec == entry.spec and each.ecosystem == entry.ecosystem
    ]


def _nearest(entry: Dependency, others: list[Dependency]) -> Dependency | None:
    """Return the one at the same place, else the first."""
    at_place = (each for each in others if each.place == entry.place)
    return next(at_place, others[0] if others else None)
