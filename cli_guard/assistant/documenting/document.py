"""From a request to what it lacks: repairs of stale documentation, and the names of what has none."""

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace

from cli_guard.assistant.documenting.source import (
    DocEdit,
    DocSource,
    apply_edits,
    keeps_code,
    lacks_module_docstring,
    read_source,
    repair,
)
from cli_guard.assistant.explaining_files import may_define
from cli_guard.assistant.request import read_request
from cli_guard.assistant.request_documentation import (
    DocRequest,
    explain_choice,
    find_language,
)
from cli_guard.code.symbols.model import Symbol
from cli_guard.code.syntax import Trees
from cli_guard.code.test_files import is_test_code
from cli_guard.lazy import dataclass, frozen
from cli_guard.model import Skipped
from cli_guard.repository.unified import unified_diff
from cli_guard.reviewers.docs.styles import style_of
from cli_guard.secrets.redact import redact

MOST = 40
MOST_FILES = 60
MOST_CANDIDATES = 40
# Reasons of a symbol (`Symbol.quiet`) that leave it out even where all of a file is asked for.
NOT_EXPECTED = frozenset(
    ("nested", "override", "overload", "setter", "commented", "called by a framework")
)
WORDS = (
    "prose such as a README. What the code gives: the names without documentation, and repairs of missing and stale"
    " parameters; name a file, a folder or a definition"
)
NOTHING_NAMED = "what is to be documented: name a file, a folder or a definition"


@frozen
class DocProposal:
    """One docstring or comment that is repaired, or a definition that has none.

    `line` counts from 1. `symbol` is a qualified name, "" for a module; `kind` is "module", "class", "function",
    "method" or "update". `text` is the new one of an update, "" for what has none. `note` says what an update puts
    right, of what has no documentation how it is defined.
    """

    path: str
    line: int
    symbol: str
    kind: str
    text: str
    note: str = ""


@frozen
class Documentation:
    """All proposals of one request. Nothing of it is written anywhere.

    `patch` is a unified diff of the repairs that `git apply` takes, `changes` path -> whole new text. Both may hold
    secrets of the file, and are masked before they are shown.
    `missing` are what the request names and the repository does not hold, a line each; `by_hand` what is left to a
    person, a line each; `assumed` says how an ambiguous request was read.
    """

    proposals: tuple[DocProposal, ...]
    patch: str
    changes: Mapping[str, str]
    missing: tuple[str, ...] = ()
    by_hand: tuple[str, ...] = ()
    assumed: str | None = None
    skipped: tuple[Skipped, ...] = ()


