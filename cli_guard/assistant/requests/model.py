"""What is known of a request before anything is looked at: frozen types, plain data."""

from dataclasses import dataclass
from typing import Literal

from cli_guard.model import TaskType

RiskKind = Literal[
    "credentials",
    "destructive",
    "deployment",
    "publish",
    "cloud",
    "history",
    "network",
    "guard",
    "harm",
    "system",
    "off_topic",
]


@dataclass(frozen=True)
class Risk:
    """What makes a request more than reading.

    `words` are those that told. `supported` says whether there is a way with a person's approval (a commit, a
    push): without one the request ends as a controlled failure and never becomes a command. `reason` is one
    line for the user.
    """

    kind: RiskKind
    words: str
    supported: bool
    reason: str


@dataclass(frozen=True)
class Classification:
    """The kind of a request, and why.

    `told_by` are the words that told, for the log. `scores` are the points of the main wish by kind, best first.
    `assumed` is one line where the request can be taken in more than one way. `also` are kinds of further wishes,
    in their order. `writes_wanted` says whether files should change, as far as the words go,
    `writes_forbidden` whether the request says that none may. `runs_wanted`: it orders that something be run.
    """

    task_type: TaskType
    told_by: tuple[str, ...]
    scores: tuple[tuple[TaskType, int], ...]
    assumed: str | None = None
    risk: Risk | None = None
    also: tuple[TaskType, ...] = ()
    writes_wanted: bool = False
    writes_forbidden: bool = False
    runs_wanted: bool = False


@dataclass(frozen=True)
class Targets:
    """What a request names, each in the order of the request and once.

    `paths` are known ones; a folder stands for its files, sorted, and is itself in `folders`. `missing` are words
    that can only be a path and lead nowhere; `created` are such words where the request wants a new file to be
    (`move src/a.py to src/b.py`). `outside` are paths that leave the repository. `ambiguous` are names that more
    than one known path could be, with those paths. `lines` are the line numbers that stand with a known path.
    """

    paths: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    lines: tuple[tuple[str, int], ...] = ()
    quoted: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    created: tuple[str, ...] = ()
    ambiguous: tuple[tuple[str, tuple[str, ...]], ...] = ()
