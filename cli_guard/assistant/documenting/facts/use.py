"""One thing that a body does with a parameter, in words; and the unit that a name ends with."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

UNITS = {
    "seconds": "seconds", "secs": "seconds", "sec": "seconds", "minutes": "minutes", "hours": "hours", "days": "days",
    "ms": "milliseconds", "millis": "milliseconds", "milliseconds": "milliseconds", "us": "microseconds",
    "ns": "nanoseconds", "kb": "kilobytes", "mb": "megabytes", "gb": "gigabytes", "bytes": "bytes",
    "px": "pixels", "percent": "percent", "pct": "percent", "hz": "hertz", "km": "kilometres", "meters": "metres",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Use:
    """What is known of a parameter: words without a full stop, and the line. The first of a list says most."""

    rank: int
    text: str
    line: int


def listed(values: Sequence[str]) -> str:
    """The values as a list in a sentence."""
    return values[0] if len(values) == 1 else f"{', '.join(values[:-1])} and {values[-1]}"


def unit_of(name: str) -> str:
    """The unit that a name ends with, "" if it does not."""
    words = re.findall(r"[a-z]+|[A-Z][a-z]*", name)
    return UNITS.get(words[-1].lower(), "") if len(words) > 1 else ""
