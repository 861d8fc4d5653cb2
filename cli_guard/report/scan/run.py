"""Scan one repository: plan, take what earlier runs have done, have the rest scanned, join the parts.

The parts of earlier runs save time and prove nothing: whoever can write their folder could write any result.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path

from cli_guard.errors import UsageError
from cli_guard.lazy import frozen
from cli_guard.model import Decision, Skipped
from cli_guard.policy.gate import GateJudgement, judge_findings, judge_record
from cli_guard.report.parts import Collector, read_parts
from cli_guard.report.scan.agents import STATUSES, scan_agents
from cli_guard.report.scan.cluster import scan_on_cluster
from cli_guard.report.scan.plan import ScanItems, ScanPlan, Slice, make_plan, open_place
from cli_guard.report.scan.slices import EVENT, Scanner
from cli_guard.review.render import sarif
from cli_guard.review.render.review import Review
from cli_guard.review.run import review as review_changes
from cli_guard.reviewers import workers
from cli_guard.reviewers.cache import Cache
from cli_guard.reviewers.policy import ineffective_notes, not_reviewed
from cli_guard.reviewers.review_input import Limits
from cli_guard.runtime import Invocation

OnProgress = Callable[[int, int], None]
LOST = "the process that scanned it ended, twice"
OWN = ("secret-", "policy-")  # rules that are applied here, or only to what is new


@frozen
class ScanOptions:
    """How to scan. `state` is the folder for the parts, None for that of the repository."""

    history: bool = False
    rules: bool = False
    agents: bool = False
    fresh: bool = False
    jobs: int = 1
    state: Path | None = None
    scheduler: str = ""


def scan(
    place: str | None,
    options: ScanOptions,
    invocation: Invocation,
    on_progress: OnProgress | None = None,
) -> Review:
    """Scan the repository at a place, None for the current one. Raises CliGuardError."""
    if options.agents:
        return scan_agents(place, invocation)
    plan = make_plan(open_place(place, invocation), invocation, history=options.history)
    collector, notes = collect(plan, options, on_progress)
    judgement, skipped = collector.join()
    standing = judgement.standing
    suppressed = judgement.suppressed
    skipped = (*plan.skipped, *skipped)
    if options.rules and plan.tip:
        more = review_tip(plan, plan.tip)
        standing += tuple(
            each for each in more.findings if not each.finding.rule.startswith(OWN)
        )
        suppressed += tuple(
            each for each in more.suppressed if not each.finding.rule.startswith(OWN)
        )
        skipped += more.skipped
    if left_out := not_reviewed(skipped):
        standing += judge_findings(
            left_out, plan.policy, lambda _: None, plan.today, {}
        ).standing
    verdict = judge_record(GateJudgement(standing, suppressed))
    unit = ScanItems.COMMITS if options.history else ScanItems.FILES
    number = sum(each.count for each in plan.slices if each.kind is unit)
    reason = None if plan.slices else "there is no commit yet"
    if standing:
        reason = verdict.reason
    head = (EVENT, STATUSES[verdict.decision], verdict.decision, standing, suppressed)
    notes = [*ineffective_notes(plan.policy, plan.today), *notes]
    review = Review(*head, review_reason=reason, files=number, reviewed=number, unit=unit)
    return replace(review, skipped=tuple(dict.fromkeys(skipped)), notes=tuple(notes))


def collect(
    plan: ScanPlan, options: ScanOptions, on_progress: OnProgress | None
) -> tuple[Collector, list[str]]:
    """Collect the parts of all slices: those of earlier runs, then from the engine. Raises CliGuardError."""
    collector = Collector(history=options.history)
    notes = list[str]()
    missing = {each.key: each for each in plan.slices}
    total = left = sum(each.count for each in plan.slices)
    kept = Cache(folder := options.state or plan.repository.state_folder)
    known = {} if options.fresh else kept.get(map(bytes.fromhex, missing))
    if known:
        words = f"{sum(missing[each.hex()].count for each in known):,} of {total:,} commits, refs and files"
        notes.append(
            f"{words} were scanned by earlier runs, whose results count: --fresh scans all again"
        )
    # A generator begins when it is asked first: then nothing that is known is missing any more.
    engine = scan_on_cluster(plan, missing, options.scheduler, scan_here)
    engine = engine if options.scheduler else scan_locally(plan, missing, options.jobs)
    for number, part in enumerate(chain(known.values(), engine)):
        (found,) = read_parts("a part of the scan", part)
        if (piece := missing.pop(found.binding, None)) is None:
            continue
        collector.add(found, piece.number, piece.items)
        left -= piece.count
        if on_progress:
            on_progress(total - left, total)
        if number >= len(known):
            kept.put({(key := bytes.fromhex(piece.key)): part})
        if number == len(known) and not kept.get([key]):
            notes.append(
                f"the state cannot be written to {folder}; --state FOLDER names another place"
            )
            if options.state:
                raise UsageError(notes.pop())
    for each in missing.values():
        lost = Skipped(f"slice {each.number} ({each.count} {each.kind}s)", LOST, asks=True)
        collector.add(Review(EVENT, "ok", Decision.ALLOW, (), skipped=(lost,)), each.number)
    return collector, notes


def scan_locally(
    plan: ScanPlan, missing: Mapping[str, Slice], jobs: int
) -> Iterator[bytes]:
    """Yield a part for each slice, scanned in copies of this process; none for one that has ended two of them."""
    pending = [*missing.values()]
    if jobs < 2 or len(pending) < 2 or workers.available() < 2:
        yield from scan_here(plan, pending)
        return
    # What a copy that died has not sent is done again, each slice in a copy of its own.
    again = ([[piece]] for piece in pending if piece.key in missing)
    for shares in chain(([pending[number::jobs] for number in range(jobs)],), again):
        work = partial(lambda own, number: scan_here(plan, own[number]), shares)
        yield from (line for _, line in workers.lines_of(len(shares), work))


def scan_here(plan: ScanPlan, pieces: Sequence[Slice]) -> Iterator[bytes]:
    """Yield a part for each slice, as SARIF in one line, scanned in this process."""
    with plan.repository.blobs(Limits.of(plan.policy).file_chars) as blobs:
        scanner = Scanner(plan, blobs)
        for piece in pieces:
            yield sarif.render(scanner.scan(piece), indent=None).strip().encode("ascii")


def review_tip(plan: ScanPlan, tip: str) -> Review:
    """Review all files of the tip by all rules, as if they were new."""
    limits = Limits.of(plan.policy)
    with plan.repository.blobs(limits.file_chars) as blobs:
        changes = next(plan.repository.changes(blobs, limits.bounds).nets([(tip, (None,))]))
        return review_changes(
            changes, plan.policy, contents=blobs.contents(tip), today=plan.today
        )
