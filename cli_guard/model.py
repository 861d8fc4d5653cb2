"""The frozen types that cross from one room to another.

Paths are `str` decoded as UTF-8 with `surrogateescape`, so that any name Git holds survives the way
there and back (`os.fsencode` style); they are made printable only in `cli_guard.review.render`.
Line numbers count from 1 and lines end at LF only, as Git counts them.
"""

import hashlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, Literal, Protocol, TypeVar

# The kinds of task: those of the requirement (Appendix E), and what the hooks ask for.
TaskType = Literal[
    "repo_qna",
    "doc_generation",
    "refactor_plan",
    "command_help",
    "test_workflow",
    "code_change",
    "change_review",
    "unsupported",
]


T = TypeVar("T", bound=Sized)


def number_lines(runs: Iterable[tuple[int, tuple[str, ...]]]) -> dict[int, str]:
    """Runs of lines, each with the number of its first, as lines by number."""
    return {number: text for start, lines in runs for number, text in enumerate(lines, start)}


class BoundedCache:
    """Values cached in the `__dict__` of their objects, together no longer than `most`."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: deque[tuple[object, str, int]] = deque()
        self._length = 0

    def of(self, owner: object, name: str, make: Callable[[], T]) -> T:
        """Return the cached value of an object, made on first use; the oldest values of others make room."""
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


# The lines by number that changes have made of their hunks: of a million lines they would fill the memory.
NUMBERED = BoundedCache(most=60_000)


class Severity(StrEnum):
    """How bad it is if the finding is right."""

    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"
    INFO = "info"


class Confidence(StrEnum):
    """How sure the rule is that it is right."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class Category(StrEnum):
    """What kind of remark a finding is."""

    RISK = "risk"
    DOCS = "docs"
    REFACTOR = "refactor"
    MESSAGE = "message"
    POLICY = "policy"


class Decision(StrEnum):
    """What the gate answers about an action."""

    ALLOW = "allow"
    REVIEW = "review"
    DENY = "deny"


class Disposition(StrEnum):
    """What policy makes of one finding."""

    DENY = "deny"
    REVIEW = "review"
    ADVISE = "advise"
    OFF = "off"


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
    """What the new side of a change is (the old side, when it is a deletion)."""

    TEXT = "text"
    BINARY = "binary"
    SYMLINK = "symlink"
    SUBMODULE = "submodule"
    LFS = "lfs"


@dataclass(frozen=True, slots=True)
class Hunk:
    """One run of changed lines, without context.

    `removed` are the lines of the old side from `old_start` on, `added` those of the new side from
    `new_start` on; no line carries its LF, a CR before it is kept.
    """

    old_start: int
    new_start: int
    removed: tuple[str, ...]
    added: tuple[str, ...]


