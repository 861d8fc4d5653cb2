"""Every rule of the command reviewer reports its `fires` examples and none of its `silent` ones."""

import pytest
from examples import examples, examples_of, table
from reviewers.code.code_changes import Texts, new_file

from cli_guard.model import ChangeSet, Severity
from cli_guard.reviewers.commands import review
from cli_guard.reviewers.commands.extract import Where
from cli_guard.reviewers.review_input import ReviewInput
from cli_guard.rules import catalog
from cli_guard.rules.catalog import Rule
from cli_guard.rules.examples import split_path

RULES = catalog.load("commands", examples=True)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
@examples(("example", "fires"), examples_of, fires="fires")
def test_rule_fires_on_its_examples_and_on_no_near_miss(
    rule: Rule, example: str, fires: bool
) -> None:
    path, text = split_path(example)
    assert path is not None
    report = review(
        ReviewInput("test", ChangeSet((new_file(path, text),)), Texts({path: text}))
    )
    assert report.skipped == ()
    assert {finding.rule for finding in report.findings} == ({rule.id} if fires else set())
    for finding in report.findings:
        assert finding.line is not None and finding.evidence and finding.message


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
