"""The commits of a push that may be on the remote already: tracking refs say so, which anyone here can write.

They are searched for keys alone, once: the cache keeps the ids of those in which nothing was found.
"""

import hashlib
from collections.abc import Callable, Iterable

from cli_guard.git.changes import ChangeReader, History
from cli_guard.git.lines import PushedRef
from cli_guard.git.repository import Repository
from cli_guard.model import Skipped
from cli_guard.reviewers.cache import Cache
from cli_guard.reviewers.clean_files import identity
from cli_guard.reviewers.review_input import ReviewInput

MOST_COMMITS = 10_000
MOST_TREES = 20
SHORTEST = 6


def vouched_history(
    pushed: Iterable[PushedRef], reader: ChangeReader, cache: Cache | None
) -> tuple[History, int, list[Skipped]]:
    """Return the vouched commits still to search, the number of all, and what is over the limit."""
    every = [commit for ref in pushed for commit in ref.vouched]
    searched = cache.get(map(key_of, every)) if cache and every else {}
    due = [commit for commit in every if key_of(commit) not in searched]
    skipped = []
    if len(due) > MOST_COMMITS:
        reason = (
            f"only the last {MOST_COMMITS:,} commits were searched: fetch from the remote, then push again"
        )
        left_out = f"{len(due) - MOST_COMMITS:,} commits that other remotes have"
        skipped.append(Skipped(left_out, reason, asks=True))
    return History(reader, tuple(due[-MOST_COMMITS:])), len(every), skipped


def keep_searched(subject: ReviewInput, guilty: Iterable[str | None], cache: Cache) -> None:
    """Remember the commits in which nothing was found. The caller makes sure that all of them were searched."""
    if isinstance(subject.vouched, History) and len(subject.vouched):
        clean = set(subject.vouched.ids).difference(guilty)
        cache.put({key_of(commit): b"searched" for commit in clean})


def key_of(commit: str) -> bytes:
    """Return the key of a commit in the cache: another version of cli-guard searches it again."""
    return hashlib.sha256(identity() + b"vouched " + commit.encode("ascii")).digest()


def published_in(repository: Repository, pushed: Iterable[PushedRef]) -> Callable[[str], bool]:
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
        return any(repository.git.attempt(*search, *place, "--", stdin=asked)[0] == 0 for place in places)

    return is_there
