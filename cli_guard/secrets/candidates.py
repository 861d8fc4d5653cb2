"""What passes between the engine and the checks: a match on its way to be a hit."""

from collections.abc import Sequence
from dataclasses import dataclass

from cli_guard.model import Confidence, Severity
from cli_guard.secrets.detectors import Detector


@dataclass(frozen=True, slots=True)
class Candidate:
    """A pattern matched: the value with its place in the text, and the match's groups by name."""

    detector: Detector
    text: str
    path: str
    keyword_at: int
    start: int
    end: int
    value: str
    groups: dict[str, str | None]
    name_end: int


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a check makes of a candidate: how bad, how sure, and where exactly the value stands."""

    severity: Severity
    confidence: Confidence
    start: int
    end: int
    name: str = ""


@dataclass(frozen=True, slots=True)
class Hit:
    """A secret in a text: `value` is `text[start:end]`, `name` what it was assigned to, if that is known.

    `encoded` says that the place holds the value in base64.
    """

    rule: str
    severity: Severity
    confidence: Confidence
    start: int
    end: int
    value: str
    name: str = ""
    generic: bool = False
    encoded: bool = False


@dataclass(frozen=True, slots=True)
class Scan:
    """The hits of a text in order, without overlaps; `stopped_at` is the offset at which time ran out."""

    hits: Sequence[Hit] = ()
    stopped_at: int | None = None


class OutOfTimeError(Exception):
    """The scan has to stop here; `args[0]` is the offset that was reached."""
