"""The call behind hook, review and demo: a request in, a `Review` out.

    request -> nothing to review? -> subject and policy -> the graph -> Review -> records

Heavy imports wait until there is something to review.
"""

import datetime
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, cast

from cli_guard.errors import NotARepository, UsageError
from cli_guard.git.repository import GitRepository
from cli_guard.hooks import MESSAGE, event_of
from cli_guard.lazy import frozen
from cli_guard.model import (
    ChangeSet,
    Contents,
    Decision,
)
from cli_guard.repository.protocol import NoContents, OnProgress, Repository
from cli_guard.review.precheck import EMPTY_MESSAGE, nothing_to_review, required_calls
from cli_guard.review.render.review import Review
from cli_guard.review.request import Commit, Message, Patch, Push, Range, Request, Staged
from cli_guard.review.result import review_of, without_secret_names
from cli_guard.runtime import Invocation

if TYPE_CHECKING:
    from cli_guard.approvals.lookup import Approvals
    from cli_guard.approvals.storage import Storage
    from cli_guard.graph.run import Pause
    from cli_guard.policy.decisions import Policy
    from cli_guard.review.load import CheckPlanner, Gathered
    from cli_guard.review.paths import Paths
    from cli_guard.reviewers.cache import Cache
    from cli_guard.reviewers.shard import Shard
    from cli_guard.state.records import PendingReview, Records

MOST_REFUSED = 10


def review(
    changes: ChangeSet,
    policy: "Policy | None" = None,
    *,
    contents: Contents | None = None,
    today: datetime.date | None = None,
) -> Review:
    """Review a change set under a policy (default: the built-in one); record nothing."""
    from cli_guard.policy.decisions import Policy
    from cli_guard.review.load import Gathered
    from cli_guard.reviewers.review_input import ReviewInput

    policy = policy or Policy()
    subject = ReviewInput("changes", changes, contents or NoContents()).under(policy)
    gathered = Gathered(subject, policy)
    return run(gathered, None, today or datetime.datetime.now(datetime.UTC).date())[0]


def empty_review(
    request: Request, repository: Repository, paths: Sequence[str] = ()
) -> Review | None:
    """Return the review of a request with nothing to review, None if there is something.

    Raises UsageError for `paths` that match nothing then.
    """
    reason = nothing_to_review(request, repository)
    if not reason:
        return None
    if paths:
        hint = f"; for a range: --range {paths[0]}" if ".." in paths[0] else ""
        raise UsageError(f"{paths[0]!r} matches no file of this change: {reason}{hint}")
    repository.git.forget()
    return Review(request.event, "ok", Decision.ALLOW, (), review_reason=reason)


@frozen
class ReviewOptions:
    """How a request is reviewed, and what becomes of the result.

    With `plan_checks`, the repository's checks for this stage run as well. With `uses_cache`, files in which nothing
    was found before are not examined again. `on_progress` gets the number of files of a big change that are done, and
    of all. A `shard` limits the review to its part. With `storages`, only signed approvals count: those there. The
    result is recorded if `records` says so; a review of some `paths` alone, and one under a policy that is only tried,
    never is. With `through_gitpython`, Git is started by GitPython.
    """

    plan_checks: "CheckPlanner | None" = None
    uses_cache: bool = True
    on_progress: OnProgress | None = None
    shard: "Shard | None" = None
    storages: "Sequence[Storage] | None" = None
    records: Callable[[Review], bool] = lambda _: True
    paths: Sequence[str] = ()
    through_gitpython: bool = False


DEFAULTS = ReviewOptions()


def never(_: Review) -> bool:
    """Record no review: for `ReviewOptions.records`."""
    return False


@frozen
class ReviewOutcome:
    """A review, and what waits for an approval by it, or would if it were recorded; None if nothing does."""

    review: Review
    waits: "PendingReview | None" = None


def review_request(
    request: Request,
    invocation: Invocation,
    options: ReviewOptions = DEFAULTS,
    repository: Repository | None = None,
) -> Review:
    """Review what a request names, and record the result. Raises CliGuardError.

    Pass the `repository` if it is known already, and that there is something to review in it.
    """
    return review_and_record(request, invocation, options, repository).review


