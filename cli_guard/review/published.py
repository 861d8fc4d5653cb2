"""What a push brings to a new place of the commits that other remotes are known to have.

Nothing here takes it back, so it is never denied: a person is asked about the keys in it, and nothing else is said of
it. On the host where it is already, nothing is new.
"""

import hashlib
import json
from collections.abc import Iterable, Sequence

from cli_guard.git.added import read_patches, split_evenly
from cli_guard.git.tracking import host_of, remote_hosts
from cli_guard.lazy import frozen
from cli_guard.repository.protocol import OnProgress, Repository
from cli_guard.repository.pushes import Published, PushedRef
from cli_guard.review.render.words import count
from cli_guard.reviewers.cache import Cache
from cli_guard.reviewers.clean_files import identity
from cli_guard.secrets.patches import commits_with_keys
from cli_guard.secrets.redact import redact

MOST_COMMITS = 10_000


def join_published(pushed: Iterable[PushedRef]) -> list[Published]:
    """Return what all refs of a push bring of other remotes: on the same host, and elsewhere."""
    groups: dict[tuple[tuple[str, ...], bool], list[str]] = {}
    for ref in pushed:
        for each in ref.published:
            groups.setdefault((each.remotes, each.same_host), []).extend(each.commits)
    return [
        Published(remotes, tuple(commits), same_host)
        for (remotes, same_host), commits in groups.items()
    ]


@frozen
class KeySearch:
    """The search of published commits for keys; `on_progress` gets the number of commits done, and of all.

    What was searched is remembered. Any program of the user can write to the cache, but a forged entry hides only what
    another remote is known to have, and that is never denied.
    """

    repository: Repository
    cache: Cache | None = None
    on_progress: OnProgress | None = None

    def find(self, commits: Sequence[str]) -> list[str]:
        """Return those of the last MOST_COMMITS that may add a key. Raises GitError."""
        due = commits[-MOST_COMMITS:]
        groups = {key_of(group): group for group in split_evenly(due)}
        known = self.cache.get(groups) if self.cache else {}
        fresh: dict[bytes, bytes] = {}
        found: list[str] = []
        done = 0
        for key, group in groups.items():
            chosen = read_row(known[key], group) if key in known else None
            if chosen is None:
                chosen = self.search(group)
                fresh[key] = json.dumps(chosen).encode("ascii")
            found += chosen
            done += len(group)
            if self.on_progress:
                self.on_progress(done, len(due), "commits")
        if self.cache and fresh:
            self.cache.put(fresh)
        return found

    def search(self, commits: Sequence[str]) -> list[str]:
        """Return those of a few commits that may add a key."""
        found: list[str] = []
        for part, patches in read_patches(self.repository.git, commits):
            found += part if patches is None else commits_with_keys(patches)
        return found


def key_of(commits: Iterable[str]) -> bytes:
    """Hash all that the search of some commits depends on: their ids, and the code and rules that search."""
    digest = hashlib.sha256(identity() + b"published")
    digest.update("\n".join(commits).encode("ascii"))
    return digest.digest()


def read_row(value: bytes, commits: Sequence[str]) -> list[str] | None:
    """Read what the cache holds of some commits; None for anything else."""
    try:
        chosen = json.loads(value)
    except ValueError:
        return None
    if not isinstance(chosen, list) or not set(map(str, chosen)) <= set(commits):
        return None
    return [str(each) for each in chosen]


def describe(repository: Repository, remote: str, each: Published) -> str:
    """Say in one line what a push brings of other remotes, and what was searched."""
    who = join_names(each.remotes)
    what = count(len(each.commits), "commit")
    verb = "goes" if len(each.commits) == 1 else "go"
    host = host_to_push(repository, remote)
    if each.same_host:
        return f"{what} of {who} {verb} to another place on {host}: not searched again"
    # An address may hold a password.
    is_name = repository.config(f"remote.{remote}.url") is not None
    place = remote if is_name else host or "another folder"
    which = "searched for keys"
    if len(each.commits) > MOST_COMMITS:
        which = f"the last {MOST_COMMITS:,} were {which}"
    return redact(f"{what} of {who} {verb} to a new place ({place}): {which}")


def host_to_push(repository: Repository, remote: str) -> str:
    """Return the host of a remote, or those of all its addresses; "" for a folder."""
    hosts = remote_hosts(repository).get(remote, frozenset([host_of(remote)]))
    return " and ".join(sorted(hosts - {""}))


def join_names(names: Sequence[str]) -> str:
    """Join names as in a sentence: `origin`, `origin and up`."""
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
