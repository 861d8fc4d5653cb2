"""Whether a document states a value that a change altered: a default, a type, a version, a number.

And whether it means an option of this program, where other programs have options of the same name.
"""

import posixpath
import re
from collections.abc import Iterator

from cli_guard.code.facts import TABLE as FACTS
from cli_guard.reviewers.drift.differences import INNER, DriftDifference
from cli_guard.reviewers.drift.documents import (
    MOST_AROUND,
    TABLE,
    Page,
    Spot,
    pattern,
    words,
)
from cli_guard.reviewers.drift.forms import (
    SHORT,
    is_distinctive,
    matches,
    meanings_of,
    numbers_of,
    token,
)
from cli_guard.rules.catalog import read_table

LONGEST_VALUE = 60
Span = tuple[int, int]
# Marks between two words; the target of a Markdown link is one, so that a link reads as its text.
GAP = r"(?:(?>\]\([^()\s]{0,300}\)|[\s`*_(\[\])>=≥~^v:|-]))*"


def find_numbers(
    kind: str, number: str, page: Page, ours: frozenset[str]
) -> Iterator[Span]:
    """Find a port or an exit code where it is said to be one."""
    for match in matches(pattern(f"{kind}_said"), page) if not page.is_source else ():
        spot = page.spot(match.start("value"))
        is_comment = spot.before.lstrip().startswith("#") and ours & {
            *re.findall(r"[\w-]+", spot.section)
        }
        if match["value"] == number and (kind == "port" or page.is_prose or is_comment):
            yield match.span("value")
    for match in matches(pattern("exit_entry"), page) if kind == "exit" else ():
        group = match.lastgroup or ""
        spot = page.spot(match.start(group))
        text = spot.section if page.is_prose else ""
        form = "exit_heading"
        if group == "said":
            text = spot.before
            form = "exit_list"
        if match[group] == number and pattern(form).search(text):
            yield match.span(group)


def find_versions(difference: DriftDifference, page: Page) -> Iterator[Span]:
    """Find the former minimum version where a sentence asks for it."""
    said = read_table(FACTS)["versions"][difference.name]["said"]
    number = rf"(?P<value>{re.escape(difference.value)})(?![\d]|\.\d)"
    form = rf"(?i)\b{said}\b{GAP}(?:versions?{GAP})?(?:(?:is|of|from)\s+)?{number}"
    folder = posixpath.dirname(difference.path)
    inside = page.path.startswith(folder) or difference.path.endswith(
        "proj"
    )  # one of several in a solution
    form += (
        rf"|\b(?:runs?|works?) on {number.replace('value', 'alone')}"
        if said == "Python"
        else ""
    )
    for match in matches(form, page) if inside and not page.is_source else ():
        group = match.lastgroup or "value"
        sentence = page.spot(match.start(group)).sentence
        if (group == "alone" or pattern("requires").search(sentence)) and not pattern(
            "other_product"
        ).search(sentence):
            yield match.span(group)


def find_values(difference: DriftDifference, page: Page) -> Iterator[Span]:
    """Find a default in the row, the item or the sentence about its name."""
    fact = difference.fact
    value = re.escape(difference.value)
    if word := read_table(TABLE)["numbers"].get(value):
        value = f"(?:{value}|{word})"
    if len(fact.value) > LONGEST_VALUE:
        return
    if fact.kind in INNER and not re.search(
        rf"\b{re.escape(difference.owner)}\b", page.text
    ):
        return
    name = token(fact.kind if fact.kind == "flag" else "variable", fact.name).pattern
    if fact.kind in ("parameter", "key") and not is_distinctive(fact.name):
        name = rf"{pattern('named_item').pattern}{re.escape(fact.name)}\b|\b{re.escape(fact.name)} is {value}"
    stated = rf"{pattern('stated').pattern}{value}(?!\w)"
    beside = rf"(?:{name})[`*]{{0,2}} ?\((?:[a-z]+ )?[`\"]?{value}\b"
    for match in matches(rf"(?<![\w.-]){value}(?![\w-]|\.\d)", page):
        spot = page.spot(match.start())
        if spot.is_fenced and page.is_prose:
            continue
        is_said = (
            (re.search(name, spot.item) and (spot.is_row or re.search(stated, spot.item)))
            or (re.search(name, spot.sentence) and pattern("default").search(spot.sentence))
            or (page.is_prose and re.search(beside, spot.item))
            or (fact.kind == "parameter" and re.search(_heading(difference), spot.line))
        )
        if is_said and _is_own_docstring(difference, page, spot):
            yield match.span()
    if meant := meanings_of(fact, difference.path):
        yield from _quantities(difference, meant, page)


def _is_own_docstring(difference: DriftDifference, page: Page, spot: Spot) -> bool:
    """Return whether a place of a Python file is not in the docstring of another function than the parameter's."""
    if difference.kind not in INNER or not page.path.endswith(".py"):
        return True
    above = page.text[: page.starts[spot.number - 1] + spot.column]
    heads = re.findall(r"(?m)^[ \t]*(?:async )?(?:def|class)\s+(\w+)", above)
    own = [difference.owner], [difference.fact.owner.rpartition(".")[2]]
    return heads[-1:] in own or f"{difference.owner}(" in spot.item