def review_and_record(
    request: Request,
    invocation: Invocation,
    options: ReviewOptions = DEFAULTS,
    repository: Repository | None = None,
) -> ReviewOutcome:
    """Do what `review_request` does, and also return what waits for an approval."""
    if repository is None:
        repository = find_repository(request, invocation, options.through_gitpython)
        if repository:
            empty = empty_review(request, repository, options.paths)
            if empty:
                return ReviewOutcome(empty)
    from cli_guard.review.load import gather
    from cli_guard.review.paths import Paths
    from cli_guard.review.policy import TRIAL
    from cli_guard.review.prepared import keep_prepared, recall_prepared
    from cli_guard.review.store import pending_review, record_review
    from cli_guard.reviewers.cache import Cache
    from cli_guard.state.records import Records

    only = None
    if options.paths:
        only = Paths.parse(options.paths, repository, invocation.cwd)
    records = Records(repository.state_folder) if repository else None
    today = invocation.now.date()
    cache = recall = None
    if options.uses_cache and repository and records and not only:
        cache = Cache(repository.state_folder)
        if not options.shard:
            recall = partial(recall_prepared, records=records, today=today)
    with gather(
        request,
        repository,
        invocation,
        plan_checks=options.plan_checks,
        cache=cache,
        on_progress=options.on_progress,
        recall=recall,
    ) as gathered:
        if isinstance(request, Message) and request.with_change and records:
            answered = answer_before_message(
                request, gathered, records, invocation, options
            )
            if answered:
                return ReviewOutcome(answered)
        gathered = limit_to_part(gathered, only, options.shard)
        pause = None
        done = gathered.known
        if not done:
            done, pause = review_gathered(gathered, repository, cache, invocation, options)
        done = name_part(done, only, options.shard, gathered, request)
        is_recorded = not only and TRIAL not in gathered.notes and options.records(done)
        if is_recorded and repository:
            # Here, as it was asked in advance, and what is not used is forgotten at the end.
            done = leave_for_message(done, request, gathered, repository, invocation)
    waits = None
    if not event_of(request.event).may_be_approved:
        done = replace(done, review_id=None)
    if done.review_id:
        waits = pending_review(done, gathered, invocation)
    if is_recorded and records:
        return ReviewOutcome(
            record_review(done, pause, waits, gathered, records, invocation), waits
        )
    if cache and records and not gathered.known:
        keep_prepared(done, gathered, records, today)
    # A review that is not recorded cannot be approved.
    return ReviewOutcome(replace(done, review_id=None), waits)


def find_repository(
    request: Request, invocation: Invocation, through_gitpython: bool
) -> GitRepository | None:
    """Return the repository of a request, None for a patch outside of one. Raises NotARepository."""
    try:
        return GitRepository.discover(
            invocation.cwd,
            invocation.env,
            *required_calls(request),
            through_gitpython=through_gitpython,
        )
    except NotARepository:
        if not isinstance(request, Patch):
            raise
        return None


def limit_to_part(
    gathered: "Gathered", only: "Paths | None", shard: "Shard | None"
) -> "Gathered":
    """Limit the input of a review to some paths, to one shard, or to both."""
    if only:
        gathered = replace(gathered, subject=only.limit(gathered.subject))
    if shard:
        subject = replace(gathered.subject, shard=shard)
        gathered = replace(gathered, subject=subject, notes=(*gathered.notes, shard.note()))
    return gathered


def name_part(
    done: Review,
    only: "Paths | None",
    shard: "Shard | None",
    gathered: "Gathered",
    request: Request,
) -> Review:
    """Say in a review of a part what it covers, and what the parts that belong to it have in common."""
    if only:
        done = replace(done, part="paths", only=str(only))
    if shard:
        part = done.part or f"{shard.number}-of-{shard.of}"
        done = replace(done, part=part, binding=bind_part(gathered, request))
    return done


def answer_before_message(
    request: Message,
    gathered: "Gathered",
    records: "Records",
    invocation: Invocation,
    options: ReviewOptions,
) -> Review | None:
    """Return what answers a hook before its message is read: the change stops, or there is no message."""
    from cli_guard.review.store import was_allowed

    if not was_allowed(gathered, records):
        # Something was staged while the hook before this one ran, or that did not run.
        before = Staged("pre-commit", said=request)
        done = review_request(before, invocation, options)
        if done.decision is not Decision.ALLOW:
            return done
    message = gathered.subject.message
    if message and not message.text.strip():
        return Review(request.event, "ok", Decision.ALLOW, (), review_reason=EMPTY_MESSAGE)
    return None


def list_refused(approvals: "Approvals") -> list[str]:
    """Return why approvals do not count, at most MOST_REFUSED of them and the number of the others."""
    refused = list(dict.fromkeys(approvals.refused))
    more = len(refused) - MOST_REFUSED
    if more > 0:
        refused[MOST_REFUSED:] = [f"and {more} more approvals that do not count"]
    return refused


