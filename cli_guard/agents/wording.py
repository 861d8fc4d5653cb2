"""The answer to an agent: a decision, and a reason that it can act on."""

from dataclasses import replace
from typing import TYPE_CHECKING

from cli_guard.lazy import frozen
from cli_guard.model import Decision
from cli_guard.rules import catalog
from cli_guard.secrets.printable import clip, printable

if TYPE_CHECKING:
    from cli_guard.secrets import SecretHit

LONGEST_REASON = 4_000
# All that is said of an allow, which agents show to nobody.
ALLOWED = "cli-guard: nothing in it needs a question"
LATE = "cli-guard: not judged in time, which is no verdict: the same again may be judged"
ALLOW = "cli-guard allow "
# The user types it, and sees the command and its rule before it counts.
LAST = "cli-guard allow --last"
WORDS = {Decision.ALLOW: "allow", Decision.REVIEW: "ask", Decision.DENY: "deny"}


@frozen
class HookAnswer:
    """A decision about a request: the worst effect first, then what to do instead.

    `ways` are the commands with which the user can allow it from now on. `command` is the shell command that
    `cli-guard allow --last` could allow, "" if there is none; it runs in `folder`. `silent`: see `AgentRequest`.
    `is_trusted`: it was judged in a work tree that a person trusts with `--agents`.
    """

    decision: Decision
    reason: str
    ways: tuple[str, ...] = ()
    command: str = ""
    folder: str = ""
    silent: str = ""
    is_trusted: bool = False

    @property
    def word(self) -> str:
        """Return the decision as most agents spell it: allow, ask or deny."""
        return WORDS[self.decision]

    @property
    def text(self) -> str:
        """Return the reason as it is sent: bounded, without control characters."""
        reason = self.reason
        # These are ours alone, and a search for secrets takes longer than to judge.
        if reason not in (ALLOWED, LATE):
            from cli_guard.secrets.redact import redact

            reason = clip(printable(redact(reason), keep_newlines=True), LONGEST_REASON)
        if self.silent:
            return f"{reason}\nA person must decide, but {self.silent}: {self.advice}"
        ways = " or ".join(f"`{printable(way)}`" for way in self.ways)
        return f"{reason}; to allow it from now on: {ways}" if ways else reason

    @property
    def advice(self) -> str:
        """Say what the agent, and what its user, can do where nobody is asked."""
        agent = "do that instead" if "; instead: " in self.reason else "do without it"
        typed = [LAST if way.startswith(ALLOW) else printable(way) for way in self.ways]
        ways = "".join(f"`{way}` or " for way in typed)
        does = "runs the command itself" if self.command else "does it"
        user = f"types {ways}{does}" if ways else does
        return f"{agent}, or your user {user}, in a terminal of their own"

    def deny_unasked(self, silent: str) -> "HookAnswer":
        """Return the denial of what needs a person where nobody is asked; `silent` is why."""
        return replace(self, decision=Decision.DENY, silent=silent)


def name_secret(hit: "SecretHit") -> str:
    """Return what kind of secret it is, and its rule."""
    return f"a secret ({catalog.one('secrets', hit.rule).title}; {hit.rule})"