def _heading(difference: DriftDifference) -> str:
    """Return the pattern of a heading or a directive with the signature that has the former default."""
    others = "|".join(words("foreign_modules"))
    owner, name, value = map(
        re.escape, (difference.owner, difference.name, difference.value)
    )
    return (
        rf"^\s*(?:#+|\.\. [\w:]+::)\s[^\n]{{0,80}}(?<![\w.])(?!(?:{others})\.)(?:\w{{1,60}}\.){{0,2}}"
        rf"{owner}\([^\n]{{0,200}}\b{name} ?(?::[^,=]{{0,60}})?= ?{value}\b"
    )


def _quantities(
    difference: DriftDifference, meant: list[str], page: Page
) -> Iterator[Span]:
    """Find a number with a unit in a sentence with every word that the name has for it."""
    forms = "|".join(
        rf"(?:{re.escape(number)})(?=[ -]?(?:{'|'.join(units)})(?!\w))"
        for number, units in numbers_of(difference.fact).items()
    )
    is_named = meant == meanings_of(difference.fact)  # and not by its file
    for match in matches(rf"(?<![\w.,-])(?P<number>{forms})", page):
        spot = page.spot(match.start())
        said = spot.section if page.is_prose else ""
        if is_named:
            said = spot.sentence
        if not spot.is_fenced and all(
            re.search(rf"(?i)\b(?:{each})", said) for each in meant
        ):
            yield match.span("number")


def find_types(difference: DriftDifference, page: Page) -> Iterator[Span]:
    """Find the former type of a parameter beside its name, in a signature or a field of a docstring."""
    name = re.escape(difference.name)
    kind = re.escape(difference.value)
    after = rf"\b{name}`?(?: ?: ?|\s|\s?\(`?| \| `?)(?P<after>{kind})(?![\w\[.])"
    before = rf"(?:[(,]\s*|:param\s+|@param\s+\{{?)(?P<before>{kind})\}}? \*{{0,2}}{name}\b"
    for match in matches(f"{after}|{before}", page):
        spot = page.spot(match.start())
        if spot.is_row and not pattern("parameter_table").search(spot.section):
            continue
        is_code = spot.is_code or pattern("parameter_field").search(spot.line)
        if is_code and re.search(rf"\b{re.escape(difference.owner)}\b", spot.section):
            yield match.span("after" if match["after"] else "before")


def is_own_choice(difference: DriftDifference, spot: Spot) -> bool:
    """Return whether a word is given to the option as its value, or is listed as one in a sentence about it."""
    flag = token("flag", difference.owner).pattern
    if not re.search(rf"{flag}[ =][\"'`]?$", spot.before):
        listed = spot.is_code or spot.before.endswith(("'", '"', "|", "{", ","))
        others = [each for each in difference.value.split("|") if each != difference.name]
        is_list = len(others) > 1 and {*others} <= {
            *re.findall(r"[\w.:+-]+", spot.sentence)
        }
        if spot.is_fenced or not listed or not (is_list or re.search(flag, spot.sentence)):
            return False
    return is_own_flag(difference, spot)


def is_own_flag(difference: DriftDifference, spot: Spot) -> bool:
    """Return whether no other program is named to which the flag may belong."""
    lines = spot.page.lines
    first = spot.number
    ours = difference.ours
    while (
        spot.is_code
        and 1 < first > spot.number - MOST_AROUND
        and lines[first - 2].endswith("\\")
    ):
        first -= 1
    near = [
        re.split(r"[|;&`(]", " ".join((*lines[first - 1 : spot.number - 1], spot.before)))[
            -1
        ]
    ]
    if len(difference.name) == SHORT:
        return (spot.is_code or spot.before.startswith(".")) and _is_own_letter(
            difference, spot, near[0]
        )
    called = pattern("command").match(near[0]) if spot.is_code else None
    is_called = not ours.isdisjoint(
        spot.page.programs
    )  # then what else the page calls is no wrapper of it
    if called and (is_called or called["program"] in words("common_programs")):
        return not ours.isdisjoint(re.findall(r"[\w.-]+", near[0]))
    if not spot.is_code or "`" in spot.line:
        near.append(spot.sentence)
    for text in near:
        named = {*re.findall(r"[\w.-]+", text)}
        if not ours.isdisjoint(named) or not named.isdisjoint(words("foreign_programs")):
            return not ours.isdisjoint(named)
    return True


def _is_own_letter(difference: DriftDifference, spot: Spot, command: str) -> bool:
    """Return whether an option of one letter, which many programs have, is said to be one of this program."""
    ours = difference.ours
    page = spot.page
    programs = ours | words("foreign_programs") | words("common_programs")
    said = [each for each in re.findall(r"[\w.-]+", command) if each in programs]
    if said or not pattern("entry").fullmatch(spot.before):
        return bool(said) and said[-1] in ours
    above = {*re.findall(r"[\w.-]+", spot.item + spot.section.split("\n", 1)[0])}
    calls = page.programs | {posixpath.basename(page.path).split(".")[0]}
    return not ours.isdisjoint(calls) and above.isdisjoint(programs - ours)
