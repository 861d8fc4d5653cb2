"""What a push brings to a bare repository, verified before any ref moves (githooks(5), pre-receive).

Git keeps the new objects in quarantine until the hook has answered. The signers and the policy of a branch are those
that it has now; those of a new ref are those of the default branch. Approvals that come with the push count as well.
"""

import re
from collections.abc import Iterator, Sequence

from cli_guard.approvals.counting import Approval
from cli_guard.approvals.listing import read_signed
from cli_guard.approvals.lookup import Verifier
from cli_guard.approvals.statements import BREAK_GLASS, Signed
from cli_guard.approvals.storage import MOST_BYTES, Notes
from cli_guard.git.notes import REF
from cli_guard.lazy import frozen
from cli_guard.model import Category, Decision, Presence, RefUpdate
from cli_guard.policy.decisions import Policy
from cli_guard.policy.globs import matches
from cli_guard.policy.recorded import recorded_policy
from cli_guard.repository.protocol import Repository, as_lines
from cli_guard.review.render.review import Review
from cli_guard.review.request import Range
from cli_guard.review.run import ReviewOptions, never, review_request
from cli_guard.runtime import Invocation

BRANCHES = "refs/heads/"
NOTE = re.compile(rb"[0-9a-f]{40}|[0-9a-f]{64}")
OPTION = "cli-guard=break-glass"


@frozen
class Verified:
    """The outcome for one ref: whether it may move, why, the review of its commits, and who broke the glass, if any."""

    update: RefUpdate
    allowed: bool
    words: str
    review: Review | None = None
    by: str = ""


def verify_push(
    repository: Repository, updates: Sequence[RefUpdate], invocation: Invocation
) -> Iterator[Verified]:
    """Verify each ref of a push. Raises CliGuardError."""
    pushed = (
        each.local_oid for each in updates if each.remote_ref == REF and not each.deletes
    )
    notes = Notes(repository, (REF, *pushed))
    for update in updates:
        found = verify_ref(repository, update, notes, invocation)
        if not found.allowed and asks_to_break(invocation):
            found = break_glass(repository, update, notes, invocation, found)
        yield found


def verify_ref(
    repository: Repository, update: RefUpdate, notes: Notes, invocation: Invocation
) -> Verified:
    """Verify one ref, without break-glass."""
    rewrites = update.deletes or not (
        update.creates or repository.is_ancestor(update.remote_oid, update.local_oid)
    )
    if update.remote_ref == REF:
        if rewrites:
            return Verified(
                update,
                False,
                "approvals can only be added: fetch them first (`cli-guard signers fetch`)",
            )
        strange = find_strange(repository, update)
        return Verified(update, not strange, strange or "approvals")
    base = base_of(repository, update)
    if base is None:
        first = not (
            update.deletes
            or (repository.state_folder / "audit.jsonl").exists()
            or repository.git.text("for-each-ref", "--count=1", BRANCHES)
        )
        words = "the default branch of this repository is missing, so nothing says who may approve"
        words = (
            "the first push, with nothing to verify it by: it was not reviewed"
            if first
            else words
        )
        return Verified(update, first, words)
    # Another name may stand for a branch, and the default one says who judges the others.
    default = repository.git.optional("symbolic-ref", "--quiet", "HEAD") or ""
    target = (
        repository.git.optional("symbolic-ref", "--quiet", update.remote_ref)
        or update.remote_ref
    )
    protected = (
        *recorded_policy(repository, base)[0].git.protected_branches,
        default.removeprefix(BRANCHES),
    )
    branch = target.removeprefix(BRANCHES)
    if rewrites and branch != target and any(matches(each, branch) for each in protected):
        done = "deleted" if update.deletes else "rewritten"
        return Verified(update, False, f"{branch} is protected, and would be {done}")
    if update.deletes:
        return Verified(update, True, "deleted")
    if not repository.identify([f"{update.local_oid}^{{commit}}"]):
        return Verified(
            update, False, "it does not point to a commit, so it cannot be verified"
        )
    request = Range(base, update.local_oid, "pre-receive")
    review = review_request(
        request,
        invocation,
        ReviewOptions(uses_cache=False, records=never, storages=(notes,)),
        repository,
    )
    words = (
        "verified"
        if review.decision is Decision.ALLOW
        else review.review_reason or "denied"
    )
    return Verified(update, review.decision is Decision.ALLOW, words, review)


