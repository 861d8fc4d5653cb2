"""What a remote is known to have, from its tracking refs, and where it is.

Only the refs that a fetch or a push wrote count as known.

Anyone who can write to the repository can set a tracking ref. `git update-ref` leaves its own words in the reflog
(gitrepository-layout(5), "logs"), a fetch and a push leave theirs.
"""

import re
from collections.abc import Container, Iterable, Iterator
from dataclasses import field
from itertools import pairwise
from pathlib import Path

from cli_guard.lazy import frozen
from cli_guard.repository.protocol import Repository
from cli_guard.runtime import read_plain

ENTRY = re.compile(r"([0-9a-f]{40,64}) ([0-9a-f]{40,64}) [^\t]*\t(.*)")
# A fetch from a path (`git fetch . HEAD:refs/remotes/origin/x`), or into a ref that is named, proves nothing.
WRITTEN_BY_GIT = re.compile(
    r"(?:fetch|pull)(?: (?![./~])[^\s:]+)*: |clone: from |update by push$|remote update: "
)
PREFIX = "refs/remotes/"
# `git remote -v`, and the forms of an address (git-fetch(1), "GIT URLS").
LISTED = re.compile(r"(?m)^([^\t\n]+)\t(.+) \((?:fetch|push)\)(?: \[[^\n]*\])?$")
WITH_SCHEME = re.compile(r"(?i)(?:ssh|git|https?|ftps?|git\+ssh|ssh\+git)://([^/?#]+)")
# As scp writes it; a single letter is a drive, and two colons name a helper.
LIKE_SCP = re.compile(r"((?:[^/:@]+@)?(?:\[[^]/]+\]|[^/:@]{2,})):(?!:|//)")


@frozen
class RemoteHistory:
    """Commits at the tips of what a remote has.

    `proven` were fetched from it, or pushed to it. `published` were fetched from another remote or pushed there, by its
    name. `vouched` are the ids of tracking refs without a reflog: nobody may have them.
    """

    proven: tuple[str, ...] = ()
    published: dict[str, tuple[str, ...]] = field(default_factory=dict)
    vouched: tuple[str, ...] = ()


def remote_history(
    repository: Repository, remote: str, there: dict[str, str], here: Container[str]
) -> RemoteHistory:
    """Sort the tracking refs by what is proven of them. `there` are the refs that the remote lists: name -> id.

    `here` has those of the ids that lead to a commit in this repository. With an empty `remote` (a framework may not
    pass its name), every remote counts as it. Raises GitError.
    """
    proven = set[str]()
    published = dict[str, set[str]]()
    vouched = set[str]()
    listed = repository.git.text(
        "for-each-ref", "--format=%(refname) %(objectname)", PREFIX
    )
    for name, oid in (line.split(" ") for line in listed.splitlines()):
        of, _, branch = name.removeprefix(PREFIX).partition("/")
        own = not remote or name.startswith(f"{PREFIX}{remote}/")
        branch = name.removeprefix(f"{PREFIX}{remote}/") if own and remote else branch
        entries = list(entries_of(repository.common_dir / "logs" / name))
        named = there.get(f"refs/heads/{branch}", oid) if own else oid
        certain = proven if own else published.setdefault(of, set())
        if named == oid and is_recorded(entries, oid):
            certain.add(oid)
        elif named != oid and (not named.strip("0") or named in here):
            # The remote itself has just named another id for this ref, or none, and that id is known here.
            continue
        elif not entries or is_recorded(entries, oid):
            # After a clone, and after 90 days, a ref has no record.
            vouched.add(oid)
        if branch == "HEAD":
            certain.update(
                new for _, new, said in entries[:1] if said.startswith("clone: from ")
            )
    here_now = set(repository.find_commits(proven.union(*published.values())))
    return RemoteHistory(
        tuple(sorted(proven & here_now)),
        {
            of: tuple(sorted(oids))
            for of, each in published.items()
            if (oids := each & here_now)
        },
        tuple(sorted(vouched)),
    )


def entries_of(log: Path) -> Iterator[tuple[str, str, str]]:
    """Yield the old id, the new id and the words of each entry in a reflog, oldest first; none if it is no file."""
    try:
        lines = read_plain(log).decode("utf-8", "replace").splitlines()
    except OSError:
        return
    for line in lines:
        found = ENTRY.fullmatch(line)
        yield (found[1], found[2], found[3]) if found else ("", "", "")


def is_recorded(entries: list[tuple[str, str, str]], oid: str) -> bool:
    """Return whether the last entry of a reflog is a fetch or push of this id, and the log has no gap."""
    if not entries or entries[-1][1] != oid or not WRITTEN_BY_GIT.match(entries[-1][2]):
        return False
    return all(before[1] == after[0] for before, after in pairwise(entries))


def host_of(address: str) -> str:
    """Return the host of an address with its port, if it names one; "" for a folder and for what a helper reads."""
    found = WITH_SCHEME.match(address) or LIKE_SCP.match(address)
    return found[1].rpartition("@")[2].lower() if found else ""


def remote_hosts(repository: Repository) -> dict[str, frozenset[str]]:
    """Return the hosts of each configured remote, with those that it is pushed to. Raises GitError."""
    hosts: dict[str, frozenset[str]] = {}
    for name, address in LISTED.findall(repository.git.text("remote", "-v")):
        hosts[name] = hosts.get(name, frozenset()) | {host_of(address)}
    return hosts


def is_one_host(one: Iterable[str], other: Iterable[str]) -> bool:
    """Return whether all addresses of two remotes are on one host that is known."""
    both = {*one, *other}
    return len(both) == 1 and "" not in both
