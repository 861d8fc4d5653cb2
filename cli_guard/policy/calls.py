"""Find the calls of cli-guard in a hook, a framework's file or a workflow whose failure is not ignored."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

MENTION = re.compile(r"\bcli[-_]guard\b")
_SEP = r"[\"',\s]{1,9}"
_RUN = re.compile(
    rf"\bcli[-_]guard(?:\.exe)?(?:{_SEP}-[^\"',\s]{{1,99}}(?:{_SEP}[^\"',\s-][^\"',\s]{{0,98}})??){{0,6}}{_SEP}"
    r"(?:hook|review|install)\b"
)
_ID = re.compile(r"\bid[\"']?\s{0,9}[:=]\s{0,9}[\"']?cli-guard\b")
_SAID_ONLY = re.compile(
    r"(?:^|[;&|]|\brun:)\s*(?:echo|printf|true|:)\s[^;&|]*$"
    r"|^[\s{-]*[\"']?(?:name|description)[\"']?\s*[:=][^&|]*$"
)
_MAKE_IGNORES = re.compile(r"^\t[@+]*-")
_FAILURE_IGNORED = re.compile(r"[^;|]{0,500}(?:\|\||;)\s*(?:true\b|exit\s+0\b|:(?=[\s\"'`)]|$))")
_STEP_IGNORED = re.compile(r"^[\s-]*(?:continue-on-error:\s*true|if:\s*false)\s*$", re.MULTILINE)
# A path after the options of `review`, or the names that pre-commit passes: what it says then holds for them alone.
_LIMITED = re.compile(
    r"(?>(?:\s+[\"']?(?:--(?:range|commit|patch|shard|format|output|color)|-o)(?:=|\s+)(?:\"[^\"]*\"|'[^']*'|[^\s;&|]+)|\s+-[\w=.-]*)*)"
    r"\s+[\"']?(?![-$;&|<>()`\\]|\d>)\S"
)
_PASSES_NAMES = re.compile(
    r"\bentry[\"']?\s*[:=][^\n]*\breview\b(?!(?s:.*)\bpass_filenames[\"']?\s*[:=]\s*false)"
)
_EXPANDED = re.compile(r"\$\{\{[^}]*\}\}|\$\([^()]*\)")
_COMMENT = re.compile(r"(?:^|\s)#")
_NEAR = 200


@dataclass(frozen=True, slots=True)
class Line:
    """A logical line without its comment, continuation lines joined; `number` is that of the first."""

    number: int
    text: str


def calls_in(text: str) -> list[Line]:
    """Return the lines that call the guard, one per call, in order; a call whose failure is ignored does not count."""
    if not MENTION.search(text):
        return []
    return [call for item in items(lines_of(text)) for call in calls_of_item(item)]


def mentions_in(text: str) -> list[Line]:
    """Return the lines that name the guard outside a comment."""
    return [line for line in lines_of(text) if MENTION.search(line.text)]


def calls_of_item(item: list[Line]) -> list[Line]:
    """Return the calls of one entry: by its hook id or by its command; it may have both."""
    if not any(MENTION.search(line.text) for line in item):
        return []
    whole = "\n".join(line.text for line in item)
    if _STEP_IGNORED.search(whole) or _PASSES_NAMES.search(whole):
        return []
    ids = [line for line in item for _ in _ID.finditer(line.text)]
    commands = [
        (line, ignored(line.text, found))
        for line in item
        for found in _RUN.finditer(line.text)
        if not _SAID_ONLY.search(line.text[max(0, found.start() - _NEAR) : found.start()])
    ]
    runs = [line for line, lets_fail in commands if not lets_fail]
    # An id does not count if the entry has a command whose failure is ignored.
    return runs if len(runs) < len(commands) or len(runs) > len(ids) else ids


def ignored(line: str, found: re.Match[str]) -> bool:
    """Return whether a failure of the command is certainly ignored, or it reviews some paths alone."""
    rest = _EXPANDED.sub("$x", line[found.end() : found.end() + 3 * _NEAR])
    if found[0].endswith("review") and _LIMITED.match(rest):
        return True
    return bool(_MAKE_IGNORES.match(line) or _FAILURE_IGNORED.match(line, found.end()))


def lines_of(text: str) -> Iterator[Line]:
    """Split a shell script, YAML, TOML or JSON into lines without comments."""
    number, parts = 1, list[str]()
    for at, raw in enumerate(text.split("\n"), 1):
        number = number if parts else at
        line = "" if raw.lstrip().startswith("//") else without_comment(raw.rstrip("\r"))
        if line.endswith("\\"):
            parts.append(line[:-1])
            continue
        yield Line(number, "".join((*parts, line)))
        parts = []
    if parts:
        yield Line(number, "".join(parts))


def without_comment(line: str) -> str:
    """Cut the line at a `#` that follows a blank and is not quoted."""
    start = double = single = 0
    for found in _COMMENT.finditer(line):
        double += line.count('"', start, found.start())
        single += line.count("'", start, found.start())
        start = found.start()
        if double % 2 == 0 and single % 2 == 0:
            return line[:start]
    return line


def items(lines: Iterator[Line]) -> Iterator[list[Line]]:
    """Split lines into list entries (YAML's `- `, TOML's `[[`) and the lines between them."""
    item: list[Line] = []
    depth: int | None = None
    for line in lines:
        bare = line.text.lstrip()
        indent = len(line.text) - len(bare)
        entry, table = bare.startswith("- "), bare.startswith("[[")
        closes = depth is not None and bool(bare) and indent <= depth
        if table or closes or (entry and depth is None):
            yield item
            item = []
            depth = -1 if table else indent if entry else None
        item.append(line)
    yield item
