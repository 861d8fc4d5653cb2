"""The report for a terminal: quiet, 80 columns, the verdict last, next to the prompt."""

import itertools
import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from cli_guard.model import (
    OVER_ADVICE,
    Category,
    Decision,
    Disposition,
    JudgedFinding,
    Suppressed,
)
from cli_guard.review.fixes import HUNK_HEAD, has_fix
from cli_guard.review.render import words
from cli_guard.review.render.review import Review
from cli_guard.review.render.words import (
    ANSWERED,
    EVIDENCE_LINES,
    SHOWN,
    count,
    find_unannounced,
    fuller,
    next_steps,
    patch_command,
    skipped_line,
    tally_of,
    where,
)
from cli_guard.secrets.printable import clip, printable

WIDTH = 80
INDENT = "    "
SUGGESTION_LINES = 15
CODE_LINES = 3
CODE_LENGTH = 200
MOST = 50
PLACE_WIDTH = 36
SKIPPED_SHOWN = 3
# What a hook prints in all beside what stops Git, and of one part of it: people read no more.
BRIEF = 12
PART = 4
MOVES = re.compile(r"Move lines (\d+) to (\d+)")
TEXT_LENGTH = 600
PRIVATE_KEYS = ("secret-private-key", "secret-pgp-private-key", "secret-putty-key")

Paint = Callable[[str, str], str]

_SGR = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "blue": "34"}
_DISPOSITION_COLORS = {
    Disposition.DENY: "red",
    Disposition.REVIEW: "yellow",
    Disposition.ADVISE: "blue",
}
_DECISION_COLORS = {
    Decision.DENY: "red",
    Decision.REVIEW: "yellow",
    Decision.ALLOW: "green",
}


def render(
    review: Review,
    *,
    color: bool = False,
    ascii_only: bool = False,
    verbose: bool = False,
    brief: bool = False,
    advice: int = 5,
) -> str:
    """Render text with a final newline; empty for a clean commit message, unless no hook before spoke of its change.

    `color` allows SGR codes, which carry no information. `ascii_only` is for a terminal that is not UTF-8.
    `advice` limits the remarks that are shown, unless `verbose`, which shows all of them and the times; `brief`, for
    a hook, limits all that does not stop Git to BRIEF lines.
    """
    # Of an empty commit the hook before says nothing.
    if review.is_silent and (review.files or review.nothing):
        return ""
    paint: Paint = _paint if color else lambda _style, text: text
    style = "brief" if brief else ""
    if verbose:
        style = "verbose"
    most = {Disposition.DENY: MOST, Disposition.REVIEW: MOST, Disposition.ADVISE: advice}
    answered = _suppressed_line(find_unannounced(review), paint)
    remarks = _remarks(review, verbose, paint)
    rest = [answered, remarks, _closing(review, paint)]
    room = 0
    if brief:
        passes = review.decision is Decision.ALLOW
        rest[:2] = _cut(answered, review), _cut(remarks, review) if passes else remarks
        room = (
            BRIEF
            - (not passes)
            - sum(each.count("\n") + 1 for each in rest[: 3 if passes else 2] if each)
        )
    *stops, advised = (
        _group(review, kind, most[kind], paint, style, room) for kind in SHOWN
    )
    rest = [*advised, *filter(None, rest)]
    blocks = [*itertools.chain(*stops), *(["\n".join(rest)] if brief else rest)]
    text = "\n\n".join(blocks)
    if not review.findings and not any(each.new for each in review.suppressed):
        text = text.replace("\n\n", "\n")
    if ascii_only:
        text = text.encode("ascii", "backslashreplace").decode("ascii")
    return text + "\n"


