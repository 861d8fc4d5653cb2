"""Judge scripts, run them, and count what differs."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice

from bash_oracle.compare import Difference, compare
from bash_oracle.judged import Judged, Word, judged
from bash_oracle.runner import RealBash, Run, runs_of

from cli_guard.commands.model import Profile
from cli_guard.model import Decision

BATCH = 20


@dataclass(frozen=True)
class Failure:
    """A script that is allowed and does what the judge did not name."""

    kind: str
    number: int
    script: str
    profile: Profile
    differences: tuple[Difference, ...]
    named: str = ""


@dataclass
class Result:
    """What came out; `others` are differences in scripts that are not allowed, by verdict."""

    failures: list[Failure] = field(default_factory=list)
    verdicts: Counter[str] = field(default_factory=Counter)
    others: Counter[str] = field(default_factory=Counter)
    runs: int = 0
    killed: int = 0
    seconds: float = 0.0

    def add(self, other: "Result") -> None:
        self.failures += other.failures
        self.verdicts += other.verdicts
        self.others += other.others
        self.runs += other.runs
        self.killed += other.killed
        self.seconds += other.seconds


@dataclass(frozen=True)
class Case:
    """A script that has been judged, with its runs."""

    kind: str
    number: int
    script: str
    profile: Profile
    judged: Judged
    runs: list[Run]


def prepare(kind: str, number: int, script: str, sample: int) -> Case | None:
    """Judge a script; of those that are not allowed every `sample`th is run. None for what bash cannot be given."""
    if "\0" in script or (not script.isprintable() and has_surrogates(script)):
        return None
    profile = Profile.WORKSPACE if number // 4 % 2 else Profile.STRICT
    runs = runs_of(script, number)
    found = judged(script, runs[0].folder, profile)
    if found.verdict is not Decision.ALLOW and (not sample or number % sample):
        runs = []
    return Case(kind, number, script, profile, found, runs)


def has_surrogates(script: str) -> bool:
    return any("\ud800" <= each <= "\udfff" for each in script)


def check(
    bash: RealBash, scripts: Iterable[tuple[str, str]], *, first: int = 0, sample: int = 1
) -> Result:
    """Judge scripts and run them; `first` is the number of the first one, which picks its tree and answers."""
    result = Result()
    for batch in split(enumerate(scripts, first)):
        cases = [prepare(kind, number, script, sample) for number, (kind, script) in batch]
        check_batch(bash, [case for case in cases if case], result)
    return result


def split(
    items: Iterable[tuple[int, tuple[str, str]]],
) -> Iterator[list[tuple[int, tuple[str, str]]]]:
    given = iter(items)
    while batch := list(islice(given, BATCH)):
        yield batch


def check_batch(bash: RealBash, cases: list[Case], result: Result) -> None:
    answers = iter(bash.run([run for case in cases for run in case.runs]))
    for case in cases:
        found: dict[Difference, None] = {}
        for ran in islice(answers, len(case.runs)):
            result.runs += 1
            result.killed += ran.killed
            found |= dict.fromkeys(compare(case.judged, ran))
        verdict = case.judged.verdict
        result.verdicts[verdict.value] += 1
        if found and verdict is Decision.ALLOW:
            named = "; ".join(map(show_command, case.judged.commands))
            failure = Failure(
                case.kind, case.number, case.script, case.profile, tuple(found), named
            )
            result.failures.append(failure)
        elif found:
            result.others[verdict.value] += 1


def show_command(command: tuple[Word, ...]) -> str:
    return " ".join(
        repr(word.text) if word.text is not None else f"{word.start}.." for word in command
    )


def shrink(bash: RealBash, failure: Failure) -> Failure:
    """Return the failure with as much of its script left out as may be, with the same sorts of differences."""
    wanted = {each.sort for each in failure.differences}
    size = len(failure.script) // 2
    while size:
        at = 0
        while at < len(failure.script):
            shorter = failure.script[:at] + failure.script[at + size :]
            result = Result()
            case = prepare(failure.kind, failure.number, shorter, 0)
            if case and case.profile is failure.profile and case.runs:
                check_batch(bash, [case], result)
            if result.failures and wanted <= {
                each.sort for each in result.failures[0].differences
            }:
                failure = result.failures[0]
            else:
                at += size
        size //= 2
    return failure
