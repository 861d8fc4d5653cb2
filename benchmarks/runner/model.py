"""The types of the benchmark: a task as its file describes it, its outcome, and what is wrong with that."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

World = Literal["memory", "repository"]
Kind = Literal["ask", "review", "commit-msg", "check-command"]
Status = Literal["ok", "needs_review", "failed"]


@dataclass(frozen=True)
class Content:
    """One file: its text, or bytes that are generated (`size` in bytes), or the target of a symbolic link."""

    text: str | None = None
    generate: str | None = None
    size: int = 0
    link: str | None = None
    executable: bool = False


Files = Mapping[str, Content]


@dataclass(frozen=True)
class Step:
    """One step in a repository, before the task or after its answer; `do` decides which fields count."""

    do: str
    files: Files = field(default_factory=dict)
    remove: tuple[str, ...] = ()
    rename: Mapping[str, str] = field(default_factory=dict)
    message: str = ""
    author: str = "Ada"
    name: str = ""
    to: str = "HEAD"
    status: str = "ok"
    says: tuple[str, ...] = ()


@dataclass(frozen=True)
class Setup:
    """What a task finds: the files at the beginning, the steps done with them, and the files outside the repository.

    `package` names a real package whose files come first, see `benchmarks.packages`; the `files` are added to them.
    `base` are the old files of a review in memory; `test_results` are the recorded ones (path -> word).
    """

    files: Files = field(default_factory=dict)
    base: Files = field(default_factory=dict)
    outside: Files = field(default_factory=dict)
    steps: tuple[Step, ...] = ()
    test_results: Mapping[str, str] = field(default_factory=dict)
    package: str = ""


@dataclass(frozen=True)
class Given:
    """What a task passes beside the instruction; benchmarks/runner/README.md says which kind takes what."""

    paths: tuple[str, ...] | None = None
    revision: str | None = None
    worktree: bool = False
    range: str | None = None
    message: str = ""
    command: str = ""


@dataclass(frozen=True)
class Blocked:
    """An action that must have been stopped; a field that does not matter is None."""

    tool: str
    path: str | None = None
    command: str | None = None


@dataclass(frozen=True)
class Finding:
    """A finding that must be there; a field that does not matter is None."""

    rule: str | None
    path: str | None = None
    line: int | None = None
    decision: str | None = None


@dataclass(frozen=True)
class FileState:
    """The expected end state of a file: an exact text, a hash, words that it holds or lacks, or absent."""

    text: str | None = None
    sha256: str | None = None
    holds: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    absent: bool = False


@dataclass(frozen=True)
class Expected:
    """The expected outcome of a task. None expects nothing; an empty tuple expects that there is none."""

    status: Status
    task_type: str | None = None
    decision: str | None = None
    requires_human_review: bool | None = None
    reason: tuple[str, ...] = ()
    tools: tuple[str, ...] | None = None
    tools_include: tuple[str, ...] = ()
    tools_exclude: tuple[str, ...] = ()
    blocked: tuple[Blocked, ...] | None = None
    findings: tuple[Finding, ...] = ()
    no_findings: tuple[str, ...] = ()
    paths: tuple[str, ...] | None = None
    nodes: tuple[str, ...] | None = None
    says: tuple[str, ...] = ()
    never_says: tuple[str, ...] = ()
    files: Mapping[str, FileState] = field(default_factory=dict)


@dataclass(frozen=True)
class Task:
    """One task; `id` is the name of its file, `time_limit` is in seconds."""

    id: str
    instruction: str
    tags: tuple[str, ...]
    difficulty: str
    time_limit: float
    world: World
    kind: Kind
    expected: Expected
    setup: Setup = Setup()
    given: Given = Given()
    after: tuple[Step, ...] = ()

    @property
    def type(self) -> str:
        """Return the kind of task as the results count it: the type that is expected of a request."""
        reviews = {
            "review": "change_review",
            "commit-msg": "change_review",
            "check-command": "check_command",
        }
        return self.expected.task_type or reviews.get(self.kind, self.kind)


@dataclass(frozen=True)
class Outcome:
    """The outcome of a task. `data` is all that it shows as JSON; `files` are those of a task in memory at its end."""

    status: str
    text: str = ""
    task_type: str = ""
    decision: str = ""
    requires_human_review: bool = False
    reason: str = ""
    review_id: str = ""
    tools: tuple[str, ...] = ()
    blocked: tuple[Blocked, ...] = ()
    findings: tuple[Finding, ...] = ()
    paths: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    data: Mapping[str, object] = field(default_factory=dict)
    files: Mapping[str, str] | None = None


@dataclass(frozen=True)
class Failure:
    """One thing that is not as expected."""

    what: str
    expected: str
    got: str


@dataclass(frozen=True)
class Result:
    """How a task ended: `result` is passed, failed, timeout, crashed or skipped; `seconds` is shown, never compared."""

    id: str
    type: str
    status: str
    result: str
    failures: tuple[Failure, ...] = ()
    seconds: float = 0.0
