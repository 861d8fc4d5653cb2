"""Whether a document means an option of this program, where other programs have options of the same name."""

import posixpath
import re

from cli_guard.reviewers.drift.differences import DriftDifference
from cli_guard.reviewers.drift.documents import MOST_AROUND, Spot, pattern, words
from cli_guard.reviewers.drift.forms import SHORT, token


def is_own_choice(difference: DriftDifference, spot: Spot) -> bool:
    """Return whether a word is given to the option as its value, or is listed as one in a sentence about it."""
    flag = token("flag", difference.owner).pattern
    if not re.search(rf"{flag}[ =][\"'`]?$", spot.before):
        listed = spot.is_code or spot.before.endswith(("'", '"', "|", "{", ","))
        others = [
            each
            for each in difference.fact.value.split("|")
            if each != difference.fact.name
        ]
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
    if len(difference.fact.name) == SHORT:
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
