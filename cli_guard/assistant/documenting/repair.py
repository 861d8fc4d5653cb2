"""Existing documentation whose parameters no longer fit the signature: exactly these lines are put right."""

import ast
import inspect
from collections.abc import Sequence
from dataclasses import dataclass, replace

from cli_guard.assistant.documenting.source import TODO, Edit, Source
from cli_guard.code.symbols import Parameter, Symbol
from cli_guard.reviewers.docs.documented import Documented
from cli_guard.reviewers.docs.mismatch import READERS, mismatch
from cli_guard.reviewers.docs.repair import Mismatch, repaired
from cli_guard.reviewers.docs.styles import Style


@dataclass(frozen=True, slots=True)
class Repair:
    """What is wrong in a docstring, as a sentence; `edit` is None where a person has to mend it."""

    wrong: str
    edit: Edit | None


def repair(source: Source, symbol: Symbol, style: Style, *, complete: bool) -> Repair | None:
    """Compare a documented function with its signature; None where nothing is known to be wrong.

    A docstring that names only some of the parameters may do so on purpose: the others are missing if `complete`, or
    if they are few.
    """
    doc = symbol.doc
    if doc is None or not symbol.is_function or source.language not in READERS:
        return None
    documented = READERS[source.language](doc.text)
    wrong = mismatch(source.language, symbol, documented)
    if complete:
        wrong = replace(wrong, new=_missing(symbol, documented))
    if wrong == Mismatch() or not _is_confirmed(
        source, doc.text, documented, gone=wrong.new, present=wrong.gone
    ):
        return None
    names = tuple(p.name for p in symbol.parameters)
    first = min((names.index(n) for n in documented.names if n in names), default=len(names))
    # Each that stands before all documented ones is put in front of the others.
    front = [p for p in wrong.new if names.index(p.name) < first]
    ordered = replace(wrong, new=(*reversed(front), *(p for p in wrong.new if p not in front)))
    words = {parameter.name: TODO for parameter in wrong.new}
    indent = source.indent_of(doc.line)
    text = repaired(source.language, symbol, doc, documented, ordered, style, indent, words)
    shares_line = source.lines[doc.line - 1].strip() != doc.text.split("\n")[0].strip()
    sure = text is not None and not shares_line and not _may_be_example(doc.text, documented, wrong)
    if (
        text is None
        or not sure
        or not _is_confirmed(source, text, documented, gone=wrong.gone, present=wrong.new)
    ):
        return Repair(_sentence(wrong), None)
    # One name gone and one new at its place: the reviewer takes that for a new name, and keeps the words.
    kept = "; the words are kept, check them" if wrong.new and TODO not in text else ""
    return Repair(
        _sentence(wrong) + kept, Edit(doc.line, tuple(text.split("\n")), doc.end_line - doc.line + 1)
    )


def _missing(symbol: Symbol, documented: Documented) -> tuple[Parameter, ...]:
    """The parameters without a word in a comment that documents others; `*args` and `_private` need none."""
    if not (documented.certain and documented.entries) or any(not p.name for p in symbol.parameters):
        return ()
    listed = {name.strip("_") for name in documented.names}
    bare = (p for p in symbol.parameters if not p.star and not p.name.startswith("_"))
    return tuple(p for p in bare if p.name.strip("_") not in listed)


def _may_be_example(text: str, documented: Documented, wrong: Mismatch) -> bool:
    """Does a stale entry stand below a doctest, whose output it may be?"""
    last = max((e.first for e in documented.entries if e.name in wrong.gone), default=0)
    return any(">>>" in line for line in text.split("\n")[:last])


def _is_confirmed(
    source: Source,
    text: str,
    documented: Documented,
    *,
    gone: Sequence[str | Parameter],
    present: Sequence[str | Parameter],
) -> bool:
    """Does docstring_parser, a second reader of Python docstrings, find the ones and not the others?"""
    from docstring_parser import DocstringStyle, ParseError, parse

    if source.language != "python":
        return True
    styles = {
        "google": DocstringStyle.GOOGLE,
        "numpy": DocstringStyle.NUMPYDOC,
        "sphinx": DocstringStyle.REST,
    }
    try:
        docstring = inspect.cleandoc(ast.literal_eval(text.strip()))
        found = parse(docstring, styles.get(documented.style, DocstringStyle.AUTO)).params
    except (ParseError, SyntaxError, ValueError):
        return False
    names = {part.strip(" *`\\") for param in found for part in param.arg_name.split(",")}
    return names >= _names(present) and names.isdisjoint(_names(gone))


def _names(parameters: Sequence[str | Parameter]) -> set[str]:
    return {each if isinstance(each, str) else each.name for each in parameters}


def _sentence(wrong: Mismatch) -> str:
    lists = {"stale": wrong.gone, "missing": [p.name for p in wrong.new]}
    parts = [
        f"{title}: {', '.join(f'`{name}`' for name in names)}" for title, names in lists.items() if names
    ]
    if wrong.no_result:
        parts.append("documents a result, and declares to return none")
    return "; ".join(parts)