@dataclass
class Documenting:
    """Collects what is proposed for a request, file by file, and what is not and why."""

    wanted: DocRequest
    texts: Mapping[str, str]
    trees: Trees = field(default_factory=Trees)
    proposals: dict[tuple[str, int, str], DocProposal] = field(default_factory=dict)
    repairs: dict[str, tuple[DocSource, list[DocEdit]]] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    by_hand: list[str] = field(default_factory=list)
    assumed: list[str] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)

    @property
    def room(self) -> int:
        """Return how many more proposals are made."""
        return MOST - len(self.proposals)

    def add(
        self, source: DocSource, symbol: Symbol | None, edit: DocEdit | None, note: str
    ) -> None:
        """Propose a repair, or name what has no documentation; once for a place."""
        line = symbol.line if symbol else 1
        kind = symbol.kind if symbol else "module"
        if edit:
            line = edit.line
            kind = "update"
        text = redact("\n".join(edit.lines).strip("\n"), source.path) if edit else ""
        name = symbol.qualname if symbol else ""
        made = DocProposal(source.path, line, name, kind, text, redact(note, source.path))
        if self.proposals.setdefault((source.path, line, name), made) is made and edit:
            self.repairs.setdefault(source.path, (source, []))[1].append(edit)

    def skip(self, path: str, reason: str) -> None:
        """Say what a bound leaves out."""
        self.skipped.append(Skipped(path, reason, asks=True))

    def finish(self) -> Documentation:
        """Make the patch of the repairs."""
        changes = {
            path: apply_edits(source, edits)
            for path, (source, edits) in self.repairs.items()
        }
        return Documentation(
            proposals=tuple(self.proposals.values()),
            patch=unified_diff({path: self.texts[path] for path in changes}, changes),
            changes=changes,
            missing=tuple(map(redact, dict.fromkeys(self.missing))),
            by_hand=tuple(map(redact, dict.fromkeys(self.by_hand))),
            assumed=redact("; ".join(dict.fromkeys(self.assumed))) or None,
            skipped=tuple(dict.fromkeys(self.skipped)),
        )

    def find_named(self) -> list[tuple[DocSource, Symbol]]:
        """Find the definition that each name means; state the others of that name as an assumption."""
        found = []
        wanted = self.wanted
        for name in (*wanted.names, *wanted.maybe):
            hits = sorted(self.find_definitions(name), key=lambda hit: rank_hit(hit, name))
            if hits:
                found.append(hits[0])
                places = [f"{source.path}:{symbol.line}" for source, symbol in hits]
                self.assumed += [explain_choice(name, places)] if len(hits) > 1 else []
            elif name in wanted.names or not (
                wanted.paths or wanted.everything or wanted.prose
            ):
                self.missing.append(
                    f"{name}: no definition of that name in the languages read here"
                )
        return found

    def find_definitions(self, name: str) -> Iterator[tuple[DocSource, Symbol]]:
        """Yield the definitions of a name; a file that cannot be read is noted."""
        parts = re.split(r"\.|::|#", name)
        where = self.wanted.paths or sorted(
            self.texts, key=lambda path: (is_test_code(path), path)
        )
        candidates = [
            path
            for path in where
            if find_language(path) and may_define(parts[-1], path, self.texts[path])
        ]
        for path in candidates[:MOST_CANDIDATES]:
            source = self.read(path)
            for symbol in source.symbols if source else ():
                # A constructor of the same name is part of its class.
                is_part = (
                    symbol.quiet in ("overload", "setter") or symbol.name == symbol.owner
                )
                ending = symbol.qualname.split(".")[-len(parts) :]
                if source and not is_part and parts in (ending, [symbol.name]):
                    yield source, symbol

    def read(self, path: str) -> DocSource | None:
        source = read_source(path, self.texts[path], self.trees)
        if isinstance(source, Skipped):
            self.skipped.append(source)
            return None
        return source

    def document_named(self, source: DocSource, symbol: Symbol) -> None:
        """Document a definition by name; of a class, also the public methods that lack documentation."""
        gaps = [
            each
            for each in (source.symbols if symbol.kind == "class" else ())
            if each.qualname.rpartition(".")[0] == symbol.qualname
            and each.is_function
            and not each.doc
            and is_expected(each, DocRequest())
        ]
        if not symbol.doc:
            gaps.insert(0, symbol)
        else:
            self.add_repair(source, symbol, complete=True)
        self.add_gaps(source, gaps)

    def document_files(self) -> None:
        """Document or repair the files that are asked for, or all."""
        paths = self.wanted.paths
        if not paths and self.wanted.everything:
            paths = list_sources(self.texts)
        if not paths and not self.missing and not self.by_hand:
            self.missing.append(NOTHING_NAMED)
        for at, path in enumerate(paths):
            if at == MOST_FILES or self.room <= 0:
                reason = f"{len(paths) - at} more files from here on: ask again when these are in, or name one"
                self.skip(path, reason)
                break
            source = self.read(path)
            if source is not None:
                self.document_file(source)

    def document_file(self, source: DocSource) -> None:
        wanted = self.wanted
        if wanted.update:
            for symbol in source.symbols:
                self.add_repair(source, symbol, complete=False)
            return
        gaps: list[Symbol | None] = [
            s for s in source.symbols if not s.doc and is_expected(s, wanted)
        ]
        if wanted.kinds <= {"module"} and lacks_module_docstring(source):
            gaps.insert(0, None)
        left = len(gaps) - self.room
        if left > 0:
            reason = f"{left} more without documentation: ask again when these are in"
            self.skip(source.path, reason)
        self.add_gaps(source, gaps[: self.room])

    def add_repair(self, source: DocSource, symbol: Symbol, *, complete: bool) -> None:
        """Propose a repair if something is wrong, or leave it to a person."""
        style = style_of(source.language, source.symbols, ())
        found = repair(source, symbol, style, complete=complete)
        if found is None:
            return
        wrong, edit = found
        if edit and keeps_code(source, apply_edits(source, [edit])):
            self.add(source, symbol, edit, wrong)
        else:
            self.by_hand.append(
                f"{source.path}:{symbol.line}: `{symbol.qualname}`: {wrong}"
            )

    def add_gaps(self, source: DocSource, gaps: Sequence[Symbol | None]) -> None:
        for symbol in gaps:
            self.add(
                source, symbol, None, source.line(symbol.line).strip() if symbol else ""
            )


def rank_hit(hit: tuple[DocSource, Symbol], name: str) -> tuple[object, ...]:
    """Order the definitions of a name, the likeliest first."""
    source, symbol = hit
    return (
        is_test_code(source.path),
        symbol.qualname != name,
        not symbol.public,
        source.path.count("/"),
        source.path,
        symbol.line,
    )


def document(request: str, texts: Mapping[str, str]) -> Documentation:
    """Find what a request names that lacks documentation, and repair what is stale.

    `texts` are the files of a repository, path -> text. What the request names and is not there comes back in
    `missing`; nothing is raised for it.
    """
    wanted = with_modules(read_request(request, texts).documentation, texts)
    work = Documenting(wanted, texts, assumed=list(wanted.assumed))
    work.missing += [
        f"{path}: there is no such file or folder here" for path in wanted.missing
    ]
    named = work.find_named()
    for source, symbol in named:
        work.document_named(source, symbol)
    if wanted.prose and not named:
        work.by_hand.append(WORDS)
    if not named and not wanted.names:
        work.document_files()
    return work.finish()


def list_sources(texts: Mapping[str, str]) -> tuple[str, ...]:
    """List the files that can be documented, without tests."""
    return tuple(p for p in sorted(texts) if find_language(p) and not is_test_code(p))


def with_modules(wanted: DocRequest, texts: Mapping[str, str]) -> DocRequest:
    """Add the files of the modules and packages that a request names as such, where it names no other."""
    if wanted.paths or wanted.names or not wanted.modules:
        return wanted
    paths = []
    for path in list_sources(texts):
        folder, _, name = path.rpartition("/")
        if {posixpath.splitext(name)[0], posixpath.basename(folder)} & {*wanted.modules}:
            paths.append(path)
    left = tuple(name for name in wanted.maybe if name not in wanted.modules)
    return replace(wanted, paths=tuple(paths), maybe=left) if paths else wanted


def is_expected(symbol: Symbol, wanted: DocRequest) -> bool:
    """Return whether a definition should have documentation when its whole file or class is asked for."""
    if symbol.quiet in NOT_EXPECTED or (wanted.kinds and symbol.kind not in wanted.kinds):
        return False
    is_special = symbol.name.startswith("__") and symbol.name.endswith("__")
    if symbol.name == "constructor" or is_special:
        return False
    return symbol.public or wanted.private
