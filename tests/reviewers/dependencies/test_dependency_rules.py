"""Every rule about dependencies reports its `fires` examples and none of its `silent` ones."""

from examples import examples, table

from cli_guard.git.between import SnapshotContents, changes_between
from cli_guard.model import Finding, Report
from cli_guard.reviewers.dependencies import review
from cli_guard.reviewers.review_input import ReviewInput
from cli_guard.rules import catalog
from cli_guard.rules.catalog import Rule

RULES = catalog.load("dependencies")
CHANGES = [(rule, change, change["fires"]) for rule in RULES for change in rule.extra.get("change", ())]


def reviewed(before: dict[str, str], after: dict[str, str]) -> Report:
    """The report on a change between two trees."""
    return review(ReviewInput("pre-commit", changes_between(before, after), SnapshotContents(before, after)))


def found(path: str, before: str, after: str) -> list[Finding]:
    """The findings on one file."""
    return list(reviewed({path: before} if before else {}, {path: after}).findings)


@examples(("rule", "change", "fires"), CHANGES, fires="fires")
def test_change(rule: Rule, change: dict[str, str], fires: bool) -> None:
    own = [f.rule for f in found(change["path"], change["before"], change["after"])]
    assert (rule.id in own) == fires, own


@table("rule", RULES, ids=lambda rule: rule.id)
def test_rule_has_both_kinds_of_examples(rule: Rule) -> None:
    changes = rule.extra.get("change", ())
    assert rule.fires or any(change["fires"] for change in changes)
    assert rule.silent or any(not change["fires"] for change in changes)
