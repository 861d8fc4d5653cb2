"""Find passwords and keys in tables, where the column names the value.

SQL that fills one, CSV, and the tables of documents: Markdown, HTML, reStructuredText, AsciiDoc, LaTeX.
"""

import re
from collections.abc import Iterator, Mapping

from cli_guard.secrets import checks, names, places, values
from cli_guard.secrets.assigned import strength_of
from cli_guard.secrets.candidates import Candidate, CandidateJudgement, Spend, grade
from cli_guard.secrets.detectors import Detector
from cli_guard.secrets.names import compile_once, words

STATEMENT = (
    r"(?i)\binsert\s{1,8}(?:ignore\s{1,8})?into\s{1,8}(?P<table>[^\s(]{1,120})\s{0,8}"
    r"(?:\((?P<columns>[^()]{1,2000})\)\s{0,8})?values\s{0,8}(?=\()"
)
CREATED = (
    r"(?i)\bcreate\s{1,8}table\s{1,8}(?:if\s{1,8}not\s{1,8}exists\s{1,8})?(?P<table>[^\s(]{1,120})"
    r"\s{0,8}\((?P<columns>(?>(?:[^();]|\([^()]{0,200}\)){1,4000}))\)"
)
# What pg_dump(1) writes: the columns, then a line for each row.
STDIN = "FROM stdin"
COPIED = (
    r"(?im)^copy\s(?P<table>[^\s(]{1,120})\s{0,8}\((?P<columns>[^()]{1,2000})\)\sfrom\sstdin[^\n]{0,80}\n"
    r"(?P<rows>(?>(?:(?!\\\.)[^\n]{0,4000}\n){1,2000}))"
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

Cell = tuple[int, str]


def find_inserts(
    text: str, path: str, detector: Detector, spend: Spend
) -> Iterator[CandidateJudgement]:
    """Return values in columns that are named like credentials, or that look like ones in a table of accounts.

    The statement names the columns, or that which makes the table; digests are skipped.
    """
    if places.is_lock(path):
        return
    statements = list(compile_once(STATEMENT).finditer(text))
    created = {} if all(each["columns"] for each in statements) else _tables_made(text)
    for statement in statements:
        table = statement["table"]
        columns = _columns(statement["columns"] or created.get(table, ""))
        is_open = not columns and bool(words("accounts") & set(names.words_of(table)))
        for place, item in _items(text, statement.end(), spend):
            group = next((name for name in ("single", "double") if item[name]), None)
            name = columns[place] if place < len(columns) else ""
            if group and (name or is_open):
                cell = (item.start(group), item[group])
                yield from _judge_item(detector, text, path, cell, name)
    for copied in compile_once(COPIED).finditer(text) if STDIN in text else ():
        columns = _columns(copied["columns"])
        line_start = copied.start("rows")
        for line in copied["rows"].splitlines(keepends=True):
            spend(line_start)
            at = line_start
            for name, value in zip(columns, line.rstrip("\r\n").split("\t"), strict=False):
                yield from _judge_item(detector, text, path, (at, value), name)
                at += len(value) + 1
            line_start += len(line)


def _tables_made(text: str) -> Mapping[str, str]:
    """Return what the statements of a text that make tables say of their columns."""
    return {
        table["table"]: re.sub(r"\([^()]*\)", "", table["columns"])
        for table in compile_once(CREATED).finditer(text)
    }


def _columns(listed: str) -> list[str]:
    """Return the names in a list of columns; in one that makes a table, types follow them."""
    return [
        column.split()[0].strip("\"'`[]\\")
        for column in listed.split(",")
        if column.split()
    ]


def _judge_item(
    detector: Detector, text: str, path: str, cell: Cell, name: str
) -> Iterator[CandidateJudgement]:
    """Judge a value by the name of its column; without a name only what nothing but a credential looks like counts."""
    start, value = cell
    end = start + len(value)
    kind = names.kind_of(name) if name else names.SecretKind.PASSWORD
    if kind is None:
        return
    if kind is names.SecretKind.PASSWORD and compile_once(DIGEST).match(value):
        return
    strength = strength_of(kind, name, value, path)
    if not name and (strength < values.Strength.STRONG or not _is_mixed(value)):
        return
    candidate = Candidate(detector, text, path, start, start, end, value, {}, start)
    yield from filter(None, [grade(candidate, strength, start, end, name)])


def _is_mixed(value: str) -> bool:
    return all(re.search(kind, value) for kind in ("[a-z]", "[A-Z]", r"\d"))


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
        named = [
            n
            for n, cell in enumerate(heads)
            if detector.pattern.search(cell) or _is_credential(cell)
        ]
        for row in rows if named else ():
            spend(row[0][0])
            # Beside an address a word is enough: that user logs in with it.
            least = values.Strength.LIKELY
            if any("@" in cell for _, cell in row):
                least = values.Strength.WEAK
            for n in named:
                cell = row[n] if n < len(row) else (0, "")
                if word := compile_once(WORD).fullmatch(cell[1]):
                    start = cell[0] + word.start("value")
                    yield from _judge_cell(
                        detector, text, path, start, word["value"], heads[n], least
                    )


def _is_credential(head: str) -> bool:
    """Return whether a column that is named like a variable holds passwords or keys: `enable_secret`."""
    return names.kind_of(head) in (names.SecretKind.PASSWORD, names.SecretKind.SECRET)


def _judge_cell(
    detector: Detector,
    text: str,
    path: str,
    start: int,
    value: str,
    head: str,
    least: values.Strength,
) -> Iterator[CandidateJudgement]:
    end = start + len(value)
    candidate = Candidate(detector, text, path, start, start, end, value, {}, start)
    is_key = values.key_strength(value) is values.Strength.STRONG
    if names.kind_of(head) is names.SecretKind.TOKEN and not is_key:
        return
    has_name = is_key or bool(names.pattern("password_words", re.I).search(head))
    yield from filter(None, [checks.statement(candidate, has_name=has_name, least=least)])


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
