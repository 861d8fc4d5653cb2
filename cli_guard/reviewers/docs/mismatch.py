"""Documentation that contradicts the signature. Only certain contradictions are reported."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from cli_guard.code.symbols import Doc, Parameter, Symbol
from cli_guard.lazy import frozen
from cli_guard.model import Finding
from cli_guard.repository.entries import name_some
from cli_guard.reviewers.docs.documented import (
    PATTERNS,
    Documented,
    read_docstring,
    read_tags,
)
from cli_guard.reviewers.docs.facts import facts_of
from cli_guard.reviewers.docs.repair import Mismatch, patch, repaired
from cli_guard.reviewers.docs.sources import SourceFile, may_tell, style_in
from cli_guard.reviewers.docs.styles import indent_of
from cli_guard.rules.catalog import Rule, read_table

READERS = {"python": read_docstring} | dict.fromkeys(
    ("javascript", "typescript", "tsx", "java"), read_tags
)
DECLARED_NONE = {"python": "None"}
NOTHING = re.compile(r"(?i)none|nothing|void|undefined|null")
MOST_RESULT = 300
# Decorators that keep the parameters as written; any other may add or remove some (a property has those of its setter).
TRANSPARENT = frozenset(
    read_table("languages/documentation.toml")["transparent_decorators"].split()
)
IMPLICIT = frozenset({"self", "cls"})
MOSTLY = 3
LONG = 25
MOST_NAMES = 10
MOST_REPAIRED = 50


def review_mismatch(
    rules: Mapping[str, Rule], sources: Sequence[SourceFile]
) -> Iterator[Finding]:
    """Return the findings about wrongly documented parameters and results, over all sources."""
    for source in sources:
        for compared in find_wrong_documentation(source) if may_tell(source) else ():
            yield _finding(rules, source, compared, sources)


@frozen
class WrongDocumentation:
    """A definition with wrong documentation; `span` are its added lines, None if the change only removes."""

    symbol: Symbol
    doc: Doc
    documented: Documented
    wrong: Mismatch
    span: tuple[int, int] | None


def find_wrong_documentation(source: SourceFile) -> Iterator[WrongDocumentation]:
    """Return the wrong documentation of a file, as far as the file alone shows."""
    if source.language not in READERS:
        return
    for symbol in source.new:
        is_compared = (
            symbol.is_function
            and symbol.public
            and symbol.quiet not in ("nested", "overload")
        )
        if is_compared and symbol.doc is not None and source.near(symbol):
            yield from _compare(source, symbol, symbol.doc)


def _compare(source: SourceFile, symbol: Symbol, doc: Doc) -> Iterator[WrongDocumentation]:
    old = source.former(symbol)
    former = old.doc.text if old is not None and old.doc is not None else None
    if old is not None and old.signature == symbol.signature and former == doc.text:
        return
    documented = READERS[source.language](doc.text)
    wrong = mismatch(source.language, symbol, documented, old)
    if old is not None and former is not None:  # what was wrong before is not this change's
        before = mismatch(source.language, old, READERS[source.language](former))
        gone = tuple(name for name in wrong.gone if name not in before.gone)
        wrong = Mismatch(gone, wrong.new, wrong.no_result and not before.no_result)
    spans = [(symbol.line, symbol.head_end), (doc.line, doc.end_line)]
    span = next((s for s in spans if source.change.touches(*s)), None)
    if wrong != Mismatch() and (span is not None or old is not None):
        yield WrongDocumentation(symbol, doc, documented, wrong, span)


def _finding(
    rules: Mapping[str, Rule],
    source: SourceFile,
    compared: WrongDocumentation,
    sources: Sequence[SourceFile],
) -> Finding:
    symbol = compared.symbol
    doc = compared.doc
    documented = compared.documented
    wrong = compared.wrong
    kind = "docs-result-none"
    if wrong.gone:
        kind = "docs-parameter-gone"
    elif wrong.new:
        kind = "docs-parameter-new"
    indent = indent_of(source.lines[doc.line - 1])
    text = None
    replaces = ""
    if len(wrong.gone) + len(wrong.new) <= MOST_REPAIRED:
        about = facts_of(source.language, symbol).about if wrong.new else {}
        said = {
            name: " and ".join(texts).removeprefix("is ") for name, texts in about.items()
        }
        words = {name: f"{text[0].upper()}{text[1:]}." for name, text in said.items()}
        style = style_in(source, sources)
        text = repaired(
            source.language, symbol, doc, documented, wrong, style, indent, words
        )
    if text and doc.end_line - doc.line > LONG:
        text = patch(indent + doc.text, text, doc.line)
    elif text:
        replaces = f"{doc.line},{doc.end_line}"
    line, end_line = compared.span or (symbol.line, symbol.head_end)
    removed = (
        ""
        if compared.span
        else " The lines removed here were its last use in the signature."
    )
    names = (*wrong.gone, *(p.name for p in wrong.new))
    rule = rules[kind]
    found = rule.finding(
        path=source.change.path,
        line=line,
        end_line=end_line,
        message=_describe(symbol, wrong) + removed,
        suggestion=text,
        content=" ".join((symbol.qualname, *names)),
    )
    remedy = f"{rule.remedy} The comment is on lines {doc.line} to {doc.end_line}."
    return replace(found, remedy=remedy, replaces=replaces)


def mismatch(
    language: str, symbol: Symbol, documented: Documented, old: Symbol | None = None
) -> Mismatch:
    """Compare a comment with a signature; `old` is the symbol before the change. None unless certain."""
    if not documented.certain or not documented.style:
        return Mismatch()
    python = language == "python"
    opaque = python and any(
        d.rsplit(".", 1)[-1] not in TRANSPARENT for d in symbol.decorators
    )
    if opaque or any(not p.name for p in symbol.parameters) or _forwards(symbol, language):
        return Mismatch()
    names = {p.name.strip("_") for p in symbol.parameters}
    gone = tuple(
        dict.fromkeys(
            n for n in documented.names if not {n, n.strip("_")} & (names | IMPLICIT)
        )
    )
    if any(p.star == "**" or (p.star and not python) for p in symbol.parameters):
        gone = ()  # the keys that a caller may pass there have names of their own
    new = _find_renamed(symbol, documented, gone, old)
    if not new and documented.entries:
        new = _new(symbol, documented, old, language)
    return Mismatch(gone, new, _no_result(language, symbol))


def _forwards(symbol: Symbol, language: str) -> bool:
    """Return whether JavaScript code may read its parameters from `arguments`."""
    if language not in ("javascript", "typescript", "tsx") or symbol.node is None:
        return False
    return "arguments" in symbol.node.text()


def _find_renamed(
    symbol: Symbol, documented: Documented, gone: tuple[str, ...], old: Symbol | None
) -> tuple[Parameter, ...]:
    """Return the new name of the only removed parameter if it is the only undocumented one, and new."""
    former = {p.name for p in (old.parameters if old is not None else ())}
    listed = {*documented.names, *(former if former.issuperset(gone) else ())}
    missing = tuple(p for p in symbol.parameters if p.name not in listed and not p.star)
    if len(gone) != 1 or len(missing) != 1:
        return ()
    return (
        missing
        if symbol.parameters.index(missing[0]) == documented.names.index(gone[0])
        else ()
    )


def _new(
    symbol: Symbol, documented: Documented, old: Symbol | None, language: str
) -> tuple[Parameter, ...]:
    """Return the parameters missing from a comment that names the others."""
    listed = {n for name in documented.names for n in (name, name.strip("_"), f"_{name}")}
    missing = tuple(
        p
        for p in symbol.parameters
        if p.name not in listed and not p.star and not p.name.startswith("_")
    )
    known = [p.name for p in symbol.parameters if p.name in listed]
    if old is None or old.doc is None:
        return missing if len(known) >= MOSTLY * len(missing) else ()
    before = READERS[language](old.doc.text)
    known_before = set(before.names)
    held = {p.name for p in old.parameters}
    complete = all(
        p.star or p.name.startswith("_") or p.name in known_before for p in old.parameters
    )
    return (
        tuple(p for p in missing if p.name not in held)
        if complete and before.certain
        else ()
    )


def _no_result(language: str, symbol: Symbol) -> bool:
    """Return whether a comment documents a result, not as nothing, of a function that declares none."""
    if symbol.doc is None or symbol.returns != DECLARED_NONE.get(language, "void"):
        return False
    found = PATTERNS["result"].search(symbol.doc.text)
    return found is not None and not NOTHING.search(
        symbol.doc.text, found.end(), found.end() + MOST_RESULT
    )


def _describe(symbol: Symbol, wrong: Mismatch) -> str:
    parts = []
    if wrong.gone:
        parts.append(f"documents {list_names(wrong.gone)}, which it does not take")
    if wrong.new:
        parts.append(
            f"takes {list_names([p.name for p in wrong.new])}, which its documentation omits"
        )
    if wrong.no_result:
        parts.append("documents a result, but its signature returns none")
    return f"`{symbol.qualname}` {'; it '.join(parts)}."


def list_names(names: Sequence[str]) -> str:
    return name_some([f"`{name}`" for name in names], MOST_NAMES)
