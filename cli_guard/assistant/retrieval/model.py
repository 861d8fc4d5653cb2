"""What a question about a repository is answered with: places, facts, and how sure the answer is."""

from dataclasses import dataclass
from typing import Literal

from cli_guard.model import Skipped

PlaceKind = Literal["definition", "use", "mention", "path"]
FactKind = Literal["environment variable", "constant", "setting", "default", "function", "class"]
ReferenceKind = Literal["definition", "import", "call", "use", "mention"]
Confidence = Literal["high", "medium", "low", "none"]


@dataclass(frozen=True, slots=True)
class Place:
    """A line that answers, or helps to. `text` is that line, secrets masked, at most 160 characters.

    `end_line` is where the definition ends; `symbol` is its qualified name, empty outside of any.
    """

    path: str
    line: int
    end_line: int
    text: str
    kind: PlaceKind
    symbol: str
    score: float


@dataclass(frozen=True, slots=True)
class Fact:
    """Something found at the best place. `value` is source text, secrets masked; empty if there is none."""

    kind: FactKind
    name: str
    value: str
    path: str
    line: int


@dataclass(frozen=True, slots=True)
class Found:
    """The answer: places best first (the best one of each file, then more of the best files).

    `looked_at` counts the files that were read for it, `terms` are the words that were looked for, `skipped` names
    what a bound left out. With a confidence of "none" there are no places.
    """

    places: tuple[Place, ...]
    facts: tuple[Fact, ...]
    confidence: Confidence
    looked_at: int
    terms: tuple[str, ...]
    skipped: tuple[Skipped, ...] = ()


@dataclass(frozen=True, slots=True)
class Reference:
    """One occurrence of a name. `line` and `column` (in characters) count from 1."""

    path: str
    line: int
    column: int
    text: str
    kind: ReferenceKind
