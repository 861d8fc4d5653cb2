"""Every example of every rule: what it must report and what it must not."""

import pytest
from examples import examples, examples_of, near_misses, table

from cli_guard.model import ChangeSet, FileChange, Hunk, Status
from cli_guard.reviewers.review_input import ReviewInput
from cli_guard.reviewers.secrets import review
from cli_guard.rules import catalog, data
from cli_guard.rules.examples import expand, split_path
from cli_guard.secrets import scan
from cli_guard.secrets.detectors import all_detectors, documented_keys
from cli_guard.secrets.engine import CHECKS

RULES = {rule.id: rule for rule in catalog.load("secrets", examples=True)}
TEXT_RULES = [rule for rule in RULES.values() if "names" not in rule.extra]
SEEDS = range(3)


def rules_in(example: str, seed: int) -> set[str]:
    path, text = split_path(expand(example, seed))
    return {hit.rule for hit in scan(text, path or "").hits}


@pytest.mark.parametrize("rule", TEXT_RULES, ids=lambda rule: rule.id)
@examples(("example", "fires"), examples_of, fires="fires")
def test_example_fires_its_rule_alone_and_near_miss_no_rule_at_all(
    rule: catalog.Rule, example: str, fires: bool
) -> None:
    expected = {rule.id} if fires else set()
    assert [rules_in(example, seed) for seed in SEEDS] == [expected] * len(SEEDS)


def named_findings(example: str) -> list[str]:
    path, text = split_path(expand(example))
    assert path is not None
    lines = tuple(text.split("\n"))
    change = FileChange(path, Status.ADDED, hunks=(Hunk(0, 1, (), lines),))
    return [
        finding.rule
        for finding in review(ReviewInput("test", ChangeSet((change,)))).findings
    ]


@examples("example", RULES["secret-file-name"].fires)
def test_risky_file_name_is_reported_once(example: str) -> None:
    assert named_findings(example) == ["secret-file-name"]


@near_misses("example", RULES["secret-file-name"].silent)
def test_harmless_file_name_is_not_reported(example: str) -> None:
    assert named_findings(example) == []


@table("rule", RULES.values(), ids=RULES)
def test_rule_is_explained_and_has_examples_of_both_kinds(rule: catalog.Rule) -> None:
    assert rule.id.startswith("secret-")
    assert rule.source.startswith("https://")
    assert len(rule.fires) >= 1 and len(rule.silent) >= 2
    assert rule.why.endswith((".", ")")) and rule.remedy.endswith((".", ")"))


@table("detector", all_detectors(), ids=lambda detector: detector.id)
def test_rule_is_complete(detector) -> None:
    assert detector.keywords or detector.paths
    assert all(keyword == keyword.lower() for keyword in detector.keywords)
    assert detector.block or (detector.check in CHECKS and detector.pattern.groupindex)


def test_ids_are_unique() -> None:
    assert len(RULES) == len(catalog.load("secrets", examples=True)) >= 100


def test_rule_files_hold_no_key_themselves() -> None:
    """Hosting sites refuse a push with a real-looking key in it, and so would we."""
    for file in (data.FOLDER / "secrets").glob("*.toml"):
        hits = scan(file.read_text("utf-8")).hits
        assert [(hit.rule, hit.start) for hit in hits] == [], file.name


@near_misses("key", sorted(documented_keys()))
def test_documented_key_is_silent_wherever_it_stands(key: str) -> None:
    assert scan(f'secret_key = "{key}"').hits == ()
