"""Labelled changes of fixtures/drift: each is a repository before and after, and the lines that become false."""

import datetime
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from repositories import Repo

from cli_guard.git.repository import GitRepository
from cli_guard.model import Finding
from cli_guard.review.load import gather
from cli_guard.review.request import Range, Request, Staged
from cli_guard.reviewers import drift
from cli_guard.runtime import Invocation

FOLDER = Path(__file__).parents[3] / "fixtures" / "drift"
NOW = datetime.datetime(2026, 5, 4, tzinfo=datetime.UTC)


@dataclass(frozen=True)
class Outcome:
    """What a review has of what is expected: lines found and missed, and findings about other lines."""

    found: tuple[str, ...]
    missed: tuple[str, ...]
    others: tuple[str, ...]

    @property
    def is_right(self) -> bool:
        return not self.missed and not self.others


def read_cases(path: Path) -> list[dict[str, Any]]:
    """The cases of one file."""
    cases: list[dict[str, Any]] = tomllib.loads(path.read_text("utf-8"))["case"]
    return cases


def drift_in(repo: Repo, case: dict[str, Any]) -> list[Finding]:
    """Commits the state before, stages the change, and returns what the reviewer of drift alone says of it."""
    repo.commit("Before", case["before"])
    for path in case.get("deleted", ()):
        (repo.path / path).unlink()
    for path, text in case.get("after", {}).items():
        repo.write(path, text)
    repo.git("add", "-A")
    request: Request = Staged()
    if case.get("event") == "range":
        repo.commit("After")
        request = Range("HEAD^", "HEAD")
    invocation = Invocation(repo.path, repo.env, NOW)
    repository = GitRepository.discover(repo.path, repo.env)
    with gather(request, repository, invocation) as gathered:
        found = drift.review(gathered.subject).findings
    return [each for each in found if each.rule.startswith("docs-drift-")]


def compare(case: dict[str, Any], findings: list[Finding]) -> Outcome:
    """Match findings and expected lines: same path, and the number of a line that holds the text."""
    texts = {**case["before"], **case.get("after", {})}
    left = {(each.path, each.line): each for each in findings}
    found = []
    missed = []
    for wanted in case["expect"]:
        lines = texts[wanted["path"]].split("\n")
        numbers = [n for n, line in enumerate(lines, 1) if wanted["text"] in line]
        hit = next(
            (left.pop((wanted["path"], n)) for n in numbers if (wanted["path"], n) in left),
            None,
        )
        fixed = wanted.get("replacement", "")
        label = f"{case['id']}: {wanted['path']}: {wanted['text']}"
        wrong = hit is not None and fixed and fixed not in (hit.suggestion or "")
        if hit is None or wrong:
            missed.append(label + (" (replacement)" if wrong else ""))
        else:
            found.append(label)
    others = [
        f"{case['id']}: {path}:{line}: {each.message}"
        for (path, line), each in left.items()
    ]
    return Outcome(tuple(found), tuple(missed), tuple(others))
