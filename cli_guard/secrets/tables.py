"""Find passwords and keys in tables, where the column names the value: SQL that fills one, Markdown, CSV."""

import re
from collections.abc import Iterator

from cli_guard.secrets import checks, names, places
from cli_guard.secrets.assigned import strength_of
from cli_guard.secrets.candidates import Candidate, CandidateJudgement, Spend, grade
from cli_guard.secrets.detectors import Detector
from cli_guard.secrets.names import compile_once

STATEMENT = (
    r"(?i)\binsert\s{1,8}(?:ignore\s{1,8})?into\s{1,8}[^\s(]{1,120}\s{0,8}"
    r"\(([^()]{1,2000})\)\s{0,8}values\s{0,8}"
)
ITEM = (
    r"\s*(?:'(?P<single>(?:[^'\\]|''|\\.){0,400}+)'|"
    + r'"(?P<double>(?:[^"\\]|\\.){0,400}+)"'
    r"""|[^,()'"]{0,200}+(?:\([^()]{0,200}\))?)\s*(?P<end>[,)])"""
)
DIGEST = r"^(?:[0-9a-fA-F]{32,128}|\S{41,})$"
CSV = r"\A([^\n]{1,400})\n((?:[^\n]{1,999}(?:\n|\Z)){1,2000})"
MARKDOWN = CSV.replace(r"\A", r"(?m)^[ \t]{0,8}(?=\|)").replace(
    r"\n(", r"\n[ \t]{0,8}\|[ \t:|-]{3,400}\n(", 1
)
CELL = r"(?:^|[{mark}])[\s`*_\"']*([^\s`*_\"'{mark}][^\s{mark}]{{4,100}}?)(?=[`*_\"']{{0,3}}\s*(?:[{mark}]|$))"


def find_inserts(
    text: str, path: str, detector: Detector, spend: Spend
) -> Iterator[CandidateJudgement]:
    """Return values inserted into columns that are named like credentials; digests are skipped."""
    if places.is_lock(path):
        return
    for statement in compile_once(STATEMENT).finditer(text):
        columns = [column.strip(" \t\r\n\"'`[]\\") for column in statement[1].split(",")]
        kinds = {
            place: kind
            for place, column in enumerate(columns)
            if (kind := names.kind_of(column))
        }
        if not kinds:
            continue
        for place, item in _items(text, statement.end(), spend):
            group = next((name for name in ("single", "double") if item[name]), None)
            if place not in kinds or group is None:
                continue
            if kinds[place] is names.SecretKind.PASSWORD and compile_once(DIGEST).match(
                item[group]
            ):
                continue
            value = item[group]
            start, end = item.span(group)
            name = columns[place]
            candidate = Candidate(detector, text, path, start, start, end, value, {}, start)
            judgement = grade(
                candidate, strength_of(kinds[place], name, value), start, end, name
            )
            if judgement:
                yield judgement


def _items(text: str, position: int, spend: Spend) -> Iterator[tuple[int, re.Match[str]]]:
    while text[position : position + 1] == "(":
        place = 0
        position = position + 1
        while item := compile_once(ITEM).match(text, position):
            spend(position)
            yield place, item
            place = place + 1
            position = item.end()
            if item["end"] == ")":
                break
        else:
            return
        following = compile_once(r"\s{0,200},\s{0,200}").match(text, position)
        position = following.end() if following else len(text)


def find_cells(
    text: str, path: str, detector: Detector, spend: Spend
) -> Iterator[CandidateJudgement]:
    """Return the values in columns that the rule's pattern matches the head of."""
    is_csv = places.ending(path) in (".csv", ".tsv", ".psv")
    for table in compile_once(CSV if is_csv else MARKDOWN).finditer(text):
        mark = next((mark for mark in ";\t|," if mark in table[1]), ",") if is_csv else "|"
        named = {
            n
            for n, cell in enumerate(table[1].split(mark))
            if detector.pattern.search(cell)
        }
        for row in re.finditer(r"[^\n]+", table[2]) if named else ():
            spend(table.start())
            for cell in re.finditer(CELL.format(mark=re.escape(mark)), row[0]):
                if row[0].count(mark, 0, cell.start(1)) in named:
                    start = table.start(2) + row.start() + cell.start(1)
                    end = start + len(cell[1])
                    at = Candidate(
                        detector, text, path, start, start, end, cell[1], {}, start
                    )
                    yield from filter(None, (checks.stated(at),))
