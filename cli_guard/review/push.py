"""Read what a push is about to do: from the lines that Git passes to pre-push, or from a framework's variables.

githooks(5): one line a ref, `<local ref> <local oid> <remote ref> <remote oid>`; a new ref has a remote id of
zeros, a deletion a local one; an up-to-date push has no line at all.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from cli_guard.errors import UsageError
from cli_guard.git.repository import Repository
from cli_guard.git.tracking import find_commits, remote_history
from cli_guard.model import PushedRef, RefUpdate

OID = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})")


@dataclass(frozen=True, slots=True)
class PushPlan:
    """The refs of one push. `partial` says why others may be missing, None if all are known."""

    updates: tuple[RefUpdate, ...]
    partial: str | None = None


def read_lines(text: str) -> tuple[RefUpdate, ...]:
    """Parse the updates in pre-push's standard input. Raises UsageError for lines of another form."""
    updates = []
    # A local ref as typed may contain blanks (`:/fix the bug`), and any ref a U+2028.
    for number, line in enumerate(text.removesuffix("\n").split("\n") if text.strip() else (), 1):
        words = line.rsplit(" ", 3)
        if len(words) != 4 or not OID.fullmatch(words[1]) or not OID.fullmatch(words[3]):
            raise UsageError(
                f"line {number} on standard input is not `<local ref> <local oid> <remote ref> <remote oid>`:"
                " Git calls this command, see `cli-guard install`"
            )
        updates.append(RefUpdate(*words))
    return tuple(updates)


def read_framework(env: Mapping[str, str], zero: str) -> PushPlan | None:
    """Read the one update that pre-commit and prek pass in the environment, None if they do not.

    Neither gives pre-push's own lines. pre-commit sets no FROM/TO ref at all for the first push to an empty
    remote, and prek only a TO ref; both stop at the first ref that has something to push.
    """
    if env.get("PRE_COMMIT") != "1" and "PRE_COMMIT_REMOTE_BRANCH" not in env:
        return None
    local = env.get("PRE_COMMIT_TO_REF") or env.get("PRE_COMMIT_LOCAL_BRANCH") or "HEAD"
    base = env.get("PRE_COMMIT_FROM_REF") or zero
    update = RefUpdate(
        local_ref=env.get("PRE_COMMIT_LOCAL_BRANCH") or local,
        local_oid=local,
        remote_ref=env.get("PRE_COMMIT_REMOTE_BRANCH") or "",
        remote_oid=base,
    )
    return PushPlan((update,), "the framework shows a hook only the first ref of a push")


def complete(plan: PushPlan, repository: Repository, remote: str) -> tuple[PushedRef, ...]:
    """Add to the updates their commits that the remote does not have yet, oldest first.

    The remote has the ids that Git names on standard input, and what was fetched from it or pushed to it before. A
    commit that only other tracking refs vouch for stands under `vouched`. A forced update (the remote's commit is not
    an ancestor, or not known here) counts from what any branch of the remote has, as for a new branch.
    """
    named = find_commits(repository, (each.remote_oid for each in plan.updates if not each.creates))
    # A framework finds its base by the tracking refs, so its base proves no more than they do.
    there = {} if plan.partial else {each.remote_ref: each.remote_oid for each in plan.updates}
    history = remote_history(repository, remote, there)
    proven = (*history.proven, *(() if plan.partial else named))
    others = {oid for oids in history.vouched.values() for oid in oids} | set(named if plan.partial else ())
    pushed = []
    for update in plan.updates:
        if update.deletes:
            pushed.append(PushedRef(update))
            continue
        # A tag of a tree or a blob has no commits; Git pushes it anyway.
        tip = repository.git.optional("rev-parse", "--quiet", "--verify", f"{update.local_oid}^{{commit}}")
        if tip is None:
            tree = repository.git.optional("rev-parse", "--quiet", "--verify", f"{update.local_oid}^{{tree}}")
            near = bases_of_head(repository, proven) if tree else ()
            pushed.append(PushedRef(update, commits=None, bases=near, tree=tree))
            continue
        fast_forward = not update.creates and repository.is_ancestor(update.remote_oid, tip)
        unproven = repository.commits(tip, exclude=proven)
        commits = repository.commits(tip, exclude=(*proven, *others)) if others and unproven else unproven
        due = set(commits)
        vouched = tuple(commit for commit in unproven if commit not in due) if others else ()
        bases = find_commits(repository, [update.remote_oid]) or repository.bases(tip, proven)
        forced = not update.creates and not fast_forward
        pushed.append(PushedRef(update, forced, commits, vouched, tuple(base for base in bases if base)))
    return tuple(pushed)


def bases_of_head(repository: Repository, proven: Iterable[str]) -> tuple[str, ...]:
    """Return the commits that HEAD shares with the remote, to compare a tree without commits with."""
    head = repository.commit_at_head
    if head is None or not repository.commits(head, exclude=proven):
        return (head,) if head else ()
    return tuple(base for base in repository.bases(head, proven) if base)