def _group(
    review: Review, kind: Disposition, most: int, paint: Paint, style: str, room: int
) -> list[str]:
    """Format the findings of one kind: a heading, a block each, and how many more there are; advice in `room` lines."""
    findings: Sequence[JudgedFinding] = [
        replace(each, finding=review.with_origin(each.finding))
        for each in review.sort_findings(kind)
        if kind is not Disposition.ADVISE or each.finding.fingerprint not in review.told
    ]
    if style != "verbose":
        findings = _join_alike(findings, review)
    chosen = findings if style == "verbose" else findings[:most]
    column = min(
        PLACE_WIDTH, max((len(where(judged.finding)) for judged in chosen), default=0)
    )
    style = "" if style == "brief" and kind is not Disposition.ADVISE else style

    def format_first(number: int) -> list[str]:
        listed = _share_remedies(chosen[:number])
        return ["\n".join(_finding(each, review, column, paint, style)) for each in listed]

    shown = format_first(len(chosen))
    while style == "brief" and shown:
        if "\n".join(shown).count("\n") + 2 + (len(shown) < len(findings)) <= room:
            break
        shown = format_first(len(shown) - 1)
    more = len(findings) - len(shown)
    heading = [paint(_DISPOSITION_COLORS[kind], tally_of(kind, review))] if findings else []
    return [
        *heading,
        *shown,
        *([paint("dim", f"and {more} more: {fuller(review)}")] if more else []),
    ]


def _join_alike(findings: Sequence[JudgedFinding], review: Review) -> list[JudgedFinding]:
    """Return the findings with one, in the place of the first, for those that a person judges together.

    These are the private keys of a folder and commit, and what is advised in the same words on several lines of a
    file. The verdict counts each of them.
    """
    groups: dict[tuple[object, ...], list[JudgedFinding]] = {}
    for number, judged in enumerate(findings):
        found = judged.finding
        place: tuple[object, ...] = (number,)
        if found.rule in PRIVATE_KEYS and found.path:
            folder = found.path.rpartition("/")[0]
            place = (folder, found.commit, judged.disposition)
        elif judged.disposition is Disposition.ADVISE and not found.suggestion:
            place = (found.rule, found.path, found.commit, found.message)
        groups.setdefault(place, []).append(judged)
    return [_one_for(group, review) for group in groups.values()]


def _one_for(group: Sequence[JudgedFinding], review: Review) -> JudgedFinding:
    """Return the first of a group, which says how many more there are."""
    first = group[0]
    if len(group) == 1:
        return first

    is_key = first.finding.rule in PRIVATE_KEYS
    kind, place = ("private key", "folder") if is_key else ("line", "file")
    more = count(len(group) - 1, f"more {kind}")
    message = first.finding.message.rstrip(".")
    told = f"{message}; {more} in this {place} ({fuller(review)})."
    return replace(first, finding=replace(first.finding, message=told))


def _share_remedies(listed: Sequence[JudgedFinding]) -> Iterator[JudgedFinding]:
    """Leave a remedy that neighbours of one rule have to the last of them."""
    for each, following in itertools.zip_longest(listed, listed[1:]):
        found = each.finding
        after = following.finding if following else None
        is_shared = after and (after.rule, after.remedy) == (found.rule, found.remedy)
        if is_shared and not found.suggestion:
            yield replace(each, finding=replace(found, remedy=""))
        else:
            yield each


def _cut(text: str, review: Review) -> str:
    lines = text.split("\n")
    return (
        text
        if len(lines) <= PART
        else "\n".join((*lines[: PART - 1], f"and more: {fuller(review)}"))
    )


def _finding(
    judged: JudgedFinding, review: Review, column: int, paint: Paint, style: str
) -> Iterator[str]:
    found = judged.finding
    place = where(found)
    gap = " " * max(2, column + 2 - len(place))
    rule = paint(_DISPOSITION_COLORS[judged.disposition], printable(found.rule))
    yield f"{paint('bold', place)}{gap}{rule}"
    yield from _wrap(found.message, INDENT)
    most = 0 if style == "brief" else EVIDENCE_LINES
    for line in found.evidence.strip("\n").split("\n")[:most] if found.evidence else ():
        # The indentation of a single line carries no information, that of several does.
        one = line if "\n" in found.evidence else line.strip()
        for part in _wrap_code(one, WIDTH - len(INDENT) - 2):
            yield paint("dim", f"{INDENT}| {part}".rstrip())
    is_plan = found.category is Category.REFACTOR
    remedy = found.remedy
    later = found.suggestion and (style == "brief" or (is_plan and not style))
    if later:
        sizes = sorted(
            int(last) - int(first) + 1
            for first, last in MOVES.findall(found.suggestion or "")
        )
        if sizes:
            size = " to ".join(map(str, sorted({sizes[0], sizes[-1]})))
            remedy = f"{count(len(sizes), 'block')} of {size} lines could move out"
        see = patch_command(review) if has_fix(found) else fuller(review)
        remedy = f"{remedy.rstrip('.')} ({see})"
    if remedy:
        yield from _wrap(remedy, f"{INDENT}-> ", INDENT + "   ")
    for line in (
        found.suggestion.strip("\n").split("\n")
        if is_plan and found.suggestion and not later
        else ()
    ):
        # Steps are sentences: unlike code they may be wrapped, and must not be cut.
        yield from _wrap(line, f"{INDENT}   ", f"{INDENT}      ")
    if found.suggestion and not is_plan and not later:
        yield from _suggestion(found.suggestion, paint)


