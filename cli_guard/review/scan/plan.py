"""What there is to scan in a repository, in slices: commits, files of the tip, names and messages of refs.

Each slice has a key: a hash of all that its result depends on. A slice of an earlier run with the same key is not
scanned again, and a part with another key does not belong to this plan.
"""

import datetime
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from urllib.parse import unquote, urlsplit

from cli_guard.errors import UsageError
from cli_guard.git.log import is_shallow
from cli_guard.git.repository import Repository
from cli_guard.model import Skipped
from cli_guard.policy.checks import LEADING_OUT
from cli_guard.policy.config import read_user_config
from cli_guard.policy.decisions import Policy
from cli_guard.review.policy import recorded_policy
from cli_guard.reviewers.clean_files import identity
from cli_guard.reviewers.policy import expired_notes
from cli_guard.runtime import Invocation

COMMITS_A_SLICE, FILES_A_SLICE, BYTES_A_SLICE = 400, 400, 20_000_000
REFS = ("for-each-ref", "--format=%(objectname) %(refname)")
LISTED = ("ls-tree", "-r", "-l", "-z", "--full-tree")


class Kind(StrEnum):
    """What the items of a slice are."""

    COMMITS = "commits"
    FILES = "files"
    REFS = "refs"


@dataclass(frozen=True, slots=True)
class Slice:
    """Some items, NUL between them, as bytes: 100,000 commits take 4 MB. `number` is the place in the plan."""

    number: int
    kind: Kind
    items: bytes
    count: int
    key: str


@dataclass(frozen=True)
class Plan:
    """All slices of one repository, under the policy of its tip."""

    repository: Repository
    tip: str | None
    policy: Policy
    today: datetime.date
    slices: tuple[Slice, ...]
    skipped: tuple[Skipped, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def keys(self) -> Mapping[str, Slice]:
        """Return the slices by key."""
        return {each.key: each for each in self.slices}


def open_place(place: str | None, invocation: Invocation) -> Repository:
    """Open the repository at a path or a `file://` URL; None is the current one. Raises GitError, UsageError."""
    env = dict(invocation.env)
    if place is None:
        folder = invocation.cwd
    else:
        folder = invocation.cwd / local_path(place)
        # A hook's variables name the repository that it runs in.
        env = {name: value for name, value in env.items() if name not in LEADING_OUT}
        if folder.exists() and not folder.is_dir():
            raise UsageError(f"{place!r} is not a folder with a repository")
    # A forged commit-graph file would hide commits (git-commit-graph(1)): the objects themselves are read.
    number = int(count) if (count := env.get("GIT_CONFIG_COUNT", "0")).isdecimal() else 0
    forced = {f"GIT_CONFIG_KEY_{number}": "core.commitGraph", f"GIT_CONFIG_VALUE_{number}": "false"}
    return Repository.discover(folder, env | forced | {"GIT_CONFIG_COUNT": str(number + 1)})


def local_path(place: str) -> Path:
    """Return the folder of a place. Raises UsageError for what is on another machine."""
    scheme, found, _ = place.partition("://")
    if found and scheme == "file" and not (url := urlsplit(place)).netloc:
        return Path(unquote(url.path))
    before_slash = place.partition("/")[0]
    if found or (":" in before_slash and not Path(place).exists()):
        raise UsageError(f"{place!r} is not on this machine: `git clone --mirror` it, and scan that folder")
    return Path(place).expanduser()


def make_plan(repository: Repository, invocation: Invocation, *, history: bool) -> Plan:
    """List what there is to scan. Raises GitError, ConfigError, UsageError."""
    tip, user, today = repository.head, read_user_config(invocation.env), invocation.now.date()
    policy = Policy(user=user)
    if tip:
        config, source, baseline = recorded_policy(repository, tip)
        policy = Policy(config, user, baseline, (source,))
    elif not history and repository.git.text("for-each-ref", "--count=1"):
        raise UsageError("HEAD names no commit here, so there is no tip to scan: add --history")
    bound = (identity().hex(), policy.identity, repr(policy.expired(today)), repository.object_format)
    slices: list[Slice] = []
    for kind, items, count in list_items(repository, tip, history=history):
        key = hashlib.sha256("\0".join((*bound, kind)).encode() + b"\0" + items).hexdigest()
        slices.append(Slice(len(slices), kind, items, count, key))
    skipped: tuple[Skipped, ...] = ()
    if history and is_shallow(repository):
        reason = "a shallow clone lacks older commits: run `git fetch --unshallow`, or scan another clone"
        skipped = (Skipped("history", reason, by_limit=True),)
    return Plan(repository, tip, policy, today, tuple(slices), skipped, tuple(expired_notes(policy, today)))


def list_items(
    repository: Repository, tip: str | None, *, history: bool
) -> Iterator[tuple[Kind, bytes, int]]:
    """Yield the items of each slice, the oldest commits first, and their number."""
    if history:
        listed = repository.git.run("rev-list", "--all", "--topo-order", "--reverse")
        width = len(listed.partition(b"\n")[0]) + 1
        for start in range(0, len(listed), width * COMMITS_A_SLICE):
            part = listed[start : start + width * COMMITS_A_SLICE]
            yield Kind.COMMITS, part[:-1].replace(b"\n", b"\0"), len(part) // width
        refs = repository.git.run(*REFS)
        yield from in_slices(Kind.REFS, refs.split(b"\n")[:-1], (0,) * refs.count(b"\n"))
    if tip:
        entries = repository.git.run(*LISTED, tip).split(b"\0")[:-1]
        sizes = (entry.split(b"\t", 1)[0].split()[3] for entry in entries)
        yield from in_slices(Kind.FILES, entries, (int(size) if size.isdigit() else 0 for size in sizes))


def in_slices(kind: Kind, items: Iterable[bytes], sizes: Iterable[int]) -> Iterator[tuple[Kind, bytes, int]]:
    """Group items, at most FILES_A_SLICE and about BYTES_A_SLICE together."""
    group: list[bytes] = []
    weight = 0
    for item, size in zip(items, sizes, strict=True):
        group.append(item)
        weight += size
        if len(group) == FILES_A_SLICE or weight > BYTES_A_SLICE:
            yield kind, b"\0".join(group), len(group)
            group, weight = [], 0
    if group:
        yield kind, b"\0".join(group), len(group)
