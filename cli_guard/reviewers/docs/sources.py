"""The files that the reviewer reads: their symbols before and after, and what was left out and why."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from cli_guard.model import FileChange, Kind, Skipped, Status, split_lines
from cli_guard.reviewers.docs.styles import Style, style_of
from cli_guard.reviewers.subject import Subject
from cli_guard.reviewers.symbols import LANGUAGES, Symbol, is_test, symbols_of, unreadable
from cli_guard.syntax import Trees, language_of

SAMPLE = 40
STUBS = (".pyi", ".d.ts", ".d.mts", ".d.cts")


@dataclass(frozen=True)
class Source:
    """One file of the change, in one of the languages that are read."""

    change: FileChange
    language: str
    text: str
    old_text: str
    trees: Trees
    new: tuple[Symbol, ...]

    @cached_property
    def lines(self) -> list[str]:
        """The lines after the change."""
        return split_lines(self.text)

    @cached_property
    def old(self) -> tuple[Symbol, ...]:
        """The symbols before the change; read only when something asks: few changes touch a signature."""
        return symbols_of(self.trees, self.language, self.old_text) if self.old_text else ()

    @cached_property
    def before(self) -> dict[str, list[Symbol]]:
        """The symbols before the change by qualified name: a property and its setter share one."""
        named: dict[str, list[Symbol]] = {}
        for symbol in self.old:
            named.setdefault(symbol.qualname, []).append(symbol)
        return named

    def near(self, symbol: Symbol) -> bool:
        """Does the change add to, or take from, the head of a symbol or its documentation?"""
        spans = [(symbol.line, symbol.head_end)]
        if symbol.doc is not None:
            spans.append((symbol.doc.line, symbol.doc.end_line))
        return any(
            hunk.new_start <= last + 1 and hunk.new_start + len(hunk.added) >= first
            for hunk in self.change.hunks
            for first, last in spans
        )

    def former(self, symbol: Symbol) -> Symbol | None:
        """What a symbol was before the change: of its name, the one most like it; None if it is added."""
        same = self.before.get(symbol.qualname, ())
        return max(
            same, key=lambda old: (old.signature == symbol.signature, old.doc is not None), default=None
        )


def read_sources(subject: Subject) -> tuple[list[Source], list[Skipped]]:
    """Read the changed files, by path. Tests, stubs and files that only move or lose lines are no sources."""
    sources: list[Source] = []
    skipped: list[Skipped] = []
    for change in sorted(subject.changes, key=lambda c: c.path):
        language = language_of(change.path)
        if language not in LANGUAGES or not _concerned(change):
            continue
        found = _read(subject, change, language)
        if isinstance(found, Skipped):
            skipped.append(found)
        else:
            sources.append(found)
    return sources, skipped


def _concerned(change: FileChange) -> bool:
    if change.kind is not Kind.TEXT or change.status in (Status.DELETED, Status.UNMERGED) or not change.hunks:
        return False
    return not is_test(change.path) and not change.path.endswith(STUBS)


def _read(subject: Subject, change: FileChange, language: str) -> Source | Skipped:
    text = subject.contents.new(change)
    if text is None:
        return Skipped(change.path, "docs: whole text not available")
    old_text = "" if change.status is Status.ADDED else subject.contents.old(change)
    if old_text is None:
        return Skipped(change.path, "docs: text before the change not available")
    for side in (text, old_text):
        reason = unreadable(change.path, side, subject.limits.file_chars)
        if reason:
            return Skipped(change.path, f"docs: {reason}")
    started = subject.clock()
    new = symbols_of(subject.trees, language, text)
    if subject.clock() - started > subject.limits.seconds:
        return Skipped(change.path, f"docs: took longer than {subject.limits.seconds} seconds")
    return Source(change, language, text, old_text, subject.trees, new)


def expects_documentation(symbol: Symbol) -> bool:
    """Is it a public definition of the kind that is documented where anything is?"""
    return symbol.public and not symbol.quiet


def documented_share(symbols: Iterable[Symbol]) -> tuple[int, int]:
    """How many of the symbols that could be documented are, and how many there are."""
    could = [symbol for symbol in symbols if expects_documentation(symbol)]
    return sum(symbol.doc is not None for symbol in could), len(could)


def style_in(source: Source, sources: Iterable[Source]) -> Style:
    """How a file documents, by its own comments or, where these are few, by those of the change."""
    others = (o for o in sources if o.language == source.language and o is not source)
    elsewhere = (symbol for other in others for symbol in other.new if symbol.doc is not None)
    return style_of(source.language, source.new, islice(elsewhere, SAMPLE))
