"""`.pre-commit-hooks.yaml`: valid, and the same promises for every hook."""

import re
import sys
from pathlib import Path

import pytest
import yaml
from repositories import Repo

from cli_guard.hooks import REVIEW_HOOKS

ROOT = Path(__file__).parents[2]
MANIFEST = ROOT / ".pre-commit-hooks.yaml"
PAGES = ("README.md", "docs/installing.md")
ENTRIES = yaml.safe_load(MANIFEST.read_text("utf-8"))


def test_pre_commit_validates_it(repo: Repo) -> None:
    program = str(Path(sys.executable).parent / "pre-commit")
    done = repo.run(program, "validate-manifest", str(MANIFEST))
    assert done.code == 0, done.all


def test_every_hook_has_one_entry() -> None:
    listed = [(entry["id"], entry["stages"]) for entry in ENTRIES]
    assert listed == [(each.framework_id, [each.name]) for each in REVIEW_HOOKS]


@pytest.mark.parametrize("page", PAGES)
def test_a_page_names_every_hook_and_no_other(page: str) -> None:
    named = re.findall(r"- id: (\S+)", (ROOT / page).read_text("utf-8"))
    assert named == [entry["id"] for entry in ENTRIES]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry["id"])
def test_an_entry_runs_once_always_and_is_one_line(entry: dict[str, object]) -> None:
    (stage,) = entry["stages"]  # type: ignore[misc]
    assert entry["entry"] == f"python -E -P -m cli_guard hook {stage} --framework"
    assert entry["always_run"] and entry["require_serial"] and "verbose" not in entry
    # The message file is commit-msg's only argument; every other hook reads Git itself.
    assert entry.get("pass_filenames", True) is (stage == "commit-msg")
    assert entry["minimum_pre_commit_version"] == "3.2.0"
