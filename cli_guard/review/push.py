"""Read what a push is about to do: from the lines that Git passes to pre-push, or from a framework's variables.

githooks(5): one line a ref, `<local ref> <local oid> <remote ref> <remote oid>`; a new ref has a remote id of
zeros, a deletion a local one; an up-to-date push has no line at all.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import field, replace

from cli_guard.errors import UsageError
from cli_guard.git.tracking import (
    RemoteHistory,
    host_of,
    is_one_host,
    remote_history,
    remote_hosts,
)
from cli_guard.lazy import frozen
from cli_guard.model import RefUpdate, Skipped
from cli_guard.repository.protocol import Changes, History, Repository
from cli_guard.repository.pushes import Graph, Line, Published, PushedRef

# Few updates are asked one by one: the history of all of them may be long.
MOST_CALLS = 8
# What may be on the remote already: tracking refs say so, which anyone here can write. It is searched for keys alone.
MOST_COMMITS = 10_000
MOST_TREES = 20
SHORTEST = 6
OID = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})")


@frozen
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

    The remote has the ids that Git names on standard input, and what was fetched from it or pushed to it before. What
    another remote has stands under `published`, what only a tracking ref vouches for under `vouched`. A forced update
    (the remote's commit is not an ancestor, or not known here) counts from what any branch of the remote has, as for a
    new branch.
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
    tips = {
        commit_of[each.local_oid] for each in plan.updates if each.local_oid in commit_of
    }
    sorted_out = SortedCommits.of(
        repository, tips, (*history.proven, *named), history, remote
    )
    forced = find_forced(plan, commit_of, sorted_out.unproven, repository)
    other = {
        f"{each.local_oid}^{{tree}}"
        for each in plan.updates
        if each.local_oid not in commit_of
    }
    trees = repository.identify(other)
    near: tuple[str, ...] = ()
    if trees and (head := repository.commit_at_head):
        # HEAD shares these with the remote: a tree without commits is compared with them.
        shared = repository.graph([head], (*history.proven, *named)).bases(head)
        near = tuple(filter(None, shared))

    pushed = []
    seen = set[str]()
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
            ref = sorted_out.line_of(tip, PushedRef(update, update in forced), seen)
            pushed.append(replace(ref, bases=(old,)) if old in named else ref)
    return tuple(pushed)


@frozen
class SortedCommits:
    """The commits of a push by who has them: all that the remote is not proven to have, and those to review.

    `published` are those of other remotes; `unpublished` are all that no remote is proven to have.
    """

    unproven: Graph
    published: tuple[Published, ...] = ()
    unpublished: Graph = field(default_factory=Graph)
    due: Graph = field(default_factory=Graph)

    @classmethod
    def of(
        cls,
        repository: Repository,
        tips: Collection[str],
        proven: tuple[str, ...],
        history: RemoteHistory,
        remote: str,
    ) -> "SortedCommits":
        """Sort the commits of some tips; `proven` are those that the remote has. Raises GitError."""
        # Thousands of refs may share commits: no ref costs a call of Git.
        unproven = repository.graph(tips, proven) if tips else Graph()
        if not unproven.parents:
            return cls(unproven)
        rest = unproven
        known = proven
        vouched = history.vouched
        published = []
        for same_host, remotes in sort_remotes(repository, remote, history.published):
            tips_there = [oid for each in remotes for oid in history.published[each]]
            if same_host is None:
                vouched = (*vouched, *tips_there)
                continue
            known = (*known, *tips_there)
            others = repository.graph(tips, known)
            theirs = tuple(each for each in rest.parents if each not in others.parents)
            rest = others
            if theirs:
                published.append(Published(remotes, theirs, same_host))
        due = repository.graph(tips, (*known, *vouched)) if vouched else rest
        return cls(unproven, tuple(published), rest, due)

    def line_of(self, tip: str, ref: PushedRef, seen: set[str]) -> PushedRef:
        """Return a ref to a commit with its commits, without those of the refs before, which are `seen`."""
        line = self.unproven.line(tip, seen)
        bases = self.unproven.bases(tip) if tip in self.unproven.parents else ()
        starts = self.unpublished.bases(tip) if self.published and line else ()
        published = (
            replace(each, commits=tuple(sorted_in(line, each.commits)))
            for each in self.published
        )
        vouched = [
            each
            for each in sorted_in(line, self.unpublished.parents)
            if each not in self.due.parents
        ]
        return replace(
            ref,
            commits=Line(self.due, tip),
            published=tuple(each for each in published if each.commits),
            vouched=tuple(vouched),
            bases=tuple(base for base in bases if base),
            starts=tuple(base for base in starts if base),
        )


def sorted_in(line: Iterable[str], commits: Collection[str]) -> Iterator[str]:
    """Yield those of some commits that a line has, in its order."""
    wanted = commits if isinstance(commits, Mapping) else frozenset(commits)
    return (each for each in line if each in wanted)


def sort_remotes(
    repository: Repository, remote: str, others: Collection[str]
) -> Iterator[tuple[bool | None, tuple[str, ...]]]:
    """Yield the other remotes on the host that a push goes to (True), elsewhere (False), and not configured (None)."""
    if not others:
        return
    hosts = remote_hosts(repository)
    here = hosts.get(remote, frozenset([host_of(remote)]))
    near = {
        each: is_one_host(hosts[each], here) if each in hosts else None for each in others
    }
    for same_host in (True, False, None):
        names = tuple(
            sorted(name for name, is_near in near.items() if is_near is same_host)
        )
        if names:
            yield same_host, names


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
