"""What a policy leaves to each reviewer, and the time that a hook may spend on those that only advise."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from cli_guard.model import Disposition, Severity, Skipped
from cli_guard.policy.decisions import Policy
from cli_guard.reviewers.registry import REVIEWERS, Reviewer

HOOKS = ("pre-commit", "pre-merge-commit", "pre-push", "pre-receive")
# The speed of a fast machine: a file that would even there take longer than what is left is not begun.
CHARS_A_MS = 4_000
SHARE = 0.75
ADVISING = frozenset(each.name for each in REVIEWERS if each.advises)
STOPS = {Disposition.DENY, Disposition.REVIEW}


@dataclass
class Advice:
    """The `reviewers` that only advise; those that are `bounded`, in a hook, together by a time."""

    reviewers: frozenset[str] = ADVISING
    bounded: frozenset[str] = frozenset()
    milliseconds: float = 0
    # The time of this thread: other programs do not make the advice on a commit shorter.
    clock: Callable[[], float] = time.thread_time
    started: float = 0
    left_out: set[str] = field(default_factory=set)

    def has_time(self, reviewer: str, path: str, chars: int) -> bool:
        """Return whether a reviewer may begin a file; if not, the file counts as left out."""
        if reviewer not in self.bounded:
            return True
        self.started = self.started or self.clock()
        # The first of them parses the files for the others, and must leave them some time.
        most = self.milliseconds * (SHARE if reviewer == min(self.reviewers) else 1)
        if (self.clock() - self.started) * 1000 + chars / CHARS_A_MS >= most:
            self.left_out.add(path)
        return path not in self.left_out

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """Name what was left out, in one entry."""
        what = f"advice on {len(self.left_out):,} of the files"
        reason = "over limits.advice_ms; once committed: cli-guard review --commit HEAD"
        return (Skipped(what, reason),) if self.left_out else ()


def dispositions(reviewer: Reviewer, policy: Policy) -> Iterator[Disposition]:
    """Yield what the findings of a reviewer may lead to."""
    ranks = list(Severity)
    for rule in reviewer.rules:
        for severity in ranks[ranks.index(rule.severity) if reviewer.advises else 0 :]:
            sample = rule.finding(path="", line=None, message="", fingerprint="", severity=severity)
            yield policy.disposition(sample)


def sort_reviewers(policy: Policy) -> tuple[frozenset[str], frozenset[str]]:
    """Return the reviewers whose rules are all off, and those that can stop nothing."""
    written = [each for each in (*policy.configs, policy.user) if each]
    named = {each for one in written for each in (*one.rules.values(), *one.decisions.values())}
    # No rule file is read for a configuration that names nothing of the kind.
    chosen = REVIEWERS if Disposition.OFF in named else ()
    idle = (one for one in chosen if all(each is Disposition.OFF for each in dispositions(one, policy)))
    harder = () if STOPS.isdisjoint(named) else REVIEWERS
    stopping = {one.name for one in harder if not STOPS.isdisjoint(dispositions(one, policy))}
    return frozenset(each.name for each in idle), ADVISING - stopping
