"""Repair of existing documentation: exactly the lines of stale and missing parameters change."""

from dataclasses import replace

from cli_guard.assistant.documenting.source import TODO, DocEdit, DocSource
from cli_guard.code.symbols import Parameter, Symbol
from cli_guard.reviewers.docs.documented import Documented
from cli_guard.reviewers.docs.mismatch import READERS, mismatch
from cli_guard.reviewers.docs.repair import Mismatch, repaired
from cli_guard.reviewers.docs.styles import Style


def repair(
    source: DocSource, symbol: Symbol, style: Style, *, complete: bool
) -> tuple[str, DocEdit | None] | None:
    """Say what is wrong in the documentation of a function, and the edit; None where nothing is known to be wrong.

    The edit is None where a person has to fix it. A docstring that names only some of the parameters may do so on
    purpose: the others are missing if `complete`, or if they are few.
    """
    doc = symbol.doc
    if not doc or not symbol.is_function or symbol.quiet in ("nested", "overload"):
        return None
    if source.language not in READERS:
        return None
    documented = READERS[source.language](doc.text)
    wrong = mismatch(source.language, symbol, documented)
    if complete:
        wrong = replace(wrong, new=find_missing(symbol, documented, doc.text))
    new = {p.name for p in wrong.new}
    gone = set(wrong.gone)
    if wrong == Mismatch():
        return None
    ordered = replace(wrong, new=order_for_insertion(symbol, documented, wrong.new))
    indent = source.indent_of(doc.line)
    words = dict.fromkeys(new, TODO)
    text = repaired(source.language, symbol, doc, documented, ordered, style, indent, words)
    if text is None or may_be_example(doc.text, documented, wrong):
        return describe(wrong), None
    repaired_names = {name.strip("*") for name in READERS[source.language](text).names}
    if not repaired_names >= new or not repaired_names.isdisjoint(gone):
        return describe(wrong), None
    # One name gone and one new at its place: the reviewer takes that for a new name, and keeps the words.
    kept = "; the words are kept, check them" if wrong.new and TODO not in text else ""
    lines = tuple(text.split("\n"))
    return describe(wrong) + kept, DocEdit(doc.line, lines, doc.end_line - doc.line + 1)


def order_for_insertion(
    symbol: Symbol, documented: Documented, new: tuple[Parameter, ...]
) -> tuple[Parameter, ...]:
    """Reverse those before all documented parameters: each is put in front of the ones before it."""
    names = [p.name for p in symbol.parameters]
    first = min(
        (names.index(name) for name in documented.names if name in names),
        default=len(names),
    )
    front = [p for p in new if names.index(p.name) < first]
    return (*reversed(front), *(p for p in new if p not in front))


def find_missing(
    symbol: Symbol, documented: Documented, text: str
) -> tuple[Parameter, ...]:
    """Find the parameters that a comment which documents others leaves out; `*args` and `_private` need none."""
    if not (documented.certain and documented.entries) or any(
        not p.name for p in symbol.parameters
    ):
        return ()
    listed = {name.strip("_") for name in documented.names}
    bare = (p for p in symbol.parameters if not p.star and not p.name.startswith("_"))
    # The first line of a docstring may be an entry, which is not read as one.
    return tuple(
        p for p in bare if p.name.strip("_") not in listed and f" {p.name}:" not in text
    )


def may_be_example(text: str, documented: Documented, wrong: Mismatch) -> bool:
    """Return whether a stale entry is below a doctest, whose output it may be."""
    last = max((e.first for e in documented.entries if e.name in wrong.gone), default=0)
    return any(">>>" in line for line in text.split("\n")[:last])


def describe(wrong: Mismatch) -> str:
    lists = {"stale": wrong.gone, "missing": [p.name for p in wrong.new]}
    parts = [f"{title}: `{'`, `'.join(names)}`" for title, names in lists.items() if names]
    if wrong.no_result:
        parts.append("documents a result, and declares to return none")
    return "; ".join(parts)
