"""Documentation that no longer fits its signature, put right; what still holds stays as it is."""

from cli_guard.assistant.documenting.drafts import function_draft
from cli_guard.assistant.documenting.model import Proposal
from cli_guard.assistant.documenting.places import Edit
from cli_guard.assistant.documenting.python_text import Form
from cli_guard.assistant.documenting.sources import Source
from cli_guard.code.symbols import Symbol
from cli_guard.model import Skipped
from cli_guard.reviewers.docs.mismatch import READERS, mismatch
from cli_guard.reviewers.docs.repair import repaired
from cli_guard.secrets.redact import redact


def updated(source: Source, symbol: Symbol, form: Form) -> tuple[Proposal, Edit] | Skipped | None:
    """The comment of a definition with its parameters put right; None if it says nothing wrong.

    A `Skipped` tells what is wrong where it cannot be mended here.
    """
    doc = symbol.doc
    if doc is None or not symbol.is_function or source.language not in READERS:
        return None
    documented = READERS[source.language](doc.text)
    wrong = mismatch(source.language, symbol, documented)
    if not (wrong.gone or wrong.new or wrong.no_result):
        return None
    names = [*wrong.gone, *(p.name for p in wrong.new), *(["its result"] if wrong.no_result else [])]
    said = ", ".join(f"`{name}`" if name.isidentifier() else name for name in names)
    first = source.lines[doc.line - 1]
    indent = first[: len(first) - len(first.lstrip())]
    words = {p.name: text for p, text in function_draft(symbol, source.language).parameters if text}
    text = repaired(source.language, symbol, doc, documented, wrong, form.style, indent, words)
    if text is None:
        return Skipped(
            source.path, f"`{symbol.qualname}`: {said} in its documentation is to be mended by hand"
        )
    if first.strip() != doc.text.split("\n")[0].strip():
        return Skipped(source.path, f"`{symbol.qualname}`: its documentation shares a line with code")
    lines = tuple(text.split("\n"))
    parts = []
    if wrong.gone:
        parts.append(f"No longer taken: {', '.join(f'`{n}`' for n in wrong.gone)}.")
    if wrong.new:
        parts.append(f"New: {', '.join(f'`{p.name}`' for p in wrong.new)}; check the words.")
    if wrong.no_result:
        parts.append("It declares to return nothing.")
    grounds = (f"{source.path}:{symbol.line}", f"{source.path}:{doc.line}")
    proposal = Proposal(
        source.path, doc.line, symbol.qualname, "update", redact(text, source.path), " ".join(parts), grounds
    )
    return proposal, Edit(doc.line, lines, doc.end_line - doc.line + 1)
