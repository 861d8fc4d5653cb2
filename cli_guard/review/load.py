"""Load the input of a review for a request: the change, the policy that judges it, and the approvals."""

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import astuple, replace
from typing import TYPE_CHECKING, Protocol

from cli_guard.approvals.counting import join_identity
from cli_guard.approvals.signers import REVOKED, SIGNERS
from cli_guard.errors import MissingObject
from cli_guard.lazy import frozen
from cli_guard.model import (
    POLICY_FILES,
    ChangeSet,
    Contents,
    FileChange,
    Skipped,
)
from cli_guard.policy.decisions import Policy
from cli_guard.policy.recorded import recorded_policy
from cli_guard.policy.user_rules import FOLDER, NO_RULES, UserRules
from cli_guard.repository.message import recorded_message
from cli_guard.repository.protocol import (
    Blobs,
    Changes,
    End,
    History,
    OnProgress,
    Repository,
    TreeContents,
)
from cli_guard.repository.pushes import PushedRef
from cli_guard.review.policy import policy_for, recorded_rules
from cli_guard.review.precheck import message_of
from cli_guard.review.published import (
    KeySearch,
    describe,
    host_to_push,
    join_names,
    join_published,
)
from cli_guard.review.push import complete, published_in, texts_in, vouched_history
from cli_guard.review.render.words import count
from cli_guard.review.request import (
    Commit,
    Message,
    Patch,
    Push,
    Range,
    Request,
    Staged,
    Worktree,
)
from cli_guard.reviewers.cache import Cache
from cli_guard.reviewers.policy import ineffective_notes
from cli_guard.reviewers.review_input import Limits, ReviewInput
from cli_guard.runtime import Invocation

if TYPE_CHECKING:
    from cli_guard.graph.context import Context
    from cli_guard.policy.checks import PlannedCheck
    from cli_guard.review.render.review import Review

InRepository = Staged | Worktree | Commit | Range | Message | Push


class PlannedChecks(Protocol):
    """Checks of a repository, planned and trusted, ready to run in the graph."""

    def allowed_in(self, context: "Context") -> "Context":
        """Return the context of a review in which they may run if the gate allows it."""


class CheckPlanner(Protocol):
    """Plans the checks that a commit or a push needs: handed in, because they run commands."""

    def __call__(
        self,
        request: Request,
        repository: Repository,
        policy: Policy,
        changes: ChangeSet,
        pushed: tuple[PushedRef, ...],
        invocation: Invocation,
    ) -> "tuple[tuple[PlannedCheck, ...], PlannedChecks | None]":
        """Return the planned checks and what runs those that may. Raises CliGuardError, GitError."""


# Git gives its hooks the author of the commit; a committer that differs is set the same way (git-commit(1)).
IDENTITY = (
    "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL",
    "GIT_COMMITTER_NAME",
    "GIT_COMMITTER_EMAIL",
)


@frozen
class Gathered:
    """The input of a review with the policy that judges it.

    `checks` runs the checks that are needed and trusted, None if there are none. `base` is the commit before the
    change, whose signers count, None if there is none; `request` is what is reviewed; `place` the Git folder of the
    work tree. `known` is the review if it is known already: then the subject has no lines.
    """

    subject: ReviewInput
    policy: Policy
    notes: tuple[str, ...] = ()
    checks: PlannedChecks | None = None
    base: str | None = None
    request: Request | None = None
    place: str = ""
    known: "Review | None" = None


