"""Conflict markers that a merge left in a file.

Git writes seven marker characters, a blank and a label, and a bare line of seven `=` between the two sides
(git-merge(1), "How conflicts are presented"; diff3 style adds a line of seven `|`).
"""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from cli_guard.model import FileChange, Finding, split_lines
from cli_guard.reviewers.code.files import rule
from cli_guard.reviewers.code.remarks import MAX_PER_RULE, Location, remark

OURS, MIDDLE, THEIRS = "<<<<<<< ", "=======", ">>>>>>> "
FENCE = re.compile(r" {0,3}(```+|~~~+)")
PROSE = frozenset((".md", ".markdown", ".mdx", ".rst", ".txt", ".adoc", ".eml", ".mbox", ".patch", ".diff"))


def inspect(change: FileChange, text: str | None) -> Iterator[Finding]:
    """A whole conflict with an added marker, and, outside prose, an added marker on its own."""
    if text is not None and OURS not in text and THEIRS not in text:
        return
    if not any(map(_is_marker, change.added.values())):
        return
    lines = dict(enumerate(split_lines(text), 1)) if text is not None else change.added
    markdown = PurePosixPath(change.path).suffix.lower() in (".md", ".markdown", ".mdx")
    fenced = _fenced_lines(lines) if markdown else frozenset()
    whole = list(_conflicts(lines))
    found = 0
    for start, middle, end in whole:
        if found < MAX_PER_RULE and not change.added.keys().isdisjoint((start, middle, end)):
            found += 1
            place = Location(change.path, start, end, lines[start], f"{lines[start]} {lines[end]}")
            which = "code-conflict-example" if start in fenced else "code-conflict-marker"
            yield remark(rule(which), place)
    if PurePosixPath(change.path).suffix.lower() in PROSE:
        return
    covered = {number for start, _, end in whole for number in range(start, end + 1)}
    for number, line in change.added.items():
        if found < MAX_PER_RULE and number not in covered and line.startswith((OURS, THEIRS)):
            found += 1
            yield remark(rule("code-conflict-leftover"), Location(change.path, number, number, line, line))


def _is_marker(line: str) -> bool:
    return line.startswith((OURS, THEIRS)) or line.rstrip("\r") == MIDDLE


def _conflicts(lines: dict[int, str]) -> Iterator[tuple[int, int, int]]:
    """The lines of ours, middle and theirs of each conflict, its markers in their order."""
    start = middle = 0
    for number, line in lines.items():
        if line.startswith(OURS):
            start, middle = number, 0
        elif start and not middle and line.rstrip("\r") == MIDDLE:
            middle = number
        elif middle and line.startswith(THEIRS):
            yield start, middle, number
            start = middle = 0


def _fenced_lines(lines: dict[int, str]) -> frozenset[int]:
    """The lines inside fenced code blocks of a Markdown text: where a text shows a conflict."""
    inside: set[int] = set()
    fence = ""
    for number, line in lines.items():
        mark = FENCE.match(line)
        if not fence and mark:
            fence = mark[1]
        elif fence and mark and mark[1].startswith(fence) and not line.strip(" `~\r"):
            fence = ""
        elif fence:
            inside.add(number)
    return frozenset(inside)
