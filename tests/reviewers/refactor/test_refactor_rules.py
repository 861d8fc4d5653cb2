"""Every rule of the refactor reviewer is complete: rules/test_rule_examples.py runs its examples."""

from examples import table

from cli_guard.model import Category, Severity
from cli_guard.rules import catalog
from cli_guard.rules.catalog import Rule

RULES = catalog.load("refactor", examples=True)


@table("rule", RULES, ids=lambda rule: rule.id)
def test_rule_is_advice_with_both_kinds_of_examples(rule: Rule) -> None:
    assert rule.category is Category.REFACTOR and rule.severity is Severity.LOW
    assert rule.fires and rule.silent