@contextmanager
def gather(
    request: Request,
    repository: Repository | None,
    invocation: Invocation,
    *,
    plan_checks: CheckPlanner | None = None,
    cache: Cache | None = None,
    on_progress: OnProgress | None = None,
    recall: "Callable[[Gathered], Review | None] | None" = None,
) -> Iterator[Gathered]:
    """Load the input of a review, valid while the context is open (it reads blobs on demand).

    Checks are planned only for a hook, by its `plan_checks`. The `cache` is for the search of a push;
    `on_progress` gets the number of commits that are searched, and of all. If `recall` returns the review of what is
    staged, nothing more is read.

    Raises GitError, UsageError for an invalid revision or patch, ConfigError.
    """
    with ExitStack() as stack:
        if repository is not None:
            # The prefetch used other bounds than the policy's.
            stack.callback(repository.git.forget)
            request = resolve_names(request, repository)
        pushed: tuple[PushedRef, ...] = ()
        if isinstance(request, Push) and repository is not None:
            pushed = complete(request.plan, repository, request.remote)
        policy, notes = policy_for(request, repository, invocation.env, pushed)
        limits = Limits.of(policy)

        def gathered_of(subject: ReviewInput, base: str | None) -> Gathered:
            return Gathered(
                subject,
                policy,
                (*notes, *ineffective_notes(policy, invocation.now.date())),
                base=base,
                request=request,
                place=str(repository.git_dir) if repository else "",
            )

        if isinstance(request, Patch) or repository is None:
            assert isinstance(request, Patch)  # noqa: S101 - the one request that needs no repository
            from cli_guard.repository.patch import PatchContents, read_patch

            changes = read_patch(request.raw, request.name)
            subject = ReviewInput(request.event, changes, PatchContents())
            base = find_base(request, repository, pushed) if repository else None
            yield gathered_of(subject.under(policy), base)
            return
        blobs = stack.enter_context(repository.blobs(limits.file_chars))
        reader = repository.changes(blobs, limits.bounds)
        if isinstance(request, Staged):
            outline = reader.outline() if recall else None
            if recall and outline:
                subject = with_people(ReviewInput(request.event, outline), invocation)
                gathered = gathered_of(subject, repository.head)
                gathered = replace(gathered, known=recall(gathered))
                if gathered.known:
                    yield gathered
                    return
            # Their texts are needed soon; start while Git is still comparing.
            blobs.begin()
        subject = read(request, repository, reader, blobs, pushed)
        subject = replace(subject, merge_sides=reader.merge_sides)
        if on_progress and isinstance(subject.history, History):
            history = subject.history.reporting(on_progress)
            subject = replace(subject, history=history)
        if isinstance(request, Push):
            search = KeySearch(repository, cache, on_progress)
            subject, said = with_pushed(subject, search, reader, request.remote)
            notes = [*notes, *said]
        if isinstance(request, Staged):
            if any(each.path in POLICY_FILES for each in subject.changes):
                # A broken one would block every later commit.
                recorded_policy(repository, "")
            subject = with_people(subject, invocation)
        if not isinstance(request, Message):
            rules = rules_of(repository, subject, blobs)
            subject = replace(subject, user_rules=rules)
        base = find_base(request, repository, pushed)
        gathered = gathered_of(subject.under(policy), base)
        if plan_checks and isinstance(request, Staged | Push) and policy.checks:
            subject = gathered.subject
            change = (subject.changes, subject.pushed)
            planned, checks = plan_checks(request, repository, policy, *change, invocation)
            subject = replace(subject, checks=planned)
            gathered = replace(gathered, subject=subject, checks=checks)
        yield gathered


def resolve_names(request: Request, repository: Repository) -> Request:
    """Ask once what the names in a request mean: they may come to mean something else meanwhile. Raises UsageError."""
    match request:
        case Range(base, head):
            ends = repository.resolve(base), repository.resolve(head)
            return replace(request, base=ends[0], head=ends[1])
        case Commit(revision):
            return replace(request, revision=repository.resolve(revision))
    return request


def with_people(subject: ReviewInput, invocation: Invocation) -> ReviewInput:
    """Add the people of the commit."""
    people = tuple(filter(None, map(invocation.env.get, IDENTITY)))
    return replace(subject, changes=replace(subject.changes, people=people))


def rules_of(repository: Repository, subject: ReviewInput, blobs: Blobs) -> UserRules:
    """Return the repository's own rules after the change. Raises ConfigError for a broken file of theirs."""
    contents = subject.contents
    revision = contents.revision if isinstance(contents, TreeContents) else ""
    paths = [path for each in subject.changes for path in (each.path, each.old_path)]
    if not any(path and path.startswith(f"{FOLDER}/") for path in paths):
        try:
            # Most repositories have none; this asks a process that runs already.
            blobs.read(f"{revision or 'HEAD'}:{FOLDER}")
        except MissingObject:
            return NO_RULES
    return recorded_rules(repository, revision, blobs)


