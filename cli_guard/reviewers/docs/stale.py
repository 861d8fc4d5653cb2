"""Go comments that still begin with the name that the definition had before."""

from collections.abc import Iterator, Sequence

from cli_guard.model import Finding, fingerprint
from cli_guard.reviewers.docs.sources import Source, may_tell
from cli_guard.rules.catalog import Rule


def review_stale_names(rule: Rule, sources: Sequence[Source]) -> Iterator[Finding]:
    """The findings of `docs-name-stale`: `// Old does ...` above `func New`, Old being gone."""
    for source in sources:
        if source.language != "go" or not may_tell(source):
            continue
        present = {symbol.name for symbol in source.new}
        near = any(symbol.doc is not None and source.near(symbol) for symbol in source.new)
        gone = {symbol.name for symbol in source.old} - present if near else set()
        for symbol in source.new:
            if symbol.doc is None or symbol.qualname in source.before or not symbol.public:
                continue
            first = symbol.doc.text.split("\n", 1)[0].lstrip("/* ")
            word = first.split(" ", 1)[0].rstrip(".,:\r")
            if word not in gone or not source.change.touches(symbol.line, symbol.head_end):
                continue
            indent = source.lines[symbol.doc.line - 1]
            indent = indent[: len(indent) - len(indent.lstrip())]
            text = symbol.doc.text.replace(word, symbol.name, 1)
            yield rule.finding(
                path=source.change.path,
                line=symbol.line,
                end_line=symbol.head_end,
                message=f"The comment of `{symbol.qualname}` still begins with `{word}`, its former name.",
                suggestion="\n".join(indent + line.lstrip() for line in text.split("\n")),
                fingerprint=fingerprint(rule.id, source.change.path, f"{symbol.qualname} {word}"),
            )
