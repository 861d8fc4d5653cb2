"""Blocks that the change adds twice. One hash a window of lines, so the cost grows with the lines alone."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from cli_guard.model import FileChange, Finding, Skipped, fingerprint
from cli_guard.rules.catalog import Rule

ENDINGS = frozenset(
    {".py", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".go", ".java", ".kt", ".c", ".h"}
    | {".cc", ".cpp", ".hpp", ".cs", ".rs", ".rb", ".php", ".swift", ".scala", ".sh", ".bash", ".lua"}
)
# Lines that say nothing on their own, or are alike in every file: imports, comments, brackets, decorators.
IDLE = re.compile(
    r"^(import\b|from\b.*\bimport\b|package\b|using\b|use\b|include\b|require\b|export\s*[{*]"
    r"|#|//|\*|/\*|@|\"\"\"|'''"
    r"|[\W_]*$|(else|try|finally|do|then|fi|done|end|pass|break|continue|return|default)\W*$)"
)
WORKS = re.compile(r"\w\s*\(|=|\bif\b|\bfor\b|\bwhile\b|\breturn\b")
LITERAL = r"(?:['\"\d\[{(\-]|true\b|false\b|none\b|null\b)[^()]*$"
DATA = re.compile(rf"^[\[({{]?\s*(?:{LITERAL}|\w+\s*:\s*{LITERAL}|\w+,$)", re.IGNORECASE)
CONSTANT = re.compile(rf"^[\w.]+(?:\s*:\s*[\w.]+)?\s*=\s*{LITERAL}", re.IGNORECASE)
DEEPEST = 400
MOST_PLACES = 4
MOST_BLOCKS = 20


@dataclass(frozen=True, slots=True)
class Line:
    """An added line that says something: its file, number and normalised text."""

    change: FileChange
    number: int
    text: str


@dataclass(frozen=True, slots=True)
class Pair:
    """Two places with the same lines: the offsets of their first lines, and how many lines are alike."""

    first: int
    second: int
    length: int


def is_code(path: str) -> bool:
    """Is it source code, in which a repetition is the author's choice?"""
    return PurePosixPath(path).suffix.lower() in ENDINGS


def review_duplicates(rule: Rule, changes: Iterable[FileChange]) -> tuple[list[Finding], list[Skipped]]:
    """The findings of `refactor-duplicate-block`: each repeated block once, with all its places.

    Of very many, the longest are listed; how many were left out is said.
    """
    lines, runs = _lines(changes)
    copies: dict[int, list[Pair]] = {}
    for pair in _pairs(lines, runs, int(rule.extra["lines"])):
        copies.setdefault(pair.first, []).append(pair)
    blocks = sorted(copies.values(), key=lambda pairs: -sum(pair.length for pair in pairs))
    skipped = []
    if len(blocks) > MOST_BLOCKS:
        path = lines[blocks[MOST_BLOCKS][0].second].change.path
        skipped = [
            Skipped(path, f"refactor: {len(blocks) - MOST_BLOCKS} more repeated blocks are not listed")
        ]
    return [_finding(rule, lines, pairs) for pairs in blocks[:MOST_BLOCKS]], skipped


def _finding(rule: Rule, lines: list[Line], pairs: list[Pair]) -> Finding:
    pair = pairs[0]
    block = lines[pair.second : pair.second + pair.length]
    here, last = block[0], block[-1]
    origin = _place(lines, pair.first, pair.length)
    further = [_place(lines, other.second, other.length) for other in pairs[1 : 1 + MOST_PLACES]]
    also = f" So do {' and '.join(further)}." if further else ""
    places = " and ".join([_place(lines, pair.second, pair.length), *further])
    return rule.finding(
        path=here.change.path,
        line=here.number,
        end_line=last.number,
        message=f"Lines {here.number} to {last.number} repeat {origin}, which this change adds, too.{also}",
        suggestion=(
            f"1. Move {origin} into a function of their own, in a module that all places can use.\n"
            f"2. Call it there, and instead of {places}.\n"
            "3. Run the tests."
        ),
        fingerprint=fingerprint(rule.id, here.change.path, "\n".join(line.text for line in block)),
    )


def _place(lines: list[Line], start: int, length: int) -> str:
    first, last = lines[start], lines[start + length - 1]
    return f"lines {first.number} to {last.number} of `{first.change.path}`"


def _lines(changes: Iterable[FileChange]) -> tuple[list[Line], list[int]]:
    """All telling lines, and for each the number of its run: what stands together in one hunk of a file."""
    lines: list[Line] = []
    runs: list[int] = []
    run = 0
    for change in changes:
        for hunk in change.hunks:
            run += 1
            for offset, raw in enumerate(hunk.added):
                text = " ".join(raw.split()) if len(raw) < DEEPEST else ""
                if text and not IDLE.match(text):
                    lines.append(Line(change, hunk.new_start + offset, text))
                    runs.append(run)
    return lines, runs


def _pairs(lines: list[Line], runs: list[int], size: int) -> Iterator[Pair]:
    """Each window that was seen before, grown as far as both places stay alike."""
    hashes = [hash(line.text) for line in lines]
    seen: dict[int, int] = {}
    at = 0
    while at + size <= len(lines):
        if runs[at] != runs[at + size - 1]:
            at += 1
            continue
        key = hash(tuple(hashes[at : at + size]))
        first = seen.setdefault(key, at)
        length = _alike(lines, runs, first, at) if first + size <= at else 0
        if length >= size and _worth_naming(lines[at : at + length], size):
            yield Pair(first, at, length)
        at += max(1, length)


def _alike(lines: list[Line], runs: list[int], first: int, second: int) -> int:
    length = 0
    while (
        second + length < len(lines)
        and first + length < second
        and runs[first + length] == runs[first]
        and runs[second + length] == runs[second]
        and lines[first + length].text == lines[second + length].text
    ):
        length += 1
    return length


def _worth_naming(block: list[Line], size: int) -> bool:
    """Enough lines that do something: no arguments one to a line, no table of values, no line repeated."""
    telling = {line.text for line in block if WORKS.search(line.text) and line.text[-1] != ","}
    working = {text for text in telling if not DATA.match(text)}
    return len(working) >= size and sum(1 for text in working if not CONSTANT.match(text)) * 2 >= size
