"""The files that the reviewer reads: their symbols before and after, and what was skipped and why."""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import islice

from cli_guard.code.languages import language_of
from cli_guard.code.symbols import LANGUAGES, Symbol, symbols_of, unreadable
from cli_guard.code.test_files import is_test_code
from cli_guard.lazy import frozen
from cli_guard.model import FileChange, Skipped, Status, group_by, split_lines
from cli_guard.reviewers.docs.documented import may_document
from cli_guard.reviewers.docs.styles import Style, style_of
from cli_guard.reviewers.per_file import FileResult
from cli_guard.reviewers.review_input import ReviewInput

SAMPLE = 40
# A definition in Python, and one that is private or begins with its documentation.
DEFINITION = re.compile(r"def\b")
COMPLETE_DEFINITION = re.compile(
    r"def\s+(?:_|\w+\s*\([^()\"'#]*\)[^()\"'#:]*:\s*[rRuU]?(?:\"{3}|'{3}))"
)
# Without such a word no symbol is public.
PUBLIC = {"java": ("public", "interface"), "rust": ("pub",), "go": ("func",)}
STUBS = (".pyi", ".d.ts", ".d.mts", ".d.cts")


@frozen
class SourceFile:
    """One changed file in one of the supported languages."""

    change: FileChange
    language: str
    subject: ReviewInput
    known: FileResult | None = None

    @property
    def text(self) -> str:
        return self.subject.contents.new(self.change) or ""

    @property
    def old_text(self) -> str:
        if self.change.status is Status.ADDED:
            return ""
        return self.subject.contents.old(self.change) or ""

    @property
    def lines(self) -> list[str]:
        return lines_of(self.text)

    @property
    def new(self) -> tuple[Symbol, ...]:
        """Return the symbols after the change. They are not stored here: there may be thousands of files."""
        return symbols_of(self.subject.trees, self.language, self.text)

    @property
    def old(self) -> tuple[Symbol, ...]:
        """Return the symbols before the change, parsed on demand: few changes touch a signature."""
        text = self.old_text
        return symbols_of(self.subject.trees, self.language, text) if text else ()

    @property
    def before(self) -> Mapping[str, list[Symbol]]:
        """Map the symbols before the change by qualified name; a property and its setter share one."""
        text = self.old_text
        if not text:
            return {}
        return self.subject.trees.derive(
            "by name",
            self.language,
            text,
            lambda _: group_by(self.old, lambda symbol: symbol.qualname),
        )

    @property
    def share(self) -> tuple[int, int]:
        """Return how many symbols after the change are documented, and how many could be."""
        if self.known is not None and len(self.known.weights) == 2:
            return int(self.known.weights[0]), int(self.known.weights[1])
        return documented_share(self.new)

    def near(self, symbol: Symbol) -> bool:
        """Return whether the change touches the head of a symbol or its documentation."""
        spans = [(symbol.line, symbol.head_end)]
        if symbol.doc is not None:
            spans.append((symbol.doc.line, symbol.doc.end_line))
        return any(
            hunk.new_start <= last + 1 and hunk.new_start + len(hunk.added) >= first
            for hunk in self.change.hunks
            for first, last in spans
        )

    def former(self, symbol: Symbol) -> Symbol | None:
        """Return the symbol before the change, the most similar of its name; None if it is added."""
        same = self.before.get(symbol.qualname, ())
        return max(
            same,
            key=lambda old: (old.signature == symbol.signature, old.doc is not None),
            default=None,
        )


@lru_cache(maxsize=4)
def lines_of(text: str) -> list[str]:
    """Return the lines of a text, cached: callers ask for several of one file."""
    return split_lines(text)


def read_sources(subject: ReviewInput) -> tuple[list[SourceFile], list[Skipped]]:
    """Read the changed files, by path. Tests, stubs, moved files and files that only lose lines are not sources."""
    sources: list[SourceFile] = []
    skipped: list[Skipped] = []
    for change in sorted(subject.changes, key=lambda c: c.path):
        known = subject.file_result("docs", change)
        found = read_source(subject, change, known)
        if isinstance(found, Skipped):
            skipped.append(found)
        elif found is not None:
            sources.append(found)
    return sources, skipped


def _concerned(change: FileChange) -> bool:
    if (
        not change.is_text
        or change.status in (Status.DELETED, Status.UNMERGED)
        or not change.hunks
    ):
        return False
    return not is_test_code(change.path) and not change.path.endswith(STUBS)


def read_source(
    subject: ReviewInput, change: FileChange, known: FileResult | None = None
) -> SourceFile | Skipped | None:
    """Read one file; return a reason if it is skipped, None if its kind is never documented."""
    language = language_of(change.path)
    if language not in LANGUAGES or not _concerned(change):
        return None
    if known is not None:
        return next(iter(known.skipped), SourceFile(change, language, subject, known))
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
    if not subject.advice.has_room("docs", change.path, len(text)):
        return None
    return SourceFile(change, language, subject)


def may_tell(source: SourceFile) -> bool:
    """Return whether the file may have findings; not if an earlier examination had none."""
    if source.known is not None:
        return source.known.again
    text = source.text
    return has_gap_signs(source.language, text) or may_document(text)


def has_gap_signs(language: str, text: str) -> bool:
    """Return whether a public definition of a text may be undocumented, which needs no tree to rule out."""
    if language == "python":
        complete = COMPLETE_DEFINITION.findall(text)
        return len(DEFINITION.findall(text)) > len(complete)
    return any(map(text.__contains__, PUBLIC.get(language, ("export",))))


def expects_documentation(symbol: Symbol) -> bool:
    """Return whether it is a public definition of a kind that is documented if anything is."""
    return symbol.public and not symbol.quiet


def documented_share(symbols: Iterable[Symbol]) -> tuple[int, int]:
    """Return how many of the symbols that could be documented are, and how many there are."""
    could = [symbol for symbol in symbols if expects_documentation(symbol)]
    return sum(symbol.doc is not None for symbol in could), len(could)


def style_in(source: SourceFile, sources: Iterable[SourceFile]) -> Style:
    """Return the style of a file, from its own comments or, if they are few, from those of the change."""
    others = (o for o in sources if o.language == source.language and o is not source)
    elsewhere = (
        symbol for other in others for symbol in other.new if symbol.doc is not None
    )
    return style_of(source.language, source.new, islice(elsewhere, SAMPLE))
