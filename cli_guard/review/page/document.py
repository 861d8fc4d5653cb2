"""The frame of a page: its policy for content (CSP), style, script, and the landmarks that a screen reader names.

The policy lets the page load nothing and run nothing but its own two texts, which are named by their hash.
"""

import base64
import hashlib
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from cli_guard import __version__
from cli_guard.review.page.markup import LINE, Markup, join, link, tag

FOLDER = Path(__file__).parent


@cache
def read_asset(name: str) -> tuple[Markup, str]:
    """Return a file of this folder, and the source by which a content policy names it."""
    text = (FOLDER / name).read_text("utf-8").replace("\r\n", "\n")
    digest = base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
    return Markup(text), f"'sha256-{digest}'"


def document(
    title: str,
    verdict: str,
    head: Iterable[object],
    sections: Sequence[tuple[str, str, Markup]],
) -> str:
    """Return a whole page with a final newline.

    `verdict` is its colour: deny, review or allow; `head` is what stands above everything. A section has a name, a word
    for the list of contents, and its text.
    """
    (style, style_source), (script, script_source) = read_asset("page.css"), read_asset("page.js")
    policy = (
        f"default-src 'none'; style-src {style_source}; script-src {script_source}; "
        "base-uri 'none'; form-action 'none'"
    )
    about = join(
        (
            tag("meta", charset="utf-8"),
            tag("meta", http_equiv="Content-Security-Policy", content=policy),
            tag("meta", name="viewport", content="width=device-width,initial-scale=1"),
            tag("meta", name="referrer", content="no-referrer"),
            tag("meta", name="color-scheme", content="light dark"),
            tag("title", title),
            tag("style", style),
        )
    )
    contents = tag("ul", *(tag("li", link(name, word)) for name, word, _ in sections))
    body = (
        link("main", "Skip to the content", class_="skip"),
        tag("header", tag("h1", title), *head, class_=verdict),
        tag("nav", contents, aria_label="Contents"),
        tag("main", join((text for _, _, text in sections), LINE), id="main", tabindex="-1"),
        tag("footer", f"cli-guard {__version__}. This file loads nothing, and is not signed."),
        tag("script", script),
    )
    page = tag("html", LINE, tag("head", about), LINE, tag("body", join(body, LINE)), lang="en")
    return f"<!doctype html>\n{page}\n"
