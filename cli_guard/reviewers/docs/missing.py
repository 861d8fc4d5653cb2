"""New public functions without documentation whose code shows what their name and signature do not.

Where the file documents most of what it offers, one finding names the gaps of the file; where it hardly does, nothing
is reported. New code without a habit gets one finding for all its files.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import islice
from pathlib import PurePosixPath

from cli_guard.code.python_imports import PythonImports
from cli_guard.code.symbols import Symbol
from cli_guard.code.test_files import is_test_code
from cli_guard.lazy import frozen
from cli_guard.model import Confidence, Finding
from cli_guard.reviewers.docs.facts import facts_of, tests_of
from cli_guard.reviewers.docs.mismatch import list_names
from cli_guard.reviewers.docs.sources import (
    SourceFile,
    documented_share,
    expects_documentation,
    may_tell,
    style_in,
)
from cli_guard.reviewers.docs.styles import place, suggestion
from cli_guard.rules.catalog import Rule, read_table

EVIDENCE = 3
HABIT = 0.5
SHOWN = 3
MOST_PACKAGE_CHARS = 200_000
MOST_TEST_LINES = 20_000
ASIDE, ASIDE_NAMES = (
    frozenset(read_table("languages/files.toml")["words"][name].split())
    for name in ("undocumented_folders", "undocumented_names")
)
Body = tuple[str, str, int]


@frozen
class Gap:
    """A definition without documentation that the change adds, or whose documentation it removes.

    `at` is its index among the symbols of its file (a symbol would hold a tree), `body` stays equal if it only moves.
    """

    source: SourceFile
    at: int
    qualname: str
    body: Body

    @property
    def symbol(self) -> Symbol:
        return self.source.new[self.at]


def review_missing(rule: Rule, sources: Sequence[SourceFile]) -> Iterator[Finding]:
    """Return the findings of `docs-missing`, one a file at most."""
    found = [(source, list(gaps_in(source))) for source in sources if may_tell(source)]
    names = {gap.body[1] for _, gaps in found for gap in gaps}
    moved = {
        _body(s, source)
        for source in sources
        if names
        for s in source.old
        if s.name in names
    }
    of_language = cache(partial(_share_in, sources))
    fresh: list[tuple[Gap, list[str]]] = []
    for source, every in found:
        exported = exported_names(source) if every else frozenset()
        gaps = [
            g
            for g in every
            if g.body not in moved
            and not exported.isdisjoint(("*", g.qualname.partition(".")[0]))
        ]
        documented, could = documented_share(source.old) if gaps else (0, EVIDENCE)
        share = documented / could if could >= EVIDENCE else of_language(source.language)
        if share is None or share >= HABIT:
            told = [(gap, said) for gap in gaps if (said := _what_the_code_shows(gap))]
            if share is None:
                fresh += told
            elif told:
                yield _finding(rule, told, sources)
    if fresh:
        yield replace(_finding(rule, fresh, sources), confidence=Confidence.MEDIUM)


def _what_the_code_shows(gap: Gap) -> list[str]:
    """Return sentences on a definition, none if the code shows no more than its signature."""
    sentences = facts_of(gap.source.language, gap.symbol).sentences
    tests = (
        change
        for change in gap.source.subject.changes
        if sentences and is_test_code(change.path)
    )
    lines = (line for change in tests for line in change.added.values())
    tested = tests_of(gap.symbol.name, islice(lines, MOST_TEST_LINES))[:SHOWN]
    return [*sentences, f"Tested: {', '.join(tested)}."] if tested else sentences


def _body(symbol: Symbol, source: SourceFile) -> Body:
    text = symbol.node.text() if symbol.node is not None else ""
    return source.language, symbol.name, hash(" ".join(text.split()))


def exported_names(source: SourceFile) -> frozenset[str]:
    """Return what a module offers, "*" for all of it: of a private one (`_name`), what its package imports from it."""
    folders = source.change.path.removesuffix(".py").split("/")
    private = (
        n
        for n, part in enumerate(folders)
        if part.startswith("_") and not part.startswith("__")
    )
    at = next(private, None) if source.language == "python" else None
    if at is None:
        return frozenset("*")
    path = "/".join((*folders[:at], "__init__.py"))
    text = source.subject.text_at(path) or ""
    statements = PythonImports({path: text[:MOST_PACKAGE_CHARS]}).statements_of(path)
    taken = (
        names
        for each in statements
        if folders[at] in each.module.split(".")
        for names in each.names or ()
    )
    return frozenset(name for name, own in taken if not own.startswith("_"))


def gaps_in(source: SourceFile) -> Iterator[Gap]:
    """Return the undocumented definitions of a file, as far as the file alone shows."""
    pure = PurePosixPath(source.change.path)
    if not ASIDE.isdisjoint(pure.parts[:-1]) or pure.name in ASIDE_NAMES:
        return
    for at, symbol in enumerate(source.new):
        if (
            symbol.doc is not None
            or not symbol.is_function
            or not expects_documentation(symbol)
        ):
            continue
        if not source.change.touches(symbol.line, symbol.head_end):
            continue
        old = source.former(symbol)
        if old is None or old.doc is not None:
            yield Gap(source, at, symbol.qualname, _body(symbol, source))


def _share_in(sources: Sequence[SourceFile], language: str) -> float | None:
    """Return the documented share of the changed files in a language, None if they document nothing."""
    same = [source for source in sources if source.language == language]
    documented, could = map(
        sum, zip(*(documented_share(each.old) for each in same), strict=True)
    )
    if could >= EVIDENCE:
        return documented / could
    documented, could = map(sum, zip(*(each.share for each in same), strict=True))
    return documented / could if documented else None


def _finding(
    rule: Rule, told: list[tuple[Gap, list[str]]], sources: Sequence[SourceFile]
) -> Finding:
    """Return the finding on one or more gaps, with the suggestion for the one that the code says most of."""
    gap, said = max(told, key=lambda each: len(each[1]))
    source = gap.source
    symbol = gap.symbol
    message = f"Public {symbol.kind} `{gap.qualname}` has no documentation"
    if len(told) > 1:
        names = [g.qualname for g, _ in told if g is not gap]
        message += f"; neither have {list_names(names)}"
    is_python = source.language == "python"
    before = symbol.head_end + 1 if is_python else symbol.top
    # A body on the line of its `def` has no room for it.
    has_place = not is_python or symbol.body > symbol.head_end
    found = rule.finding(
        path=source.change.path,
        line=symbol.line,
        end_line=symbol.head_end,
        message=f"{message}. It belongs {place(source.language, symbol)}.",
        suggestion=suggestion(
            source.language, symbol, style_in(source, sources), source.lines, said
        ),
        content=" ".join(g.qualname for g, _ in told),
    )
    return replace(found, replaces=f"{before},{before - 1}" if has_place else "")
