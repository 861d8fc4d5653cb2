"""Every rule of the docs reviewer reports its `fires` examples and none of its `silent` ones."""

import pytest
from examples import examples, examples_of, table
from reviewers.docs.before_after import found

from cli_guard.model import Category, Severity
from cli_guard.rules import catalog
from cli_guard.rules.catalog import Rule
from cli_guard.rules.examples import split_path

RULES = catalog.load("docs", examples=True)
CHANGES = [
    (rule, change, change["fires"])
    for rule in RULES
    for change in rule.extra.get("change", ())
]


@pytest.mark.parametrize(
    "rule", [rule for rule in RULES if rule.fires or rule.silent], ids=lambda rule: rule.id
)
@examples(("example", "fires"), examples_of, fires="fires")
def test_rule_fires_on_its_examples_and_on_no_near_miss(
    rule: Rule, example: str, fires: bool
) -> None:
    path, text = split_path(example)
    assert path
    assert (rule.id in [finding.rule for finding in found(path, text)]) == fires


@examples(("rule", "change", "fires"), CHANGES, fires="fires")
def test_change(rule: Rule, change: dict[str, object], fires: bool) -> None:
    before, after = (str(change[side]).removeprefix("\n") for side in ("before", "after"))
    own = [f for f in found(str(change["path"]), after, before) if f.rule == rule.id]
    assert bool(own) == fires
    for part in change.get("suggests", ()):  # type: ignore[attr-defined]
        assert part in (own[0].suggestion or "")


@table("rule", RULES, ids=lambda rule: rule.id)
def test_rule_is_advice_with_both_kinds_of_examples(rule: Rule) -> None:
    changes = rule.extra.get("change", ())
    assert rule.category is Category.DOCS and rule.severity in (
        Severity.LOW,
        Severity.MEDIUM,
    )
    assert rule.fires or any(change["fires"] for change in changes)
    assert rule.silent or any(not change["fires"] for change in changes)
