"""Find passwords and keys in tables of documents (Markdown, CSV): the head of the column names the value."""

import re
from collections.abc import Iterator

from cli_guard.secrets import checks, places
from cli_guard.secrets.candidates import Candidate, CheckTime, Judgement
from cli_guard.secrets.detectors import Detector
from cli_guard.secrets.names import compile_once

CSV = r"\A([^\n]{1,400})\n((?:[^\n]{1,999}(?:\n|\Z)){1,2000})"
MARKDOWN = CSV.replace(r"\A", r"(?m)^[ \t]{0,8}(?=\|)").replace(
    r"\n(", r"\n[ \t]{0,8}\|[ \t:|-]{3,400}\n(", 1
)
CELL = (
    r"(?:^|[{mark}])[\s`*_\"']*([^\s`*_\"'{mark}][^\s{mark}]{{4,100}}?)(?=[`*_\"']{{0,3}}\s*(?:[{mark}]|$))"
)


def find_cells(text: str, path: str, detector: Detector, check_time: CheckTime) -> Iterator[Judgement]:
    """Return the values in columns that the rule's pattern matches the head of."""
    is_csv = places.ending(path) in (".csv", ".tsv", ".psv")
    for table in compile_once(CSV if is_csv else MARKDOWN).finditer(text):
        mark = next((mark for mark in ";\t|," if mark in table[1]), ",") if is_csv else "|"
        named = {n for n, cell in enumerate(table[1].split(mark)) if detector.pattern.search(cell)}
        for row in re.finditer(r"[^\n]+", table[2]) if named else ():
            check_time(table.start())
            for cell in re.finditer(CELL.format(mark=re.escape(mark)), row[0]):
                if row[0].count(mark, 0, cell.start(1)) in named:
                    start = table.start(2) + row.start() + cell.start(1)
                    end = start + len(cell[1])
                    at = Candidate(detector, text, path, start, start, end, cell[1], {}, start)
                    yield from filter(None, (checks.stated(at),))
