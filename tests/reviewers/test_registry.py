"""The registry is the one list of reviewers, and a line in it is all that a new one needs."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from repositories import Repo

from cli_guard.graph.tools.reviewers import reviewing_tools
from cli_guard.reviewers import registry
from cli_guard.reviewers.registry import REVIEWERS, ReviewScope, examining
from cli_guard.rules.catalog import load_all

ROOT = Path(__file__).parents[2]
MODULE = '''"""Finds words of shame in added lines."""

from cli_guard.model import Report, fingerprint
from cli_guard.reviewers.per_file import FileResult
from cli_guard.rules.catalog import one


def examiner(subject):
    def examine(change):
        found = (
            one("shame", "shame-hack").finding(
                path=change.path,
                line=number,
                message="a hack",
                content=line,
            )
            for number, line in change.added.items()
            if "HACK" in line
        )
        return FileResult.of(found)

    return examine


def review(subject):
    examine = examiner(subject)
    results = (subject.file_result("shame", change) or examine(change) for change in subject.changes)
    return Report(tuple(finding for result in results for finding in result.findings))
'''
RULES = """[[rule]]
id = "shame-hack"
title = "A hack"
severity = "low"
why = "It says so itself."
remedy = "Write it well."
fires = ["x = 1  # HACK"]
silent = ["x = 1"]
"""
LINE = '    Reviewer("shame", "words of shame", prefix="shame-", scope=ReviewScope.FILE),\n'


@pytest.fixture(scope="module")
def extended(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package with one reviewer more: its module with its rules, and one line of the registry."""
    root = tmp_path_factory.mktemp("extended")
    shutil.copytree(ROOT / "cli_guard", root / "cli_guard")
    (root / "cli_guard" / "reviewers" / "shame.py").write_text(MODULE)
    (root / "cli_guard" / "rules" / "shame.toml").write_text(RULES)
    path = root / "cli_guard" / "reviewers" / "registry.py"
    text = path.read_text()
    assert text.count("\nREVIEWERS = (\n") == 1
    path.write_text(text.replace("\nREVIEWERS = (\n", f"\nREVIEWERS = (\n{LINE}"))
    return root


def guard(extended: Path, repo: Repo, *words: str) -> str:
    env = {
        **os.environ,
        "PYTHONPATH": str(extended),
        "CLI_GUARD_SERVER": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    done = subprocess.run(
        [sys.executable, "-m", "cli_guard", *words],
        cwd=repo.path,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert not done.stderr
    return done.stdout


def test_a_new_reviewer_is_planned_runs_and_is_listed(
    extended: Path, committed: Repo
) -> None:
    committed.write("a.py", "x = 1  # HACK\n")
    committed.git("add", "a.py")
    report = guard(extended, committed, "review", "--format", "json")
    assert '"review_shame"' in report
    assert '"shame-hack"' in report
    assert "shame-hack" in guard(extended, committed, "rules")
    assert "It says so itself" in guard(extended, committed, "explain", "shame-hack")
    assert f"reviewers: shame, {REVIEWERS[0].name}" in guard(extended, committed, "doctor")


def test_a_new_reviewer_is_sharded(extended: Path, committed: Repo) -> None:
    for number in range(6):
        committed.write(f"m{number}.py", f"x = {number}  # HACK\n")
    committed.git("add", "-A")
    parts = [
        guard(extended, committed, "review", "--format", "json", "--shard", f"{n}/2")
        for n in (1, 2)
    ]
    counts = [part.count('"rule": "shame-hack"') for part in parts]
    assert sum(counts) == 6
    assert min(counts) > 0


def test_a_new_reviewer_examines_files_one_by_one_and_its_clean_files_are_cached(
    extended: Path, committed: Repo
) -> None:
    script = """
from cli_guard.repository.between import SnapshotContents, changes_between
from cli_guard.reviewers.clean_files import pack, unpack
from cli_guard.reviewers.per_file_work import PerFileWork
from cli_guard.reviewers.review_input import ReviewInput

new = {"a.py": "x = 1  # HACK\\n", "b.py": "x = 1\\n"}
subject = ReviewInput("pre-commit", changes_between({}, new), SnapshotContents({}, new))
work = PerFileWork(subject)
hack, clean = (work.result("shame", change) for change in subject.changes)
print(len(hack.findings), "shame" in unpack(pack({"shame": hack})), "shame" in unpack(pack({"shame": clean})))
"""
    env = {**os.environ, "PYTHONPATH": str(extended), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=committed.path,
        env=env,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["1", "False", "True"]


def test_every_rule_belongs_to_a_reviewer_and_begins_with_its_prefix() -> None:
    owned = {rule.id: reviewer for reviewer in REVIEWERS for rule in reviewer.rules}
    assert owned.keys() == load_all().keys()
    assert [
        rule for rule, reviewer in owned.items() if not rule.startswith(reviewer.prefix)
    ] == []


def test_every_reviewer_has_what_its_scope_asks_for() -> None:
    for reviewer in REVIEWERS:
        assert callable(reviewer.review)
    for reviewer in examining():
        assert reviewer.scope is not ReviewScope.CHANGE
    assert list(reviewing_tools()) == [f"review_{reviewer.name}" for reviewer in REVIEWERS]


def test_no_module_of_the_room_is_a_reviewer_without_being_listed() -> None:
    room = Path(registry.__file__).parent
    modules = [*room.glob("*.py"), *room.glob("*/__init__.py")]
    found = {
        path.parent.name if path.name == "__init__.py" else path.stem
        for path in modules
        if re.search(
            r"^def review\(\s*subject: ReviewInput\b",
            path.read_text(),
            re.MULTILINE,
        )
    }
    assert found == {reviewer.name for reviewer in REVIEWERS}
