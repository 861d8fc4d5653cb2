"""Read what a push is about to do: from the lines that Git passes to pre-push, or from a framework's variables.

githooks(5): one line a ref, `<local ref> <local oid> <remote ref> <remote oid>`; a new ref has a remote id of
zeros, a deletion a local one; an up-to-date push has no line at all.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from cli_guard.errors import UsageError
from cli_guard.git.tracking import remote_history
from cli_guard.model import RefUpdate, Skipped
from cli_guard.repository.protocol import Changes, History, Repository
from cli_guard.repository.pushes import Graph, Line, PushedRef

# Few updates are asked one by one: the history of all of them may be long.
MOST_CALLS = 8
# What may be on the remote already: tracking refs say so, which anyone here can write. It is searched for keys alone.
MOST_COMMITS = 10_000
MOST_TREES = 20
SHORTEST = 6
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
    for number, line in enumerate(
        text.removesuffix("\n").split("\n") if text.strip() else (), 1
    ):
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
    # A framework always sets the second for a push; the others may be the caller's own, on a first push.
    local = env.get("PRE_COMMIT_LOCAL_BRANCH") or env.get("PRE_COMMIT_TO_REF") or "HEAD"
    base = env.get("PRE_COMMIT_FROM_REF") or zero
    update = RefUpdate(
        local_ref=local,
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
    ids = {oid for each in plan.updates for oid in (each.local_oid, each.remote_oid)}
    found = repository.identify(f"{oid}^{{commit}}" for oid in ids)
    # A tag of a tree or a blob leads to no commit; Git pushes it anyway.
    commit_of = {
        oid: found[peeled][0] for oid in ids if (peeled := f"{oid}^{{commit}}") in found
    }
    # Anybody can set what a framework passes, so it says nothing about what the remote has.
    told = () if plan.partial else (each.remote_oid for each in plan.updates)
    named = dict.fromkeys(commit_of[each] for each in told if each in commit_of)
    there = (
        {} if plan.partial else {each.remote_ref: each.remote_oid for each in plan.updates}
    )
    history = remote_history(repository, remote, there, commit_of)
    proven = (*history.proven, *named)
    others = {oid for oids in history.vouched.values() for oid in oids}
    tips = {
        commit_of[each.local_oid] for each in plan.updates if each.local_oid in commit_of
    }
    # Thousands of refs may share commits: no ref costs a call of Git.
    unproven = repository.graph(tips, proven) if tips else Graph()
    due = (
        repository.graph(tips, (*proven, *others))
        if others and unproven.parents
        else unproven
    )
    forced = find_forced(plan, commit_of, unproven, repository)
    other = {
        f"{each.local_oid}^{{tree}}"
        for each in plan.updates
        if each.local_oid not in commit_of
    }
    trees = repository.identify(other)
    near = bases_of_head(repository, proven) if trees else ()

    pushed = []
    seen = set[str]()
    reviewed = set[str]()
    for tip in tips:
        due.line(tip, reviewed)
    for update in plan.updates:
        if update.deletes:
            pushed.append(PushedRef(update))
        elif update.local_oid not in commit_of:
            tree, _ = trees.get(f"{update.local_oid}^{{tree}}", (None, ""))
            pushed.append(
                PushedRef(update, commits=None, bases=near if tree else (), tree=tree)
            )
        else:
            tip = commit_of[update.local_oid]
            old = commit_of.get(update.remote_oid)
            met: Iterable[str | None] = ()
            if old in named:
                met = (old,)
            elif tip in unproven.parents:
                met = unproven.bases(tip)
            vouched = tuple(
                each for each in unproven.line(tip, seen) if each not in reviewed
            )
            bases = tuple(base for base in met if base)
            pushed.append(
                PushedRef(update, update in forced, Line(due, tip), vouched, bases)
            )
    return tuple(pushed)


def find_forced(
    plan: PushPlan, commit_of: Mapping[str, str], new: Graph, repository: Repository
) -> set[RefUpdate]:
    """Return the updates that rewrite a ref: its old commit is no ancestor of the new one, or not known here."""
    moved = [
        each for each in plan.updates if not each.creates and each.local_oid in commit_of
    ]
    forced = {each for each in moved if each.remote_oid not in commit_of}
    pairs = {
        each: (commit_of[each.remote_oid], commit_of[each.local_oid])
        for each in moved
        if each not in forced
    }
    # Most updates add commits to the old one.
    asked = {
        (old, tip)
        for old, tip in pairs.values()
        if old != tip and old not in new.bases(tip)
    }
    if len(asked) <= MOST_CALLS:
        refused = {pair for pair in asked if not repository.is_ancestor(*pair)}
    else:
        whole = repository.graph({tip for _, tip in asked})
        refused = {
            pair for pair, is_one in whole.find_ancestries(asked).items() if not is_one
        }
    return forced | {each for each, pair in pairs.items() if pair in refused}


def bases_of_head(repository: Repository, proven: Iterable[str]) -> tuple[str, ...]:
    """Return the commits that HEAD shares with the remote, to compare a tree without commits with."""
    head = repository.commit_at_head
    return (
        tuple(base for base in repository.graph([head], proven).bases(head) if base)
        if head
        else ()
    )


def vouched_history(
    pushed: Iterable[PushedRef], reader: Changes
) -> tuple[History, int, list[Skipped]]:
    """Return the vouched commits to search, the number of all, and what is over the limit."""
    due = [commit for ref in pushed for commit in ref.vouched]
    skipped = []
    if len(due) > MOST_COMMITS:
        reason = f"only the last {MOST_COMMITS:,} commits were searched: fetch from the remote, then push again"
        left_out = f"{len(due) - MOST_COMMITS:,} commits that other remotes have"
        skipped.append(Skipped(left_out, reason, asks=True))
    return History(reader, tuple(due[-MOST_COMMITS:])), len(due), skipped


def published_in(
    repository: Repository, pushed: Iterable[PushedRef]
) -> Callable[[str], bool]:
    """Return whether a text stands in a file of the commits that the remote is known to have."""
    trees = tuple(dict.fromkeys(base for ref in pushed for base in ref.bases))[:MOST_TREES]
    return texts_in(repository, *([trees] if trees else []))


def texts_in(repository: Repository, *places: tuple[str, ...]) -> Callable[[str], bool]:
    """Return whether a text stands in a file of some places: trees, or `--cached`."""

    def is_there(text: str) -> bool:
        line = max(text.splitlines() or [""], key=len)
        if len(line) < SHORTEST:
            return False
        # On standard input: a command line can be read by other users.
        asked = f"{line}\n".encode("utf-8", "surrogateescape")
        search = ("grep", "-qaF", "-f", "-")
        return any(
            repository.git.attempt(*search, *place, "--", stdin=asked)[0] == 0
            for place in places
        )

    return is_there