def bind_part(gathered: "Gathered", request: Request) -> str:
    """Return a hash of what all parts of one review have in common: the change, the policy, the program."""
    from cli_guard.policy.decisions import digest
    from cli_guard.reviewers.clean_files import identity

    content = gathered.subject.changes.identity
    return digest((request.event, content, gathered.policy.identity, identity().hex()))


def leave_for_message(
    done: Review,
    request: Request,
    gathered: "Gathered",
    repository: Repository,
    invocation: Invocation,
) -> Review:
    """Name the change that was allowed, if the hook of its message comes next and can rely on it."""
    if not event_of(request.event).is_before_commit or done.decision is not Decision.ALLOW:
        return done
    from cli_guard.git.managers import is_message_hook_next

    if not is_message_hook_next(repository, invocation.env):
        return done
    return replace(done, left=gathered.subject.changes.identity)


def review_gathered(
    gathered: "Gathered",
    repository: Repository | None,
    cache: "Cache | None",
    invocation: Invocation,
    options: ReviewOptions,
) -> "tuple[Review, Pause | None]":
    """Run the graph over what was gathered, with the approvals that may answer it."""
    from cli_guard.approvals.lookup import Approvals, Verifier
    from cli_guard.approvals.storage import storages_of

    request = cast(Request, gathered.request)
    # Any program of the user can write to the cache: what leaves the machine is examined in full.
    if isinstance(request, Push):
        cache = None
    approvals = None
    if repository:
        policy = gathered.policy
        # Those of the base and of the tip too, under which the commits were made.
        policies = {
            replace(policy, config=each, also=(), before=()).shared_identity
            for each in policy.configs
        }
        policies.add(policy.shared_identity)
        approvals = Approvals(
            repository,
            options.storages or storages_of(repository),
            Verifier(repository, gathered.base, invocation, policies),
            gathered.subject.changes,
            gathered.subject.history,
            policy,
            gathered.base,
            local=options.storages is None,
            recorded=isinstance(request, Range | Commit),
            message=gathered.subject.message,
            published=gathered.subject.elsewhere,
        )
    today = invocation.now.date()
    done, pause = run(gathered, approvals, today, cache, options.on_progress, invocation)
    if approvals and done.decision is Decision.REVIEW:
        done = replace(done, notes=(*done.notes, *list_refused(approvals)))
    return done, pause


def run(
    gathered: "Gathered",
    approvals: "Approvals | None",
    today: datetime.date,
    cache: "Cache | None" = None,
    on_progress: OnProgress | None = None,
    invocation: Invocation | None = None,
) -> "tuple[Review, Pause | None]":
    """Run the graph; return the review, and the paused graph if it needs review.

    With an invocation, a bug in a reviewer leaves a report where it ran.
    """
    started = time.perf_counter()
    from cli_guard.graph.context import Context
    from cli_guard.graph.run import run_review
    from cli_guard.reviewers.inline import InlineAnswers
    from cli_guard.reviewers.per_file_work import PREFETCHED, add_file_work, prefetch_texts

    loaded = time.perf_counter()
    subject = add_file_work(gathered.subject, cache, on_progress)
    # Of a message a reviewer reads few of the files, and most often none.
    reads_files = event_of(subject.event).request != MESSAGE
    if reads_files and not subject.work:
        prefetch_texts(subject.contents, subject.changes.files[:PREFETCHED])
    context = Context(
        subject=subject,
        policy=gathered.policy,
        answer=InlineAnswers(subject),
        today=today,
    )
    if approvals:
        context = replace(context, approvals=approvals)
    if gathered.checks:
        context = gathered.checks.allowed_in(context)
    if invocation:
        # Few reviews fail, and what reports it is slow to load.
        def report(error: Exception) -> str:
            from cli_guard.state.crash import report_failure

            where = (invocation.cwd, invocation.env)
            return report_failure(error, ("review", subject.event), *where)

        context = replace(context, report_error=report)
    state, pause = run_review(context)
    skipped = [*subject.changes.skipped, *state["skipped"], *subject.advice.skipped]
    state = without_secret_names(state | {"skipped": skipped})
    done = time.perf_counter()
    timings = {
        "load": round((loaded - started) * 1000, 1),
        "review": round((done - loaded) * 1000, 1),
    }
    return review_of(state, gathered, timings, today), pause
