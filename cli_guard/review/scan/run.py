"""Scan one repository: plan, take what earlier runs have done, have the rest scanned, join the parts.

The parts of earlier runs save time and prove nothing: whoever can write their folder could write any result.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path

from cli_guard.errors import CliGuardError
from cli_guard.git.changes import Bounds, ChangeReader
from cli_guard.git.contents import BlobContents, BlobReader
from cli_guard.model import Category, Decision, Skipped
from cli_guard.policy.gate import Judgement, judge_findings, judge_record
from cli_guard.review.parts import Collector, read_parts
from cli_guard.review.render import sarif
from cli_guard.review.render.review import Review
from cli_guard.review.run import review
from cli_guard.review.scan.cluster import scan_on_cluster
from cli_guard.review.scan.plan import Items, Plan, Slice, make_plan, open_place
from cli_guard.review.scan.slices import EVENT, Scanner
from cli_guard.reviewers import workers
from cli_guard.reviewers.cache import Cache
from cli_guard.reviewers.policy import expired_notes, not_reviewed
from cli_guard.reviewers.review_input import Limits
from cli_guard.runtime import Invocation
from cli_guard.state.files import explain_write_errors, make_folder

OnProgress = Callable[[int, int], None]
LOST = "the process that scanned it ended, twice"
STATUSES = {Decision.ALLOW: "ok", Decision.REVIEW: "needs_review", Decision.DENY: "failed"}


@dataclass(frozen=True)
class Options:
    """How to scan. `state` is the folder for the parts, None for that of the repository."""

    history: bool = False
    rules: bool = False
    fresh: bool = False
    jobs: int = 1
    state: Path | None = None
    scheduler: str = ""


def scan(
    place: str | None, options: Options, invocation: Invocation, on_progress: OnProgress | None = None
) -> Review:
    """Scan the repository at a place, None for the current one. Raises CliGuardError."""
    plan = make_plan(open_place(place, invocation), invocation, history=options.history)
    collector, notes = collect(plan, options, on_progress)
    judgement, skipped = collector.join()
    standing, suppressed, skipped = judgement.standing, judgement.suppressed, (*plan.skipped, *skipped)
    if left_out := not_reviewed(skipped):
        standing += judge_findings([left_out], plan.policy, lambda _: None, plan.today, {}).standing
    if options.rules and plan.tip:
        more = review_tip(plan, plan.tip)
        standing += tuple(
            each
            for each in more.findings
            if not each.finding.rule.startswith("secret-")
            and (each.finding.category is not Category.POLICY or each.finding.rule == "policy-not-reviewed")
        )
        suppressed += tuple(each for each in more.suppressed if not each.finding.rule.startswith("secret-"))
        skipped += more.skipped
    verdict = judge_record(Judgement(standing, suppressed))
    unit = Items.COMMITS if options.history else Items.FILES
    number = sum(each.count for each in plan.slices if each.kind is unit)
    reason = verdict.reason if standing else None if plan.slices else "there is no commit yet"
    return Review(
        EVENT,
        STATUSES[verdict.decision],
        verdict.decision,
        standing,
        suppressed,
        review_reason=reason,
        files=number,
        reviewed=number,
        skipped=tuple(dict.fromkeys(skipped)),
        notes=(*expired_notes(plan.policy, plan.today), *notes),
        unit=unit,
    )


def collect(plan: Plan, options: Options, on_progress: OnProgress | None) -> tuple[Collector, list[str]]:
    """Collect the parts of all slices: those of earlier runs, and the rest from the engine. Raises CliGuardError."""
    collector, notes = Collector(history=options.history), list[str]()
    missing = {each.key: each for each in plan.slices}
    total = left = sum(each.count for each in plan.slices)
    folder = options.state or plan.repository.state_folder
    if options.state:
        with explain_write_errors("the state"):
            make_folder(folder)
    kept = Cache(folder)
    for part in () if options.fresh else kept.get(map(bytes.fromhex, missing)).values():
        left -= take(part, missing, collector)
    if left < total:
        known = f"{total - left:,} of {total:,} commits, refs and files are known from earlier runs"
        notes.append(f"{known}: their state proves nothing, --fresh scans them again")
    first = next(iter(missing), "")
    local = scan_locally(plan, missing, options.jobs)
    for part in scan_on_cluster(plan, missing, options.scheduler, scan_here) if options.scheduler else local:
        kept.put({bytes.fromhex(read_parts("a part", part)[0].binding): part})
        left -= take(part, missing, collector)
        if on_progress:
            on_progress(total - left, total)
    if first and first not in missing and not kept.get([bytes.fromhex(first)]):
        notes.append(f"the state cannot be written to {folder}; --state FOLDER names another place")
        if options.state:
            raise CliGuardError(notes.pop())
    for each in missing.values():
        lost = Skipped(f"slice {each.number} ({each.count} {each.kind}s)", LOST, by_limit=True)
        collector.add(Review(EVENT, "ok", Decision.ALLOW, (), skipped=(lost,)), each.number)
    return collector, notes


def take(part: bytes, missing: dict[str, Slice], collector: Collector) -> int:
    """Collect a part that is still missing; return how many items it has."""
    (found,) = read_parts("a part", part)
    if found.binding not in missing:
        return 0
    piece = missing.pop(found.binding)
    collector.add(found, piece.number, piece.items)
    return piece.count


def scan_locally(plan: Plan, missing: Mapping[str, Slice], jobs: int) -> Iterator[bytes]:
    """Yield a part for each slice, scanned in copies of this process; none for one that has ended two of them."""
    pending = [*missing.values()]
    if jobs < 2 or len(pending) < 2 or workers.available() < 2:
        yield from scan_here(plan, pending)
        return
    # What a copy that died has not sent is done again, each slice in a copy of its own.
    again = ([[piece]] for piece in pending if piece.key in missing)
    for shares in chain(([pending[number::jobs] for number in range(jobs)],), again):
        work = partial(scan_share, plan, shares)
        yield from (line for _, line in workers.lines_of(len(shares), work))


def scan_share(plan: Plan, shares: Sequence[Sequence[Slice]], number: int) -> Iterator[bytes]:
    return scan_here(plan, shares[number])


def scan_here(plan: Plan, pieces: Sequence[Slice]) -> Iterator[bytes]:
    """Yield a part for each slice, as SARIF in one line, scanned in this process."""
    with BlobReader(plan.repository.git, blob_limit=Limits.of(plan.policy).file_chars) as blobs:
        scanner = Scanner(plan, blobs)
        yield from (
            sarif.render(scanner.scan(piece), indent=None).strip().encode("ascii") for piece in pieces
        )


def review_tip(plan: Plan, tip: str) -> Review:
    """Review all files of the tip by all rules, as if they were new."""
    limits = Limits.of(plan.policy)
    with BlobReader(plan.repository.git, blob_limit=limits.file_chars) as blobs:
        bounds = Bounds(limits.files, limits.file_chars, limits.total_chars)
        changes = next(ChangeReader(plan.repository, blobs, bounds).nets([(tip, (None,))]))
        return review(changes, plan.policy, contents=BlobContents(blobs, tip), today=plan.today)
