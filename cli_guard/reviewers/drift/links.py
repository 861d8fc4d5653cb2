"""Where the links of a document lead: to another file of the repository, to a heading of a page.

Read in Markdown, reStructuredText and AsciiDoc alike; the forms are in the rule file. A page is built in many ways, so
a heading answers to each slug that GitHub, Sphinx, MkDocs or Asciidoctor would make of it.
"""

import posixpath
import re
from collections.abc import Iterator

from cli_guard.code.facts import Fact, Key
from cli_guard.lazy import frozen
from cli_guard.reviewers.drift.documents import Page, pattern

ELSEWHERE = re.compile(r"[a-z][a-z+.-]*:|//", re.IGNORECASE)
SEPARATORS = re.compile(r"[-_]+")
SHOWN = re.compile(r"!?\[([^\]\n]*)\]\([^)\n]*\)|[`*]|\s+#+\s*$|<[^>\n]+>")
NOT_IN_SLUG = re.compile(r"[^\w\- ]")
ENDINGS = (".md", ".mdx", ".rst", ".adoc", ".html", ".htm")


@frozen
class Link:
    """A link of a page: the path and the anchor to which it leads, as written, and where each of them begins."""

    path: str
    anchor: str
    start: int
    anchor_start: int


def find_links(page: Page) -> Iterator[Link]:
    """Yield the links of a page that may lead to files of the repository."""
    for match in pattern("link").finditer(page.text):
        group = match.lastgroup or ""
        target = match[group]
        if not ELSEWHERE.match(target):
            path, _, anchor = target.partition("#")
            start = match.start(group)
            yield Link(path.partition("?")[0], anchor, start, start + len(path) + 1)


def leads_to(link: Link, page: Page, path: str) -> bool:
    """Return whether a link leads to a file; a page may be named without its ending, or by that of its HTML."""
    if not link.path:
        return page.path == path
    target = link.path.rstrip("/")
    root, ending = posixpath.splitext(path)
    names = {path}
    if ending in ENDINGS:
        folder, name = posixpath.split(root)
        names |= {root, *(root + each for each in ENDINGS)}
        names |= {folder} if name == "index" and folder else set()
    if target.startswith("/"):
        return any(f"/{each}".endswith(target) for each in names)
    return posixpath.normpath(posixpath.join(posixpath.dirname(page.path), target)) in names


def anchors_of(path: str, text: str) -> dict[Key, Fact]:
    """Return the headings of a page by their slugs, and the labels that its author gave."""
    page = Page(path, text)
    found: dict[Key, Fact] = {}
    for number in page.sections[1:]:
        fact = Fact("anchor", slug_of(page.lines[number - 1]), line=number)
        if fact.name:
            found.setdefault(fact.key, fact)
    for match in pattern("label").finditer(text):
        group = match.lastgroup or "name"
        line = page.spot(match.start()).number
        kinds = ("anchor", "label") if group == "target" else ("anchor",)
        for kind in kinds:
            fact = Fact(kind, match[group], line=line)
            found.setdefault(fact.key, fact)
    return found


def slug_of(heading: str) -> str:
    """Return the anchor that GitHub gives to a heading."""
    text = SHOWN.sub(r"\1", pattern("heading_marks").sub("", heading)).strip()
    return NOT_IN_SLUG.sub("", text.lower()).replace(" ", "-")


def is_same_anchor(one: str, other: str) -> bool:
    """Return whether two anchors are of the same heading, however the pages are built."""
    return _plain(one) == _plain(other)


def _plain(anchor: str) -> str:
    return SEPARATORS.sub("-", anchor.lower()).strip("-")
