"""The result of a question about a repository: locations, facts and a confidence."""

from typing import Literal

from cli_guard.lazy import frozen
from cli_guard.model import Skipped

LocationKind = Literal["definition", "use", "mention", "path"]
FactKind = Literal[
    "environment variable",
    "constant",
    "setting",
    "default",
    "function",
    "class",
    "statement",
]
ReferenceKind = Literal["definition", "import", "call", "use", "mention"]
SearchConfidence = Literal["high", "medium", "low", "none"]


@frozen
class FoundPlace:
    """A line that answers a question, or helps to. `text` is that line, secrets masked, at most 160 characters.

    `symbol` is its qualified name, empty outside of definitions.
    """

    path: str
    line: int
    text: str
    kind: LocationKind
    symbol: str
    score: float


@frozen
class FoundFact:
    """A definition or a variable at the best location. `value` is source text, secrets masked; may be empty."""

    kind: FactKind
    name: str
    value: str
    path: str
    line: int


@frozen
class SearchResult:
    """The locations, best first: one of each file, then more of the best files.

    `looked_at` counts the files that were read and `kinds` those of each kind, most first; `terms` are the words that
    were searched for, `absent` those that stand nowhere, `missing` those that the best place lacks; `skipped` names
    what a limit left out. With a confidence of "none" there are no places, and `nearest` has those that come closest;
    of a question that `is_vague`, what it may be about.
    """

    places: tuple[FoundPlace, ...] = ()
    facts: tuple[FoundFact, ...] = ()
    confidence: SearchConfidence = "none"
    looked_at: int = 0
    terms: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    kinds: tuple[tuple[str, int], ...] = ()
    absent: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    nearest: tuple[FoundPlace, ...] = ()
    uses: "NameUses | None" = None
    is_vague: bool = False


@frozen
class NameReference:
    """One occurrence of a name. `line` and `column` (in characters) count from 1."""

    path: str
    line: int
    column: int
    text: str
    kind: ReferenceKind


@frozen
class NameUses:
    """Who uses `name`: definitions, uses in code and those in tests; `around` holds the function of each use."""

    name: str
    definitions: tuple[NameReference, ...]
    uses: tuple[NameReference, ...]
    tests: tuple[NameReference, ...]
    around: tuple[str, ...]


@frozen
class ReferenceList:
    """The occurrences of a name, definitions first, and what a limit left out."""

    references: tuple[NameReference, ...]
    skipped: tuple[Skipped, ...]
