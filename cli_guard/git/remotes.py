"""Where the configured remotes are: the hosts of their addresses (git-fetch(1), "GIT URLS")."""

import re
from collections.abc import Iterable

from cli_guard.repository.protocol import Repository

LISTED = re.compile(r"(?m)^([^\t\n]+)\t(.+) \((?:fetch|push)\)(?: \[[^\n]*\])?$")
WITH_SCHEME = re.compile(r"(?i)(?:ssh|git|https?|ftps?|git\+ssh|ssh\+git)://([^/?#]+)")
# As scp writes it; a single letter is a drive, and two colons name a helper.
LIKE_SCP = re.compile(r"((?:[^/:@]+@)?(?:\[[^]/]+\]|[^/:@]{2,})):(?!:|//)")


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
