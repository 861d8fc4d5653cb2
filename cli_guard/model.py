"""The frozen types that packages pass to each other.

Paths are `str` decoded as UTF-8 with `surrogateescape`; they are made printable only in `cli_guard.review.render`.
Line numbers count from 1 and lines end at LF only, as Git counts them.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from dataclasses import asdict, field
from enum import StrEnum
from typing import Any, Protocol, TypeVar

from cli_guard.lazy import dataclass, frozen

T = TypeVar("T", bound=Sized)
K = TypeVar("K")
V = TypeVar("V")
# Where a policy may be (policy/config.py, policy/decisions.py).
POLICY_FILES = ("cli-guard.toml", "pyproject.toml", "cli-guard-baseline.json")


def number_lines(runs: Iterable[tuple[int, tuple[str, ...]]]) -> dict[int, str]:
    """Map line number to text, from runs of lines with the number of their first line."""
    return {
        number: text for start, lines in runs for number, text in enumerate(lines, start)
    }


def group_by(items: Iterable[V], key: Callable[[V], K]) -> dict[K, list[V]]:
    """Return the items by what `key` says of each, in their order."""
    found: dict[K, list[V]] = {}
    for each in items:
        found.setdefault(key(each), []).append(each)
    return found


def unmatched(
    items: Iterable[V], others: Iterable[V], key: Callable[[V], object]
) -> list[V]:
    """Return the items that are left when each of the others takes away one of the same key."""
    left = Counter(map(key, others))
    found = []
    for each in items:
        same = key(each)
        if left[same] > 0:
            left[same] -= 1
        else:
            found.append(each)
    return found


class BoundedCache:
    """Values cached in the `__dict__` of their objects, together at most `most` long."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: deque[tuple[object, str, int]] = deque()
        self._length = 0

    def of(self, owner: object, name: str, make: Callable[[], T]) -> T:
        """Return the cached value of an object, computed on first use; the oldest values are evicted."""
        found: T | None = owner.__dict__.get(name)
        if found is None:
            found = owner.__dict__[name] = make()
            self._kept.append((owner, name, len(found)))
            self._length += len(found)
            while self._length > self._most and len(self._kept) > 1:
                oldest, its_name, length = self._kept.popleft()
                oldest.__dict__.pop(its_name, None)
                self._length -= length
        return found


# The line maps of changes: for a million lines they would fill the memory.
LINES = BoundedCache(most=60_000)


class Severity(StrEnum):
    """How bad it is if the finding is true."""

    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"
    INFO = "info"


class Confidence(StrEnum):
    """How likely it is that the finding is true."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class Category(StrEnum):
    """The kind of a finding."""

    RISK = "risk"
    DOCS = "docs"
    REFACTOR = "refactor"
    MESSAGE = "message"
    POLICY = "policy"


class Decision(StrEnum):
    """The gate's decision about an action."""

    ALLOW = "allow"
    REVIEW = "review"
    DENY = "deny"


class Disposition(StrEnum):
    """The policy's decision about one finding."""

    DENY = "deny"
    REVIEW = "review"
    ADVISE = "advise"
    OFF = "off"


# The one scale that a reader sees; severity and confidence, from which policy derives it, are in JSON and SARIF.
SCALE: dict[str, str] = {
    Disposition.DENY: "must fix",
    Disposition.REVIEW: "needs approval",
    Disposition.ADVISE: "advice",
}


class Presence(StrEnum):
    """How surely a person gave an approval, weakest first: see docs/approvals.md."""

    TTY = "tty"
    KEY = "key"
    TOUCH = "touch"
    VERIFIED = "verified"
    SECOND = "second"

    @property
    def rank(self) -> int:
        return list(Presence).index(self)

    @classmethod
    def highest(cls, levels: Iterable["Presence"]) -> "Presence":
        """Return the highest of some levels, TTY for none."""
        return max(levels, key=lambda level: level.rank, default=cls.TTY)


@frozen
class Need:
    """What the approvals of one finding need: a presence level, and a number of people."""

    level: Presence = Presence.TTY
    people: int = 1


class Status(StrEnum):
    """What a change does to a file; the values are the letters of `git diff --raw`."""

    ADDED = "A"
    COPIED = "C"
    DELETED = "D"
    MODIFIED = "M"
    RENAMED = "R"
    TYPE_CHANGED = "T"
    UNMERGED = "U"


