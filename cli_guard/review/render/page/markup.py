"""HTML in which no text of a repository is markup: every text and every attribute goes through `escape`.

Only `tag`, `join`, `fill` and `escape` make `Markup`; any other string is taken for a text, and escaped.
"""

import base64
import hashlib
import html
import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from string import Template
from typing import NamedTuple

from cli_guard import __version__
from cli_guard.secrets.printable import printable


class Markup(str):
    """A string that is HTML."""

    __slots__ = ()


class PageSection(NamedTuple):
    """A part of a page that its list of contents names: the id and text of its heading, and its HTML."""

    name: str
    title: str
    text: Markup


# The HTML standard lets these end tags be left out, which makes a page with 1,000 findings a fifth shorter.
NO_END = frozenset(("dd", "dt", "li", "option", "tbody", "td", "th", "thead", "tr"))
BARE = re.compile(r"[A-Za-z0-9#_.-]+")
PARTIAL = re.compile(r"&[^;]*\Z")
LINE = Markup("\n")
NOTHING = Markup("")
CUT = "\N{HORIZONTAL ELLIPSIS}"
# The bytes of a text, the rows of a table, and of one that is not folded.
LONGEST = 300
SHOWN = 300
UNFOLDED = 60


def escape(value: object, *, lines: bool = False) -> Markup:
    r"""Return a text as HTML that shows it: no markup, no control or bidi character (`\u202e`), LF only for `lines`."""
    if isinstance(value, Markup):
        return value
    return Markup(html.escape(printable(str(value), keep_newlines=lines)))


def fit(text: str, most: int = LONGEST, *, lines: bool = False) -> Markup:
    """Return a text as HTML of at most `most` bytes; a cut is marked."""
    whole = escape(text[: most + 1], lines=lines)
    if len(raw := whole.encode()) <= most:
        return whole
    return Markup(
        PARTIAL.sub("", raw[: most - len(CUT.encode())].decode("utf-8", "ignore")) + CUT
    )


def fit_place(text: str, most: int = LONGEST) -> Markup:
    """Return a place as HTML of at most `most` bytes; a cut path keeps its end, where the name of the file stands."""
    rest = text[-most:]
    shown = escape(text) if rest == text else escape(CUT + rest)
    while rest and (over := len(shown.encode()) - most) > 0:
        rest = rest[-(-over // 6) :]
        shown = escape(CUT + rest)
    return shown


def tag(name: str, /, *content: object, **attributes: str | int | bool | None) -> Markup:
    """Return an element. `class_` gives up its last sign, other `_` become `-`; None and False are no attributes."""
    words = [name]
    for key, value in attributes.items():
        if value is not None and value is not False:
            text = escape(value)
            plain = key.removesuffix("_").replace("_", "-")
            quoted = text if BARE.fullmatch(text) else f'"{text}"'
            words.append(plain if value is True else f"{plain}={quoted}")
    return Markup(
        f"<{' '.join(words)}>{join(content)}{'' if name in NO_END else f'</{name}>'}"
    )


def join(parts: Iterable[object], between: str = NOTHING) -> Markup:
    """Return parts one after another, the texts among them escaped; None is nothing."""
    return Markup(escape(between).join(escape(part) for part in parts if part is not None))


def link(to: str, *content: object, **attributes: str) -> Markup:
    """Return a link to a place of this page."""
    return tag("a", *content, href=f"#{to}", **attributes)


def anchor(kind: str, name: str) -> str:
    """Return the id of a place on the page: a letter, and what letters and digits a name has, at most 12."""
    return f"{kind}{re.sub(r'[^A-Za-z0-9]+', '', name)[:12]}"


def facts(pairs: Iterable[tuple[str, object]]) -> Markup:
    """Return names and values for a `dl`; a value that is empty is left out."""
    return join(join((tag("dt", name), tag("dd", value))) for name, value in pairs if value)


def bullets(texts: Sequence[str], **attributes: str) -> Markup | None:
    """Return a list of texts, None without any."""
    return (
        tag("ul", *(tag("li", fit(each, 2 * LONGEST)) for each in texts), **attributes)
        if texts
        else None
    )


def section(name: str, title: str, *content: object) -> PageSection:
    """Return a section with a heading."""
    heading = tag("h2", title, id=name)
    return PageSection(name, title, tag("section", heading, *content, aria_labelledby=name))


def table(
    caption: str,
    heads: Sequence[str],
    rows: Sequence[Sequence[object]],
    ids: Sequence[str] = (),
) -> Markup:
    """Return a table; the first cell of a row is its head, `ids` name the rows. A long one begins folded."""
    names = (*ids, *[None] * len(rows))
    body = [
        tag(
            "tr",
            tag("th", row[0], scope="row"),
            *(tag("td", each) for each in row[1:]),
            id=name,
        )
        for row, name in zip(rows, names, strict=False)
    ]
    head = tag("thead", tag("tr", *(tag("th", each, scope="col") for each in heads)))
    inner = tag("table", head, tag("tbody", join(body, LINE)), aria_label=caption)
    whole = tag(
        "div", inner, class_="scroll", role="region", aria_label=caption, tabindex=0
    )
    return tag(
        "details",
        tag("summary", f"{caption}: {len(rows)}"),
        whole,
        open=len(rows) <= UNFOLDED,
    )


@cache
def read_asset(name: str) -> Markup:
    """Return a file of this folder."""
    return Markup((Path(__file__).parent / name).read_text("utf-8"))


def fill(template: str, **parts: object) -> Markup:
    """Return a file of this folder with its `$names` replaced; the texts among the parts are escaped."""
    return Markup(
        Template(read_asset(template)).substitute(
            {key: escape(each) for key, each in parts.items()}
        )
    )


def document(
    title: str, verdict: str, head: Iterable[object], sections: Sequence[PageSection]
) -> str:
    """Return a page, which loads nothing, and runs nothing but its own script: its policy names that by its hash.

    `verdict` is its colour: deny, review or allow; `head` is what stands above everything.
    """
    parts = {
        name: read_asset(f"page.{suffix}")
        for name, suffix in (("style", "css"), ("script", "js"))
    }
    hashes = {
        name: base64.b64encode(hashlib.sha256(text.encode()).digest())
        for name, text in parts.items()
    }
    parts |= {
        f"{name}_source": Markup(f"'sha256-{found.decode('ascii')}'")
        for name, found in hashes.items()
    }
    contents = join(tag("li", link(each.name, each.title)) for each in sections)
    text = join((each.text for each in sections), LINE)
    about = {"title": title, "verdict": verdict, "head": join(head), "version": __version__}
    return fill("frame.html", contents=contents, sections=text, **about, **parts)
