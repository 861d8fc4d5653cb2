"""From a request to the subject of a review: reads the change, the policy that judges it, and the approvals."""

import datetime
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace

from cli_guard.errors import ConfigError
from cli_guard.events.glance import message_of
from cli_guard.events.message import recorded_message
from cli_guard.events.push import complete
from cli_guard.events.request import Commit, Message, Patch, Push, Range, Request, Staged, Worktree
from cli_guard.git.changes import Bounds, ChangeReader, History
from cli_guard.git.contents import BlobContents, BlobReader, WorktreeContents
from cli_guard.git.patch import PatchContents, read_patch
from cli_guard.git.repository import Repository
from cli_guard.model import (
    ChangeSet,
    CommitMessage,
    Contents,
    FileChange,
    NoContents,
    PushedRef,
    Skipped,
)
from cli_guard.policy.config import Config, read_config, read_user_config
from cli_guard.policy.decisions import BASELINE_FILE, Policy, read_baseline
from cli_guard.reviewers.policy import expired_notes
from cli_guard.reviewers.subject import Limits, Subject


@dataclass(frozen=True)
class Gathered:
    """A subject with the policy that judges it.

    `contents` are the identities under which approvals count, the change's own first.
    """

    subject: Subject
    policy: Policy
    contents: tuple[str, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Material:
    """What a request brings along, read but not yet under any policy; `commits` are identities of a range's."""

    changes: ChangeSet
    contents: Contents = field(default_factory=NoContents)
    message: CommitMessage | None = None
    history: Iterable[ChangeSet] = ()
    pushed: tuple[PushedRef, ...] = ()
    commits: tuple[str, ...] = ()


@contextmanager
def gather(
    request: Request, repository: Repository | None, env: Mapping[str, str], today: datetime.date
) -> Iterator[Gathered]:
    """The subject of a request, good while the context is open (it reads blobs on demand).

    Raises GitError, UsageError for a revision or patch that does not hold, ConfigError.
    """
    policy, notes = policy_for(request, repository, env)
    limits = Limits(**policy.config.limits.model_dump())
    with ExitStack() as stack:
        if isinstance(request, Patch) or repository is None:
            assert isinstance(request, Patch)  # noqa: S101 - the one request that needs no repository
            material = Material(read_patch(request.raw, request.name), PatchContents())
        else:
            blobs = stack.enter_context(BlobReader(repository.git, blob_limit=limits.file_chars))
            bounds = Bounds(limits.files, limits.file_chars, limits.total_chars)
            material = read(request, repository, ChangeReader(repository, blobs, bounds), blobs)
        subject = Subject(
            request.event,
            material.changes,
            material.contents,
            material.history,
            material.message,
            material.pushed,
            limits,
            policy.config.message.style,
            policy.config.git.protected_branches,
        )
        identities = (material.changes.identity, *material.commits)
        yield Gathered(subject, policy, identities, (*notes, *expired_notes(policy, today)))


def read(request: Request, repository: Repository, reader: ChangeReader, blobs: BlobReader) -> Material:
    """The material of a request to a repository."""
    contents = BlobContents(blobs)
    match request:
        case Staged():
            return Material(reader.staged(), contents)
        case Worktree():
            return Material(reader.worktree(), WorktreeContents(blobs, repository.root))
        case Message():
            changes = reader.staged()
            message = message_of(request, repository)
            return Material(with_identity(changes, changes.identity, message.text), contents, message)
        case Commit():
            changes = next(reader.commits([repository.resolve(request.revision)]))
            return Material(changes, contents, recorded_message(changes.message or ""))
        case Range():
            base, head = repository.resolve(request.base), repository.resolve(request.head)
            commits = repository.commits(head, exclude=[base])
            return recorded([commits] if commits else [], (), repository, reader, contents)
        case Push():
            pushed = complete(request.plan, repository, request.remote)
            partial = (
                [Skipped("other refs of this push", request.plan.partial)] if request.plan.partial else []
            )
            material = recorded(
                [ref.commits for ref in pushed if ref.commits], pushed, repository, reader, contents
            )
            changes = replace(material.changes, skipped=(*material.changes.skipped, *partial))
            return replace(material, changes=changes)
        case Patch():
            return Material(read_patch(request.raw, request.name), PatchContents())


def recorded(
    lines: list[tuple[str, ...]],
    pushed: tuple[PushedRef, ...],
    repository: Repository,
    reader: ChangeReader,
    contents: Contents,
) -> Material:
    """Lines of commits, oldest first in each, as a whole and one by one."""
    files: dict[tuple[str, str | None, str | None], FileChange] = {}
    skipped: list[Skipped] = []
    for line in lines:
        tip = line[-1]
        net = reader.net(tip, repository.bases(tip, parents_outside(repository, line)))
        skipped += net.skipped
        files |= {(change.path, change.new_blob, change.old_blob): change for change in net.files}
    commits = tuple(dict.fromkeys(commit for line in lines for commit in line))
    history = History(reader, commits)
    identity = repr((commits, [ref.update for ref in pushed]))
    changes = with_identity(ChangeSet(tuple(files.values()), tuple(skipped)), identity)
    identities = tuple(each.identity for each in history)
    return Material(changes, contents, None, history, pushed, identities)


def parents_outside(repository: Repository, commits: tuple[str, ...]) -> list[str]:
    """The parents of some commits that are not among them: where their history was met."""
    met = {parent for parents in repository.parents(commits).values() for parent in parents}
    return sorted(met.difference(commits))


def with_identity(changes: ChangeSet, *parts: str) -> ChangeSet:
    """The change set under an identity that also holds other parts."""
    digest = hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()
    return replace(changes, identity=digest)


def policy_for(
    request: Request, repository: Repository | None, env: Mapping[str, str]
) -> tuple[Policy, list[str]]:
    """The policy that judges a request: the one already recorded before it, tightened by the user's own."""
    user = read_user_config(env)
    sources = ("the user's own file",) if user else ()
    revision = judging_revision(request, repository) if repository else None
    if repository is None or revision is None:
        return Policy(user=user, sources=("built-in defaults", *sources)), []
    notes: list[str] = []
    try:
        found = read_config(lambda name: repository.show(revision, name), f" at {revision[:12]}")
    except ConfigError as error:
        if not (isinstance(request, Staged | Message) and repairs(repository)):
            raise
        found = None
        notes.append(f"{error}; this change repairs it, the built-in defaults judge")
    config, source = found or (Config(), "built-in defaults")
    baseline = read_baseline(repository.show(revision, BASELINE_FILE), f"{BASELINE_FILE} at {revision[:12]}")
    return Policy(config, user, baseline, (source, *sources)), notes


def judging_revision(request: Request, repository: Repository) -> str | None:
    """The commit whose policy judges: HEAD for what is not recorded, the tip of what is, a commit's parent."""
    if isinstance(request, Commit):
        oid = repository.resolve(request.revision)
        return repository.git.optional("rev-parse", "--quiet", "--verify", f"{oid}^1")
    if isinstance(request, Range):
        return repository.resolve(request.head)
    if isinstance(request, Push):
        tips = (u.local_oid for u in request.plan.updates if not u.deletes)
        tip = next(tips, None)
        if tip is None:
            return repository.head
        return (
            repository.git.optional("rev-parse", "--quiet", "--verify", f"{tip}^{{commit}}")
            or repository.head
        )
    return repository.head


def repairs(repository: Repository) -> bool:
    """Does the index hold a configuration that can be read, or none any more?"""
    try:
        read_config(lambda name: repository.show("", name), " in the index")
    except ConfigError:
        return False
    return True
