"""What a planned change is: where its subject is used, the steps, the risks, and the new texts that can be computed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from cli_guard.model import Skipped

Kind = Literal[
    "rename", "move", "split", "replace call", "migrate", "extract", "remove unused", "edit", "unknown"
]
UsageKind = Literal[
    "definition", "import", "call", "use", "string", "comment", "configuration", "documentation"
]
# In the order a reader wants them.
USAGE_KINDS: tuple[UsageKind, ...] = (
    "definition",
    "import",
    "call",
    "use",
    "string",
    "comment",
    "configuration",
    "documentation",
)
Place = tuple[str, int, str]


@dataclass(frozen=True, slots=True)
class UsageGroup:
    """Uses of one kind: (path, line counted from 1, the line's text without secrets, clipped)."""

    kind: UsageKind
    places: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to do, and where; `mechanical` if the patch does it."""

    purpose: str
    paths: tuple[str, ...] = ()
    mechanical: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """A change as a plan and, where it can be computed, as the new texts.

    `changes` is path -> new text and holds the text exactly, secrets included; `removed` are paths that go away.
    `patch` is the same as a unified diff. `complete` says that the patch does all that the steps say. `by_hand`
    is what it leaves: (path, line, reason). `assumed` names what an ambiguous request was taken to mean, `missing`
    what it names that is not there, `skipped` what was not looked at.
    """

    kind: Kind
    summary: str
    subject: str
    usages: tuple[UsageGroup, ...] = ()
    steps: tuple[Step, ...] = ()
    risks: tuple[str, ...] = ()
    changes: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    removed: tuple[str, ...] = ()
    patch: str = ""
    complete: bool = False
    by_hand: tuple[Place, ...] = ()
    assumed: str | None = None
    missing: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()