@dataclass(frozen=True)
class FileChange:
    """What a change does to one path. `size` is of the new side in bytes, known where Git had to be asked."""

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

    @property
    def added(self) -> dict[int, str]:
        """The added lines: line number of the new side -> text."""
        return NUMBERED.of(self, "_added", lambda: number_lines((h.new_start, h.added) for h in self.hunks))

    @property
    def removed(self) -> dict[int, str]:
        """The removed lines: line number of the old side -> text."""
        return NUMBERED.of(
            self, "_removed", lambda: number_lines((h.old_start, h.removed) for h in self.hunks)
        )

    def touches(self, line: int, end_line: int | None = None) -> bool:
        """Is any line of the new side from `line` to `end_line`, both included, an added one?"""
        added = self.added
        if end_line is None or end_line == line:
            return line in added
        if end_line - line < len(added):
            return any(number in added for number in range(line, end_line + 1))
        return any(line <= number <= end_line for number in added)

    @property
    def made_executable(self) -> bool:
        """Does the change give a regular file its executable bit?"""
        return self.new_mode == "100755" and self.old_mode != "100755"


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something that was not reviewed, and why.

    `by_limit`: a bound of ours left out what could have been reviewed; a person is asked about that.
    """

    path: str
    reason: str
    by_limit: bool = False


@dataclass(frozen=True)
class ChangeSet:
    """A change to a tree: what Git is about to record, or one commit that it did record.

    `identity` is a hash of everything recorded (paths, modes, blob ids, and the tree it starts from):
    two change sets with one identity record the same content.
    """

    files: tuple[FileChange, ...]
    skipped: tuple[Skipped, ...] = ()
    identity: str = ""
    commit: str | None = None
    message: str | None = None

    def __iter__(self) -> Iterator[FileChange]:
        return iter(self.files)


@dataclass(frozen=True, slots=True)
class CommitMessage:
    """A commit message as Git will record it, comments and scissors already cut.

    `kind` is how the message came about: "plain", "merge", "revert", "fixup" (also squash! and amend!).
    """

    subject: str
    body: tuple[str, ...] = ()
    kind: str = "plain"

    @property
    def text(self) -> str:
        """Subject and body as one text."""
        return "\n".join((self.subject, *self.body))


@dataclass(frozen=True, slots=True)
class RefUpdate:
    """One line of what pre-push reads: a ref of ours and the ref of the remote that it will become."""

    local_ref: str
    local_oid: str
    remote_ref: str
    remote_oid: str

    @property
    def deletes(self) -> bool:
        """Does the push delete the remote ref? The zero id is 40 or 64 zeros long (githooks(5))."""
        return not self.local_oid.strip("0")

    @property
    def creates(self) -> bool:
        """Does the push create the remote ref?"""
        return not self.remote_oid.strip("0")


@dataclass(frozen=True, slots=True)
class PushedRef:
    """A ref update with what only the repository can tell: is it forced, and what commits does it bring.

    `commits` is None for a ref of something else, a tag of a single file for example.
    """

    update: RefUpdate
    forced: bool = False
    commits: tuple[str, ...] | None = ()


@dataclass(frozen=True, slots=True)
class TagMessage:
    """The message of an annotated tag that is pushed, under the id of the tag object."""

    oid: str
    text: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One remark about a change.

    `line` and `end_line` are of the new side; both are None for what has no line (a file name, a message,
    a push). `evidence` is redacted already. `commit` names the commit of a reviewed range in which it
    stands, None for the change as a whole.
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


FINDING_ENUMS = {"category": Category, "severity": Severity, "confidence": Confidence}


def finding_data(finding: Finding) -> dict[str, Any]:
    """A finding as plain data, as JSON and a checkpoint keep it."""
    return {key: str(value) if key in FINDING_ENUMS else value for key, value in asdict(finding).items()}


def finding_of(data: Mapping[str, Any]) -> Finding:
    """A finding out of `finding_data`. Raises KeyError, TypeError or ValueError for anything else."""
    return Finding(**{**data, **{key: kind(data[key]) for key, kind in FINDING_ENUMS.items()}})


@dataclass(frozen=True, slots=True)
class Judged:
    """One finding and what policy makes of it: deny, review or advise (what is off never gets here)."""

    finding: Finding
    disposition: Disposition


@dataclass(frozen=True, slots=True)
class Suppressed:
    """One finding that was answered.

    `by` says what answered it: "inline", "config" or "baseline". `new` is true when the change under
    review itself adds the answer.
    """

    finding: Finding
    by: str
    reason: str
    new: bool = False


@dataclass(frozen=True, slots=True)
class Action:
    """Something a plan wants done: a tool, its arguments, its risk class and what it is for."""

    tool: str
    arguments: dict[str, object] = field(default_factory=dict)
    risk: str = "read_only"
    purpose: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the gate says of one action, by which rule, on what evidence (fingerprints)."""

    decision: Decision
    reason: str
    rule: str
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """What one reviewer found, and what it did not look at."""

    findings: tuple[Finding, ...] = ()
    skipped: tuple[Skipped, ...] = ()


class Contents(Protocol):
    """Whole files of a change. None: there is no text to be had (binary, over a limit, a bare patch)."""

    def new(self, change: FileChange) -> str | None:
        """The text after the change."""

    def old(self, change: FileChange) -> str | None:
        """The text before the change."""


class NoContents:
    """The contents of a bare patch: there are none."""

    def new(self, change: FileChange) -> str | None:
        """Nothing is known beyond the hunks."""
        return None

    def old(self, change: FileChange) -> str | None:
        """Nothing is known beyond the hunks."""
        return None


def fingerprint(rule: str, path: str, content: str) -> str:
    """Sixteen hex digits that stay when code above moves: rule, path and content, blanks folded."""
    folded = " ".join(content.split())
    data = "\0".join((rule, path, folded)).encode("utf-8", "surrogatepass")
    return hashlib.sha256(data).hexdigest()[:16]


def split_lines(text: str) -> list[str]:
    """Lines as Git counts them: ended by LF alone, a last line without LF included."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines
