"""Functions that the change pushes over a limit: complexity, length, parameters."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

from cli_guard.code.languages import language_of
from cli_guard.code.symbols import LANGUAGES, Symbol, symbols_of
from cli_guard.model import FileChange, Finding, Kind, Status, fingerprint, split_lines
from cli_guard.reviewers.refactor.metrics import Measure, code_of, may_exceed, measure
from cli_guard.reviewers.refactor.plan import plan
from cli_guard.reviewers.review_input import ReviewInput
from cli_guard.rules.catalog import Rule

ALIKE = 0.6
# Decorators of frameworks, command lines and data models: the author does not choose the parameters.
LISTED_BY = ("command", "option", "argument", "overload", "override", "fixture", "parametrize", "callback")


@dataclass(frozen=True)
class Limit:
    """A limit, and by how much a function already over it must grow to be reported again."""

    rule: Rule
    most: int
    worse: int

    @classmethod
    def of(cls, rule: Rule) -> "Limit":
        return cls(rule, int(rule.extra["limit"]), int(rule.extra["worse"]))

    def crossed(self, before: int | None, after: int) -> bool:
        """Return whether it is over the limit now and was not, or was clearly less over it, before."""
        return after > self.most and (before is None or before <= self.most or after - before >= self.worse)


@dataclass(frozen=True)
class GrowthFinding:
    """A finding, how far its function is over the limits, and the (slow) function that makes its plan."""

    finding: Finding
    over: float = 0.0
    plan: Callable[[], str | None] | None = None


class Growth:
    """Compares the functions of each changed file before and after.

    For the last file, `unmeasured` counts the functions that lizard could not read, and `asked_others` says whether
    other files were searched.
    """

    def __init__(self, rules: Mapping[str, Rule], subject: ReviewInput) -> None:
        self._subject = subject
        self._complexity = Limit.of(rules["refactor-complex"])
        self._length = Limit.of(rules["refactor-long"])
        self._parameters = Limit.of(rules["refactor-parameters"])
        self.unmeasured = 0
        self.asked_others = False

    def review(self, change: FileChange, language: str, text: str, old_text: str) -> Iterator[GrowthFinding]:
        """Return the findings of one file.

        Raises TimeoutError if the file takes longer than `limits.seconds`.
        """
        lines, old_lines = split_lines(text), split_lines(old_text)
        symbols = symbols_of(self._subject.trees, language, text)
        started = self._subject.clock()
        self.unmeasured, self.asked_others = 0, False
        before: tuple[Symbol, ...] | None = None
        for symbol in symbols:
            if self._subject.clock() - started > self._subject.limits.seconds:
                raise TimeoutError
            if not symbol.is_function or not change.touches(symbol.top, symbol.end_line):
                continue
            after = self._measure(language, symbol, lines)
            if after is None and _count(symbol) <= self._parameters.most:
                continue
            if before is None:
                before = symbols_of(self._subject.trees, language, old_text) if old_text else ()
            former = _former(symbol, symbols, before, lines, old_lines)
            source = old_lines
            if former is None:
                former, source = self._find_origin(change, language, symbol, lines)
            yield from self._judge(change, language, symbol, former, after, lines, source)

    def _measure(self, language: str, symbol: Symbol, lines: list[str]) -> Measure | None:
        text = code_of(symbol, lines)
        if not may_exceed(text, self._complexity.most, self._length.most):
            return None
        found = measure(language, symbol, text)
        if found is None:
            self.unmeasured += 1
        if found is None or (found.complexity <= self._complexity.most and found.length <= self._length.most):
            return None
        return found

    @cached_property
    def _sources_of_moves(self) -> list[tuple[FileChange, str, str]]:
        """Return the files that the change takes lines from, by path: their language, and these lines as one text."""
        found = []
        for change in sorted(self._subject.changes, key=lambda c: c.path):
            language = language_of(change.path)
            if change.kind is Kind.TEXT and change.status is not Status.ADDED and language in LANGUAGES:
                removed = "\n".join("\n".join(hunk.removed) for hunk in change.hunks if hunk.removed)
                found.append((change, language, removed))
        return [each for each in found if each[2]]

    def _find_origin(
        self, change: FileChange, language: str, symbol: Symbol, lines: list[str]
    ) -> tuple[Symbol | None, list[str]]:
        self.asked_others = True
        for other, other_language, removed in self._sources_of_moves:
            if other is change or symbol.name not in removed:
                continue
            text = self._subject.contents.old(other)
            if text is None or len(text) > self._subject.limits.file_chars:
                continue
            old_lines = split_lines(text)
            for candidate in symbols_of(self._subject.trees, other_language, text):
                if candidate.name == symbol.name and _alike(symbol, lines, candidate, old_lines) >= ALIKE:
                    return candidate, old_lines
        return None, []

    def _judge(
        self,
        change: FileChange,
        language: str,
        symbol: Symbol,
        former: Symbol | None,
        after: Measure | None,
        lines: list[str],
        old_lines: list[str],
    ) -> Iterator[GrowthFinding]:
        if after is not None:
            before = measure(language, former, code_of(former, old_lines)) if former is not None else None
            complex_before, long_before = (before.complexity, before.length) if before else (None, None)
            is_complex = self._complexity.crossed(complex_before, after.complexity)
            is_long = self._length.crossed(long_before, after.length)
            if is_complex or is_long:
                limit = self._complexity if is_complex else self._length
                parts = []
                if is_complex:
                    parts.append(
                        _grown(complex_before, after.complexity, "independent paths", self._complexity.most)
                    )
                if is_long:
                    parts.append(_grown(long_before, after.length, "lines of code", self._length.most))
                over = after.complexity / self._complexity.most + after.length / self._length.most
                finding = _finding(limit.rule, change, symbol, " and ".join(parts), None)
                yield GrowthFinding(finding, over, partial(plan, language, symbol, lines))
        count = _count(symbol)
        asked = symbol.quiet in ("override", "overload", "may override") or any(
            d.rsplit(".", 1)[-1] in LISTED_BY for d in symbol.decorators
        )
        earlier = _count(former) if former is not None else None
        if (
            self._parameters.crossed(earlier, count)
            and not asked
            and change.touches(symbol.line, symbol.head_end)
        ):
            text = _grown(
                earlier, count, "parameters that a caller has to give in order", self._parameters.most
            )
            yield GrowthFinding(_finding(self._parameters.rule, change, symbol, text, _grouping(symbol)))


def _count(symbol: Symbol) -> int:
    """Count the parameters whose order a caller must keep, or that it must pass; keyword options do not count."""
    return sum(1 for p in symbol.parameters if not p.star and not (p.keyword_only and p.optional))


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
        place = [s for s in symbols if s.qualname == symbol.qualname and s.is_function].index(symbol)
        return same[min(place, len(same) - 1)]
    present = {s.qualname for s in symbols}
    gone = [old for old in before if old.is_function and old.qualname not in present]
    scored = [(_alike(symbol, lines, old, old_lines), old) for old in gone]
    best = max(scored, key=lambda pair: pair[0], default=(0.0, None))
    return best[1] if best[0] >= ALIKE else None


def _alike(symbol: Symbol, lines: list[str], old: Symbol, old_lines: list[str]) -> float:
    new_body = {line.strip() for line in lines[symbol.line : symbol.end_line]} - {""}
    old_body = {line.strip() for line in old_lines[old.line : old.end_line]} - {""}
    return len(new_body & old_body) / max(len(new_body), len(old_body), 1)


def _grouping(symbol: Symbol) -> str:
    names = [p.name for p in symbol.parameters if p.name and not p.star]
    tail = ", ".join(f"`{name}`" for name in names[-4:])
    return (
        f"1. Find the parameters that travel together; the last ones are {tail}.\n"
        f"2. Put them into one object with named fields, and take that object in `{symbol.name}` instead.\n"
        "3. Change the callers, then run the tests."
    )


def _finding(rule: Rule, change: FileChange, symbol: Symbol, text: str, suggestion: str | None) -> Finding:
    return rule.finding(
        path=change.path,
        line=symbol.line,
        end_line=symbol.end_line,
        message=f"`{symbol.qualname}` {text}.",
        suggestion=suggestion,
        fingerprint=fingerprint(rule.id, change.path, symbol.qualname),
    )
