"""Finds errors in the output of a command: `scan` lists them, `explain_output` selects lines to show.

The patterns are data, `cli_guard/rules/processes/errors.toml`, which documents their format. A line is tried only on
patterns whose keywords it holds, and is one error at most: that of the first pattern in the file that matches.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import accumulate
from typing import Any

from cli_guard.lazy import frozen
from cli_guard.rules.catalog import read_table
from cli_guard.secrets.printable import clip, printable
from cli_guard.secrets.redact import redact
from cli_guard.words import WordSet, fold

# The last error says how many more there are.
MAX_ERRORS = 50
# A line that reports an error begins with it.
SEARCHED_CHARS = 1_000
BEFORE = 1
AFTER = 2
SHOWN_OF_A_LINE = 200
# Of a failed command.
LAST_LINES = 12
ERROR_LINES = 6
LINE_CHARS = 300

# Control sequences (ECMA-48, 5.4 and 8.3; xterm's ctlseqs for OSC). One that is not ended reaches to the end of its
# line at most, so that it hides no other.
_ESCAPE = re.compile(
    r"\x1b(?:"
    r"\[(?P<parameters>[0-?]*)[ -/]*(?P<final>[@-~])"
    r"|[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)?"
    r"|[ -/]*[0-~]"
    r")?"
)
# Those that move the cursor to another line or to the first column; J and K (erase) do so in practice where they erase
# more than what is right of the cursor.
_MOVES = frozenset("ABEFGHfd")
_ERASES = frozenset("JK")
_RETURN = "\r"

# Prefixes of programs that forward lines: a time, the step of BuildKit, the service of
# docker compose, the number of `concurrently`, pytest's mark of the lines of an error.
_PASSED_ON = re.compile(
    r"(?:\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z| ?[+-]\d\d:?\d\d)?\]?:? +"
    r"|\[?\d{1,2}:\d\d:\d\d(?:[.,]\d{1,9})?(?: [AP]M)?\]? +"
    r"|\#\d+ \d+\.\d+ +"
    r"|[a-z][\w.-]{0,60}[-_]\d+ +\| "
    r"|\[\d+\] +"
    r"|E {3,60}(?!assert )(?=\S))"
)
# A program goes on after a warning.
_WARNING = re.compile(
    r"\s*(?:npm )?\[?(?:warn|warning|debug|trace)\]?(?:[:! ]|$)", re.IGNORECASE
)
_PART = re.compile(r"<<(\w+)>>")


@frozen
class ProcessError:
    """An error that was found in output. `line` counts from 1; `context` are the lines around it and itself."""

    type: str
    message: str
    line: int
    text: str
    context: tuple[str, ...] = ()


@frozen
class ErrorPattern:
    """The pattern of an error; the head of the data file documents the fields."""

    id: str
    type: str
    message: str
    keywords: tuple[str, ...]
    regex: str
    following: str = ""
    preceding: str = ""
    unless: tuple[str, ...] = ()
    fires: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()


@frozen
class _Hit:
    pattern: ErrorPattern
    message: str
    index: int
    text: str


def scan(text: str) -> tuple[ProcessError, ...]:
    """Return the errors in the output of a command, in order, at most `MAX_ERRORS`.

    The last one says how many were left out. The same error (type and message) is returned once, with its count. `text`
    and `context` are cut, so secrets must be masked in the input, not in the result.
    """
    lines = plain(text).split("\n")
    first: dict[tuple[str, str], _Hit] = {}
    count: dict[tuple[str, str], int] = {}
    for hit in _drop_implied(_hits(lines)):
        key = hit.pattern.type, hit.message
        first.setdefault(key, hit)
        count[key] = count.get(key, 0) + 1
    found = list(first.items())
    more = len(found) - MAX_ERRORS
    errors: list[ProcessError] = []
    for key, hit in found[:MAX_ERRORS]:
        message = hit.message if count[key] == 1 else f"{hit.message} ({count[key]} times)"
        if more > 0 and len(errors) == MAX_ERRORS - 1:
            message = (
                f"{message} [{more} more {'error' if more == 1 else 'errors'} left out]"
            )
        context = lines[max(hit.index - BEFORE, 0) : hit.index + AFTER + 1]
        errors.append(
            ProcessError(
                type=hit.pattern.type,
                message=message,
                line=hit.index + 1,
                text=cut(hit.text.strip()),
                context=tuple(map(clip_line, context)),
            )
        )
    return tuple(errors)


def explain_output(output: str) -> list[str]:
    """Return the lines of an output that explain a failure, safe to show: its known errors, then its last lines."""
    # As one text: a private key is more than a line.
    text = redact(plain(output.replace("\r\n", "\n")))
    lines = text.split("\n")
    kept = [number for number, line in enumerate(lines, 1) if line.strip()][-LAST_LINES:]
    errors = dict.fromkeys(
        cut(each.message) for each in scan(text) if each.line not in kept
    )
    last = (clip_line(lines[number - 1]) for number in kept)
    chosen = (*list(errors)[:ERROR_LINES], *(["..."] if errors else []), *last)
    return [clip(printable(line), LINE_CHARS) for line in chosen]


@cache
def patterns() -> tuple[ErrorPattern, ...]:
    """Return all patterns, in the order in which they are tried."""
    parts: Mapping[str, str] = _data()["parts"]
    found: list[ErrorPattern] = []
    for each in _data()["pattern"]:
        fields: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in each.items()
        }
        found.append(
            ErrorPattern(
                **fields
                | {"regex": _PART.sub(lambda match: parts[match[1]], each["regex"])}
            )
        )
    return tuple(found)


@cache
def _data() -> Mapping[str, Any]:
    return read_table("processes/errors.toml")


@cache
def _by_keyword() -> Mapping[str, list[int]]:
    """Map each keyword to the numbers of its patterns."""
    numbers: dict[str, list[int]] = {}
    for number, pattern in enumerate(patterns()):
        for keyword in pattern.keywords:
            numbers.setdefault(keyword, []).append(number)
    return numbers


@cache
def _keywords() -> WordSet:
    return WordSet(_by_keyword())


@cache
def _compile(regex: str) -> re.Pattern[str]:
    """Compile on first use: all patterns together take longer than most commands run."""
    return re.compile(regex)


def _hits(lines: list[str]) -> list[_Hit]:
    """Return one hit for each matching line, in order."""
    hits: list[_Hit] = []
    if not any(lines):
        return hits
    for index, numbers in _candidates(lines):
        for piece in pieces(lines[index]):
            hit = _first_hit(piece[:SEARCHED_CHARS], numbers, lines, index)
            if hit:
                hits.append(hit)
                break
    return hits


def _candidates(lines: list[str]) -> Iterator[tuple[int, list[int]]]:
    """Yield the lines that hold a keyword, with the patterns to try on each."""
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    found: dict[int, set[int]] = {}
    for keyword, ends in _keywords().ends_in(fold("\n".join(lines))).items():
        for end in ends:
            index = bisect_right(starts, end) - 1
            found.setdefault(index, set()).update(_by_keyword()[keyword])
    for index in sorted(found):
        yield index, sorted(found[index])


def _first_hit(piece: str, numbers: list[int], lines: list[str], index: int) -> _Hit | None:
    bare = piece
    while match := _PASSED_ON.match(bare):
        bare = bare[match.end() :]
    if _WARNING.match(bare):
        return None
    for number in numbers:
        pattern = patterns()[number]
        match = _compile(pattern.regex).match(bare)
        if not match:
            continue
        beside = _beside(pattern, lines, index)
        if beside is not None:
            return _hit(pattern, [match, *beside], index, piece)
    return None


def _beside(
    pattern: ErrorPattern, lines: list[str], index: int
) -> list[re.Match[str]] | None:
    """Match the lines before and after; None if they do not match."""
    matches = []
    for regex, near in ((pattern.preceding, index - 1), (pattern.following, index + 1)):
        if regex:
            match = _compile(regex).search(
                clip_line(lines[near]) if 0 <= near < len(lines) else ""
            )
            if not match:
                return None
            matches.append(match)
    return matches


def _hit(
    pattern: ErrorPattern, matches: list[re.Match[str]], index: int, piece: str
) -> _Hit:
    """Fill in the message; of the groups `name`, `name2`, ... the one that matched counts."""
    caught: dict[str, str] = {}
    for match in matches:
        for group, value in match.groupdict().items():
            name = group.rstrip("0123456789")
            caught[name] = caught.get(name) or (value or "").strip()
    message = cut(pattern.message.format_map(caught).strip(": "))
    return _Hit(pattern, message, index, piece)


def _drop_implied(hits: list[_Hit]) -> list[_Hit]:
    """Drop the hits that another one makes redundant (`unless`)."""
    fired = {hit.pattern.id for hit in hits}
    if any("*" not in hit.pattern.unless for hit in hits):
        fired.add("*")
    return [hit for hit in hits if fired.isdisjoint(hit.pattern.unless)]


def plain(text: str) -> str:
    """Remove control sequences; one that moves the cursor back becomes a CR. Lines keep their numbers."""
    return _ESCAPE.sub(_without, text) if "\x1b" in text else text


def pieces(line: str) -> tuple[str, ...]:
    """Return the texts written over each other on one terminal line, such as the stages of a progress bar."""
    if _RETURN not in line:
        return (line.rstrip(),) if line else ()
    stages = (stage.rstrip() for stage in line.split(_RETURN))
    return tuple(stage for stage in stages if stage)


def clip_line(line: str) -> str:
    """Return the last of the texts on a plain line, cut to `SHOWN_OF_A_LINE` characters."""
    return cut(line.rstrip().rpartition(_RETURN)[2])


def cut(text: str) -> str:
    return clip(text, SHOWN_OF_A_LINE)


def _without(match: re.Match[str]) -> str:
    final = match["final"]
    if final in _MOVES or (final in _ERASES and match["parameters"] not in ("", "0")):
        return _RETURN
    return " " if final == "C" else ""
