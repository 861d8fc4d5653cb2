"""Every rule of the code reviewer is complete: rules/test_rule_examples.py runs its examples."""

from examples import table

from cli_guard.model import Severity
from cli_guard.rules import catalog
from cli_guard.rules.catalog import Rule


@table("rule", catalog.load("code", examples=True), ids=lambda rule: rule.id)
def test_rule_is_complete(rule: Rule) -> None:
    assert rule.id.startswith("code-")
    assert rule.why and rule.remedy and rule.title
    whole_file = "document" not in rule.extra and "pattern" not in rule.extra
    assert whole_file or (rule.fires and rule.silent and rule.extra["keywords"])
    assert rule.extra.get("in_tests", "lower") in ("lower", "same", "off", "only")


def test_only_a_whole_conflict_is_critical() -> None:
    critical = [
        rule.id
        for rule in catalog.load("code", examples=True)
        if rule.severity is Severity.CRITICAL
    ]
    assert critical == ["code-conflict-marker"]


def test_ids_are_unique() -> None:
    ids = [rule.id for rule in catalog.load("code", examples=True)]
    assert len(ids) == len(set(ids))
