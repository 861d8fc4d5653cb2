"""What a repository remembers of a span of commits: how each was reviewed, and what changed the policy."""

import datetime
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from functools import partial
from itertools import dropwhile

from cli_guard.approvals.counting import RecordedContent
from cli_guard.approvals.listing import every_signed, list_approvals
from cli_guard.errors import ConfigError, GitError
from cli_guard.hooks import event_of
from cli_guard.lazy import frozen
from cli_guard.model import POLICY_FILES, Finding
from cli_guard.policy.loosenings import loosenings
from cli_guard.policy.recorded import recorded_policy
from cli_guard.report.lives import Life, read_lives
from cli_guard.report.page.evidence import REFUSED, Evidence, collect_evidence
from cli_guard.repository.protocol import OID, Repository
from cli_guard.review.render.page.markup import SHOWN
from cli_guard.review.render.review import Review
from cli_guard.review.request import Range
from cli_guard.review.run import ReviewOptions, never, review_request
from cli_guard.review.store import MOST_LISTED
from cli_guard.reviewers.policy import review as review_policy
from cli_guard.reviewers.review_input import Limits, ReviewInput
from cli_guard.runtime import Invocation
from cli_guard.secrets.redact import redact
from cli_guard.state.audit import AuditLog, Entry, text, texts

# Commits, and findings of each kind whose commit is looked for.
MOST_COMMITS = 1_000
MOST = 200
LOG = ("log", "--no-show-signature", "--no-color", "--format=%H%x00%ct%x00%an%x00%P%x00%s")
# How a commit came to be recorded, with the words of the page; the first two are of attempts before it.
DECISIONS = {
    "deny": "had to be fixed before the commit",
    "review": "needed approval before the commit",
    "allow": "reviewed and allowed",
    "approved": "allowed by an approval",
    "against": "recorded although not allowed",
    "skipped": "review skipped",
    "unreviewed": "no review known here",
}
DOUBTFUL = ("against", "skipped", "unreviewed")


@frozen
class ReviewedCommit:
    """A commit and how it was reviewed: one of DECISIONS, and attempts before it; `at` is ISO 8601, in UTC."""

    oid: str
    at: str
    author: str
    parent: str
    subject: str
    decision: str = "unreviewed"
    attempts: Mapping[str, int] = field(default_factory=dict)


@frozen
class PageHistory:
    """A span of commits, oldest first, and all that is known of it; `older` commits were left out.

    `contents` has the commit of each content, `policy` what changed it and how, `skipped` what a limit left out, and
    `unlisted` the reviews (commit or "", and how many findings) of which the audit log lists not all.
    """

    commits: Sequence[ReviewedCommit]
    older: bool
    contents: Mapping[str, str]
    policy: Sequence[tuple[str, str, str]]
    skipped: Sequence[tuple[str, str]]
    evidence: Evidence
    lives: Sequence[Life]
    unlisted: Sequence[tuple[str, int]] = ()
    review: Review | None = None


def collect_history(
    repository: Repository,
    invocation: Invocation,
    since: str,
    within: Range | None,
) -> PageHistory:
    """Read a span (reviewed again), or what came after a revision or a day. Raises CliGuardError."""
    commits, older = list_commits(repository, since, within)
    evidence = collect_evidence(
        repository, invocation, repository.resolve(within.base) if within else None
    )
    entries = list(AuditLog(repository.state_folder).entries())
    contents, policy, skipped = read_commits(repository, commits)
    review = review_range(repository, invocation, within) if within else None
    ids = {each.oid for each in commits}
    marks = {each.finding.fingerprint for each in review.findings} if review else set()
    marks |= {each.finding.fingerprint for each in review.suppressed} if review else set()
    # What was never recorded belongs to a time, not to a range.
    first = ""
    if within:
        first = "z"
    elif commits and (since or older):
        first = commits[0].at
    lives = [
        each
        for each in read_lives(
            repository,
            entries,
            list_approvals(repository, invocation, every_signed(repository)),
        )
        if each.commit in ids
        or each.fingerprint in marks
        or (not each.commit and each.at >= first)
    ]
    if within:
        marks |= {each.fingerprint for each in lives}
        evidence = evidence.about_only(marks, {*contents, *ids})
    # A review of a range lists its findings anew.
    unlisted = [] if within else find_unlisted(entries, contents, first)
    known = PageHistory(
        commits, older, contents, policy, skipped, evidence, lives, unlisted, review
    )
    judged = judge(repository, known, entries)
    if since or within or not entries or evidence.problems:
        return replace(known, commits=judged)
    # Before the first entry nobody had installed it: nothing is known of those commits, and nothing is to be said.
    start = str(entries[0].get("at"))
    kept = [*dropwhile(lambda e: e.decision == "unreviewed" and e.at < start, judged)]
    return replace(known, commits=kept, older=older or len(kept) < len(judged))


