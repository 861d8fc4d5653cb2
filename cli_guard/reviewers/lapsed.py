"""Recorded inline answers that no longer hold: their statement stands among other lines than those it was answered for.

An answer speaks of its statement, of the function around it up to there, and of the constants, functions and variables
that the statement names. If one of these differs before and after a change, the statement counts as added: its finding
comes up again, and a person has to agree with the answer once.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property

from cli_guard.code.definitions import find_definitions, is_parseable
from cli_guard.code.languages import comment
from cli_guard.model import Contents, FileChange, Hunk
from cli_guard.policy.suppressions import MARK, answer_in, is_comment
from cli_guard.repository.between import LinesBefore

# Beyond these, any change of the file counts.
MOST_ANSWERS = 50
MOST_NAMES = 20
NAME = re.compile(r"[^\W\d]\w*")
VARIABLE = re.compile(r"\$[{(]?(\w+)")
CLOSING = (")", "]", "}")
# The text behind the heading of a Python function, which is no code.
DOCSTRING = re.compile(
    r"""(:[ \t]*\n)[ \t]*[rRuU]?(\"{3}|'{3})(?:(?!\2)[\s\S])*\2[ \t]*(?=\n)"""
)


def lapsed_lines(change: FileChange, contents: Contents) -> frozenset[int]:
    """Return the unchanged lines with a recorded answer that was given for other lines around them."""
    new = contents.new(change) if change.hunks else None
    if new is None or MARK not in new:
        return frozenset()
    now = _Text(change.path, new)
    before = LinesBefore(change)
    answered = [line for line in _answered_lines(now.lines) if not change.touches(line)]
    old = contents.old(change) if answered else None
    if old is None:
        return frozenset()
    was = _Text(change.old_path or change.path, old)
    kept = {
        line
        for line in answered[:MOST_ANSWERS]
        if now.ground(line) == was.ground(before(line))
    }
    return frozenset(answered) - kept


def with_lines(change: FileChange, lines: frozenset[int], contents: Contents) -> FileChange:
    """Return the change with some unchanged lines as added ones."""
    if not lines:
        return change
    before = LinesBefore(change)
    every = (contents.new(change) or "").split("\n")
    again = (
        Hunk(before(line), line, (every[line - 1],), (every[line - 1],)) for line in lines
    )
    hunks = sorted(
        (*change.hunks, *again), key=lambda hunk: (hunk.old_start, hunk.new_start)
    )
    return replace(change, hunks=tuple(hunks))


def _answered_lines(lines: Sequence[str]) -> Iterator[int]:
    """Yield the lines that an answer is on, or in a comment right above."""
    for number, line in enumerate(lines, 1):
        if answer_in(line):
            yield min(number + is_comment(line), len(lines))


class _Text:
    """One side of a file, and what its statements rest on."""

    def __init__(self, path: str, text: str) -> None:
        self.lines = text.split("\n")
        self._definitions = find_definitions(path, text) if is_parseable(text) else None
        sign = (comment(path, "") or "").strip()
        self._comment = sign if " " not in sign else ""

    def ground(self, line: int) -> object:
        """Return what the answer on a line speaks of, without comments and differences of blanks."""
        if self._definitions is None or not 0 < line <= len(self.lines):
            return self._code(self.lines)
        first, last = self._statement(line)
        statement = "\n".join(self.lines[first - 1 : last])
        around = [
            each
            for each in self._definitions
            if each.kind == "function" and each.line <= line <= each.end_line
        ]
        names = set(NAME.findall(statement))
        given = {
            (each.name, self._code(self.lines[each.line - 1 : each.end_line]))
            for each in self._definitions
            if each.name in names
            and each.kind in ("constant", "function")
            and each not in around
        }
        # Outside of functions, a test of what the statement uses may stand anywhere.
        variables = set(VARIABLE.findall(statement)) | (
            set() if around else {name for name, _ in given}
        )
        if len(variables) > MOST_NAMES:
            return self._code(self.lines)
        for name in variables:
            mentioned = re.compile(rf"\b{re.escape(name)}\b")
            given.add((name, self._code(filter(mentioned.search, self.lines))))
        begin = around[-1].line if around else first
        shown = DOCSTRING.sub(r"\1", "\n".join(self.lines[begin - 1 : last]), count=1)
        return self._code(shown.split("\n")), given

    @cached_property
    def _indents(self) -> list[int]:
        return [
            len(each) - len(each.lstrip()) if each.strip() else 10_000
            for each in self.lines
        ]

    def _statement(self, line: int) -> tuple[int, int]:
        """Return the first and last line of a statement: what is indented more goes on, a bracket closes."""
        indent = self._indents
        first = last = line
        if self.lines[line - 1].lstrip().startswith(CLOSING):
            first = max(first - 1, 1)
            while first > 1 and indent[first - 1] > indent[line - 1]:
                first -= 1
        while (
            last < len(self.lines)
            and indent[last] > indent[first - 1]
            and self.lines[last].strip()
        ):
            last += 1
        if last < len(self.lines) and self.lines[last].lstrip().startswith(CLOSING):
            last += 1
        return first, last

    def _code(self, lines: Iterable[str]) -> tuple[str, ...]:
        folded = (" ".join(each.split()) for each in lines)
        return tuple(
            each
            for each in folded
            if each and not (self._comment and each.startswith(self._comment))
        )
