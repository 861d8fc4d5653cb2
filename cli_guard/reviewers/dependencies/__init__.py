"""Dependencies: what a change to manifests, lock files and package managers' settings brings in, and from where.

`reading` turns a file into entries, `changes` compares them before and after, the other modules judge the differences.
"""

from itertools import chain
from operator import attrgetter

from cli_guard.model import Report, Skipped
from cli_guard.reviewers.dependencies.addresses import judge_address
from cli_guard.reviewers.dependencies.changes import find_differences
from cli_guard.reviewers.dependencies.installs import review_installs
from cli_guard.reviewers.dependencies.judging import (
    DependencyWorld,
    judge,
    judge_integrity,
    judge_source,
)
from cli_guard.reviewers.dependencies.locks import review_locks
from cli_guard.reviewers.dependencies.newcomers import review_newcomers
from cli_guard.reviewers.dependencies.releases import (
    judge_advisory,
    judge_name,
    judge_script,
    judge_version,
)
from cli_guard.reviewers.dependencies.usage import review_usage
from cli_guard.reviewers.review_input import ReviewInput

JUDGES = (
    judge_source,
    judge_address,
    judge_integrity,
    judge_script,
    judge_advisory,
    judge_name,
    judge_version,
)


def review(subject: ReviewInput) -> Report:
    """Return the findings on what each file names that it did not name before, by path, line and rule."""
    skipped: list[Skipped] = []
    # A manifest says why a lock file changed: what it has reported is not reported again.
    found = sorted(find_differences(subject, skipped), key=lambda each: each.is_lock)
    world = DependencyWorld(subject, found, skipped)
    judged = chain.from_iterable(judge(world, each, JUDGES) for each in found)
    findings = [
        *judged,
        *review_locks(world),
        *review_newcomers(world),
        *review_installs(world),
        *review_usage(world),
    ]
    findings.sort(key=attrgetter("order"))
    return Report(tuple(findings), tuple(skipped))
