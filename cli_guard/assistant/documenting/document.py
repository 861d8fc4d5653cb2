"""From a request to a patch: skeletons for what has no documentation, repairs for what no longer fits."""

import posixpath
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from cli_guard.assistant.documenting.comment_skeleton import write_comment
from cli_guard.assistant.documenting.definitions import find_definitions
from cli_guard.assistant.documenting.python_skeleton import (
    read_signatures,
    write_docstring,
    write_module_doc,
)
from cli_guard.assistant.documenting.repair import repair
from cli_guard.assistant.documenting.source import (
    Edit,
    Source,
    apply_edits,
    find_style,
    keeps_code,
    lacks_module_docstring,
    read_source,
)
from cli_guard.assistant.request import read_request
from cli_guard.assistant.request_documentation import (
    DocRequest,
    explain_choice,
    find_language,
)
from cli_guard.code.symbols import Symbol
from cli_guard.code.syntax import Trees
from cli_guard.code.test_files import is_test_code
from cli_guard.model import Skipped
from cli_guard.repository.unified import unified_diff
from cli_guard.reviewers.docs.styles import Style
from cli_guard.secrets.redact import redact

MOST = 40
MOST_FILES = 60
# Reasons of a symbol (`Symbol.quiet`) that leave it out even where all of a file is asked for.
NOT_EXPECTED = frozenset(
    {"nested", "override", "overload", "setter", "commented", "called by a framework"}
)
WORDS = (
    "prose such as a README. What the code gives: docstring skeletons (parameters, types, defaults, returns, raises) "
    "and repairs of missing and stale parameters; name a file, a folder or a definition"
)
NOTHING_NAMED = "what is to be documented: name a file, a folder or a definition"
# Puts words into the lines of a skeleton, given its file and its symbol.
Fill = Callable[[Source, str, Sequence[str]], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Proposal:
    """One docstring or comment.

    `line` counts from 1: where the text goes in the file as it is now. `symbol` is a qualified name, "" for a
    module; `kind` is "module", "class", "function", "method" or "update". `note` says what an update puts right.
    """

    path: str
    line: int
    symbol: str
    kind: str
    text: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Documentation:
    """All proposals of one request. Nothing of it is written anywhere.

    `patch` is a unified diff that `git apply` takes, `changes` path -> whole new text: both may hold secrets of the
    file, and are masked before they are shown. `missing` are what the request names and the repository does not hold,
    a line each; `by_hand` what is left to a person, a line each; `assumed` says how an ambiguous request was read.
    """

    proposals: tuple[Proposal, ...]
    patch: str
    changes: Mapping[str, str]
    missing: tuple[str, ...] = ()
    by_hand: tuple[str, ...] = ()
    assumed: str | None = None
    skipped: tuple[Skipped, ...] = ()


@dataclass
class _Work:
    """Collect what is proposed for a request, file by file, and what is not and why."""

    wanted: DocRequest
    texts: Mapping[str, str]
    trees: Trees = field(default_factory=Trees)
    edits: dict[str, tuple[Source, list[tuple[Proposal, Edit]]]] = field(
        default_factory=dict
    )
    missing: list[str] = field(default_factory=list)
    by_hand: list[str] = field(default_factory=list)
    assumed: list[str] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    room: int = MOST
    fill: Fill | None = None

    def add(
        self, source: Source, edit: Edit, kind: str, symbol: Symbol | None, note: str = ""
    ) -> None:
        """Propose an edit, once for a place; it is checked with the others of its file."""
        pairs = self.edits.setdefault(source.path, (source, []))[1]
        if any(other.line == edit.line for _, other in pairs):
            return
        name = symbol.qualname if symbol is not None else ""
        edit = (
            replace(edit, lines=self.fill(source, name, edit.lines)) if self.fill else edit
        )
        text = redact("\n".join(edit.lines).strip("\n"), source.path)
        pairs.append((Proposal(source.path, edit.line, name, kind, text, note), edit))
        self.room -= 1

    def skip(self, path: str, reason: str, *, asks: bool = False) -> None:
        """Say why nothing is proposed at a place."""
        self.skipped.append(Skipped(path, reason, asks=asks))

    def finish(self) -> Documentation:
        """Check the edits, and make the patch of those that leave the code as it is."""
        kept = {
            path: self._drop_unsafe(source, pairs)
            for path, (source, pairs) in self.edits.items()
        }
        changes = {
            path: apply_edits(self.edits[path][0], [e for _, e in pairs])
            for path, pairs in kept.items()
            if pairs
        }
        return Documentation(
            proposals=tuple(proposal for pairs in kept.values() for proposal, _ in pairs),
            patch=unified_diff({path: self.texts[path] for path in changes}, changes),
            changes=changes,
            missing=tuple(redact(line) for line in dict.fromkeys(self.missing)),
            by_hand=tuple(redact(line) for line in dict.fromkeys(self.by_hand)),
            assumed=redact("; ".join(dict.fromkeys(self.assumed))) or None,
            skipped=tuple(dict.fromkeys(self.skipped)),
        )

    def _drop_unsafe(
        self, source: Source, pairs: list[tuple[Proposal, Edit]]
    ) -> list[tuple[Proposal, Edit]]:
        if not pairs or keeps_code(source, [edit for _, edit in pairs]):
            return pairs
        if len(pairs) == 1:
            name = pairs[0][0].symbol or "the module"
            self.skip(source.path, f"`{name}`: documentation there would change the code")
            return []
        half = len(pairs) // 2
        return [
            *self._drop_unsafe(source, pairs[:half]),
            *self._drop_unsafe(source, pairs[half:]),
        ]

    def find_named(self) -> list[tuple[Source, Symbol]]:
        """Find the definition that each name means; state the others of that name as an assumption."""
        found = []
        wanted = self.wanted
        for name in (*wanted.names, *wanted.maybe):
            hits, skipped = find_definitions(name, wanted, self.texts, self.trees)
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
                self.skipped += skipped
        return found

    def document_named(self, source: Source, symbol: Symbol) -> None:
        """Document a definition by name; of a class, also the public methods that lack documentation."""
        style = self.style_of(source)
        gaps = [
            s
            for s in (source.symbols if symbol.kind == "class" else ())
            if s.qualname.rpartition(".")[0] == symbol.qualname
            and s.is_function
            and s.doc is None
            if _is_expected(s, DocRequest())
        ]
        if symbol.doc is None:
            gaps.insert(0, symbol)
        elif not self.add_repair(source, symbol, style, complete=True) and not gaps:
            self.skip(
                source.path,
                f"`{symbol.qualname}` is documented already, on line {symbol.doc.line}",
            )
        self.add_skeletons(source, gaps, style)

    def document_files(self) -> None:
        """Document or repair the files that are asked for, or all."""
        paths = self.wanted.paths
        if not paths and self.wanted.everything:
            paths = tuple(
                p for p in sorted(self.texts) if not is_test_code(p) and find_language(p)
            )
        if not paths and not self.missing and not self.by_hand:
            self.missing.append(NOTHING_NAMED)
        for at, path in enumerate(paths):
            if at == MOST_FILES or self.room <= 0:
                reason = f"{len(paths) - at} more files from here on: ask again when these are in, or name one"
                self.skip(path, reason, asks=True)
                break
            source = read_source(path, self.texts[path], self.trees)
            if isinstance(source, Skipped):
                self.skipped.append(source)
            elif self.wanted.update:
                style = self.style_of(source)
                wrong = [
                    self.add_repair(source, s, style, complete=False)
                    for s in source.symbols
                ]
                if not any(wrong):
                    self.skip(
                        path,
                        "no parameter in its documentation is known to be missing or stale",
                    )
            else:
                self.document_file(source)

    def document_file(self, source: Source) -> None:
        wanted = self.wanted
        gaps: list[Symbol | None] = [
            s for s in source.symbols if s.doc is None and _is_expected(s, wanted)
        ]
        if wanted.kinds <= {"module"} and lacks_module_docstring(source):
            gaps.insert(0, None)
        if not gaps:
            self.skip(source.path, "nothing public in it lacks documentation")
        left = len(gaps) - self.room
        if left > 0:
            reason = f"{left} more without documentation: ask again when these are in"
            self.skip(source.path, reason, asks=True)
        self.add_skeletons(source, gaps[: self.room], self.style_of(source))

    def style_of(self, source: Source) -> Style:
        return find_style(source, self.texts, self.wanted.style)

    def add_repair(
        self, source: Source, symbol: Symbol, style: Style, *, complete: bool
    ) -> bool:
        """Propose a repair, or leave it to a person; False if nothing is wrong."""
        found = repair(source, symbol, style, complete=complete)
        if found is None:
            return False
        wrong, edit = found
        if edit is None:
            self.by_hand.append(
                f"{source.path}:{symbol.line}: `{symbol.qualname}`: {wrong}"
            )
        else:
            self.add(source, edit, "update", symbol, wrong)
        return True

    def add_skeletons(
        self, source: Source, gaps: Sequence[Symbol | None], style: Style
    ) -> None:
        python = source.language == "python"
        signatures = read_signatures(source) if python and gaps else {}
        for symbol in gaps:
            if symbol is None:
                self.add(source, write_module_doc(source, style), "module", None)
            elif python and symbol.body <= symbol.head_end:
                self.skip(
                    source.path,
                    f"`{symbol.qualname}` has no line of its own for a docstring",
                )
            elif not python:
                self.add(source, write_comment(source, symbol, style), symbol.kind, symbol)
            elif edit := write_docstring(source, symbol, style, signatures):
                self.add(source, edit, symbol.kind, symbol)
            else:
                self.skip(
                    source.path,
                    f"`{symbol.qualname}` is defined again below, or within a function",
                )


def document(
    request: str, texts: Mapping[str, str], fill: Fill | None = None
) -> Documentation:
    """Propose docstring skeletons and repairs for what a request names, as a patch.

    `texts` are the files of a repository, path -> text. `fill` puts words into each skeleton. What the request names
    and is not there comes back in `missing`; nothing is raised for it.
    """
    wanted = with_modules(read_request(request, texts).documentation, texts)
    work = _Work(wanted, texts, assumed=list(wanted.assumed), fill=fill)
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


def with_modules(wanted: DocRequest, texts: Mapping[str, str]) -> DocRequest:
    """Add the files of the modules and packages that a request names as such, where it names no other."""
    if wanted.paths or wanted.names:
        return wanted
    known = [
        path for path in sorted(texts) if find_language(path) and not is_test_code(path)
    ]
    paths = [
        path
        for path in known
        if not {
            posixpath.splitext(posixpath.basename(path))[0],
            posixpath.basename(posixpath.dirname(path)),
        }.isdisjoint(wanted.modules)
    ]
    left = tuple(name for name in wanted.maybe if name not in wanted.modules)
    return replace(wanted, paths=tuple(paths), maybe=left) if paths else wanted


def _is_expected(symbol: Symbol, wanted: DocRequest) -> bool:
    """Should a definition have documentation when its whole file or class is asked for?"""
    if symbol.quiet in NOT_EXPECTED or (wanted.kinds and symbol.kind not in wanted.kinds):
        return False
    if symbol.name == "constructor" or (
        symbol.name.startswith("__") and symbol.name.endswith("__")
    ):
        return False
    return symbol.public or wanted.private
