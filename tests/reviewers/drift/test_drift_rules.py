"""Every rule of the drift reviewer reports the lines of its examples and none in its near misses."""

from pathlib import Path
from typing import Any

from examples import examples, table
from repositories import Repo
from reviewers.drift.labelled import compare, drift_in

from cli_guard.model import Category, Severity
from cli_guard.rules import catalog
from cli_guard.rules.catalog import Rule

RULES = catalog.load("drift", examples=True)
CHANGES = [
    (rule, each, bool(each["expect"])) for rule in RULES for each in rule.extra["change"]
]


@examples(("rule", "case", "fires"), CHANGES, fires="fires")
def test_change(
    rule: Rule, case: dict[str, Any], fires: bool, tmp_path: Path, isolated: dict[str, str]
) -> None:
    findings = drift_in(Repo.create(tmp_path / "r", isolated), case)
    own = [each for each in findings if each.rule == rule.id]
    outcome = compare(case, own)
    assert outcome.is_right, outcome
    assert fires == bool(own)
    patches = "\n".join(each.suggestion or "" for each in own)
    assert [text for text in case.get("suggests", ()) if text not in patches] == []


@table("rule", RULES, ids=lambda rule: rule.id)
def test_rule_is_advice_with_both_kinds_of_examples(rule: Rule) -> None:
    fires = [bool(each["expect"]) for each in rule.extra["change"]]
    assert rule.category is Category.DOCS and rule.severity in (Severity.LOW, Severity.INFO)
    assert set(fires) == {True, False}


def test_a_case_that_reports_nothing_where_something_is_expected_fails() -> None:
    case = {
        "id": "x",
        "before": {"a.md": "one\ntwo\n"},
        "expect": [{"path": "a.md", "text": "two"}],
    }
    outcome = compare(case, [])
    assert not outcome.is_right and outcome.missed == ("x: a.md: two",)
