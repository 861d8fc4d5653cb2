"""The outcome of a check, and the finding about it."""

from typing import Literal

from cli_guard.execution.errors import LINE_CHARS, explain_output
from cli_guard.lazy import frozen
from cli_guard.model import Finding, Skipped
from cli_guard.policy.checks import PlannedCheck
from cli_guard.rules.catalog import one
from cli_guard.secrets.printable import clip, printable
from cli_guard.secrets.redact import redact

State = Literal["passed", "failed", "not run"]


@frozen
class Outcome:
    """The outcome of a check: `reason` says why it did not pass, `output` is the raw end of what it printed.

    `missing` is what the tree lacked. `cached`: it passed before, and was not run. `findings` are those of its report.
    """

    check: PlannedCheck
    state: State
    reason: str = ""
    seconds: float = 0.0
    output: str = ""
    missing: tuple[Skipped, ...] = ()
    cached: bool = False
    findings: tuple[Finding, ...] = ()

    @property
    def summary(self) -> str:
        """`tests passed (12 s)`; the finding says why it did not."""
        if self.state == "not run":
            return f"{self.check.name} did not run"
        return f"{self.check.name} {self.state} ({'this tree before' if self.cached else f'{self.seconds:.0f} s'})"

    @property
    def did(self) -> str:
        return "did not run" if self.state == "not run" else self.state

    @property
    def finding(self) -> Finding | None:
        """The finding about it, None if it passed."""
        if self.state == "passed":
            return None
        rule = one(
            "checks",
            "push-check-failed" if self.state == "failed" else "push-check-not-run",
        )
        left_out = "; ".join(f"{each.path} ({each.reason})" for each in self.missing)
        without = f"; it ran without {left_out}" if left_out else ""
        return rule.finding(
            message=make_safe(
                f"the check {self.check.name} {self.did}: {self.reason}{without}"
            ),
            evidence="\n".join(explain_output(self.output)),
            subject=self.check.name,
            content=self.check.tree,
        )


def make_safe(text: str) -> str:
    """Return a line that may be shown: masked, printable, and cut."""
    return clip(printable(redact(text)), 2 * LINE_CHARS)
