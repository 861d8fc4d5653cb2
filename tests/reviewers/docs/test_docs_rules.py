"""Every rule of the docs reviewer is complete: rules/test_rule_examples.py runs its examples."""

from examples import table

from cli_guard.model import Category, Severity
from cli_guard.rules import catalog
from cli_guard.rules.catalog import Rule

RULES = catalog.load("docs", examples=True)


@table("rule", RULES, ids=lambda rule: rule.id)
def test_rule_is_advice_with_both_kinds_of_examples(rule: Rule) -> None:
    changes = rule.extra.get("change", ())
    assert rule.category is Category.DOCS and rule.severity in (
        Severity.LOW,
        Severity.MEDIUM,
    )
    assert rule.fires or any(change["fires"] for change in changes)
    assert rule.silent or any(not change["fires"] for change in changes)
