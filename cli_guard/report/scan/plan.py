"""What there is to scan in a repository, in slices: commits, names and messages of refs, files of the tip.

Each slice has a key: a hash of all that its result depends on.
"""

import datetime
import hashlib
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from urllib.parse import unquote, urlsplit

from cli_guard.errors import UsageError
from cli_guard.git.repository import GitRepository
from cli_guard.lazy import frozen
from cli_guard.model import Skipped
from cli_guard.policy.checks import LEADING_OUT
from cli_guard.policy.config import read_user_config
from cli_guard.policy.decisions import Policy
from cli_guard.policy.recorded import recorded_policy
from cli_guard.repository.protocol import Repository
from cli_guard.reviewers.clean_files import identity
from cli_guard.runtime import Invocation

A_SLICE = 400
REFS = ("for-each-ref", "--format=%(objectname) %(objecttype) %(refname)")
FILES = ("ls-tree", "-r", "-z", "--full-tree")
SHALLOW = (
    "a shallow clone lacks older commits: `git fetch --unshallow`, or scan another clone"
)


class ScanItems(StrEnum):
    """What the items of a slice are: ids, lines of REFS, lines of FILES."""

    COMMITS = "commit"
    REFS = "ref"
    FILES = "file"


@frozen
class Slice:
    """`count` items, NUL between them: 100,000 commits take 4 MB. `number` is the place in the plan."""

    number: int
    kind: ScanItems
    items: bytes
    count: int
    key: str


@frozen
class ScanPlan:
    """All slices of one repository, under the policy of its tip."""

    repository: Repository
    tip: str | None
    policy: Policy
    today: datetime.date
    slices: tuple[Slice, ...]
    skipped: tuple[Skipped, ...] = ()


def open_place(place: str | None, invocation: Invocation) -> Repository:
    """Open the repository at a path or a `file://` URL; None is the current one. Raises GitError, UsageError."""
    folder = invocation.cwd
    env = dict(invocation.env)
    if place is not None:
        try:
            folder = folder / local_path(place)
            is_file = folder.exists() and not folder.is_dir()
        except (OSError, ValueError, RuntimeError) as error:
            raise UsageError(
                f"it names no folder: {getattr(error, 'strerror', error)}"
            ) from error
        # A hook's variables name the repository that it runs in.
        env = {name: value for name, value in env.items() if name not in LEADING_OUT}
        if is_file:
            raise UsageError("it is not a folder with a repository")
    # A forged commit-graph file would hide commits (git-commit-graph(1)): the objects themselves are read.
    number = int(count) if (count := env.get("GIT_CONFIG_COUNT", "0")).isdecimal() else 0
    env |= {
        f"GIT_CONFIG_KEY_{number}": "core.commitGraph",
        f"GIT_CONFIG_VALUE_{number}": "false",
    }
    return GitRepository.discover(folder, env | {"GIT_CONFIG_COUNT": str(number + 1)})


def local_path(place: str) -> Path:
    """Return the folder of a place. Raises UsageError for one on another machine."""
    if place.startswith("file://") and not (url := urlsplit(place)).netloc:
        return Path(unquote(url.path))
    if "://" in place or (":" in place.partition("/")[0] and not Path(place).exists()):
        raise UsageError(
            "it is not on this machine: `git clone --mirror` it, and scan that folder"
        )
    return Path(place).expanduser()


def make_plan(repository: Repository, invocation: Invocation, *, history: bool) -> ScanPlan:
    """List what there is to scan. Raises GitError, ConfigError, UsageError."""
    tip = repository.head
    user = read_user_config(invocation.env)
    today = invocation.now.date()
    policy = Policy(user=user)
    if tip:
        config, source, baseline = recorded_policy(repository, tip)
        policy = Policy(config, user, baseline, (source,))
    elif not history and repository.git.text(*REFS):
        raise UsageError(
            "HEAD names no commit here, so there is no tip to scan: add --history"
        )
    bound = repr(
        (identity(), policy.identity, policy.find_expired(today), repository.object_format)
    ).encode()
    slices: list[Slice] = []
    for kind, items in list_items(repository, tip, history=history):
        key = hashlib.sha256(b"\0".join((bound, kind.encode(), items))).hexdigest()
        slices.append(Slice(len(slices), kind, items, items.count(b"\0") + 1, key))
    shallow = (
        (Skipped("history", SHALLOW, asks=True),)
        if history and repository.is_shallow
        else ()
    )
    return ScanPlan(repository, tip, policy, today, tuple(slices), shallow)


def list_items(
    repository: Repository, tip: str | None, *, history: bool
) -> Iterator[tuple[ScanItems, bytes]]:
    """Yield the items of each slice, the oldest commits first."""
    entries = list[bytes]()
    trees = {tip: b""} if tip else {}
    if history:
        every = repository.git.run(
            "rev-list", "--all", "--date-order", "--reverse"
        ).replace(b"\n", b"\0")
        width = A_SLICE * (every.find(b"\0") + 1)
        yield from (
            (ScanItems.COMMITS, every[at : at + width][:-1])
            for at in range(0, len(every), width or 1)
        )
        refs = repository.git.run(*REFS).split(b"\n")[:-1]
        yield from in_slices(ScanItems.REFS, refs)
        # A ref or a tag may name a file or a folder itself.
        named = {b"%s^{}" % ref.split(b" ")[0]: ref.split(b" ")[2] for ref in refs}
        for asked, (oid, kind) in repository.identify(
            each.decode() for each in named
        ).items():
            one = b"100644 blob %s\t%s" % (oid.encode(), named[asked.encode()])
            trees |= {oid: b"%s/" % named[asked.encode()]} if kind == "tree" else {}
            entries += [one] if kind == "blob" else []
    for tree, ref in trees.items():
        # Under the name of the ref: its files must not answer for those of the tip.
        listed = repository.git.run(*FILES, tree).split(b"\0")[:-1]
        entries += (entry.replace(b"\t", b"\t" + ref, 1) for entry in listed)
    yield from in_slices(ScanItems.FILES, entries)


def in_slices(kind: ScanItems, items: list[bytes]) -> Iterator[tuple[ScanItems, bytes]]:
    yield from (
        (kind, b"\0".join(items[at : at + A_SLICE])) for at in range(0, len(items), A_SLICE)
    )
