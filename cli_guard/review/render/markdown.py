"""The report for a pull request comment, in GitHub's Markdown.

No text of a repository becomes markup: a word that could (a link, a mention, a tag, a commit id)
is put in a code span, where GitHub reads no markup, and code in a fence longer than any in it.
"""

import re
from collections.abc import Iterator, Sequence

from cli_guard.model import SCALE, Decision, Disposition, JudgedFinding
from cli_guard.review.render.review import Review
from cli_guard.review.render.words import (
    ANSWERED,
    find_unannounced,
    fuller,
    next_steps,
    skipped_line,
    tally,
    tally_of,
    verdict,
    where,
)
from cli_guard.secrets.printable import clip, printable

SHOWN = 50
SUGGESTIONS = 10
SUGGESTION_LINES = 40
TEXT_LENGTH = 600
LINE_LENGTH = 400

_MARKS = {Decision.DENY: "\u274c", Decision.REVIEW: "\u270b", Decision.ALLOW: "\u2705"}
_HARMLESS = re.compile(r"\w[\w,;'\"()?%.-]*")
# Words that GitHub turns into links: hosts, commit ids, issue keys.
_LINKED = re.compile(r"_|www\.|[0-9a-f]{7}|^[a-z]{2,10}-\d", re.IGNORECASE)
_EDGES = re.compile(r"([(\"'`]*)(.*?)([)\"'`.,;:!?]*)", re.DOTALL)
_TICKS = re.compile("`+")
# What a message quotes, with nothing but marks beside it: a backtick nearby would make another span of it.
_QUOTED = re.compile(r"(?:(?<!\S)|(?<=\s\()|(?<=^\())`([^`]+)`(?=[).,;:!?]*(?:\s|$))")
_LANGUAGE = re.compile(r"\.([A-Za-z0-9]{1,10})\Z")


def render(review: Review) -> str:
    """Render Markdown with a final newline."""
    blocks = [
        _heading(review),
        *_section(review, (Disposition.DENY, Disposition.REVIEW)),
        *_folded_advice(review),
        *_suppressed_lines(review),
        *(_prose(line) for line in (skipped_line(review, 5), *review.notes) if line),
    ]
    return "\n\n".join(blocks) + "\n"


def _heading(review: Review) -> str:
    sentence, *steps = next_steps(review)
    found = tally(review)
    head = f"{_MARKS[review.decision]} **cli-guard: {verdict(review)}**" + (
        f" ({found})" if found else ""
    )
    fenced = [_fence([printable(step) for step in steps], "")] if steps else []
    return "\n\n".join((head, _prose(sentence) + (":" if steps else "."), *fenced))


def _section(review: Review, dispositions: Sequence[Disposition]) -> Iterator[str]:
    findings = [judged for each in dispositions for judged in review.sort_findings(each)]
    if not findings:
        return
    yield _table(findings[:SHOWN])
    if len(findings) > SHOWN:
        yield f"and {len(findings) - SHOWN} more: {code_span(fuller(review))}"
    with_suggestion = [judged for judged in findings if judged.finding.suggestion]
    for judged in with_suggestion[:SUGGESTIONS]:
        yield _suggestion(judged)
    if len(with_suggestion) > SUGGESTIONS:
        more = len(with_suggestion) - SUGGESTIONS
        yield f"and suggestions for {more} more: {code_span(fuller(review))}"


def _folded_advice(review: Review) -> Iterator[str]:
    blocks = list(_section(review, (Disposition.ADVISE,)))
    if blocks:
        yield f"<details><summary>{tally_of(Disposition.ADVISE, review)}</summary>"
        yield from blocks
        yield "</details>"


def _suppressed_lines(review: Review) -> Iterator[str]:
    new = find_unannounced(review)
    if new:
        yield "Explained in this change:"
        yield "\n".join(
            f"- {code_span(where(each.finding))} {code_span(each.finding.rule)}, "
            + f"{_prose(ANSWERED.get(each.by, each.by))}: "
            + (_prose(each.reason) if each.reason else "no reason given")
            for each in new[:SHOWN]
        ) + (f"\n- and {len(new) - SHOWN} more" if len(new) > SHOWN else "")
    earlier = sum(not each.new for each in review.suppressed)
    if earlier:
        yield f"Not shown, because approved or explained: {earlier}."


def _table(findings: Sequence[JudgedFinding]) -> str:
    rows = ["| | where | rule | what and how |", "|---|---|---|---|"]
    rows.extend(_row(judged) for judged in findings)
    return "\n".join(rows)


def _row(judged: JudgedFinding) -> str:
    found = judged.finding
    evidence = (
        f"<br>{code_span(clip(printable(found.evidence.strip()), 160))}"
        if found.evidence.strip()
        else ""
    )
    remedy = f"<br>{_prose(found.remedy)}" if found.remedy else ""
    cells = (
        SCALE[judged.disposition],
        code_span(where(found)),
        code_span(found.rule),
        f"{_prose(found.message)}{evidence}{remedy}",
    )
    # A backslash before a pipe would undo the escape of the pipe, so a blank separates them.
    return (
        "| "
        + " | ".join(cell.replace("\\|", "\\ |").replace("|", "\\|") for cell in cells)
        + " |"
    )


def _suggestion(judged: JudgedFinding) -> str:
    found = judged.finding
    lines = (found.suggestion or "").strip("\n").split("\n")
    shown = [
        clip(printable(line[:LINE_LENGTH].expandtabs(4)), LINE_LENGTH)
        for line in lines[:SUGGESTION_LINES]
    ]
    if len(lines) > SUGGESTION_LINES:
        shown.append(f"... {len(lines) - SUGGESTION_LINES} more lines")
    language = _LANGUAGE.search(found.path)
    return f"{code_span(where(found))}:\n\n{_fence(shown, language[1].lower() if language else '')}"


def _fence(lines: Sequence[str], language: str) -> str:
    longest = max((len(run) for line in lines for run in _TICKS.findall(line)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join((fence + language, *lines, fence))


def code_span(text: str) -> str:
    """Put `text` on one line in a code span with more backticks than any run in it (GFM, section 6.3)."""
    shown = clip(printable(text), TEXT_LENGTH) or " "
    ticks = "`" * (max((len(run) for run in _TICKS.findall(shown)), default=0) + 1)
    space = " " if shown[0] in "` " or shown[-1] in "` " else ""
    return f"{ticks}{space}{shown}{space}{ticks}"


def _prose(text: str) -> str:
    """Return text in which only what is quoted is code: each word that could be markup, and what the text quotes."""
    bare = " ".join(filter(None, clip(printable(text), TEXT_LENGTH).split(" ")))
    parts = _QUOTED.split(bare)
    shown = [
        code_span(part) if at % 2 else " ".join(map(_word, part.split(" ")))
        for at, part in enumerate(parts)
    ]
    return "".join(shown)


def _word(word: str) -> str:
    edges = _EDGES.fullmatch(word)
    if edges is None or (not edges[2] and "`" in word):
        return code_span(word)
    if not edges[2]:
        return word
    before, core, after = edges.groups()
    if "`" in before + after:
        return before.replace("`", "") + code_span(core) + after.replace("`", "")
    is_harmless = _HARMLESS.fullmatch(core) and not _LINKED.search(core)
    return before + (core if is_harmless else code_span(core)) + after
