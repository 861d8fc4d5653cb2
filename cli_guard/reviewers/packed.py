"""Search what is compressed in the files of a change for certain keys, and say what was not read and why.

All files of a change share one budget, spent in their order, so it is never spent by several processes at once.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field, replace

from cli_guard.code.languages import suffix_of
from cli_guard.lazy import dataclass
from cli_guard.model import FileChange, Skipped
from cli_guard.repository.texts import printable_runs
from cli_guard.reviewers.unread import RUN_BY_NAME, unread
from cli_guard.secrets import SecretHit, scan_keys
from cli_guard.secrets.added import GAP
from cli_guard.secrets.archives import MAY_CARRY, OVER_BUDGET, PIECE, Archive, ArchiveBudget

TOO_MUCH = "compressed: too much to search it all for keys"
PROGRAMS = "compressed: the programs in it were searched only for keys"


@dataclass
class Packed:
    """What was found in one file: the texts that hold keys, with the keys that are new, and what was not read."""

    found: list[tuple[str, Sequence[SecretHit]]] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)


def search_packed(
    change: FileChange, raw: bytes, before: Callable[[], bytes], budget: ArchiveBudget
) -> Packed:
    """Search a file; `before` returns its bytes before the change."""
    for_old = replace(budget)
    archive = Archive(budget)
    found = list(_keys_in(archive, raw))
    start = raw[:200].partition(b"\n")[0].decode("utf-8", "replace")
    reasons = set(archive.unread)
    if archive.is_zip and (start.startswith("#!") or suffix_of(change.path) in RUN_BY_NAME):
        reasons.add(PROGRAMS)
    if not (found or reasons):
        return Packed()
    old = Archive(for_old)
    # The same budget as the new one had: what that made of it is not new.
    known = _find_values(old, before(), {hit.value for _, hits in found for hit in hits})
    new = [(text, [hit for hit in hits if hit.value not in known]) for text, hits in found]
    was_unread = {*old.unread, *([PROGRAMS] if old.is_zip else ())}
    skipped = []
    for reason in sorted(reasons):
        if reason in MAY_CARRY or reason == TOO_MUCH:
            entry = Skipped(change.path, reason, asks=reason not in was_unread)
        else:
            entry = unread(change, reason, start, before=reason in was_unread)
        skipped.append(replace(entry, reason=_in_full(reason, archive)))
    return Packed([(text, hits) for text, hits in new if hits], skipped)


def _in_full(reason: str, archive: Archive) -> str:
    if reason != OVER_BUDGET:
        return reason
    limit = f"{archive.budget.limit:,} bytes in all (limits.total_chars)"
    return f"compressed: {archive.streams:,} files searched, the rest is over the limit of {limit}"


def _keys_in(archive: Archive, raw: bytes) -> Iterator[tuple[str, Sequence[SecretHit]]]:
    for text in _texts(archive.read(raw)):
        result = scan_keys(text)
        if result.stopped_at is not None:
            archive.unread.add(TOO_MUCH)
        hits = [hit for hit in result.hits if GAP not in hit.value]
        if hits:
            yield text, hits


def _find_values(archive: Archive, raw: bytes, values: set[str]) -> set[str]:
    """Return those of some values that a file holds, as ASCII or as UTF-16 in either byte order."""
    known: set[str] = set()
    for piece in archive.read(raw):
        for value in values - known:
            wide = value.encode("utf-16-le")[:-1]
            if value.encode() in piece or wide in piece:
                known.add(value)
    return known


def _texts(pieces: Iterable[bytes]) -> Iterator[str]:
    """Join the texts of many small files: each search has a price of its own."""
    runs: list[str] = []
    size = 0
    for piece in pieces:
        runs += printable_runs(piece)
        size += len(piece)
        if size >= PIECE:
            yield GAP.join(runs)
            runs = []
            size = 0
    yield GAP.join(runs)
