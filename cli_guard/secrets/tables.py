"""Find passwords and keys in tables of documents (Markdown, CSV): the head of the column names the value."""

import re
from collections.abc import Callable, Iterator

from cli_guard.secrets import checks, places
from cli_guard.secrets.candidates import Candidate, Judgement
from cli_guard.secrets.detectors import Detector
from cli_guard.secrets.names import compile_once

MARKDOWN = r"(?m)^[ \t]{0,8}\|([^\n]{1,400})\n[ \t]{0,8}\|[ \t:|-]{3,400}\n"
CSV = r"\A([^\n]{1,400})\n"
ROWS = 2_000
CELL = 100
AROUND = " \t\r`*_\"'"


def find_cells(
    text: str, path: str, detector: Detector, check_time: Callable[[int], None]
) -> Iterator[Judgement]:
    """Return the values in columns that the rule's pattern matches the head of."""
    is_csv = places.ending(path) in (".csv", ".tsv", ".psv")
    for head in compile_once(CSV if is_csv else MARKDOWN).finditer(text):
        mark = next((mark for mark in ";\t|," if mark in head[1]), ",") if is_csv else "|"
        columns = [n for n, cell in enumerate(head[1].split(mark)) if detector.pattern.search(cell)]
        position = head.end()
        for _ in range(ROWS if columns else 0):
            check_time(position)
            end = text.find("\n", position)
            end = end if end >= 0 else len(text)
            row = text[position:end]
            if mark not in row:
                break
            start = position + (0 if is_csv else row.index("|") + 1)
            for number, cell in enumerate(text[start:end].split(mark)):
                value = cell.strip(AROUND)
                at = start + cell.find(value)
                if number in columns and value and len(value) <= CELL and not re.search(r"\s", value):
                    candidate = Candidate(detector, text, path, at, at, at + len(value), value, {}, at)
                    if judgement := checks.stated(candidate):
                        yield judgement
                start += len(cell) + 1
            position = end + 1