class Kind(StrEnum):
    """The kind of object on the new side of a change (on the old side for a deletion)."""

    TEXT = "text"
    BINARY = "binary"
    SYMLINK = "symlink"
    SUBMODULE = "submodule"
    LFS = "lfs"


@frozen
class Hunk:
    """One run of changed lines, without context.

    `removed` begin at `old_start`, `added` at `new_start`; no line carries its LF, a CR before it is kept.
    """

    old_start: int
    new_start: int
    removed: tuple[str, ...]
    added: tuple[str, ...]


@dataclass(frozen=True)
class FileChange:
    """The change of one path. `size` is that of the new side in bytes, set only if Git was asked for it."""

    path: str
    status: Status
    kind: Kind = Kind.TEXT
    old_path: str | None = None
    old_mode: str = "000000"
    new_mode: str = "100644"
    old_blob: str | None = None
    new_blob: str | None = None
    size: int | None = None
    hunks: tuple[Hunk, ...] = ()
    read_as: str = (
        ""  # the path by which to read an unchanged file that the change makes run
    )
    # The runs of text in the bytes behind its text, which are searched only for keys; None if all of it is text.
    tail: tuple[Hunk, ...] | None = None

    @property
    def added(self) -> dict[int, str]:
        """Return the added lines: line number on the new side -> text."""
        return LINES.of(
            self, "_added", lambda: number_lines((h.new_start, h.added) for h in self.hunks)
        )

    @property
    def removed(self) -> dict[int, str]:
        """Return the removed lines: line number on the old side -> text."""
        return LINES.of(
            self,
            "_removed",
            lambda: number_lines((h.old_start, h.removed) for h in self.hunks),
        )

    def touches(self, line: int, end_line: int | None = None) -> bool:
        """Return whether any line of the new side from `line` to `end_line`, both included, is an added one."""
        added = self.added
        last = end_line or line
        if last - line < len(added):
            return any(number in added for number in range(line, last + 1))
        return any(line <= number <= last for number in added)

    @property
    def is_text(self) -> bool:
        return self.kind is Kind.TEXT

    @property
    def is_new(self) -> bool:
        return self.status in (Status.ADDED, Status.COPIED)

    @property
    def is_deleted(self) -> bool:
        return self.status is Status.DELETED

    @property
    def is_gone(self) -> bool:
        """Return whether its old path is there no longer."""
        return self.status in (Status.DELETED, Status.RENAMED)

    @property
    def made_executable(self) -> bool:
        """Return whether the change makes a regular file executable."""
        return self.new_mode == "100755" and self.old_mode != "100755"


# Why a reviewer that only advises read no more: a hook must be quick, and nothing stops for it.
OVER_ADVICE = "over limits.advice_ms; once committed: cli-guard review --commit HEAD"


@frozen
class Skipped:
    """What a reviewer would have judged and did not read, and why. `asks`: it needs a person, else it is listed."""

    path: str
    reason: str
    asks: bool = False


@dataclass(frozen=True)
class ChangeSet:
    """A change to a tree: what Git is about to record, or one recorded commit.

    `identity` is a hash of all that is recorded, and of the tree it starts from. `parents` are the commits that it is
    recorded on, of a merge several. `people` are author and committer, `other_text` is all else that the commit object
    says beside its message.
    """

    files: tuple[FileChange, ...]
    skipped: tuple[Skipped, ...] = ()
    identity: str = ""
    commit: str | None = None
    parents: tuple[str, ...] = ()
    message: str | None = None
    people: tuple[str, ...] = ()
    other_text: str = ""

    def __iter__(self) -> Iterator[FileChange]:
        return iter(self.files)

    @property
    def is_merge(self) -> bool:
        return len(self.parents) > 1


@frozen
class CommitMessage:
    """A commit message as Git will record it, without comments and what follows the scissors line.

    `kind` is its origin: "plain", "merge", "revert", "fixup" (also squash! and amend!). `cut` are the lines that Git
    removes, unless an option keeps them that no hook can see (`-m`, `--cleanup`).
    """

    subject: str
    body: tuple[str, ...] = ()
    kind: str = "plain"
    cut: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Return subject and body as one text."""
        return "\n".join((self.subject, *self.body))


@frozen
class RefUpdate:
    """One line of pre-push's input: a local ref and the remote ref that it updates."""

    local_ref: str
    local_oid: str
    remote_ref: str
    remote_oid: str

    @property
    def deletes(self) -> bool:
        """Return whether the push deletes the remote ref: its new id is 40 or 64 zeros (githooks(5))."""
        return not self.local_oid.strip("0")

    @property
    def creates(self) -> bool:
        """Return whether the push creates the remote ref."""
        return not self.remote_oid.strip("0")


