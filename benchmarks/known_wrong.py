"""The labelled cases that are known to be answered wrongly: `wrong.json` beside the sets, by set the ids.

A benchmark writes the file with --write. The tests compare what is answered now: a case that is wrong and not listed
is a loss; one that is listed and right is to be taken off.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

NAME = "wrong.json"


@dataclass(frozen=True)
class Difference:
    """What a set answers otherwise than its list says."""

    lost: list[str]
    mended: list[str]


def read_wrong(folder: Path) -> dict[str, list[str]]:
    """Return the ids that are known to be wrong, by set; none if nothing was written yet."""
    file = folder / NAME
    if not file.exists():
        return {}
    lists: dict[str, list[str]] = json.loads(file.read_text("utf-8"))
    return lists


def compare_wrong(folder: Path, name: str, right: Mapping[str, bool]) -> Difference:
    """Compare a set with its list; `right` says of each case that was asked whether it is answered rightly."""
    known = set(read_wrong(folder)[name])
    lost = [case for case, is_right in right.items() if not is_right and case not in known]
    mended = [case for case, is_right in right.items() if is_right and case in known]
    return Difference(lost, mended)


def write_wrong(folder: Path, name: str, right: Mapping[str, bool]) -> None:
    """Write the list of a set; what was known of cases that were not asked stays."""
    lists = read_wrong(folder)
    unasked = [case for case in lists.get(name, []) if case not in right]
    wrong = [case for case, is_right in right.items() if not is_right]
    lists[name] = sorted([*unasked, *wrong])
    text = json.dumps(dict(sorted(lists.items())), indent=1, ensure_ascii=False)
    (folder / NAME).write_text(f"{text}\n", "utf-8")
