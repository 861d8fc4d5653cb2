"""What came of a check, and what is told of it: a finding where it did not pass, a line where it did."""

from dataclasses import dataclass
from typing import Literal

from cli_guard.execution.processes.errors import clip_line, cut, plain, scan
from cli_guard.model import Finding, Skipped, fingerprint
from cli_guard.policy.checks import PlannedCheck
from cli_guard.rules.catalog import one
from cli_guard.secrets.printable import clip, printable
from cli_guard.secrets.redact import redact

LAST_LINES = 12
ERROR_LINES = 6
LINE_CHARS = 300


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a check. `reason` says why it did not pass; `output` is the end of what it printed, as it came.

    `missing` is what of the tree it ran without. `cached`: it passed before, and was not run.
    """

    check: PlannedCheck
    state: Literal["passed", "failed", "not run"]
    reason: str = ""
    seconds: float = 0.0
    output: str = ""
    missing: tuple[Skipped, ...] = ()
    cached: bool = False

    @property
    def told(self) -> str:
        """`tests passed (12 s)`; why it did not stands in the finding."""
        if self.state == "not run":
            return f"{self.check.name} did not run"
        return f"{self.check.name} {self.state} ({'this tree before' if self.cached else f'{self.seconds:.0f} s'})"

    @property
    def did(self) -> str:
        """`passed`, `failed` or `did not run`."""
        return "did not run" if self.state == "not run" else self.state

    @property
    def finding(self) -> Finding | None:
        """The finding about it, None where it passed."""
        if self.state == "passed":
            return None
        rule = one("checks", "push-check-failed" if self.state == "failed" else "push-check-not-run")
        left_out = "; ".join(f"{each.path} ({each.reason})" for each in self.missing)
        without = f"; it ran without {left_out}" if left_out else ""
        return rule.finding(
            path="",
            line=None,
            message=told_safely(f"the check {self.check.name} {self.did}: {self.reason}{without}"),
            evidence="\n".join(lines_of(self.output)),
            fingerprint=fingerprint(rule.id, self.check.name, self.check.tree),
        )


def lines_of(output: str) -> list[str]:
    """The lines of an output that tell why: the errors that are known of what stands earlier, then its last lines."""
    # As one text: a private key is more than a line.
    text = redact(plain(output.replace("\r\n", "\n")))
    lines = text.split("\n")
    kept = [number for number, line in enumerate(lines, 1) if line.strip()][-LAST_LINES:]
    errors = dict.fromkeys(cut(each.message) for each in scan(text) if each.line not in kept)
    last = (clip_line(lines[number - 1]) for number in kept)
    told = (*list(errors)[:ERROR_LINES], *(["..."] if errors else []), *last)
    return [clip(printable(line), LINE_CHARS) for line in told]


def told_safely(text: str) -> str:
    """A line that may be shown: no secret, nothing that acts on a terminal, not too long."""
    return clip(printable(redact(text)), 2 * LINE_CHARS)
