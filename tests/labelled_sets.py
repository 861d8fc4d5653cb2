"""Compare a labelled set with the list of what is known to be wrong in it, `wrong.json` beside the set."""

import warnings
from collections.abc import Mapping
from pathlib import Path

from benchmarks.known_wrong import compare_wrong


def assert_as_known(
    folder: Path, name: str, right: Mapping[str, bool], command: str
) -> None:
    """Fail for a case that was answered rightly before; warn of one that is now, and name the command that lists it."""
    difference = compare_wrong(folder, name, right)
    if difference.mended:
        warnings.warn(
            f"{name}: right now, add it to the list with `{command}`: {difference.mended}",
            stacklevel=2,
        )
    assert not difference.lost, f"{name}: lost, or falsely reported now: {difference.lost}"
