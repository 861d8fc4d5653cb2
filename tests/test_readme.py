"""README.md: short, and each block of it does what the text says."""

import re
import sys
from pathlib import Path

import pytest
import yaml
from repositories import Repo

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "README.md").read_text("utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", TEXT, re.M | re.S)
PASTED, SHOWN, INSTALLED = [block for language, block in BLOCKS if not language]
(HOOKS,) = [block for language, block in BLOCKS if language == "yaml"]
(POLICY,) = [block for language, block in BLOCKS if language == "toml"]


@pytest.fixture
def guarded(committed: Repo) -> Repo:
    """A repository in which the lines of "Install" were carried out, but for pip's."""
    first, *commands = INSTALLED.splitlines()
    assert first.startswith("pip install /path/to/cli-guard ")
    for command in commands:
        done = committed.run("bash", "-c", command)
        assert done.code == 0, done.all
    return committed


def test_it_is_read_in_two_minutes() -> None:
    assert len(TEXT.splitlines()) <= 120
    assert len(TEXT.split()) <= 1_000


def test_what_is_pasted_prints_what_is_shown(guarded: Repo) -> None:
    done = guarded.run("bash", "-c", PASTED)
    assert done.code == 1
    assert done.err.strip() == SHOWN.strip()


def test_the_key_of_the_documentation_is_named_as_known(guarded: Repo) -> None:
    (key,) = re.findall(r"AWS_KEY.*\n", PASTED)
    guarded.write("settings.py", key)
    guarded.git("add", "-A")
    done = guarded.guard("review")
    assert done.code == 0
    assert "1 known example key" in done.all


def test_every_kind_of_rule_has_a_reviewer_with_a_line(committed: Repo) -> None:
    rows = re.findall(r"^\| ([a-z, ]+) \|", TEXT, re.M)
    named = [name for names in rows for name in names.split(", ")]
    rules = committed.guard("rules", "--format", "json").json
    kinds = {rule["id"].partition("-")[0] for rule in rules}
    assert [kind for kind in kinds if not any(n.startswith(kind[:3]) for n in named)] == []


def test_the_policy_is_valid(committed: Repo) -> None:
    committed.write("cli-guard.toml", POLICY)
    done = committed.guard("config", "check")
    assert done.code == 0, done.all


def test_the_block_for_pre_commit_is_valid(committed: Repo) -> None:
    assert yaml.safe_load(HOOKS)["repos"][0]["rev"] == "COMMIT"
    committed.write(".pre-commit-config.yaml", HOOKS)
    program = str(Path(sys.executable).parent / "pre-commit")
    done = committed.run(program, "validate-config", ".pre-commit-config.yaml")
    assert done.code == 0, done.all


def test_every_link_leads_to_a_page() -> None:
    links = re.findall(r"\]\(((?:docs/)?[\w-]+\.md)\)", TEXT)
    assert len(links) > 15
    assert [link for link in links if not (ROOT / link).is_file()] == []
