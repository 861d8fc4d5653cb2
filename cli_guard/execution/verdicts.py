"""What is shown of a judged command: JSON for programs, a few lines for people. Nothing of it holds a secret."""

import json
import shlex
import unicodedata
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from cli_guard.lazy import frozen
from cli_guard.model import Decision
from cli_guard.secrets.printable import clip, json_value, printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cli_guard.commands.model import Span, Verdict
    from cli_guard.secrets.candidates import SecretHit

# A command is shown up to here; what is longer is not judged in full either.
LONGEST = 100_000
BEGINNING = 200
WIDTH = 76
BEFORE = 24
REASON = 600
# The reasons of the engine that quote nothing of the command: a look for secrets would read all of their rules.
PLAIN = frozenset(("reads only", "has no effect but its output"))
COLORS = {Decision.DENY: "31", Decision.REVIEW: "33", Decision.ALLOW: "32"}


@frozen
class Shown:
    """The texts of a verdict, without the secrets that the command holds. `clean`: there are none in any of them."""

    command: str
    clean: bool
    hits: "Sequence[SecretHit]"

    @classmethod
    def of(cls, verdict: "Verdict") -> "Shown":
        """Look for secrets; a text that is too long is searched, and shown, in part."""
        from cli_guard.secrets import scan

        command = verdict.command[:LONGEST]
        texts = (
            verdict.reason,
            verdict.alternative,
            verdict.savable,
            *(text for each in verdict.effects for text in (each.target, each.reason)),
        )
        # One look at all of them is enough nearly always.
        if not scan(
            "\n".join((command, *dict.fromkeys(text for text in texts if text)))
        ).hits:
            return cls(command, True, ())
        return cls(command, False, scan(command).hits)

    def piece(self, start: int, end: int) -> str:
        """Return a piece of the command, its secrets masked."""
        from cli_guard.secrets.redact import mask_hits

        return (
            mask_hits(self.command, self.hits, start, end)
            if self.hits
            else self.command[start:end]
        )

    def rule(self, verdict: "Verdict") -> str | None:
        """Return the rule that could be saved; None if it holds a secret, as a mask would allow any."""
        rule = verdict.savable
        return rule if rule and self.other(rule) == rule else None

    def other(self, text: str) -> str:
        """Mask a text of the engine, which may quote the command in another spelling."""
        if self.clean:
            return text
        from cli_guard.secrets.redact import mask, redact

        for value in {hit.value for hit in self.hits}:
            text = text.replace(value, mask(value))
        return redact(text)


def as_dict(verdict: "Verdict") -> dict[str, object]:
    """Return the verdict as data that always has every key."""
    shown = Shown.of(verdict)
    whole = shown.piece(0, len(shown.command))
    return {
        "command": whole if len(verdict.command) <= LONGEST else clip(whole, BEGINNING),
        "verdict": str(verdict.verdict),
        "reason": shown.other(verdict.reason),
        "effects": [
            {
                "kind": str(each.kind),
                "target": shown.other(each.target) if each.target else each.target,
                "decision": str(each.decision),
                "reason": shown.other(each.reason),
            }
            for each in verdict.effects
        ],
        "evidence": [
            {
                "start": span.start,
                "end": span.end,
                "text": shown.piece(span.start, span.end),
            }
            for span in verdict.evidence
        ],
        "coverage": verdict.coverage,
        "alternative": shown.other(verdict.alternative) if verdict.alternative else None,
        "rule": shown.rule(verdict),
        "rules": list(dict.fromkeys(each.rule for each in verdict.effects if each.rule)),
    }


def failure_data(problem: str) -> dict[str, object]:
    """Return the answer to what could not be judged: a person has to look."""
    from cli_guard.commands.model import Verdict
    from cli_guard.secrets.redact import redact

    reason = redact(problem)
    verdict = Verdict("", Decision.REVIEW, reason, coverage="partial")
    return {"error": reason, **as_dict(verdict), "command": None}


def as_json(data: dict[str, object], *, indent: int | None = None) -> str:
    """Format data as pure ASCII, on one line unless it is indented."""
    return json.dumps(json_value(data), indent=indent, ensure_ascii=True, allow_nan=False)


def render(verdict: "Verdict", *, color: bool = False) -> str:
    """Format the verdict for a person: one line, and for review and deny the place and the next step."""
    word = str(verdict.verdict)
    painted = f"\x1b[{COLORS[verdict.verdict]}m{word}\x1b[0m" if color else word
    if verdict.reason in PLAIN:
        return f"{painted}  {verdict.reason}"
    shown = Shown.of(verdict)
    lines = [f"{painted}  {clip(printable(shown.other(verdict.reason)), REASON)}"]
    if verdict.verdict is Decision.ALLOW:
        return lines[0]
    lines += excerpt(shown, verdict.evidence)
    if verdict.alternative:
        lines.append(f"  -> {printable(shown.other(verdict.alternative))}")
    if verdict.verdict is Decision.REVIEW and (words := write_allow(verdict)):
        lines.append(f"  to allow it from now on: {words}")
    return "\n".join(lines)


def write_allow(verdict: "Verdict") -> str:
    """Write the command that saves a rule for a reviewed command, "" if none should be kept."""
    saved = Shown.of(verdict).rule(verdict) or ""
    program = saved.removesuffix(" *")
    words = (
        f"--program {program}"
        if program != saved and " " not in program
        else shlex.quote(saved)
    )
    return f"cli-guard allow {words}" if saved else ""


def sentence(verdict: "Verdict") -> str:
    """Format the verdict in one line for an agent: the reason, and what would be better."""
    if verdict.reason in PLAIN:
        return f"cli-guard: {verdict.reason}"
    shown = Shown.of(verdict)
    instead = (
        f"; instead: {shown.other(verdict.alternative)}" if verdict.alternative else ""
    )
    return f"cli-guard: {clip(printable(shown.other(verdict.reason)), REASON)}{printable(instead)}"


def excerpt(shown: Shown, spans: "tuple[Span, ...]") -> Iterator[str]:
    """Yield the line that the verdict is about, and carets under the places in it unless they cover all of it."""
    if not shown.command.strip() or not spans:
        return
    first = spans[0]
    low = shown.command.rfind("\n", 0, first.start) + 1
    end = shown.command.find("\n", first.start)
    end = len(shown.command) if end < 0 else end
    start = low if end - low <= WIDTH else max(low, first.start - BEFORE)
    stop = min(end, start + WIDTH)
    text = ""
    marks = ""
    for a, b, marked in pieces(spans, start, stop):
        piece = printable(shown.piece(a, b))
        text += piece
        marks += ("^" if marked else " ") * width(piece)
    marks = marks.rstrip()
    is_part = " " in marks
    if start > low:
        text = "..." + text
        marks = "   " + marks
    if stop < end:
        text += "..."
    yield f"  | {text}"
    if is_part:
        yield f"    {marks}"


def pieces(
    spans: "tuple[Span, ...]", start: int, stop: int
) -> Iterator[tuple[int, int, bool]]:
    """Yield the text from `start` to `stop` in pieces that lie in a span or in none."""
    edges = {start, stop}
    for span in spans:
        edges |= {min(max(edge, start), stop) for edge in (span.start, span.end)}
    for a, b in pairwise(sorted(edges)):
        yield a, b, any(span.start <= a and b <= span.end for span in spans)


def width(text: str) -> int:
    """Return the number of columns that a terminal gives to a text."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(each) in "WF" for each in text)
    return len(text) + wide - sum(bool(unicodedata.combining(each)) for each in text)
