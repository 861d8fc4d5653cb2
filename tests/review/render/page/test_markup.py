"""A page shows whatever a repository holds, and does nothing that it says."""

from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import review_samples as samples
from examples import table
from hypothesis import given, settings
from hypothesis import strategies as st

import cli_guard
from cli_guard.model import Decision, Disposition, JudgedFinding, Suppressed
from cli_guard.review.render import html
from cli_guard.review.render.page.markup import (
    Markup,
    anchor,
    document,
    escape,
    fill,
    fit,
    fit_place,
    read_asset,
    tag,
)
from cli_guard.review.render.review import Review
from cli_guard.secrets.printable import printable

ALLOWED = set(
    "html head meta title style script body a header h1 h2 h3 h4 p pre dl dt dd nav ul li main footer section form"
    " label input select option button output details summary code span table thead tbody tr th td div strong".split()
)
PIECES = (
    "<script>",
    "</title>",
    "</style>",
    '"',
    "'",
    "&",
    "=",
    "`",
    "\u202e",
    "\x00",
    "\udcff",
    "$title",
    "\n",
)
TEXT = st.lists(st.one_of(st.text(max_size=8), st.sampled_from(PIECES)), max_size=6).map(
    "".join
)


class Reader(HTMLParser):
    """The elements, attributes and texts of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.texts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@table(
    ("text", "shown"),
    [
        ("<b>", "&lt;b&gt;"),
        ("\"'&", "&quot;&#x27;&amp;"),
        ("a\u202eb", "a\\u202eb"),
        ("\x1b[2J", "\\x1b[2J"),
        ("\udcff", "\\xff"),
        ("a\nb", "a\\nb"),
        ("&lt;", "&amp;lt;"),
    ],
)
def test_escape(text: str, shown: str) -> None:
    assert escape(text) == shown
    assert escape(Markup(shown)) == shown, "twice is once"
    assert tag("a", text, title=text) == f'<a title="{shown}">{shown}</a>'


def test_the_name_of_an_attribute_is_never_of_the_repository() -> None:
    assert (
        tag("input", value="a b", class_="x", hidden=True, open=False)
        == '<input value="a b" class=x hidden></input>'
    )
    assert anchor("c", "<a href=x>" * 9) == "cahrefxahrefx"


@settings(max_examples=25, deadline=None)
@given(st.text(max_size=80), st.integers(3, 60))
def test_a_text_fits(text: str, most: int) -> None:
    shown = fit(text, most)
    assert len(shown.encode("utf-8")) <= most
    read = "".join(Reader(f"<p>{shown}</p>").texts)
    assert printable(text).startswith(read.removesuffix("…")), (
        "no half of an entity is left"
    )


def test_a_template_is_filled_once() -> None:
    assert "<b>$title" not in fill(
        "picture.html",
        **dict.fromkeys(("width", "height", "middle", "cells"), "$first"),
        first="<b>$title",
        each="",
        totals="",
    )


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_no_text_becomes_markup(data: Any) -> None:
    found = samples.finding(
        data.draw(TEXT),
        data.draw(TEXT),
        3,
        data.draw(TEXT),
        data.draw(TEXT),
        evidence=data.draw(TEXT),
        suggestion=data.draw(TEXT),
        commit=data.draw(TEXT),
    )
    review = Review(
        data.draw(TEXT),
        "ok",
        Decision.REVIEW,
        (JudgedFinding(found, Disposition.REVIEW),),
        (Suppressed(found, data.draw(TEXT), data.draw(TEXT)),),
        review_id=data.draw(TEXT),
        review_reason=data.draw(TEXT),
        notes=(data.draw(TEXT),),
    )
    read = Reader(html.render(review))
    assert set(read.tags) <= ALLOWED
    assert read.tags.count("script") == read.tags.count("style") == 1
    assert not any(
        name.startswith("on") or name in ("src", "style") for name, _ in read.attributes
    )
    assert all(
        (value or "").startswith("#") for name, value in read.attributes if name == "href"
    )


def test_the_policy_of_the_page_names_its_own_style_and_script() -> None:
    page = document("t", "allow", (), ())
    for text in (read_asset("page.css"), read_asset("page.js")):
        assert text in page
    assert "default-src 'none'" in page and "unsafe" not in page
    # A byte of the page more, and the hash would not fit: nothing is added behind it.
    assert "$" not in page.replace(read_asset("page.js"), "")


@table("number", [1, 1_000])
def test_a_thousand_findings_fit_into_300_kb(number: int) -> None:
    usual = samples.many_findings(number)
    long = "<'&\u202e>" * 200
    worst = [
        samples.finding(
            f"code-{at % 9}",
            f"{long}/{at}",
            at,
            f"{long}{at}",
            long,
            evidence=long,
            suggestion=long,
        )
        for at in range(number)
    ]
    hostile = Review(
        "range",
        "ok",
        Decision.ALLOW,
        (),
        tuple(Suppressed(each, "inline", long, new=True) for each in worst),
    )
    for review in (usual, hostile):
        page = html.render(review)
        assert len(page.encode("utf-8")) <= 300_000
        assert page.count("<tr id=f") == number


def test_every_file_of_the_page_is_used() -> None:
    folder = Path(html.__file__).parent / "page"
    report = Path(cli_guard.__file__).parent / "report/page"
    files = (*folder.glob("*.py"), *report.glob("*.py"))
    code = "".join(each.read_text("utf-8") for each in files)
    names = {
        each.name for each in folder.iterdir() if each.suffix in (".html", ".css", ".js")
    }
    assert len(names) == 8
    assert {each for each in names if each not in code} == {"page.css", "page.js"}, (
        "named by their endings"
    )


@table(
    ("text", "most", "shown"),
    [
        ("src/app.py:3", 60, "src/app.py:3"),
        ("folder/" * 20 + "app.py:3", 20, "\N{HORIZONTAL ELLIPSIS}r/folder/app.py:3"),
        ("<" * 90, 20, "\N{HORIZONTAL ELLIPSIS}" + "&lt;" * 4),
        ("x", 0, "\N{HORIZONTAL ELLIPSIS}"),
    ],
)
def test_a_place_that_is_cut_keeps_its_end(text: str, most: int, shown: str) -> None:
    assert fit_place(text, most) == shown
