"""Every rule of the command reviewer is complete: rules/test_rule_examples.py runs its examples."""

from examples import table

from cli_guard.model import Severity
from cli_guard.reviewers.commands.extract import Where
from cli_guard.rules import catalog
from cli_guard.rules.catalog import Rule

RULES = catalog.load("commands", examples=True)


@table("rule", RULES, ids=lambda rule: rule.id)
def test_rule_is_complete(rule: Rule) -> None:
    assert rule.id.startswith("command-")
    assert (
        rule.title
        and rule.why
        and rule.remedy
        and rule.source
        and rule.fires
        and rule.silent
    )
    for grade in rule.extra.get("grades", ()):
        assert set(grade) <= {"severity", "pattern", "reason", "where"}
        assert Severity(grade["severity"]) is not rule.severity
        assert [Where(where) for where in grade.get("where", ())] == list(
            grade.get("where", ())
        )
