"""Find the recorded commits that no review has allowed: what Git records is certain only afterwards.

Git reads the index again after the hooks, and runs none for `--no-verify` and most of a rebase. The push reviews such
commits like all others.
"""

from collections.abc import Sequence

from cli_guard.model import Decision
from cli_guard.repository.protocol import End, Repository
from cli_guard.review.render.words import count
from cli_guard.state.audit import Entry

MOST_COMMITS = 200
MOST_NAMED = 10
MOST_AMENDED = 20


def find_unallowed(repository: Repository, entries: Sequence[Entry]) -> list[str]:
    """Return the commits of the current branch that no remote has and no review has allowed, newest first.

    Of the last MOST_COMMITS since the first review of what was staged in the log. Raises GitError.
    """
    # A review by hand says its place as well.
    places = (str(each.get("place")).partition(" ") for each in entries)
    start = next((base for kind, _, base in places if kind == "index"), None)
    if start is None or repository.head is None:
        return []
    from cli_guard.reviewers.review_input import Limits

    known = [oid for oid, kind in repository.identify([start]).values() if kind == "commit"]
    asked = (
        "rev-list",
        f"--max-count={MOST_COMMITS}",
        "HEAD",
        "--not",
        "--remotes",
        *known,
    )
    commits = repository.git.text(*asked).split()
    lines = {commit: same_before(repository, commit) for commit in commits}
    every = list(dict.fromkeys(each for line in lines.values() for each in line))
    ends: list[End] = [
        (commit, parents or (None,))
        for commit, parents in repository.parents(every).items()
    ]
    # An amend was reviewed against the commit in whose place it is: the one before in the reflog of HEAD.
    wanted = set(every)
    replaced = {
        (new, old)
        for old, new, _ in repository.reflog_of_head()
        if new in wanted and old.strip("0")
    }
    there = repository.identify(old for _, old in replaced)
    recorded = len(ends)
    ends += [(new, (old,)) for new, old in replaced if old in there]
    allowed = {
        each.get("content") for each in entries if each.get("decision") == Decision.ALLOW
    }
    limits = Limits()
    with repository.blobs(limits.file_chars) as blobs:
        nets = repository.changes(blobs, limits.bounds).nets(ends)
        good = {
            commit
            for number, ((commit, _), changes) in enumerate(zip(ends, nets, strict=True))
            if changes.identity in allowed
            # Nothing that its parents have not.
            or (number < recorded and not changes.files and not changes.skipped)
        }
    return [commit for commit in commits if good.isdisjoint(lines[commit])]


def same_before(repository: Repository, commit: str) -> list[str]:
    """Return a commit, and those in whose place it is with the very same tree: only their message was amended."""
    before = {new: old for old, new, _ in repository.reflog_of_head()}
    line = [commit]
    while len(line) < MOST_AMENDED and (old := before.get(line[-1], "")).strip("0"):
        if old in line or old not in repository.identify([old]):
            break
        trees = repository.trees([line[-1], old])
        if trees.get(old) != trees.get(line[-1]):
            break
        line.append(old)
    return line


def describe(found: Sequence[str]) -> str:
    """Return one line about commits that no review has allowed, "" for none."""
    if not found:
        return ""
    named = ", ".join(commit[:10] for commit in found[:MOST_NAMED])
    more = f" and {len(found) - MOST_NAMED} more" if len(found) > MOST_NAMED else ""
    which = "not on a remote, recorded without a review that allowed it"
    return f"{count(len(found), 'commit')} {which}: {named}{more}; a push that runs the hook reviews them"
