"""The answer to an agent: a decision, and a reason that it can act on."""

from dataclasses import dataclass, replace

from cli_guard.model import Decision
from cli_guard.rules import catalog
from cli_guard.secrets import Hit
from cli_guard.secrets.printable import clip, printable
from cli_guard.secrets.redact import redact

LONGEST_REASON = 4_000


@dataclass(frozen=True, slots=True)
class Answer:
    """A decision about a request: the worst effect first, then what to do instead.

    `command` is the shell command that `cli-guard allow --last` could allow, "" if there is none; it runs in `folder`.
    """

    decision: Decision
    reason: str
    command: str = ""
    folder: str = ""

    @property
    def text(self) -> str:
        """Return the reason as it is sent: bounded, without control characters."""
        return clip(printable(redact(self.reason), keep_newlines=True), LONGEST_REASON)

    def deny_unasked(self, silent: str) -> "Answer":
        """Return the denial of what needs a person where nobody is asked; `silent` is why."""
        ways = "`cli-guard allow --last`, or `cli-guard trust` for this work tree," if self.command else "it"
        advice = f"do without it, or let your user run {ways} in a terminal of their own"
        reason = f"{self.reason}\nA person must decide, and {silent}: {advice}"
        return replace(self, decision=Decision.DENY, reason=reason)


def name_secret(hit: Hit) -> str:
    """Return what kind of secret it is, and its rule."""
    return f"a secret ({catalog.one('secrets', hit.rule).title}; {hit.rule})"
