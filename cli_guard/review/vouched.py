"""The commits of a push that may be on the remote already: tracking refs say so, which anyone here can write.

They are searched for keys alone.
"""

from collections.abc import Callable, Iterable

from cli_guard.model import Skipped
from cli_guard.repository.protocol import Changes, History, Repository
from cli_guard.repository.pushes import PushedRef

MOST_COMMITS = 10_000
MOST_TREES = 20
SHORTEST = 6


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
