"""Changes written by people who had not read the rules, each reviewed in a repository of its own.

`fixtures/dependencies/*.toml`: a case has the tree before, what the change writes and deletes, and what a reviewer
would want to be told. `MISSED` lists what is not found yet; whatever is found is taken off the list.
"""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from repositories import Repo
from sampling import choose_rows

from cli_guard.model import Disposition, JudgedFinding

FOLDER = Path(__file__).parents[3] / "fixtures" / "dependencies"
FILES = sorted(FOLDER.glob("*.toml"))
CASES = [case for file in FILES for case in tomllib.loads(file.read_text("utf-8"))["case"]]
STOPS = (Disposition.REVIEW, Disposition.DENY)
# By case: what it expects and what is not reported. Rules of other reviewers may say the same.
MISSED: dict[str, tuple[str, ...]] = {}
SAME_ELSEWHERE = ("code-docker-unpinned", "code-workflow-unpinned", "command-")


def write_all(repo: Repo, case: dict[str, Any]) -> None:
    """Commit the tree before, and stage the change."""
    repo.commit("before", case.get("before", {}))
    for path, text in case.get("after", {}).items():
        repo.write(path, text)
    for path in case.get("deleted", ()):
        (repo.path / path).unlink()
    repo.git("add", "-A")


def matching(
    case: dict[str, Any], expected: dict[str, str], found: list[JudgedFinding]
) -> Iterator[JudgedFinding]:
    """Yield the findings on what a case expects: on its line, or in its file if the line is gone."""
    text = case.get("after", {}).get(expected["path"], "")
    lines = [
        number
        for number, line in enumerate(text.split("\n"), 1)
        if expected["text"] in line
    ]
    for each in found:
        line = each.finding.line or 0
        last = each.finding.end_line or each.finding.line or 0
        if each.finding.path == expected["path"] and (
            not lines or any(line <= n <= last for n in lines)
        ):
            yield each


def kinds_of(case: dict[str, Any]) -> list[object]:
    """What happens in a kind of file, and what a reviewer would want of it."""
    wanted = [(case["kind"], each["decision"]) for each in case["expect"]]
    files = {Path(path).name for path in case["after"]}
    return [*wanted, (case["kind"], not wanted), *files]


CHOSEN = choose_rows(CASES, kinds_of, lambda case: case["id"])


@pytest.mark.parametrize("case", CHOSEN, ids=lambda case: case["id"])
def test_case(case: dict[str, Any], repo: Repo) -> None:
    write_all(repo, case)
    findings = repo.look().sort_findings()
    own = [f for f in findings if f.finding.rule.startswith(("deps-", *SAME_ELSEWHERE))]
    missed = []
    covered = set()
    for expected in case["expect"]:
        hits = list(matching(case, expected, own))
        covered |= {id(hit) for hit in hits}
        if not any(
            hit.disposition in STOPS or expected["decision"] == "advise" for hit in hits
        ):
            missed.append(expected["text"])
    false = [
        each.finding
        for each in own
        if each.finding.rule.startswith("deps-")
        and id(each) not in covered
        and (each.disposition in STOPS or not case["expect"])
    ]
    assert tuple(missed) == MISSED.get(case["id"], ()), "not reported, or no longer missed"
    assert not false


def test_every_known_miss_names_a_case() -> None:
    assert set(MISSED) <= {case["id"] for case in CASES}
