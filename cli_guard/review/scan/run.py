"""Scan one repository: plan, take what earlier runs have done, have the rest scanned, join the parts."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from cli_guard.errors import UsageError
from cli_guard.git.changes import Bounds, ChangeReader
from cli_guard.git.contents import BlobContents, BlobReader
from cli_guard.model import Decision, Skipped
from cli_guard.policy.gate import Judgement, judge_findings, judge_record
from cli_guard.review.parts import Collector, read_parts
from cli_guard.review.render.review import Review
from cli_guard.review.scan.cluster import scan_on_cluster
from cli_guard.review.scan.local import scan_locally
from cli_guard.review.scan.plan import Kind, Plan, make_plan, open_place
from cli_guard.review.scan.slices import EVENT, recorded
from cli_guard.review.scan.state import KeptParts
from cli_guard.reviewers.inline import InlineAnswers
from cli_guard.reviewers.policy import not_reviewed
from cli_guard.reviewers.review_input import Limits, ReviewInput
from cli_guard.runtime import Invocation

OnProgress = Callable[[int, int], None]
LEFT_OUT = "the process that scanned it ended, twice: too little memory?"


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
    repository = open_place(place, invocation)
    plan = make_plan(repository, invocation, history=options.history)
    if not plan.slices:
        return Review(EVENT, "ok", Decision.ALLOW, (), review_reason="there is no commit yet")
    name = sha256(os.fsencode(repository.common_dir)).hexdigest()[:16] if options.state else "parts"
    folder = options.state or repository.state_folder
    kept = KeptParts(folder / f"scan-{name}.jsonl", required=options.state is not None)
    try:
        collector, notes = collect(plan, options, kept, on_progress)
    finally:
        kept.close()
    standing, suppressed, skipped = collector.joined()
    skipped = (*plan.skipped, *skipped)
    if options.rules and plan.tip:
        more = review_tip(plan, plan.tip)
        standing += tuple(each for each in more.findings if not each.finding.rule.startswith("secret-"))
        suppressed += tuple(each for each in more.suppressed if not each.finding.rule.startswith("secret-"))
        skipped = tuple(dict.fromkeys((*skipped, *more.skipped)))
    elif left_out := not_reviewed(skipped):
        standing += judge_findings([left_out], plan.policy, lambda _: None, plan.today, {}).standing
    verdict = judge_record(Judgement(standing, suppressed))
    kind = Kind.COMMITS if options.history else Kind.FILES
    number = sum(each.count for each in plan.slices if each.kind is kind)
    return Review(
        EVENT,
        {Decision.ALLOW: "ok", Decision.REVIEW: "needs_review", Decision.DENY: "failed"}[verdict.decision],
        verdict.decision,
        standing,
        suppressed,
        review_reason=None if verdict.decision is Decision.ALLOW else verdict.reason,
        files=number,
        reviewed=number,
        skipped=skipped,
        notes=(*plan.notes, *notes),
        unit=kind.removesuffix("s"),
    )


def collect(
    plan: Plan, options: Options, kept: KeptParts, on_progress: OnProgress | None
) -> tuple[Collector, list[str]]:
    """Collect the parts of all slices: those of earlier runs, and the rest from the engine."""
    collector, missing, notes = Collector(history=options.history), dict(plan.keys), list[str]()
    total = sum(each.count for each in plan.slices)

    def take(key: str, part: str) -> bool:
        piece = missing.get(key)
        try:
            found = read_parts("a part", part.encode())[0]
        except UsageError:
            return False
        if piece is None or found.binding != key:
            return False
        collector.add(found, missing.pop(key).number)
        return True

    if options.fresh:
        kept.clear()
    for key, part in kept.read():
        take(key, part)
    before = total - sum(each.count for each in missing.values())
    if before:
        known = f"{before:,} of {total:,} commits and files are from earlier runs"
        notes.append(f"{known}: their state proves nothing, --fresh scans them again")
    pending = [*missing.values()]
    scanning = (
        scan_on_cluster(plan, pending, options.scheduler)
        if options.scheduler
        else scan_locally(plan, pending, options.jobs)
    )
    for key, part in scanning:
        if take(key, part):
            kept.add(key, part)
        if on_progress:
            on_progress(total - sum(each.count for each in missing.values()), total)
    left = tuple(
        Skipped(f"{each.count} {each.kind} (slice {each.number})", LEFT_OUT, True)
        for each in missing.values()
    )
    collector.add(Review(EVENT, "ok", Decision.ALLOW, (), skipped=left), len(plan.slices))
    return collector, [*notes, *filter(None, [kept.problem])]


def review_tip(plan: Plan, tip: str) -> Review:
    """Review all files of the tip by all rules, as if they were new; what answers them was recorded before."""
    from cli_guard.graph.context import Context
    from cli_guard.graph.run import run_review
    from cli_guard.review.load import Gathered
    from cli_guard.review.policy import recorded_rules
    from cli_guard.review.run import review_of, without_secret_names
    from cli_guard.reviewers.per_file_work import add_file_work

    limits = Limits.of(plan.policy)
    with BlobReader(plan.repository.git, blob_limit=limits.file_chars) as blobs:
        reader = ChangeReader(
            plan.repository, blobs, Bounds(limits.files, limits.file_chars, limits.total_chars)
        )
        changes = next(reader.nets([(tip, (None,))]))
        rules = recorded_rules(plan.repository, tip, blobs)
        subject = ReviewInput(EVENT, changes, BlobContents(blobs, tip), user_rules=rules).under(plan.policy)
        subject = add_file_work(subject)
        answer = recorded(InlineAnswers(subject))
        state, _ = run_review(Context(subject=subject, policy=plan.policy, answer=answer, today=plan.today))
        state = without_secret_names(state | {"skipped": [*changes.skipped, *state["skipped"]]})
        return review_of(state, Gathered(subject, plan.policy), {})