def find_evidence(
    repository: Repository, invocation: Invocation, review: Review, within: Range | None
) -> Evidence:
    """Return the evidence about one review: of its findings, and of the commits of its range. Raises CliGuardError."""
    base = repository.resolve(within.base) if within else None
    marks = {each.finding.fingerprint for each in review.findings}
    marks |= {each.finding.fingerprint for each in review.suppressed}
    commits = list_commits(repository, "", within)[0] if within else []
    contents = read_commits(repository, commits)[0] if commits else {}
    ids = {each.oid for each in commits}
    evidence = collect_evidence(repository, invocation, base)
    return evidence.about_only(marks, {*contents, *ids})


def review_range(repository: Repository, invocation: Invocation, within: Range) -> Review:
    """Review a range again, and find the commit that brought the line of each finding."""
    review = review_request(within, invocation, ReviewOptions(records=never), repository)
    head = repository.resolve(within.head)
    find_commit = partial(with_commit, repository, head)
    judged = [replace(e, finding=find_commit(e.finding)) for e in review.findings[:MOST]]
    answered = [
        replace(e, finding=find_commit(e.finding)) for e in review.suppressed[:MOST]
    ]
    return replace(
        review,
        findings=(*judged, *review.findings[MOST:]),
        suppressed=(*answered, *review.suppressed[MOST:]),
    )


def with_commit(repository: Repository, head: str, found: Finding) -> Finding:
    """Return a finding with the commit that brought its line to `head`, None if it has none."""
    if found.commit or not (found.path and found.line):
        return found
    try:
        commit, *_ = repository.blame(head, found.path, found.line, found.line)
    except (GitError, ValueError):
        return found
    return replace(found, commit=commit)


def find_origins(
    repository: Repository, review: Review, within: Range
) -> dict[tuple[str, int | None], str]:
    """Return by path and line which commit of a range brought a finding, none if the range is one commit."""
    head = repository.resolve(within.head)
    commits = repository.commits(head, exclude=[repository.resolve(within.base)])
    if len(commits) < 2:
        return {}
    sought = (e.finding for e in review.findings[:MOST] if not e.finding.commit)
    found = (with_commit(repository, head, each) for each in sought)
    return {(e.path, e.line): e.commit for e in found if e.commit in commits}


def list_commits(
    repository: Repository, since: str, within: Range | None
) -> tuple[list[ReviewedCommit], bool]:
    """Return commits, oldest first, at most MOST_COMMITS, and whether there are older ones. Raises UsageError."""
    tips = ["HEAD"] if repository.head else ["--max-count=0", "--all"]
    if within:
        tips = [f"{repository.resolve(within.base)}..{repository.resolve(within.head)}"]
    elif since:
        try:
            tips = [f"--since={datetime.datetime.fromisoformat(since).isoformat()}", *tips]
        except ValueError:
            tips = [f"{repository.resolve(since)}..HEAD"]
    found = []
    # Lines end at LF only: a subject may hold any other line break of Unicode.
    listed = repository.git.text(*LOG, f"--max-count={MOST_COMMITS + 1}", *tips, "--")
    for line in filter(None, listed.split("\n")):
        oid, time, author, parents, subject = line.split("\0", 4)
        at = datetime.datetime.fromtimestamp(int(time), datetime.UTC).isoformat(
            timespec="seconds"
        )
        found.append(
            ReviewedCommit(
                oid, at, redact(author), parents.partition(" ")[0], redact(subject)
            )
        )
    return found[:MOST_COMMITS][::-1], len(found) > MOST_COMMITS


