"""Parse what a documentation comment says of parameters, with its lines."""

import re
from dataclasses import replace

from cli_guard.lazy import frozen
from cli_guard.rules.catalog import read_patterns

HEADS = ("google", "numpy", "sphinx")
# In lower case, what is in each text in which `PATTERNS` finds a parameter or a result.
SIGNS = tuple(
    "args: arguments: params: parameters :param @param :arg @arg :key @key return: returns: :return @return ---".split()
)
PATTERNS = read_patterns("languages/patterns.toml", "documented")
NAME = r"\\?\*{0,2}`{0,2}\\?\*{0,2}\w+`{0,2}"
NAMES = re.compile(rf"^\s*({NAME}(?:\s*,\s*{NAME})*)\s*(.*)$")
SECTIONS = frozenset(
    "returns return raises yields yield example examples note notes warning warnings see todo".split()
)


@frozen
class DocumentedParameter:
    """One documented parameter, its type as written, and its lines (offsets into the comment's own).

    `places` are the lines and columns where its name is written as that of the parameter.
    """

    name: str
    first: int
    last: int
    type: str = ""
    places: tuple[tuple[int, int], ...] = ()


@frozen
class Documented:
    """The parameters that a comment documents.

    `style` is "google", "numpy", "sphinx", "tags" or "" (none of them). `certain` is False if the comment holds text
    that cannot be parsed or refers elsewhere: then a missing entry means nothing. `section` are the lines of the
    parameter section's header, if the style has one.
    """

    style: str = ""
    entries: tuple[DocumentedParameter, ...] = ()
    certain: bool = True
    section: tuple[int, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(entry.name for entry in self.entries)


def may_document(text: str) -> bool:
    """Return whether a comment, or one in a file, may document a parameter or a result."""
    return any(map(text.lower().__contains__, SIGNS))


def read_docstring(text: str) -> Documented:
    """Parse a Python docstring (source text) in Google, NumPy or Sphinx style.

    Text indented deeper than the docstring is an example, whose sections are not this function's.
    """
    if not may_document(text):
        return Documented()
    lines = text.split("\n")
    depth = min((_indent(line) for line in lines[1:] if line.strip()), default=0)
    lines = [
        ""
        if n and _indent(line) > depth and any(PATTERNS[name].match(line) for name in HEADS)
        else line
        for n, line in enumerate(lines)
    ]
    for number, line in enumerate(lines):
        for style, is_ruled in (("google", False), ("numpy", True)):
            if PATTERNS[style].match(line) and _ruled(lines, number) == is_ruled:
                return _read_sections(lines, style)
        if PATTERNS["sphinx"].match(line):
            return _sphinx(lines)
    found = PATTERNS["result"].search(text)
    if found is None:
        return Documented()
    if "---" in found[0]:
        return Documented("numpy")
    return Documented("sphinx" if found[0].lstrip()[0] in ":@" else "google")


def read_tags(text: str) -> Documented:
    """Parse the tags of a JSDoc or Javadoc comment."""
    lines = text.split("\n")
    entries: list[DocumentedParameter] = []
    certain = not PATTERNS["elsewhere"].search(text)
    for number, line in enumerate(lines):
        tag = PATTERNS["tag"].match(line)
        if not tag:
            continue
        kind, rest = _split_braces(tag[2])
        name = PATTERNS["tag_name"].match(rest)
        if rest.startswith("<"):
            continue  # a type parameter of Java
        if name is None:
            certain = False
            continue
        place = (number, len(line) - len(rest) + name.start(1))
        last = _tag_end(lines, number)
        if not entries or entries[-1].name != name[1]:
            entries.append(DocumentedParameter(name[1], number, last, kind, (place,)))
        else:  # a property of the parameter before: `@param options.colour`
            entries[-1] = replace(
                entries[-1], last=last, places=(*entries[-1].places, place)
            )
    return Documented(
        "tags" if entries or PATTERNS["result"].search(text) else "",
        tuple(entries),
        certain,
    )


def _ruled(lines: list[str], number: int) -> bool:
    return number + 1 < len(lines) and bool(PATTERNS["ruler"].match(lines[number + 1]))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _read_sections(lines: list[str], style: str) -> Documented:
    """Parse the sections of Google's style, which end by their indent, or of NumPy's, whose headers have a ruler."""
    is_ruled = style == "numpy"
    entries: list[DocumentedParameter] = []
    sections: list[int] = []
    certain = True
    end = 0
    for number, line in enumerate(lines):
        is_header = PATTERNS[style].match(line) and _ruled(lines, number) == is_ruled
        if number < end or not is_header:
            continue
        first = number + 1 + is_ruled
        end = _section_end(lines, number, is_ruled=is_ruled)
        found, sure = _entries(lines, first, end, colon=not is_ruled)
        sections += range(number, first)
        entries += found
        certain = certain and sure
    return Documented(style, tuple(entries), certain, tuple(sections))


def _last_line(lines: list[str], first: int, end: int) -> int:
    """Return the last line before `end` with more than quotes on it, at least `first`."""
    filled = (
        number for number in range(end - 1, first, -1) if lines[number].strip().strip("\"'")
    )
    return next(filled, first)


def _section_end(lines: list[str], header: int, *, is_ruled: bool) -> int:
    """Return the line after a section: the next header with a ruler, or the first that is not deeper than its own."""
    depth = _indent(lines[header])
    for number in range(header + 1, len(lines)):
        is_next = _ruled(lines, number) if is_ruled else _indent(lines[number]) <= depth
        if lines[number].strip() and is_next:
            return number
    return len(lines)


def _entries(
    lines: list[str], start: int, end: int, *, colon: bool
) -> tuple[list[DocumentedParameter], bool]:
    """Return the entries between two lines: those at the depth of the first, each with its deeper lines."""
    heads = [
        n
        for n in range(start, end)
        if lines[n].strip() and lines[n].strip() not in ('"""', "'''")
    ]
    if not heads:
        return [], False
    depth = _indent(lines[heads[0]])
    at_depth = [n for n in heads if _indent(lines[n]) == depth]
    entries: list[DocumentedParameter] = []
    certain = all(_indent(lines[n]) >= depth for n in heads)
    for place, number in enumerate(at_depth):
        last = _last_line(
            lines, number, (at_depth[place + 1] if place + 1 < len(at_depth) else end)
        )
        match = NAMES.match(lines[number])
        if match is None or not _entry_rest(match[2], colon):
            certain = False
            continue
        if match[1].lower() in SECTIONS and match[2].strip() == ":":
            return entries, False  # a section that slipped one level deeper
        kind = (
            match[2].strip().lstrip(":").strip() if not colon else _in_parentheses(match[2])
        )
        words = re.finditer(r"\w+", lines[number][: match.end(1)])
        entries += [
            DocumentedParameter(word[0], number, last, kind, ((number, word.start()),))
            for word in words
        ]
    return entries, certain


def _entry_rest(rest: str, colon: bool) -> bool:
    """Return what may follow the names: `(type): text` in Google style, nothing or `: type` in NumPy style."""
    rest = rest.strip()
    if not colon:
        return not rest or rest.startswith(":")
    return rest.startswith(":") or bool(_in_parentheses(rest))


def _in_parentheses(rest: str) -> str:
    """Return the type in `(type): text`, empty if the text does not have that form."""
    inner, closed, _ = rest.strip().replace(") :", "):").partition("):")
    return inner[1:] if closed and inner.startswith("(") else ""


def _sphinx(lines: list[str]) -> Documented:
    entries: dict[str, DocumentedParameter] = {}
    for number, line in enumerate(lines):
        match = PATTERNS["sphinx"].match(line) or PATTERNS["sphinx_type"].match(line)
        field, colon, _ = line[match.end() :].partition(":") if match else ("", "", "")
        words = field.split() if colon else []
        if match and words:
            name = words[-1].lstrip("\\*")
            kind = " ".join(words[:-1])
            place = (number, match.end() + len(field.rstrip()) - len(name))
            if PATTERNS["sphinx"].match(line):
                entries[name] = DocumentedParameter(
                    name, number, _field_end(lines, number), kind, (place,)
                )
            elif name in entries:
                entries[name] = replace(
                    entries[name], places=(*entries[name].places, place)
                )
    return Documented("sphinx", tuple(entries.values()))


def _field_end(lines: list[str], number: int) -> int:
    """Return the last line of a field, which includes deeper lines after it."""
    depth = _indent(lines[number])
    last = number
    while (
        last + 1 < len(lines)
        and lines[last + 1].strip()
        and _indent(lines[last + 1]) > depth
    ):
        last += 1
    return last


def _tag_end(lines: list[str], number: int) -> int:
    """Return the last line of a tag: up to the next tag, the end of the comment or an empty line."""
    last = number
    while last + 1 < len(lines):
        following = lines[last + 1]
        if PATTERNS["any_tag"].match(following) or not following.strip(" \t\r*/"):
            break
        last += 1
    return last


def _split_braces(text: str) -> tuple[str, str]:
    if not text.startswith("{"):
        return "", text
    depth = 0
    for place, char in enumerate(text):
        depth += (char == "{") - (char == "}")
        if depth == 0:
            return text[1:place], text[place + 1 :].lstrip()
    return "", text
