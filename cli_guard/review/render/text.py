"""The report for a terminal: quiet, 80 columns, the verdict last, next to the prompt."""

import re
import textwrap
from collections.abc import Callable, Iterator

from cli_guard.model import Category, Decision, Disposition, Finding, JudgedFinding, Severity, Suppressed
from cli_guard.review.render.review import Review
from cli_guard.review.render.words import (
    SHOWN,
    count,
    fuller,
    next_steps,
    skipped_line,
    tally_of,
    verdict,
    where,
)
from cli_guard.secrets.printable import clip, printable

WIDTH = 80
INDENT = "    "
SUGGESTION_LINES = 15
EVIDENCE_LINES = 30
MOST = 50
PLACE_WIDTH = 36
SKIPPED_SHOWN = 3
# What a hook prints of notes, and in all beside what stops Git: people read no more of it.
NOTE_LINES = 3
BRIEF = 12
MOVES = re.compile(r"Move lines (\d+) to (\d+)")
TEXT_LENGTH = 600

ANSWERED = {
    "approval": "by approval",
    "baseline": "in the baseline",
    "config": "in the configuration",
    "inline": "in the code",
}

Paint = Callable[[str, str], str]

_SGR = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "blue": "34"}
_DISPOSITION_COLORS = {Disposition.DENY: "red", Disposition.REVIEW: "yellow", Disposition.ADVISE: "blue"}
_DECISION_COLORS = {Decision.DENY: "red", Decision.REVIEW: "yellow", Decision.ALLOW: "green"}
_SEVERITY_WIDTH = max(len(severity) for severity in Severity)


def render(
    review: Review,
    *,
    color: bool = False,
    ascii_only: bool = False,
    verbose: bool = False,
    brief: bool = False,
    advice: int = 5,
) -> str:
    """Render text with a final newline; empty for a commit message without findings.

    `color` allows SGR codes, which carry no information. `ascii_only` is for a terminal that is not UTF-8.
    `advice` limits the remarks that are shown, unless `verbose`, which shows all of them and the times; `brief`, for
    a hook, all that does not stop Git to BRIEF lines.
    """
    if review.is_silent:
        return ""
    paint: Paint = _paint if color else lambda _style, text: text
    most = {Disposition.ADVISE: advice}
    kinds = SHOWN[:-1] if brief else SHOWN
    blocks = [
        block
        for kind in kinds
        for block in _group(review, kind, None if verbose else most.get(kind, MOST), paint)
    ]
    rest = [_suppressed_line(review, brief, paint), _remarks(review, verbose, brief, paint)]
    closing = _closing(review, paint)
    if brief:
        used = "\n".join(filter(None, rest)).count("\n") + any(rest)
        used += closing.count("\n") + 1 if review.decision is Decision.ALLOW else 1
        rest.insert(0, _brief_advice(review, BRIEF - used, advice, paint))
        blocks.append("\n".join(filter(None, (*rest, closing))))
    else:
        blocks += [*rest, closing]
    text = "\n\n".join(block for block in blocks if block)
    if not review.findings and not any(each.new for each in review.suppressed):
        text = text.replace("\n\n", "\n")
    if ascii_only:
        text = text.encode("ascii", "backslashreplace").decode("ascii")
    return text + "\n"


def _group(review: Review, disposition: Disposition, most: int | None, paint: Paint) -> Iterator[str]:
    findings = review.sort_findings(disposition)
    if not findings:
        return
    shown = findings[:most]
    color = _DISPOSITION_COLORS[disposition]
    column = min(PLACE_WIDTH, max((len(where(judged.finding)) for judged in shown), default=0))
    heading = paint(color, f"{tally_of(disposition, review)}:")
    if not shown:
        yield heading
    for number, judged in enumerate(shown):
        block = "\n".join(_finding(judged, review, column, most is None, paint))
        yield f"{heading}\n\n{block}" if number == 0 else block
    if len(shown) < len(findings):
        yield paint("dim", f"and {len(findings) - len(shown)} more: {fuller(review)}")


def _brief_advice(review: Review, room: int, most: int, paint: Paint) -> str:
    """Format the advice in so many lines: as much of it as fits, with what each remark is about and what to do."""
    findings = review.sort_findings(Disposition.ADVISE)
    column = min(PLACE_WIDTH, max((len(where(each.finding)) for each in findings[:most]), default=0))
    lines, shown = (
        [paint(_DISPOSITION_COLORS[Disposition.ADVISE], f"{tally_of(Disposition.ADVISE, review)}:")],
        0,
    )
    for judged in findings[:most]:
        left = room - len(lines) - (shown + 1 < len(findings))
        about = [_heading(judged, column, paint), *_wrap(judged.finding.message, INDENT)]
        whole = [*about, *_remedy(judged.finding, review)]
        if len(about) > left:
            break
        lines += whole if len(whole) <= left else about
        shown += 1
    if shown < len(findings):
        lines.append(paint("dim", f"and {len(findings) - shown} more: {fuller(review)}"))
    return "\n".join(lines) if findings else ""