def find_base(
    request: Request, repository: Repository, pushed: tuple[PushedRef, ...]
) -> str | None:
    """Return the commit before a change, whose signers may approve it. Raises UsageError."""
    if isinstance(request, Range):
        return request.base
    if isinstance(request, Commit):
        return next(iter(repository.find_commits([f"{request.revision}^1"])), None)
    if not pushed:
        return repository.head
    bases = [base for ref in pushed for base in ref.bases]
    starts = [base for ref in pushed for base in ref.starts]
    known = [*bases, *starts]
    return known[0] if known else find_enrolment(repository, pushed)


def find_enrolment(repository: Repository, pushed: tuple[PushedRef, ...]) -> str | None:
    """Return the commit that enrolled the signers, for a push of everything to an empty remote.

    None if they were changed since: who could sign for that, only an earlier state of a remote would tell.
    """
    tips = sorted({ref.commits.tip for ref in pushed if ref.commits})
    # In a shallow clone whatever the history begins with looks like the enrolment.
    if not tips or repository.is_shallow:
        return None
    files = (SIGNERS, REVOKED)
    touched = ("rev-list", "--full-history", "--max-count=2", *tips, "--", *files)
    changes = repository.git.text(*touched).split()
    # A merge may have dropped what one of its sides enrolled.
    named = [f"{commit}:{SIGNERS}" for commit in (*changes, *tips)]
    found = repository.identify(named)
    states = {found.get(name) for name in named}
    return changes[0] if len(changes) == 1 and len(states) == 1 else None


def with_pushed(
    subject: ReviewInput, search: KeySearch, reader: Changes, remote: str
) -> tuple[ReviewInput, list[str]]:
    """Add the commits of a push that are searched for keys alone; return notes about them too.

    They are those that only an old tracking ref says the remote has, and those that go to a new place although other
    remotes have them.
    """
    repository = search.repository
    pushed = subject.pushed
    notes: list[str] = []
    if any(ref.vouched for ref in pushed):
        due, number, skipped = vouched_history(pushed, reader)
        changes = subject.changes
        changes = replace(changes, skipped=(*changes.skipped, *skipped))
        subject = replace(subject, changes=changes, vouched=due)
        notes.append(
            f"{count(number, 'commit')} that an old tracking ref says a remote has: searched for keys only"
        )
    for each in join_published(pushed):
        notes.append(describe(repository, remote, each))
        if not each.same_host:
            subject = replace(
                subject,
                elsewhere=History(reader, tuple(search.find(each.commits))),
                origins=join_names(each.remotes),
                new_place=host_to_push(repository, remote) or remote,
            )
    if subject.vouched or subject.elsewhere:
        subject = replace(subject, published=published_in(repository, pushed))
    return subject, notes


def read(
    request: InRepository,
    repository: Repository,
    reader: Changes,
    blobs: Blobs,
    pushed: tuple[PushedRef, ...] = (),
) -> ReviewInput:
    """Read the change of a request to a repository."""
    contents = blobs.contents()
    event = request.event
    match request:
        case Staged():
            changes = reader.index(merging=event == "pre-merge-commit")
            said = message_of(request.said, repository).subject if request.said else ""
            return ReviewInput(event, changes, contents, commit_subject=said)
        case Worktree():
            own = blobs.contents(root=repository.root)
            return ReviewInput(event, reader.worktree(), own)
        case Message():
            message = message_of(request, repository)
            # Its lines are reviewed by the hook before, or once more; here they tell what `-v` shows.
            is_apart = request.with_change and not message.cut
            changes = (reader.outline() if is_apart else None) or reader.index()
            changes = replace(changes, other_text="\n".join(left_of(message.cut, changes)))
            changes = with_identity(changes, changes.identity, message.text)
            # Those of the diff that `-v` shows, also of the commit that is amended.
            recorded = texts_in(repository, ("--cached",), ("HEAD",), ("HEAD^",))
            return ReviewInput(
                event, changes, contents, message=message, published=recorded
            )
        case Commit():
            changes = next(reader.commits([request.revision]))
            message = recorded_message(changes.message or "")
            contents = blobs.contents(changes.commit or "")
            return ReviewInput(event, changes, contents, message=message)
        case Range():
            base = request.base
            head = request.head
            commits = repository.commits(head, exclude=[base])
            # Each base by itself: a merge may keep what one of them has, and take back what the other did.
            starts = repository.merge_bases(base, head) if commits else ()
            ends: list[End] = [(head, (start,)) for start in starts]
            contents = blobs.contents(head)
            return load_commits(event, commits, ends, (), repository, reader, contents)
        case Push():
            lines = [ref.commits for ref in pushed if ref.commits]
            contents = blobs.contents(lines[-1].tip if lines else "HEAD")
            ends = [
                (tip, line.graph.bases(tip))
                for tip, line in {each.tip: each for each in lines}.items()
            ]
            seen = set[str]()
            commits = tuple(commit for line in lines for commit in line.beyond(seen))
            subject = load_commits(
                event, commits, ends, pushed, repository, reader, contents
            )
            changes = subject.changes
            skipped = (*changes.skipped, *unseen(request, pushed, repository))
            return replace(subject, changes=replace(changes, skipped=skipped))