def read_commits(
    repository: Repository, commits: Iterable[ReviewedCommit]
) -> tuple[dict[str, str], list[tuple[str, str, str]], list[tuple[str, str]]]:
    """Return the commit of each content, what changed the policy, and what a limit left out. Raises GitError."""
    limits = Limits()
    parents = {each.oid: each.parent for each in commits}
    contents: dict[str, str] = {}
    policy = []
    skipped = []
    with repository.blobs(limits.file_chars) as blobs:
        reader = repository.changes(blobs, limits.bounds)
        for changes in reader.commits(parents):
            oid = changes.commit or ""
            contents |= dict.fromkeys(RecordedContent.of(changes).identities, oid)
            skipped += [
                (oid, redact(f"{each.path}: {each.reason}"))
                for each in changes.skipped[:SHOWN]
            ]
            if len(changes.skipped) > SHOWN:
                more = f"and {len(changes.skipped) - SHOWN} more files or lines"
                skipped.append((oid, f"{more}: cli-guard review --commit {oid[:10]} -v"))
            try:
                found = review_policy(
                    ReviewInput("report", changes, blobs.contents(oid))
                ).findings
                policy += [(oid, each.rule, redact(each.message)) for each in found]
                if parents[oid] and any(each.path in POLICY_FILES for each in changes):
                    after, before = (
                        recorded_policy(repository, each)[0] for each in (oid, parents[oid])
                    )
                    policy += [
                        (oid, "stronger", redact(each))
                        for each in loosenings(after, before)
                    ]
            except ConfigError as error:
                policy.append((oid, "broken", redact(str(error))))
    return contents, policy, skipped


def find_unlisted(
    entries: Iterable[Entry], contents: Mapping[str, str], first: str
) -> list[tuple[str, int]]:
    """Return the commit ("" for none), and the number of findings, of each content of which the log lists not all.

    What was never recorded counts from the ISO 8601 time `first` on.
    """
    found: dict[str, int] = {}
    for entry in entries:
        content = text(entry, "content")
        answered = entry.get("suppressed")
        number = len(texts(entry, "fingerprints"))
        if isinstance(answered, int):
            number += answered
        is_shown = content in contents or text(entry, "at") >= first
        if isinstance(entry.get("found"), list) and is_shown:
            found[content] = max(number, found.get(content, 0))
    return [
        (contents.get(content, ""), number)
        for content, number in found.items()
        if number > MOST_LISTED
    ]


def judge(
    repository: Repository, known: PageHistory, entries: Iterable[Entry]
) -> list[ReviewedCommit]:
    """Return the commits with how they were reviewed, as the entries of the log say."""
    commits = known.commits
    contents = known.contents
    ids = {each.oid for each in commits}
    times = [each.at for each in commits]
    follows = {each.parent: number for number, each in enumerate(commits) if each.parent}
    last: dict[str, str] = {}
    before: dict[int, Counter[str]] = defaultdict(Counter)
    for entry in entries:
        decision = str(entry.get("decision", ""))
        oid = contents.get(str(entry.get("content")))
        what = "skipped" if "skipped" in entry else decision
        listed = entry.get("bases")
        head = str(entry.get("head"))
        bases = ["unknown"]
        if isinstance(listed, list):
            bases = [str(each) for each in listed if each]
        is_of_commits = head in ids and all(map(OID.fullmatch, bases))
        if entry.get("part"):
            continue
        if oid and decision:
            last[oid] = decision
        elif decision == "allow" and is_of_commits:  # a range, or a push
            with suppress(GitError):
                last |= dict.fromkeys(
                    ids.intersection(repository.commits(head, exclude=bases)), "allow"
                )
        elif event_of(entry.get("event")).is_of_commit and what in (
            "deny",
            "review",
            "skipped",
        ):
            # A review in the index names the commit that it starts from; a skip has its time alone.
            start = str(entry.get("place")).rpartition(" ")[2]
            before[follows.get(start, bisect_left(times, str(entry.get("at"))))][what] += 1
    approved = {
        contents.get(each.made.content, each.commit)
        for each in known.evidence.given
        if each.proof != REFUSED
    }
    found = []
    for number, each in enumerate(commits):
        tried = before[number]
        how = last.get(each.oid)
        if how == "allow":
            how = "approved" if each.oid in approved else "allow"
        elif how:
            how = "against"
        else:
            how = "skipped" if tried["skipped"] else "unreviewed"
        attempts = {name: tried[name] for name in ("deny", "review") if tried[name]}
        found.append(replace(each, decision=how, attempts=attempts))
    return found
