"""HTML in which no text of a repository is markup: every text and every attribute goes through `escape`.

Only `tag`, `join` and `escape` make `Markup`; any other string is taken for a text, and escaped.
"""

import html
import re
from collections.abc import Iterable

from cli_guard.secrets.printable import printable


class Markup(str):
    """A string that is HTML."""

    __slots__ = ()


# The HTML standard lets these end tags be left out, which makes a page with 1,000 findings a fifth shorter.
NO_END = frozenset(("dd", "dt", "li", "tbody", "td", "th", "thead", "tr"))
VOID = frozenset(("br", "input", "link", "meta"))
BARE = re.compile(r"[A-Za-z0-9#_.-]+")
NOT_IN_IDS = re.compile(r"[^A-Za-z0-9]+")
LINE = Markup("\n")
CUT = "\N{HORIZONTAL ELLIPSIS}"
Attribute = str | int | bool | None


def escape(value: object, *, lines: bool = False) -> Markup:
    r"""Return a text as HTML that shows it: no markup, no control or bidi character (`\u202e`), LF only for `lines`."""
    if isinstance(value, Markup):
        return value
    return Markup(html.escape(printable(str(value), keep_newlines=lines)))


def fit(text: str, most: int, *, lines: bool = False) -> Markup:
    """Return a text as HTML of at most `most` bytes (at least 3); a cut is marked."""
    whole = escape(text[: most + 1], lines=lines)
    if len(text) <= most and len(whole.encode()) <= most:
        return whole
    left, pieces = most - len(CUT.encode()), []
    for character in printable(text[:most], keep_newlines=lines):
        piece = html.escape(character)
        left -= len(piece.encode())
        if left < 0:
            break
        pieces.append(piece)
    return Markup("".join((*pieces, CUT)))


def tag(name: str, /, *content: object, **attributes: Attribute) -> Markup:
    """Return an element. `class_` and `for_` give up their last sign, other `_` become `-`; None and False are none."""
    words = [name]
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        plain = key.removesuffix("_").replace("_", "-")
        text = escape(value)
        words.append(plain if value is True else f"{plain}={text if BARE.fullmatch(text) else quote(text)}")
    start = f"<{' '.join(words)}>"
    if name in VOID:
        return Markup(start)
    return Markup(f"{start}{join(content)}{'' if name in NO_END else f'</{name}>'}")


def quote(text: Markup) -> str:
    return f'"{text}"'


def join(parts: Iterable[object], between: str = "") -> Markup:
    """Return parts one after another, the texts among them escaped; None is nothing."""
    return Markup(escape(between).join(escape(part) for part in parts if part is not None))


def link(to: str, *content: object, **attributes: Attribute) -> Markup:
    """Return a link to a place of this page."""
    return tag("a", *content, href=f"#{to}", **attributes)


def anchor(kind: str, name: str) -> str:
    """Return the id of a place on the page: a letter, and what letters and digits a name has, at most 12."""
    return f"{kind}{NOT_IN_IDS.sub('', name)[:12]}"


def table(caption: str, heads: Iterable[object], rows: Iterable[Markup], **attributes: Attribute) -> Markup:
    """Return a table with a caption and column heads; it scrolls by itself on a narrow screen."""
    head = tag("thead", tag("tr", *(tag("th", each, scope="col") for each in heads)))
    inner = tag("table", tag("caption", caption), head, tag("tbody", join(rows)), **attributes)
    return tag("div", inner, class_="scroll", role="region", aria_label=caption, tabindex=0)


def facts(pairs: Iterable[tuple[object, object]]) -> Markup:
    """Return a list of names and values; a value that is empty is left out."""
    return tag("dl", *(join((tag("dt", name), tag("dd", value))) for name, value in pairs if value))


def section(name: str, title: object, *content: object) -> Markup:
    """Return a section with a heading that a link can name."""
    return tag("section", tag("h2", title, id=name), *content, aria_labelledby=name)