def left_of(cut: Iterable[str], changes: ChangeSet) -> Iterator[str]:
    """Yield the lines that Git may cut out of a message, but those of the diff of the change."""
    hunks = [hunk for change in changes for hunk in change.hunks]
    known = {line for hunk in hunks for line in (*hunk.added, *hunk.removed)}
    for line in cut:
        content = line[1:] if line.startswith(("+", "-", " ")) else line
        if content not in known:
            yield content


def unseen(
    request: Push, pushed: tuple[PushedRef, ...], repository: Repository
) -> Iterator[Skipped]:
    """List the parts of a push that were not read."""
    reviewed = (
        *(each.local_oid for each in request.plan.updates),
        f"--remotes={request.remote}",
    )
    others = ("rev-list", "--max-count=1", "--branches", "--tags", "--not", *reviewed)
    # Only if a branch or tag has commits that neither this ref nor the remote has.
    if request.plan.partial and repository.git.optional(*others) != "":
        yield Skipped("other refs of this push", request.plan.partial)
    for ref in pushed:
        if ref.commits is None and ref.tree is None:
            yield Skipped(
                ref.update.remote_ref,
                "does not point to a commit, so it was not read",
                asks=True,
            )


def load_commits(
    event: str,
    commits: tuple[str, ...],
    ends: Iterable[End],
    pushed: tuple[PushedRef, ...],
    repository: Repository,
    reader: Changes,
    contents: Contents,
) -> ReviewInput:
    """Load commits, oldest first, one by one, and as a whole: what each of the `ends` holds beyond all its bases."""
    files: dict[tuple[str, str | None, str | None], FileChange] = {}
    skipped: list[Skipped] = []
    for net in reader.nets(
        (*ends, *((ref.tree, ref.bases or (None,)) for ref in pushed if ref.tree))
    ):
        skipped += net.skipped
        files |= {
            (change.path, change.new_blob, change.old_blob): change for change in net.files
        }
    history = History(reader, commits)
    changes = with_identity(
        ChangeSet(tuple(files.values()), tuple(skipped)), bound_text(commits, pushed)
    )
    objects = repository.identify(
        ref.update.local_oid for ref in pushed if not ref.update.deletes
    )
    tags, unread = reader.tag_texts(oid for oid, kind in objects.values() if kind == "tag")
    changes = replace(changes, skipped=(*changes.skipped, *unread))
    return ReviewInput(event, changes, contents, history, pushed=pushed, tags=tags)


def bound_text(commits: tuple[str, ...], pushed: tuple[PushedRef, ...]) -> str:
    """Return in JSON what the review of a range or a push is bound to: the commits, and the refs that it moves."""
    return json.dumps([commits, [astuple(ref.update) for ref in pushed]])


def with_identity(changes: ChangeSet, *parts: str) -> ChangeSet:
    """Return the change set with an identity that also includes other parts."""
    return replace(changes, identity=join_identity(*parts))
