"""Functions that the change pushes over a limit: complexity, length, parameters."""

import math
from collections.abc import Iterator, Sequence
from functools import cached_property

from cli_guard.code.changes.facts import IDENTIFIER
from cli_guard.code.languages import language_for
from cli_guard.code.symbols import LANGUAGES, Symbol, symbols_of, unreadable
from cli_guard.lazy import frozen
from cli_guard.model import FileChange, Finding, Skipped, Status, split_lines
from cli_guard.reviewers.per_file import NOTHING, FileResult
from cli_guard.reviewers.refactor.metrics import Measure, may_exceed, measure
from cli_guard.reviewers.refactor.plan import plan
from cli_guard.reviewers.review_input import ReviewInput
from cli_guard.rules.catalog import Rule, by_id

ALIKE = 0.6
SAME_WORDS = 0.8
# A jump: this far over a limit, or grown by this much. What a function gains line by line is no reason to split it now.
OVER = 1.2
GROWN = 4 / 3
# Fewer paths than this are a list of steps or of settings, which reads well at any length.
FLAT = 6
# Functions over a limit that are compared with those before, and removed ones that each is compared with.
MOST_COMPARED = 500
MOST_REMOVED = 1_000
# From so many times the limit of paths on, a function is named although no plan brings it within the limits.
FAR = 3.0


@frozen
class Limit:
    """A rule and the highest value that it allows."""

    rule: Rule
    most: int

    @classmethod
    def of(cls, rule: Rule) -> "Limit":
        return cls(rule, int(rule.extra["limit"]))

    def crossed(self, before: int | None, after: int) -> bool:
        """Return whether the value is over the limit and jumped: there from below by a fifth, or by a third."""
        if before is not None and after >= before * GROWN:
            return after > self.most
        return after >= self.most * OVER and (before is None or before <= self.most)

    def silent(self, *, is_new: bool) -> int:
        """Return the highest value that is never over the limit; what is new has not grown."""
        return math.ceil(self.most * OVER) - 1 if is_new else self.most


