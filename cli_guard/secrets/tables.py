"""Find passwords and keys in tables, where the column names the value.

SQL that fills one, CSV, and the tables of documents: Markdown, HTML, reStructuredText, AsciiDoc, LaTeX.
"""

import re
from collections.abc import Iterator

from cli_guard.secrets import checks, names, places, values
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
# What is read of a text: so many lines of a table, of so many characters.
LINES = r"(?:[^\n]{1,999}(?:\n|\Z)){1,2000}"
CSV = rf"\A{LINES}"
# A line of rules below the head: Markdown, a grid of reStructuredText or Org, what psql and mysql print.
PIPES = rf"(?m)^(?=[^\n]{{0,400}}\|)[^\n]{{1,400}}\n[ \t]{{0,8}}[|+:-][ \t:|+=-]{{3,400}}\n{LINES}"
# Columns of reStructuredText are as wide as the marks above them.
SIMPLE = rf"(?m)^(?P<rule>[ \t]{{0,8}}=+(?:[ \t]+=+)+)[ \t]*\n{LINES}"
ASCIIDOC = r"(?m)^\|===[ \t]*\n(?P<rows>(?>(?:(?!\|===)[^\n]*+\n){1,2000}))"
HTML = r"(?i)<table\b(?>(?:[^<]++|<(?!/?table)){1,8000})"
HTML_ROW = r"(?i)<tr\b[\s\S]*?(?=<tr\b|\Z)"
HTML_CELL = r"(?i)<t[hd]\b[^<>]{0,400}>(?:\s{0,40}<\w[^<>]{0,200}>){0,4}([^<]*)"
LATEX = r"\\begin\{(?:tabular|longtable)(?>(?:[^\\]++|\\(?!end\{)){1,8000})"
SEPARATED = (".csv", ".tsv", ".psv")
MARKUP = (".html", ".htm", ".xhtml")
# A cell that is one word, without the marks of a quotation or of stress, or of the end of a line of LaTeX.
WORD = r"[\s`*_\"']*(?P<value>[^\s`*_\"']\S{4,100}?)[`*_\"']{0,3}\s*(?:\\\\[^\n]*)?"

NAMES_PASSWORD = re.compile(
    r"(?i)pass|\bpwd?\b|kennwort|mdp|contrase|senha|парол|密码|密碼|口令|パスワード|비밀번호|has[lł]o|wachtwoord"
)

Cell = tuple[int, str]


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
    """Yield the values in columns of documents and pages that the rule's pattern matches the head of."""
    ending = places.ending(path)
    if ending not in MARKUP and places.kind_of(path) != "prose":
        return
    for head, *rows in _tables(text, ending):
        heads = [cell.replace("_", " ") for _, cell in head]
        named = [n for n, cell in enumerate(heads) if detector.pattern.search(cell)]
        for row in rows if named else ():
            spend(row[0][0])
            for n in named:
                cell = row[n] if n < len(row) else (0, "")
                if word := compile_once(WORD).fullmatch(cell[1]):
                    start = cell[0] + word.start("value")
                    yield from _judge_cell(
                        detector, text, path, start, word["value"], heads[n]
                    )


def _judge_cell(
    detector: Detector, text: str, path: str, start: int, value: str, head: str
) -> Iterator[CandidateJudgement]:
    end = start + len(value)
    candidate = Candidate(detector, text, path, start, start, end, value, {}, start)
    is_key = values.key_strength(value) is values.Strength.STRONG
    has_name = is_key or bool(NAMES_PASSWORD.search(head))
    yield from filter(None, [checks.stated(candidate, has_name=has_name)])


def _tables(text: str, ending: str) -> Iterator[list[list[Cell]]]:
    """Yield the tables of a file as rows of cells, the head first; each cell with its offset."""
    if ending in SEPARATED:
        yield from (_read_separated(table) for table in compile_once(CSV).finditer(text))
        return
    for sign, form, read in FORMS:
        if sign in text and not (ending in MARKUP and form != HTML):
            yield from map(read, compile_once(form).finditer(text))


def _cells(form: str, text: str, start: int, end: int) -> list[Cell]:
    return [
        (cell.start(1), cell[1]) for cell in compile_once(form).finditer(text, start, end)
    ]


def _lines(table: re.Match[str]) -> Iterator[Cell]:
    for line in compile_once(r"[^\n]+").finditer(table[0]):
        yield table.start() + line.start(), line[0]


def _read_separated(table: re.Match[str]) -> list[list[Cell]]:
    """Read CSV (RFC 4180), of which the head shows the separator."""
    head = table[0].partition("\n")[0]
    mark = re.escape(next((mark for mark in ";\t|" if mark in head), ","))
    field = rf"(?:(?<=\A)|(?<={mark})|(?<=\n))((?:\"(?:[^\"\n]|\"\")*\"|[^{mark}\"\n][^{mark}\n]*)?)"
    return [_cells(field, table.string, at, at + len(line)) for at, line in _lines(table)]


def _read_html(table: re.Match[str]) -> list[list[Cell]]:
    rows = compile_once(HTML_ROW).finditer(table.string, *table.span())
    return [_cells(HTML_CELL, table.string, *row.span()) for row in rows] or [[]]


def _read_lines(table: re.Match[str]) -> list[list[Cell]]:
    """Split the lines that have a bar, or in LaTeX an ampersand, between cells."""
    mark = "&" if table[0].startswith("\\begin") else "|"
    rows = []
    for at, line in _lines(table):
        row = []
        for cell in line.split(mark):
            row.append((at, cell))
            at += len(cell) + 1
        rows.append(row)
    return [row for row in rows if len(row) > 1] or [[]]


def _read_asciidoc(table: re.Match[str]) -> list[list[Cell]]:
    """Read cells that begin with a bar; the first line has as many as there are columns."""
    cells = _cells(r"\|([^|\n]*)", table.string, *table.span(1))
    width = table[1].lstrip().partition("\n")[0].count("|")
    return [cells[n : n + width] for n in range(0, len(cells), width)] if width else [[]]


def _read_columns(table: re.Match[str]) -> list[list[Cell]]:
    """Cut the lines where the marks of the line above the head do."""
    columns = [column.span() for column in compile_once(r"=+\s*").finditer(table["rule"])]
    rows = [
        [(at + start, line[start:end]) for start, end in columns]
        for at, line in _lines(table)
        if line.strip("= \t")
    ]
    return rows or [[]]


# What a text with such a table has, how the table is found, and what reads it.
FORMS = (
    ("<t", HTML, _read_html),
    ("|", PIPES, _read_lines),
    ("&", LATEX, _read_lines),
    ("|===", ASCIIDOC, _read_asciidoc),
    ("==", SIMPLE, _read_columns),
)
