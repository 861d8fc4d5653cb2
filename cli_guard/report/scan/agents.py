"""`cli-guard scan --agents`: what a clone would have agents and editors obey or start, before it is opened."""

from dataclasses import replace

from cli_guard.model import ChangeSet, Decision, Report
from cli_guard.policy.gate import judge_findings, judge_record
from cli_guard.policy.recorded import policy_at_head
from cli_guard.report.scan.plan import ScanItems, open_place
from cli_guard.report.scan.slices import EVENT
from cli_guard.repository.entries import decode_path
from cli_guard.repository.protocol import Blobs, Repository
from cli_guard.review.render.review import Review
from cli_guard.reviewers.agent_paths import MAYBE
from cli_guard.reviewers.policy import not_reviewed
from cli_guard.reviewers.registry import reviewer_of
from cli_guard.reviewers.review_input import Limits, ReviewInput
from cli_guard.runtime import Invocation

# A command line has room for so many.
PATHS_A_CALL = 500
STATUSES = {Decision.ALLOW: "ok", Decision.REVIEW: "needs_review", Decision.DENY: "failed"}


def scan_agents(place: str | None, invocation: Invocation) -> Review:
    """Review the tip of a repository as if all of it were new; None is the current one. Raises CliGuardError.

    Whoever wrote the clone wrote its policy and the answers in its files: neither counts.
    """
    repository = open_place(place, invocation)
    policy, notes = policy_at_head(None, invocation.env)
    limits = Limits.of(policy)
    report, number = review_tip_for_agents(repository, limits)
    findings = (*report.findings, *not_reviewed(report.skipped))
    judgement = judge_findings(findings, policy, lambda _: None, invocation.now.date(), {})
    verdict = judge_record(judgement)
    head = (EVENT, STATUSES[verdict.decision], verdict.decision, judgement.standing)
    review = Review(*head, files=number, reviewed=number, unit=ScanItems.FILES)
    reason = verdict.reason if judgement.standing else None
    if not repository.head:
        reason = "there is no commit yet"
    return replace(review, review_reason=reason, skipped=report.skipped, notes=tuple(notes))


def review_tip_for_agents(repository: Repository, limits: Limits) -> tuple[Report, int]:
    """Return the report on the files of the tip that agents or editors may read, and how many these are."""
    if not repository.head:
        return Report(), 0
    tip = repository.commit_at_head
    with repository.blobs(limits.file_chars) as blobs:
        changes = read_known_files(repository, blobs, limits, tip)
        subject = ReviewInput(EVENT, changes, contents=blobs.contents(tip), limits=limits)
        report = reviewer_of("agents").review(subject)
    skipped = tuple(dict.fromkeys((*changes.skipped, *report.skipped)))
    return replace(report, skipped=skipped), len(changes.files)


def read_known_files(
    repository: Repository, blobs: Blobs, limits: Limits, tip: str
) -> ChangeSet:
    """Return the files of a commit that agents or editors may read, each as new; no other one is read."""
    listed = repository.git.run("ls-tree", "-r", "-z", "--name-only", "--full-tree", tip)
    paths = [decode_path(each) for each in listed.split(b"\0") if each]
    known = [path for path in paths if MAYBE.search(path)]
    reader = repository.changes(blobs, limits.bounds)
    batches = [
        next(reader.nets([(tip, (None,))], tuple(known[at : at + PATHS_A_CALL])))
        for at in range(0, len(known), PATHS_A_CALL)
    ]
    files = tuple(each for batch in batches for each in batch)
    skipped = tuple(each for batch in batches for each in batch.skipped)
    return ChangeSet(files, skipped, commit=tip)
