"""What a request for documentation gives: proposals, each with what it rests on, and one patch of them all."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from cli_guard.model import Skipped

Kind = Literal["module", "class", "function", "method", "readme section", "update"]


@dataclass(frozen=True, slots=True)
class Proposal:
    """One piece of documentation.

    `line` counts from 1: where the text goes in the file as it is now. `symbol` is a qualified name, "" for a
    module and for a README. `note` says what a person has to fill in or check, "" if nothing. `grounded_in` are
    the `path:line` that the statements rest on.
    """

    path: str
    line: int
    symbol: str
    kind: Kind
    text: str
    note: str = ""
    grounded_in: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Documentation:
    """All proposals of one request. Nothing of it is written anywhere.

    `patch` is a unified diff that `git apply` takes, unless `skipped` says that a line of its context was
    masked; `changes` (path -> whole new text) is exact in any case, and not for showing. `missing` are what the
    request names and the repository does not hold, a line each; `assumed` says how it was read where it
    could be read in several ways.
    """

    proposals: tuple[Proposal, ...]
    patch: str
    changes: Mapping[str, str]
    missing: tuple[str, ...] = ()
    assumed: str | None = None
    skipped: tuple[Skipped, ...] = ()
