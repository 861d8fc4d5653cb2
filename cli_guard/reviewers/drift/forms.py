"""How documents write what a change is about: the forms of names, and the words by which to search for them."""

import posixpath
import re
from collections.abc import Iterator
from functools import cache
from itertools import islice

from cli_guard.code.facts import Fact
from cli_guard.reviewers.drift.differences import DriftDifference
from cli_guard.reviewers.drift.documents import TABLE, Page, words
from cli_guard.reviewers.drift.links import ENDINGS
from cli_guard.rules.catalog import read_table

SHORTEST = 4
SHORT = 2  # an option of one letter, with its dash
MOST_MATCHES = 200
JOINED = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]|\w[_.-]\w|[a-zA-Z]\d")
# A part of a route that stands for any text, and what may be before a route that is not one of a file.
VARIED = re.compile(r"\{[^}/]*\}|:\w+|<[^>/]*>|\*\w*")
HOST = (
    r"(?:(?<![\w./-])|(?<=:\d{2})|(?<=:\d{3})|(?<=:\d{4})|(?<=:\d{5})|(?<=localhost)|(?<=\})|(?<=URL|API)"
    r"|(?<=HOST|BASE)|(?<=\.com|\.org|\.net|\.dev|\.app)|(?<=\.io)|(?<=\.example|\.invalid))"
)
QUANTITY = re.compile(r"(?P<number>\d[\d_,.]*)(?P<unit>[a-zA-Z]{0,3})")


def is_distinctive(name: str) -> bool:
    """Return whether a name is no word of English: it joins several words, or holds a digit."""
    bare = name.strip("_")
    return len(bare) >= SHORTEST and bool(JOINED.search(bare))


def forms_of(name: str) -> tuple[str, ...]:
    """Return the forms of a name in documents; an option is escaped in a manual page, and Go's have one dash."""
    if not name.startswith("-"):
        return (name,)
    manual = name.replace("-", r"\-")
    if len(name) == SHORT:
        return (name, manual, f"fB{manual}")
    return (
        name,
        name.replace("--", "-", 1),
        manual,
        f"fB{manual}",
        f"fB{manual[2:]}",
        manual[2:],
    )


def words_of(difference: DriftDifference) -> tuple[str, ...]:
    """Return the words by which documents are searched for a difference."""
    fact = difference.fact
    match fact.kind:
        case "file":
            base, ending = posixpath.splitext(posixpath.basename(fact.name))
            # A link may name a page without its ending.
            is_linked = ending in ENDINGS and len(base) >= SHORTEST
            return (base,) if is_linked else (base + ending,)
        case "anchor":
            folder, page = posixpath.split(posixpath.splitext(difference.path)[0])
            page = posixpath.basename(folder) if page == "index" else page
            return tuple(f"{page}{each}#{fact.name}" for each in ("", "/", *ENDINGS))
        case "parameter" | "type":
            return (difference.owner,)
        case "version":
            return (fact.value,)
        case "route":
            return (
                max(VARIED.split(fact.name), key=len).strip("/"),
            )  # a word, as Git sees it
        case "module" if difference.path.endswith(".go"):
            return (fact.name, f"package {posixpath.basename(fact.name)}")
        case "command":
            return tuple(f"{program} {fact.name}" for program in sorted(difference.ours))
        case "exit":
            return ("exit", "exits", "Exit", "EXIT", "status", "Status", "STATUS")
        case _:
            found = (
                forms_of(fact.name)
                if len(fact.name) >= SHORTEST - 1 or fact.kind == "flag"
                else ()
            )
            is_stated = difference.altered and meanings_of(fact, difference.path)
            stated = numbers_of(fact) if is_stated else {}
            quantities = (
                f"{number}{gap}{unit}"
                for number, units in stated.items()
                for unit in units
                for gap in (" ", "")
            )
            return (*found, *quantities)


def number_of(value: str) -> str:
    """Return the number of a quantity, "" if a value is none."""
    found = QUANTITY.fullmatch(value)
    return found["number"] if found else ""


def numbers_of(fact: Fact) -> dict[str, tuple[str, ...]]:
    """Return a quantity as a number of any unit, then of larger ones of bytes or of times, each with its units."""
    number = number_of(fact.value).replace("_", "")
    sort = "sizes" if re.search("(?i)byte|size|length", fact.name) else "times"
    found = {number: tuple(sorted(words("units")))}
    whole = int(number) if number.isdigit() else 0
    for written, units in read_table(TABLE)[sort].items():
        factor = int(written)
        if whole >= factor and whole % factor == 0:
            found.setdefault(str(whole // factor), tuple(units.split()))
    return found


def meanings_of(fact: Fact, path: str = "") -> list[str]:
    """Return the pattern of each word that says what a quantity is for; [] if nothing says it, or it is none."""
    if not number_of(fact.value) or fact.kind not in (
        "constant",
        "variable",
        "key",
        "flag",
    ):
        return []
    known = read_table(TABLE)["meanings"]
    for name in (
        fact.name,
        posixpath.splitext(posixpath.basename(path))[0],
    ):  # or what the file is for
        parts = (part.lower() for part in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name))
        meant = [
            part for part in parts if part not in words("silent") | words("generic_folders")
        ]
        if meant:
            return [known.get(word, word[: max(SHORTEST, len(word) - 3)]) for word in meant]
    return []


@cache
def token(kind: str, name: str, ours: frozenset[str] = frozenset()) -> re.Pattern[str]:
    """Return the pattern of a name as a word of its own, its last group; what qualifies it is in group `of`."""
    word = re.escape(name)
    match kind:
        case "flag":
            bare = re.escape(name.lstrip("-")).replace(r"\-", r"\\?-")
            form = (
                rf"(?:(?<![\w-])|(?<=\\f[BI]))(?P<name>(?:\\?-){{1,2}}{bare})(?![\w-]|\\-)"
            )
        case "file":
            some = "*" if re.search(r"\.[^/]*$", name) else "+"
            base = re.escape(posixpath.basename(name))
            form = rf"(?<![\w./-])(?P<name>(?:[\w.-]+/){some}{base})(?![\w/-]|\.\w)"
        case "folder":
            form = rf"(?<![\w./-])(?:\./)?(?P<name>{word})(?=/|(?![\w./-]|\.\w))"
        case "variable":
            form = rf"(?<!\w)(?P<name>{word})(?!\w)"
        case "choice":
            form = rf"(?<![\w.-])(?P<name>{word})(?![\w-]|\.\w)"
        case "route":
            parts = r"[^/\s`\"'?&)\]|]+".join(
                map(re.escape, VARIED.split(name.rstrip("/")))
            )
            form = rf"{HOST}(?P<name>{parts})(?=/?(?:[^\w/.*-]|\.?$|\.\s))"
        case _ if said := read_table(TABLE)["said"].get(kind):
            form = said.replace("NAME", word).replace(
                "OURS", "|".join(map(re.escape, sorted(ours))) or "-"
            )
        case _:
            of = r"(?P<of>(?:\w{1,60}(?:\.|::|#|->)){0,6})"
            form = rf"(?<![\w/-])(?<![\s`\"']:){of}(?P<name>{word})(?![\w-]|/\w)"
    return re.compile(form)


def matches(form: str | re.Pattern[str], page: Page) -> Iterator[re.Match[str]]:
    """Yield the first `MOST_MATCHES` matches in a page."""
    return islice(re.finditer(form, page.text), MOST_MATCHES)