def _heading(judged: JudgedFinding, column: int, paint: Paint) -> str:
    found = judged.finding
    place = where(found)
    gap = " " * max(2, column + 2 - len(place))
    severity = paint(_DISPOSITION_COLORS[judged.disposition], f"{found.severity:<{_SEVERITY_WIDTH}}")
    return f"{paint('bold', place)}{gap}{severity}  {paint('dim', printable(found.rule))}"


def _remedy(found: Finding, review: Review) -> list[str]:
    """Return what to do in a sentence, with the command that shows a suggestion."""
    sizes = sorted(int(last) - int(first) + 1 for first, last in MOVES.findall(found.suggestion or ""))
    remedy = found.remedy.rstrip(".")
    if sizes:
        size = str(sizes[0]) if sizes[0] == sizes[-1] else f"{sizes[0]} to {sizes[-1]}"
        remedy = f"{count(len(sizes), 'block')} of {size} lines could move out"
    words = f"{remedy} ({fuller(review)})" if found.suggestion else found.remedy
    return _wrap(words, f"{INDENT}-> ", INDENT + "   ") if words else []


def _finding(
    judged: JudgedFinding, review: Review, column: int, verbose: bool, paint: Paint
) -> Iterator[str]:
    found = judged.finding
    yield _heading(judged, column, paint)
    yield from _wrap(found.message, INDENT)
    for line in found.evidence.strip("\n").split("\n")[:EVIDENCE_LINES] if found.evidence else ():
        # The indentation of a single line carries no information, that of several does.
        one = line if "\n" in found.evidence else line.strip()
        yield paint("dim", f"{INDENT}| {_code_line(one, WIDTH - len(INDENT) - 2)}".rstrip())
    if found.category is Category.REFACTOR and found.suggestion and not verbose:
        yield from _remedy(found, review)
        return
    if found.remedy:
        yield from _wrap(found.remedy, f"{INDENT}-> ", INDENT + "   ")
    if found.suggestion:
        yield from (
            _plan(found) if found.category is Category.REFACTOR else _suggestion(found.suggestion, paint)
        )


def _plan(found: Finding) -> Iterator[str]:
    # Steps are sentences: unlike code they may be wrapped, and must not be cut.
    for line in (found.suggestion or "").strip("\n").split("\n")[:SUGGESTION_LINES]:
        yield from _wrap(line, f"{INDENT}   ", f"{INDENT}      ")


def _suggestion(suggestion: str, paint: Paint) -> Iterator[str]:
    lines = suggestion.strip("\n").split("\n")
    for line in lines[:SUGGESTION_LINES]:
        yield paint("green", f"{INDENT}   + {_code_line(line, 200)}".rstrip())
    if len(lines) > SUGGESTION_LINES:
        yield paint("dim", f"{INDENT}   and {len(lines) - SUGGESTION_LINES} more lines")


def _suppressed_line(review: Review, brief: bool, paint: Paint) -> str:
    new = [each for each in review.suppressed if each.new]
    old = len(review.suppressed) - len(new)
    most = 1 if brief else MOST
    lines = []
    if new:
        lines.append(f"{count(len(new), 'finding')} answered by this change itself:")
        for each in new[:most]:
            lines.append(
                f"{INDENT}{where(each.finding)}  {printable(each.finding.rule)}  {paint('dim', each.by)}"
            )
            reason = _wrap(f'"{each.reason}"' if each.reason else "no reason given", INDENT * 2)
            lines.extend(reason[:1] if brief else reason)
        if len(new) > most:
            lines.append(f"{INDENT}and {len(new) - most} more: {fuller(review)}")
    if old:
        sources = _sources(review.suppressed)
        lines.append(paint("dim", f"{count(old, 'finding')} answered earlier ({sources})"))
    return "\n".join(lines)


def _sources(suppressed: tuple[Suppressed, ...]) -> str:
    sources = [each.by for each in suppressed if not each.new]
    return ", ".join(f"{sources.count(by)} {ANSWERED.get(by, printable(by))}" for by in sorted(set(sources)))


def _remarks(review: Review, verbose: bool, brief: bool, paint: Paint) -> str:
    shown = len(review.skipped) if verbose else 1 if brief else SKIPPED_SHOWN
    texts = [text for text in (skipped_line(review, shown), *review.notes) if text]
    if verbose and review.timings_ms:
        texts.append(
            "time: " + ", ".join(f"{printable(name)} {ms:.0f} ms" for name, ms in review.timings_ms.items())
        )
    notes = [_wrap(text, "", "  ") for text in texts]
    if brief and review.decision is Decision.ALLOW and sum(map(len, notes)) > NOTE_LINES:
        notes = [notes[0][:NOTE_LINES], [f"the rest of the notes: {fuller(review)}"]]
    return "\n".join(paint("dim", line) for lines in notes for line in lines)


def _closing(review: Review, paint: Paint) -> str:
    sentence, *steps = next_steps(review)
    head = "cli-guard" if review.decision is Decision.ALLOW else verdict(review)
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


def _code_line(line: str, width: int) -> str:
    return clip(printable(line[: 4 * width].expandtabs(4)), width)


def _paint(style: str, text: str) -> str:
    return f"\x1b[{_SGR[style]}m{text}\x1b[0m"
