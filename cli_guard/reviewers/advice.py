"""What a policy leaves to each reviewer, and how much a hook may read for those that only advise."""

from collections.abc import Iterator
from dataclasses import field

from cli_guard.lazy import dataclass
from cli_guard.model import OVER_ADVICE, Disposition, Severity, Skipped
from cli_guard.policy.decisions import Policy
from cli_guard.reviewers.registry import REVIEWERS, Reviewer

# What a common machine reads in a millisecond. It stands for the time: how busy a machine is must change no report.
CHARS_A_MS = 500
ADVISING = frozenset(each.name for each in REVIEWERS if each.advises)
STOPS = {Disposition.DENY, Disposition.REVIEW}


@dataclass
class HookAdvice:
    """The `reviewers` that only advise; those that are `bounded`, in a hook, together by what they read."""

    reviewers: frozenset[str] = ADVISING
    bounded: frozenset[str] = frozenset()
    milliseconds: int = 0
    spent: int = 0
    begun: set[str] = field(default_factory=set)
    left_out: set[str] = field(default_factory=set)

    def has_room(self, reviewer: str, path: str, chars: int) -> bool:
        """Return whether a reviewer may begin a file; if not, the file counts as left out."""
        if reviewer not in self.bounded:
            return True
        if path not in self.begun and path not in self.left_out:
            if self.spent + chars > CHARS_A_MS * self.milliseconds:
                self.left_out.add(path)
            else:
                self.spent += chars
                self.begun.add(path)
        return path in self.begun

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """Name what was left out, in one entry."""
        number = len(self.left_out)
        what = f"advice on {number:,} of the files"
        return (Skipped(what, OVER_ADVICE),) if number else ()


def dispositions(reviewer: Reviewer, policy: Policy) -> Iterator[Disposition]:
    """Yield what the findings of a reviewer may lead to."""
    ranks = list(Severity)
    for rule in reviewer.rules:
        for severity in ranks[ranks.index(rule.severity) if reviewer.advises else 0 :]:
            sample = rule.finding(message="", content="", severity=severity)
            yield policy.disposition(sample)


def sort_reviewers(policy: Policy) -> tuple[frozenset[str], frozenset[str]]:
    """Return the reviewers whose rules are all off, and those that can stop nothing."""
    written = [each for each in (*policy.configs, policy.user) if each]
    named = {
        each for one in written for each in (*one.rules.values(), *one.decisions.values())
    }
    # No rule file is read for a configuration that names nothing of the kind.
    chosen = REVIEWERS if Disposition.OFF in named else ()
    idle = (
        one
        for one in chosen
        if all(each is Disposition.OFF for each in dispositions(one, policy))
    )
    harder = () if STOPS.isdisjoint(named) else REVIEWERS
    stopping = {
        one.name for one in harder if not STOPS.isdisjoint(dispositions(one, policy))
    }
    return frozenset(each.name for each in idle), ADVISING - stopping
