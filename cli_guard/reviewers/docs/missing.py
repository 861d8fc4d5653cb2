"""Public definitions without documentation that the change adds or gives other parameters.

The number of findings follows the habit of the file: mostly documented, a finding for each gap; partly, one for the
file; hardly ever, none. New code without a habit gets one finding a file, and one for all beyond a few files.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from cli_guard.code.symbols import Symbol
from cli_guard.model import Confidence, Finding, Severity, fingerprint
from cli_guard.reviewers.docs.sources import (
    Source,
    documented_share,
    expects_documentation,
    may_tell,
    style_in,
)
from cli_guard.reviewers.docs.suggest import place, suggestion
from cli_guard.rules.catalog import Rule, read_table

EVIDENCE = 3
HABIT = 0.5
SOME = 0.25
EACH = 5
SHOWN = 3
NEW_FILES = 3
ASIDE, ASIDE_NAMES = (
    frozenset(read_table("languages/files.toml")["words"][name].split())
    for name in ("undocumented_folders", "undocumented_names")
)


@dataclass(frozen=True, slots=True)
class Gap:
    """A definition without documentation; `changed`: its signature changed, else it was added.

    `at` is its index among the symbols of its file, `body` stays equal if it only moves. The symbol itself would hold a
    tree.
    """

    source: Source
    at: int
    name: str
    qualname: str
    changed: bool
    body: "Body"

    @property
    def symbol(self) -> Symbol:
        return self.source.new[self.at]


Body = tuple[str, str, int]


def review_missing(rule: Rule, sources: Sequence[Source]) -> Iterator[Finding]:
    found = [(source, list(gaps_in(source))) for source in sources if may_tell(source)]
    names = {gap.name for _, gaps in found for gap in gaps}
    moved = {_body(s, source) for source in sources if names for s in source.old if s.name in names}
    shares = _Shares(sources)
    fresh: list[list[Gap]] = []
    for source, every in found:
        gaps = [gap for gap in every if gap.body not in moved]
        if not gaps:
            continue
        share = shares.of(source)
        if share is None:
            fresh.append([gap for gap in gaps if not gap.changed])
        elif share >= HABIT:
            yield from _each(rule, gaps, sources)
        elif share >= SOME:
            yield from _one(rule, [gap for gap in gaps if not gap.changed], sources)
    yield from _fresh(rule, [gaps for gaps in fresh if gaps], sources)


def _body(symbol: Symbol, source: Source) -> Body:
    text = symbol.node.text() if symbol.node is not None else ""
    return source.language, symbol.name, hash(" ".join(text.split()))


def gaps_in(source: Source) -> Iterator[Gap]:
    """Return the undocumented definitions of a file, as far as the file alone shows."""
    pure = PurePosixPath(source.change.path)
    if not ASIDE.isdisjoint(pure.parts[:-1]) or pure.name in ASIDE_NAMES or _private_module(pure):
        return
    for at, symbol in enumerate(source.new):
        if symbol.doc is not None or not expects_documentation(symbol):
            continue
        if not source.change.touches(symbol.line, symbol.head_end):
            continue
        old = source.former(symbol)
        if old is None or (old.doc is not None and symbol.doc is None):
            yield Gap(source, at, symbol.name, symbol.qualname, False, _body(symbol, source))
        elif {p.name for p in old.parameters} != {p.name for p in symbol.parameters}:
            yield Gap(source, at, symbol.name, symbol.qualname, True, _body(symbol, source))


def _private_module(pure: PurePosixPath) -> bool:
    parts = (*pure.parts[:-1], pure.stem)
    return pure.suffix == ".py" and any(p.startswith("_") and not p.startswith("__") for p in parts)


class _Shares:
    """The documented share of a file or, if it has too few symbols, of its language."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self._sources = sources
        self._of_language: dict[str, float | None] = {}

    def of(self, source: Source) -> float | None:
        """Return the share that applies to a file, None if there is too little to count."""
        documented, could = documented_share(source.old)
        if could >= EVIDENCE:
            return documented / could
        if source.language not in self._of_language:
            self._of_language[source.language] = self._whole(source.language)
        return self._of_language[source.language]

    def _whole(self, language: str) -> float | None:
        same = [source for source in self._sources if source.language == language]
        documented, could = map(sum, zip(*(documented_share(each.old) for each in same), strict=True))
        if could >= EVIDENCE:
            return documented / could
        documented, could = map(sum, zip(*(each.share for each in same), strict=True))
        return documented / could if documented else None


def _each(rule: Rule, gaps: list[Gap], sources: Sequence[Source]) -> Iterator[Finding]:
    if len(gaps) > EACH:
        yield from _one(rule, gaps, sources)
        return
    style = style_in(gaps[0].source, sources)
    for gap in gaps:
        yield _finding(
            rule, [gap], _describe(gap), suggestion(gap.source.language, gap.symbol, style, gap.source.lines)
        )


def _one(rule: Rule, gaps: list[Gap], sources: Sequence[Source]) -> Iterator[Finding]:
    if not gaps:
        return
    if len(gaps) == 1:
        yield from _each(rule, gaps, sources)
        return
    names = _list_names([gap.qualname for gap in gaps])
    text = f"{len(gaps)} public definitions have no documentation: {names}."
    yield _finding(rule, gaps, text, _suggest(gaps, sources))


def _fresh(rule: Rule, files: list[list[Gap]], sources: Sequence[Source]) -> Iterator[Finding]:
    """Return the findings for new code without a habit: one a file, or one for all of many files."""
    if len(files) <= NEW_FILES:
        for gaps in files:
            for finding in _one(rule, gaps, sources):
                yield replace(finding, confidence=Confidence.MEDIUM)
        return
    total = sum(len(gaps) for gaps in files)
    text = f"{total} new public definitions in {len(files)} files have no documentation, here: "
    text += _list_names([gap.qualname for gap in files[0]]) + "."
    finding = _finding(rule, files[0], text, _suggest(files[0], sources))
    yield replace(finding, severity=Severity.INFO, confidence=Confidence.MEDIUM)


def _suggest(gaps: list[Gap], sources: Sequence[Source]) -> str:
    style = style_in(gaps[0].source, sources)
    blocks = [
        f"{place(g.source.language, g.symbol)}, for {g.symbol.qualname}:\n"
        + suggestion(g.source.language, g.symbol, style, g.source.lines)
        for g in gaps[:SHOWN]
    ]
    return "\n\n".join(blocks)


def _describe(gap: Gap) -> str:
    kind = "type" if gap.symbol.kind == "class" and gap.source.language == "go" else gap.symbol.kind
    what = f"Public {kind} `{gap.symbol.qualname}`"
    where = place(gap.source.language, gap.symbol)
    if gap.changed:
        return f"{what} gets other parameters and has no documentation; it belongs {where}."
    return f"{what} has no documentation; it belongs {where}."


def _list_names(names: list[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[: 2 * EACH])
    return shown if len(names) <= 2 * EACH else f"{shown} and {len(names) - 2 * EACH} more"


def _finding(rule: Rule, gaps: list[Gap], message: str, text: str) -> Finding:
    source, symbol = gaps[0].source, gaps[0].symbol
    return rule.finding(
        path=source.change.path,
        line=symbol.line,
        end_line=symbol.head_end,
        message=message,
        suggestion=text,
        fingerprint=fingerprint(rule.id, source.change.path, " ".join(gap.qualname for gap in gaps)),
    )