@frozen
class TagMessage:
    """The message of an annotated tag that is pushed, under the id of the tag object."""

    oid: str
    text: str


@frozen
class Finding:
    """One remark about a change.

    `line` and `end_line` are on the new side, None for what has no line. `evidence` is redacted. `commit` is the commit
    of a range in which it was found, None for the change as a whole. `mark` is the same for a secret in every file, set
    if the parts of a review are to be joined. `published` names the remotes that are known to have it already: a person
    may be asked, and it is never denied. `replaces` are the first and last line whose place a `suggestion` takes, as
    `12,15` (`12,11`: before line 12), "" if it says so itself, in hunks of a diff, or has no place.
    """

    rule: str
    category: Category
    severity: Severity
    confidence: Confidence
    path: str
    line: int | None
    message: str
    remedy: str
    end_line: int | None = None
    suggestion: str | None = None
    evidence: str = ""
    fingerprint: str = ""
    commit: str | None = None
    mark: str = ""
    published: str = ""
    replaces: str = ""

    @property
    def order(self) -> tuple[str, int, str]:
        """Return by what findings are put in order: path, line and rule."""
        return self.path, self.line or 0, self.rule


FINDING_ENUMS = {"category": Category, "severity": Severity, "confidence": Confidence}


def finding_data(finding: Finding) -> dict[str, Any]:
    """Return a finding as plain data for JSON."""
    return {
        key: str(value) if key in FINDING_ENUMS else value
        for key, value in asdict(finding).items()
    }


def finding_of(data: Mapping[str, Any]) -> Finding:
    """Build a finding from `finding_data`. Raises KeyError, TypeError or ValueError for anything else."""
    return Finding(
        **{**data, **{key: kind(data[key]) for key, kind in FINDING_ENUMS.items()}}
    )


@frozen
class JudgedFinding:
    """A finding and its disposition: deny, review or advise (findings that are off are dropped before)."""

    finding: Finding
    disposition: Disposition


@frozen
class Suppressed:
    """One finding that was answered.

    `by` is what answered it: "inline", "config", "baseline" or "approval". `new`: this change adds the answer.
    """

    finding: Finding
    by: str
    reason: str
    new: bool = False


@frozen
class Action:
    """A step of a plan: a tool, its arguments, its risk class and its purpose."""

    tool: str
    arguments: dict[str, Any] = field(default_factory=dict)
    risk: str = "read_only"
    purpose: str = ""


@frozen
class Verdict:
    """The gate's decision about one action, with its rule and its evidence (fingerprints)."""

    decision: Decision
    reason: str
    rule: str
    evidence: tuple[str, ...] = ()


@frozen
class Report:
    """What one reviewer found, and what it did not examine."""

    findings: tuple[Finding, ...] = ()
    skipped: tuple[Skipped, ...] = ()


@frozen
class Hit:
    """One line of a file with one of the words that were searched."""

    path: str
    line: int
    text: str


@frozen
class Hits:
    """The lines that a search found, by path and number; `cut` says why there may be more, "" if these are all."""

    found: tuple[Hit, ...] = ()
    cut: str = ""


class Contents(Protocol):
    """Whole files of a change. None if there is no text (binary, over a limit, a bare patch)."""

    def new(self, change: FileChange) -> str | None:
        """Return the text after the change."""

    def old(self, change: FileChange) -> str | None:
        """Return the text before the change."""


def fingerprint(rule: str, path: str, content: str) -> str:
    """Return 16 hex digits that stay the same when lines move: a hash of rule, path and content, blanks folded."""
    data = "\0".join((rule, path, " ".join(content.split()))).encode(
        "utf-8", "surrogatepass"
    )
    import hashlib  # a judgement needs none of it

    return hashlib.sha256(data).hexdigest()[:16]


def split_lines(text: str) -> list[str]:
    """Split text into lines as Git does: only at LF, including a last line without LF."""
    return text.removesuffix("\n").split("\n") if text else []