def base_of(repository: Repository, update: RefUpdate) -> str | None:
    """Return the commit whose signers and policy count, None in a repository without a commit."""
    if update.remote_ref.startswith(BRANCHES) and not update.creates:
        return update.remote_oid
    return repository.head


def find_strange(repository: Repository, update: RefUpdate) -> str:
    """Return what pushed notes hold that is no approval, "" if nothing: the ref must not carry anything else."""
    known = () if update.creates else (update.remote_oid,)
    commits = repository.commits(update.local_oid, exclude=known)
    listed = repository.git.run(
        "diff-tree",
        "--stdin",
        "-r",
        "--root",
        "-m",
        "--no-commit-id",
        "-z",
        stdin=as_lines(commits),
    ).split(b"\0")
    with repository.blobs(MOST_BYTES) as reader:
        for about, path in zip(listed[::2], listed[1::2], strict=False):
            _, mode, _, blob, _ = about.decode("ascii", "replace").split()
            if not NOTE.fullmatch(path.replace(b"/", b"")) or mode not in (
                "100644",
                "000000",
            ):
                return "the notes hold a file that is no note"
            raw = reader.read(blob) if mode == "100644" else b""
            if raw is None:
                return "a note is too long"
            try:
                for line in filter(str.strip, raw.decode("utf-8", "replace").splitlines()):
                    Signed.parse(line)
            except ValueError as error:
                return f"the notes hold what is no approval: {error}"
    return ""


def asks_to_break(invocation: Invocation) -> bool:
    """Return whether the push has our option (`git push -o cli-guard=break-glass`)."""
    env = invocation.env
    number = env.get("GIT_PUSH_OPTION_COUNT", "")
    count = min(int(number), 100) if number.isdecimal() else 0
    return any(env.get(f"GIT_PUSH_OPTION_{at}") == OPTION for at in range(count))


def break_glass(
    repository: Repository,
    update: RefUpdate,
    notes: Notes,
    invocation: Invocation,
    found: Verified,
) -> Verified:
    """Let a refused ref pass if a signer has said so for exactly this commit, at the highest level of the policy."""
    base = base_of(repository, update)
    # It lifts neither the protection of a branch, nor what is denied, nor what loosens the guard.
    if base is None or found.review is None or found.review.decision is Decision.DENY:
        return found
    if any(each.finding.category is Category.POLICY for each in found.review.findings):
        return found
    wanted = Presence.highest(
        (Presence.KEY, Policy(recorded_policy(repository, base)[0]).highest)
    )
    people = 2 if wanted is Presence.SECOND else 1
    wanted = Presence.KEY if wanted is Presence.SECOND else wanted
    refused = "no signed break-glass of this commit is in the notes"
    given: dict[bytes, Approval] = {}
    verifier = Verifier(repository, base, invocation)
    tree = repository.tree_of(update.local_oid)
    for each in read_signed(notes.read((tree,))[0]):
        made = each.statement
        if made.decision != BREAK_GLASS or made.content != update.local_oid:
            continue
        approval = verifier(each)
        if isinstance(approval, str):
            refused = approval
        elif approval.level.rank >= wanted.rank:
            given[approval.key] = approval
            names = dict.fromkeys(each.made.principal for each in given.values())
            by = " and ".join(names)
            if len(names) >= people:
                reason = approval.made.reason
                words = f"break-glass by {by} ({approval.level}): {reason}"
                return Verified(update, True, words, found.review, by)
            refused = f"{len(given)} of {people} people broke the glass"
        else:
            refused = (
                f"signature good, but it shows only {approval.level}; policy wants {wanted}"
            )
    return Verified(
        update, False, f"{found.words}; break-glass refused: {refused}", found.review
    )