class Growth:
    """Compares the functions of each changed file before and after.

    For the last file, `asked_others` says whether other files were searched.
    """

    def __init__(self, subject: ReviewInput) -> None:
        rules = by_id("refactor")
        self._subject = subject
        self._complexity = Limit.of(rules["refactor-complex"])
        self._length = Limit.of(rules["refactor-long"])
        self.asked_others = False

    def measure(self, change: FileChange) -> FileResult:
        """Return the findings on the functions of one file; `again`: its lines may repeat others."""
        text = self._subject.contents.new(change)
        room = self._subject.advice
        if not room.has_room("refactor", change.path, len(text or "")):
            return NOTHING
        most = self._subject.limits.file_chars
        reason = unreadable(change.path, text, most) if text is not None else None
        is_readable = reason is None
        self.asked_others = False
        found: list[Finding] = []
        language = language_for(change.path)
        if reason is None and language in LANGUAGES:
            reason = self._review(change, language, text, found)
        skipped = () if reason is None else (Skipped(change.path, f"refactor: {reason}"),)
        is_alone = not self.asked_others
        return FileResult(tuple(found), skipped, is_readable, cacheable=is_alone)

    def _review(
        self, change: FileChange, language: str, text: str | None, found: list[Finding]
    ) -> str | None:
        """Add the findings of one file; return why it was skipped in part or as a whole."""
        if text is None:
            return "whole text not available"
        is_added = change.status is Status.ADDED
        old_text = "" if is_added else self._subject.contents.old(change)
        if old_text is None:
            return "text before the change not available"
        most = self._subject.limits.file_chars
        if len(old_text) > most:
            return f"before the change longer than {most} characters"
        # A file has the decisions and lines of all its functions: most need no tree.
        is_new = not (old_text or self._sources_of_moves)
        highest = (
            limit.silent(is_new=is_new) for limit in (self._complexity, self._length)
        )
        if not may_exceed(text, *highest):
            return None
        lines = split_lines(text)
        old_lines = split_lines(old_text)
        symbols = symbols_of(self._subject.trees, language, text)
        compared = 0
        before: tuple[Symbol, ...] | None = None
        for symbol in symbols:
            if not symbol.is_function or not change.touches(symbol.top, symbol.end_line):
                continue
            after = self._measure(language, symbol, lines)
            if after is None:
                continue
            compared += 1
            if compared > MOST_COMPARED:
                return f"only the first {MOST_COMPARED} functions over a limit are compared"
            if before is None:
                before = (
                    symbols_of(self._subject.trees, language, old_text) if old_text else ()
                )
            former = _former(symbol, symbols, before, lines, old_lines)
            if former is None:
                former = self._find_origin(change, symbol, lines)
            found += self._judge(change, language, symbol, former, after, lines)
        return None

    def _measure(self, language: str, symbol: Symbol, lines: list[str]) -> Measure | None:
        """Return what a function over a limit has, None for any other."""
        text = "\n".join(lines[symbol.top - 1 : symbol.end_line])
        if not may_exceed(text, self._complexity.most, self._length.most):
            return None
        found = measure(language, symbol)
        if found.complexity > self._complexity.most or found.length > self._length.most:
            return found
        return None

    @cached_property
    def _sources_of_moves(self) -> list[tuple[FileChange, str, str]]:
        """Return the files that the change takes lines from, by path: their language, and these lines as one text."""
        found = []
        for change in sorted(self._subject.changes, key=lambda c: c.path):
            language = language_for(change.path)
            if (
                change.is_text
                and change.status is not Status.ADDED
                and language in LANGUAGES
            ):
                removed = "\n".join(
                    "\n".join(hunk.removed) for hunk in change.hunks if hunk.removed
                )
                found.append((change, language, removed))
        return [each for each in found if each[2]]

    def _find_origin(
        self, change: FileChange, symbol: Symbol, lines: list[str]
    ) -> Symbol | None:
        self.asked_others = True
        for other, other_language, removed in self._sources_of_moves:
            if other is change or symbol.name not in removed:
                continue
            text = self._subject.contents.old(other)
            if text is None or len(text) > self._subject.limits.file_chars:
                continue
            old_lines = split_lines(text)
            for candidate in symbols_of(self._subject.trees, other_language, text):
                if candidate.name == symbol.name and _is_same(
                    symbol, lines, candidate, old_lines
                ):
                    return candidate
        return None

    def _judge(
        self,
        change: FileChange,
        language: str,
        symbol: Symbol,
        former: Symbol | None,
        after: Measure,
        lines: list[str],
    ) -> Iterator[Finding]:
        before = measure(language, former) if former is not None else None
        paths, length = (before.complexity, before.length) if before else (None, None)
        is_complex = self._complexity.crossed(paths, after.complexity)
        is_long = after.complexity >= FLAT and self._length.crossed(length, after.length)
        parts = []
        if is_complex:
            parts.append(
                _grown(paths, after.complexity, "independent paths", self._complexity.most)
            )
        if is_long:
            parts.append(_grown(length, after.length, "lines of code", self._length.most))
        if not parts:
            return
        over = after.complexity / self._complexity.most
        suggestion, is_enough = plan(
            language, symbol, lines, after, self._complexity.most, self._length.most
        )
        if over < FAR and not is_enough:
            return
        rule = self._complexity.rule if is_complex else self._length.rule
        yield rule.finding(
            path=change.path,
            line=symbol.line,
            end_line=symbol.end_line,
            message=f"`{symbol.qualname}` {' and '.join(parts)}.",
            suggestion=suggestion,
            content=symbol.qualname,
        )


def _grown(before: int | None, after: int, what: str, most: int) -> str:
    if before is None:
        return f"is added with {after} {what} (limit {most})"
    return f"grows from {before} to {after} {what} (limit {most})"


def _former(
    symbol: Symbol,
    symbols: Sequence[Symbol],
    before: Sequence[Symbol],
    lines: list[str],
    old_lines: list[str],
) -> Symbol | None:
    """Return the function before the change: of the same name, or the most similar of the removed ones."""
    same = [old for old in before if old.qualname == symbol.qualname and old.is_function]
    if same:
        place = [
            s for s in symbols if s.qualname == symbol.qualname and s.is_function
        ].index(symbol)
        return same[min(place, len(same) - 1)]
    present = {s.qualname for s in symbols}
    gone = [old for old in before if old.is_function and old.qualname not in present][
        :MOST_REMOVED
    ]
    scored = [(_alike(symbol, lines, old, old_lines), old) for old in gone]
    best = max(scored, key=lambda pair: pair[0], default=(0.0, None))
    return best[1] if best[0] >= ALIKE else None


def _is_same(symbol: Symbol, lines: list[str], old: Symbol, old_lines: list[str]) -> bool:
    """Return whether a function of the same name is the same: by its words if its receiver is called otherwise now."""
    if _alike(symbol, lines, old, old_lines) >= ALIKE:
        return True
    new_words, old_words = (
        set(IDENTIFIER.findall("\n".join(text[each.line : each.end_line])))
        for text, each in ((lines, symbol), (old_lines, old))
    )
    return len(new_words & old_words) >= SAME_WORDS * max(len(new_words), len(old_words))


def _alike(symbol: Symbol, lines: list[str], old: Symbol, old_lines: list[str]) -> float:
    new_body = {line.strip() for line in lines[symbol.line : symbol.end_line]} - {""}
    old_body = {line.strip() for line in old_lines[old.line : old.end_line]} - {""}
    return len(new_body & old_body) / max(len(new_body), len(old_body), 1)
