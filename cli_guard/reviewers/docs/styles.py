"""Detect how a file documents, from its own comments first, then from the rest of the change."""

import re
from collections import Counter
from collections.abc import Iterable
from itertools import islice

from cli_guard.code.symbols import Symbol
from cli_guard.lazy import dataclass
from cli_guard.reviewers.docs.documented import read_docstring

ENOUGH = 4
SAMPLE = 40


@dataclass(frozen=True, slots=True)
class Style:
    """The form of documentation in one file.

    `sections` is "google", "numpy" or "sphinx" (Python), and "plain" if functions with parameters are documented
    without naming them. `below` puts the first line under the opening quotes, `typed` writes types beside names, `dash`
    a hyphen before a JSDoc description.
    """

    sections: str = "google"
    quotes: str = '"""'
    below: bool = False
    typed: bool = True
    dash: bool = True
    returns_tag: str = "@returns"


def style_of(language: str, own: Iterable[Symbol], others: Iterable[Symbol]) -> Style:
    """Return the style of a file with symbols `own`, in a change with the documented `others` elsewhere."""
    mine = list(islice((s for s in own if s.doc is not None), SAMPLE))
    if len(mine) < ENOUGH:
        mine += others
    if language == "python":
        return _python(mine)
    texts = [s.doc.text for s in mine if s.doc is not None]
    if not any("@param" in text or "@return" in text for text in texts):
        return Style(
            sections="tags" if sum(bool(s.parameters) for s in mine) < ENOUGH else "plain"
        )
    joined = "\n".join(texts)
    dashed = len(re.findall(r"@param.* - ", joined))
    return Style(
        sections="tags",
        typed="@param {" in joined,
        dash=dashed * 2 >= joined.count("@param"),
        returns_tag="@return"
        if joined.count("@return ") > joined.count("@returns")
        else "@returns",
    )


def _python(symbols: list[Symbol]) -> Style:
    texts = [s.doc.text for s in symbols if s.doc is not None]
    read = [read_docstring(text) for text in texts]
    styles = Counter(documented.style for documented in read)
    pairs = zip(symbols, read, strict=True)
    plain = sum(bool(s.parameters) and s.is_function and not d.style for s, d in pairs)
    del styles[""]
    sections = max(styles, key=lambda name: (styles[name], name), default="google")
    if plain > 3 * sum(styles.values()) and (styles or plain >= ENOUGH):
        sections = "plain"
    single = sum(text.lstrip("rRuU").startswith("'''") for text in texts)
    below = sum(bool(re.match(r"\w{0,2}('''|\"\"\")\s*\n", text)) for text in texts)
    several = sum("\n" in text for text in texts)
    entries = [entry for documented in read for entry in documented.entries]
    return Style(
        sections=sections,
        quotes="'''" if single * 2 > len(texts) else '"""',
        below=below * 2 > several,
        typed=not entries or any(entry.type for entry in entries),
    )
