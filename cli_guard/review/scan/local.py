"""Have slices scanned in copies of this process. A copy that dies loses nothing: what it has not sent is done again."""

from collections.abc import Iterator, Sequence

from cli_guard.review.render import sarif
from cli_guard.review.render.review import Review
from cli_guard.review.scan.plan import Plan, Slice
from cli_guard.review.scan.slices import open_scanner
from cli_guard.reviewers import workers


def scan_locally(plan: Plan, pending: Sequence[Slice], jobs: int) -> Iterator[tuple[str, str]]:
    """Yield key and part of each slice, as they are done; none for a slice that ended its process twice."""
    missing = {each.key: each for each in pending}
    if jobs < 2 or not workers.can_copy():
        yield from scan_here(plan, pending)
        return

    def work(own: Sequence[Slice]) -> Iterator[bytes]:
        for key, part in scan_here(plan, own):
            yield f"{key} {part}".encode("ascii")

    for _, line in workers.lines_of(jobs, lambda number: work(pending[number::jobs])):
        key, _, part = line.decode("ascii").partition(" ")
        missing.pop(key, None)
        yield key, part
    for piece in missing.values():
        for _, line in workers.lines_of(1, lambda _, piece=piece: work([piece])):  # type: ignore[misc]
            key, _, part = line.decode("ascii").partition(" ")
            yield key, part


def scan_here(plan: Plan, pieces: Sequence[Slice]) -> Iterator[tuple[str, str]]:
    """Yield key and part of each slice, scanned in this process."""
    with open_scanner(plan.repository, plan.policy, plan.today) as scanner:
        for piece in pieces:
            yield piece.key, part_of(scanner.scan(piece))


def part_of(review: Review) -> str:
    """Return a part as SARIF on one line."""
    return sarif.render(review, indent=None).rstrip("\n")