def _suggestion(suggestion: str, paint: Paint) -> Iterator[str]:
    lines = suggestion.strip("\n").split("\n")
    # The lines of a diff have a sign of their own.
    sign = "" if HUNK_HEAD.fullmatch(lines[0]) else "+ "
    for line in lines[:SUGGESTION_LINES]:
        code = clip(printable(line[: 4 * CODE_LENGTH].expandtabs(4)), CODE_LENGTH)
        yield paint("green", f"{INDENT}   {sign}{code}".rstrip())
    if len(lines) > SUGGESTION_LINES:
        yield paint("dim", f"{INDENT}   and {len(lines) - SUGGESTION_LINES} more lines")


def _suppressed_line(new: Sequence[Suppressed], paint: Paint) -> str:
    lines = [f"explained in this change: {count(len(new), 'finding')}"] if new else []
    for each in new[:MOST]:
        how = paint("dim", ANSWERED.get(each.by, each.by))
        lines.append(
            f"{INDENT}{where(each.finding)}  {printable(each.finding.rule)}  {how}"
        )
        lines.extend(
            _wrap(f'"{each.reason}"' if each.reason else "no reason given", INDENT * 2)
        )
    if len(new) > MOST:
        lines.append(f"{INDENT}and {len(new) - MOST} more")
    return "\n".join(lines)


def _remarks(review: Review, verbose: bool, paint: Paint) -> str:
    shown = len(review.skipped) if verbose else SKIPPED_SHOWN
    if not verbose:
        # Every lock file would say it, and what only advises misses nothing that stops.
        said = tuple(each for each in review.skipped if each.reason != OVER_ADVICE)
        review = replace(review, skipped=said)
    lines = [
        line
        for text in (skipped_line(review, shown), *review.notes)
        for line in _wrap(text, "", "  ")
    ]
    if verbose and review.timings_ms:
        times = ", ".join(
            f"{printable(name)} {ms:.0f} ms" for name, ms in review.timings_ms.items()
        )
        lines.extend(_wrap(f"time: {times}", "", "  "))
    return "\n".join(paint("dim", line) for line in lines)


def _closing(review: Review, paint: Paint) -> str:
    sentence, *steps = next_steps(review)
    head = "cli-guard" if review.decision is Decision.ALLOW else words.verdict(review)
    lines = _wrap(f"{head}: {sentence}{':' if steps else ''}", "", "  ")
    lines[0] = paint(_DECISION_COLORS[review.decision], head) + lines[0][len(head) :]
    return "\n".join((*lines, *(paint("bold", f"  {step}") for step in steps)))


def _wrap(text: str, first: str, later: str | None = None) -> list[str]:
    """Wrap text at 80 columns without breaking a word or path."""
    return textwrap.wrap(
        clip(printable(text), TEXT_LENGTH),
        WIDTH,
        initial_indent=first,
        subsequent_indent=first if later is None else later,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _wrap_code(line: str, width: int) -> list[str]:
    """Wrap a line of code; what is dangerous in it may be at its end."""
    return textwrap.wrap(
        printable(line[: 4 * width].expandtabs(4)),
        width,
        subsequent_indent="    ",
        max_lines=CODE_LINES,
        placeholder="...",
        break_on_hyphens=False,
    ) or [""]


def _paint(style: str, text: str) -> str:
    return f"\x1b[{_SGR[style]}m{text}\x1b[0m"
