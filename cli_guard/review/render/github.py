"""The report as GitHub workflow commands: each finding is an annotation on its line of the pull request.

Form and escapes: https://docs.github.com/en/actions/reference/workflow-commands-for-github-actions and
the runner's own `ActionCommand`. GitHub shows ten annotations of each kind a step and drops the rest
silently, so the rest is counted here.
"""

from collections import Counter

from cli_guard.model import SCALE, Disposition, JudgedFinding
from cli_guard.review.render.review import Review
from cli_guard.review.render.words import (
    fuller,
    next_steps,
    path_of,
    skipped_line,
    verdict,
    where,
)
from cli_guard.secrets.printable import clip, printable

SHOWN = 10
COMMANDS = {
    Disposition.DENY: "error",
    Disposition.REVIEW: "warning",
    Disposition.ADVISE: "notice",
}


def render(review: Review) -> str:
    """Render workflow commands, worst first, and a closing line for the log."""
    seen: Counter[str] = Counter()
    lines = []
    for judged in review.sort_findings():
        command = COMMANDS[judged.disposition]
        seen[command] += 1
        if seen[command] <= SHOWN:
            lines.append(_annotation(command, judged))
    left_out = [
        f"{seen[c] - SHOWN} of {seen[c]} {c}s" for c in COMMANDS.values() if seen[c] > SHOWN
    ]
    if left_out:
        lines.append(
            _log(
                f"not annotated, GitHub shows only {SHOWN} per kind: {', '.join(left_out)};"
                f" all of them: {fuller(review)}"
            )
        )
    lines.extend(_log(note) for note in (skipped_line(review, 10), *review.notes) if note)
    lines.append(_log(f"{verdict(review)}: {' | '.join(next_steps(review))}"))
    return "\n".join(lines) + "\n"


def _annotation(command: str, judged: JudgedFinding) -> str:
    found = judged.finding
    properties = {"title": f"{found.rule} ({SCALE[judged.disposition]})"}
    if found.path:
        properties = {
            "file": path_of(found.path),
            **_lines(found.line, found.end_line),
            **properties,
        }
    message = "\n".join(part for part in (found.message, found.remedy) if part)
    if not found.path or found.commit:
        message = f"{where(found)}: {message}"
    escaped = {name: _data(value).replace(":", "%3A") for name, value in properties.items()}
    given = ",".join(f"{k}={value.replace(',', '%2C')}" for k, value in escaped.items())
    return f"::{command} {given}::{_data(clip(message, 4_000))}"


def _lines(line: int | None, end_line: int | None) -> dict[str, str]:
    if line is None:
        return {}
    return (
        {"line": str(line)}
        if end_line is None
        else {"line": str(line), "endLine": str(end_line)}
    )


def _data(text: str) -> str:
    shown = printable(text, keep_newlines=True)
    return shown.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _log(text: str) -> str:
    # The runner still reads the older `##[command]` form anywhere in a line.
    return f"cli-guard: {printable(text)}".replace("##[", "## [")
