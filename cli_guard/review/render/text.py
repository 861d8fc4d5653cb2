"""The report for a terminal: quiet, 80 columns, the verdict last, next to the prompt."""

import textwrap
from collections.abc import Callable, Iterator

from cli_guard.model import Category, Decision, Disposition, Finding, JudgedFinding, Severity, Suppressed
from cli_guard.review.render.review import Review
from cli_guard.review.render.words import SHOWN, count, next_steps, skipped_line, tally_of, verdict, where
from cli_guard.secrets.printable import clip, printable

WIDTH = 80
INDENT = "    "
SUGGESTION_LINES = 15
EVIDENCE_LINES = 30
MOST = 50
PLACE_WIDTH = 36
SKIPPED_SHOWN = 3
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
    advice: int = 5,
) -> str:
    """Render text with a final newline; empty for a commit message without findings.

    `color` allows SGR codes, which carry no information. `ascii_only` is for a terminal that is not UTF-8.
    `advice` limits the remarks that are shown, unless `verbose`, which shows all of them and the times.
    """
    if review.is_silent:
        return ""
    paint: Paint = _paint if color else lambda _style, text: text
    most = {Disposition.ADVISE: advice}
    blocks = [
        *(
            block
            for disposition in SHOWN
            for block in _group(review, disposition, None if verbose else most.get(disposition, MOST), paint)
        ),
        _suppressed_line(review.suppressed, paint),
        _remarks(review, verbose, paint),
        _closing(review, paint),
    ]
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
        block = "\n".join(_finding(judged, column, paint))
        yield f"{heading}\n\n{block}" if number == 0 else block
    if len(shown) < len(findings):
        more = f"and {len(findings) - len(shown)} more"
        elsewhere = review.event in ("commit-msg", "pre-push")
        yield paint("dim", more if elsewhere else f"{more}: cli-guard review --format json")


def _finding(judged: JudgedFinding, column: int, paint: Paint) -> Iterator[str]:
    found = judged.finding
    place = where(found)
    gap = " " * max(2, column + 2 - len(place))
    severity = paint(_DISPOSITION_COLORS[judged.disposition], f"{found.severity:<{_SEVERITY_WIDTH}}")
    yield f"{paint('bold', place)}{gap}{severity}  {paint('dim', printable(found.rule))}"
    yield from _wrap(found.message, INDENT)
    for line in found.evidence.strip("\n").split("\n")[:EVIDENCE_LINES] if found.evidence else ():
        # The indentation of a single line carries no information, that of several does.
        one = line if "\n" in found.evidence else line.strip()
        yield paint("dim", f"{INDENT}| {_code_line(one, WIDTH - len(INDENT) - 2)}".rstrip())
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


def _suppressed_line(suppressed: tuple[Suppressed, ...], paint: Paint) -> str:
    new = [each for each in suppressed if each.new]
    old = len(suppressed) - len(new)
    lines = []
    if new:
        lines.append(f"{count(len(new), 'finding')} answered by this change itself:")
        for each in new[:MOST]:
            lines.append(
                f"{INDENT}{where(each.finding)}  {printable(each.finding.rule)}  {paint('dim', each.by)}"
            )
            lines.extend(_wrap(f'"{each.reason}"' if each.reason else "no reason given", INDENT * 2))
        if len(new) > MOST:
            lines.append(f"{INDENT}and {len(new) - MOST} more")
    if old:
        lines.append(paint("dim", f"{count(old, 'finding')} answered earlier ({_sources(suppressed)})"))
    return "\n".join(lines)


def _sources(suppressed: tuple[Suppressed, ...]) -> str:
    sources = [each.by for each in suppressed if not each.new]
    return ", ".join(f"{sources.count(by)} {ANSWERED.get(by, printable(by))}" for by in sorted(set(sources)))


def _remarks(review: Review, verbose: bool, paint: Paint) -> str:
    shown = len(review.skipped) if verbose else SKIPPED_SHOWN
    lines = [line for text in (skipped_line(review, shown), *review.notes) for line in _wrap(text, "", "  ")]
    if verbose and review.timings_ms:
        times = ", ".join(f"{printable(name)} {ms:.0f} ms" for name, ms in review.timings_ms.items())
        lines.extend(_wrap(f"time: {times}", "", "  "))
    return "\n".join(paint("dim", line) for line in lines)


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
