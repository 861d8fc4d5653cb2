"""Repair the parameters in a function's comment; lines that are right stay as they are."""

import difflib
from collections.abc import Mapping, Sequence
from itertools import compress, groupby, islice

from cli_guard.code.symbols import Doc, Parameter, Symbol
from cli_guard.lazy import frozen
from cli_guard.reviewers.docs.documented import Documented, DocumentedParameter
from cli_guard.reviewers.docs.styles import Style, indent_of, python_entry, tag_entry


@frozen
class Mismatch:
    """Documented names that are not parameters, undocumented parameters, and a result that does not exist."""

    gone: tuple[str, ...] = ()
    new: tuple[Parameter, ...] = ()
    no_result: bool = False


def repaired(
    language: str,
    symbol: Symbol,
    doc: Doc,
    documented: Documented,
    wrong: Mismatch,
    style: Style,
    indent: str,
    words: Mapping[str, str],
) -> str | None:
    """Return the whole repaired comment, its first line indented by `indent`; None if it cannot be repaired.

    `words` describe the parameters that are new, by name; a comment is not repaired with a guess.
    """
    lines = [line.rstrip("\r") for line in doc.text.split("\n")]
    if any(entry.first == 0 for entry in documented.entries):
        return None  # the opening of the comment shares the line
    renamed = _renames(symbol, documented, wrong)
    added = [parameter for parameter in wrong.new if parameter.name not in renamed.values()]
    if not all(words.get(parameter.name) for parameter in added):
        return None
    edits: dict[int, list[str]] = {}
    for entry in documented.entries:
        for number, column in entry.places if entry.name in renamed else ():
            line = lines[number]
            edits[number] = [
                line[:column] + renamed[entry.name] + line[column + len(entry.name) :]
            ]
    gone = [name for name in wrong.gone if name not in renamed]
    for _, group in groupby(documented.entries, lambda entry: entry.first):
        entries = list(group)
        if any(entry.name in gone for entry in entries):
            _remove(lines, entries, gone, edits)
    for parameter in added:
        _insert(
            language,
            lines,
            symbol,
            parameter,
            documented,
            style,
            edits,
            words[parameter.name],
        )
    if set(documented.names) == set(wrong.gone) - set(renamed) and not wrong.new:
        for number in documented.section:
            edits[number] = []
    return indent + "\n".join(_tidy(lines, edits)) if edits else None


def _renames(symbol: Symbol, documented: Documented, wrong: Mismatch) -> dict[str, str]:
    """Pair a removed name with an added one at the same index: the same parameter under another name."""
    if len(wrong.gone) != 1 or len(wrong.new) != 1:
        return {}
    names = [p.name for p in symbol.parameters]
    at = list(documented.names).index(wrong.gone[0])
    return (
        {wrong.gone[0]: wrong.new[0].name} if names.index(wrong.new[0].name) == at else {}
    )


def _remove(
    lines: list[str],
    entries: Sequence[DocumentedParameter],
    gone: Sequence[str],
    edits: dict[int, list[str]],
) -> None:
    """Remove the entries on one line; of several names before one description (`a, b : int`), only these names."""
    first = entries[0].first
    last = entries[0].last
    line = lines[entries[0].first]
    kept = [entry.name not in gone for entry in entries]
    if any(kept):
        entry = entries[-1]
        column = entry.places[0][1]
        rest = line[column + len(entry.name) :].lstrip("`")
        pieces = compress(line[: len(line) - len(rest)].split(","), kept)
        edits[first] = [indent_of(line) + ",".join(pieces).lstrip() + rest]
    else:
        # With the `:type name:` of Sphinx.
        others = {number for entry in entries for number, _ in entry.places}
        for number in {*range(first, last + 1), *others}:
            edits[number] = _closing(lines[number])


def _closing(line: str) -> list[str]:
    """Return what must stay of a removed line: the end of the comment, if it is on that line."""
    text = line.rstrip()
    for end in ('"""', "'''", "*/"):
        if text.endswith(end):
            return [indent_of(line) + end]
    return []


def _insert(
    language: str,
    lines: list[str],
    symbol: Symbol,
    parameter: Parameter,
    documented: Documented,
    style: Style,
    edits: dict[int, list[str]],
    words: str,
) -> None:
    """Document a parameter after the one before it in the signature, or as the first."""
    names = [p.name for p in symbol.parameters]
    before = set(names[: names.index(parameter.name)])
    earlier = [e for e in documented.entries if e.name in before]
    anchor = earlier[-1] if earlier else documented.entries[0]
    sample = lines[anchor.first]
    if language == "python":
        margin = indent_of(sample)
        typed = any(e.type for e in documented.entries)
        deeper = "\t" if margin.endswith("\t") else "    "
        text = [
            margin + line
            for line in python_entry(parameter, documented.style, typed, deeper, words)
        ]
    else:
        text = [sample[: sample.index("@")] + tag_entry(language, parameter, style, words)]
    number = anchor.last if earlier else anchor.first
    present = edits.get(number, [lines[number]])
    if earlier and _closing(lines[number]) and number == len(lines) - 1:
        end = _closing(lines[number])[0]
        kept = [line.rstrip()[: -len(end.strip())].rstrip() for line in present]
        edits[number] = [*(line for line in kept if line.strip(" *")), *text, end]
    else:
        edits[number] = [*present, *text] if earlier else [*text, *present]


def _tidy(lines: list[str], edits: dict[int, list[str]]) -> list[str]:
    """Apply the edits; where lines were removed, join two blank lines in a row."""
    result: list[str] = []
    removed = False
    for number, line in enumerate(lines):
        for kept in edits.get(number, [line]):
            blank = not kept.strip(" \t*")
            if removed and blank and result and not result[-1].strip(" \t*"):
                continue
            closes = kept.strip() in ('"""', "'''", "*/")
            while removed and closes and len(result) > 1 and not result[-1].strip(" \t*"):
                result.pop()
            result.append(kept)
        removed = removed or not edits.get(number, [line])
    return result


def patch(old: str, new: str, line: int) -> str:
    """Return the changes in lines of a file from `line` on, as hunks of a diff without context."""
    before, after = (
        [""] * (line - 1) + text.replace("\r", "").split("\n") for text in (old, new)
    )
    return "\n".join(islice(difflib.unified_diff(before, after, n=0, lineterm=""), 2, None))
