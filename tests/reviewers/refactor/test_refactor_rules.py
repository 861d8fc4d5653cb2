"""Every rule of the refactor reviewer reports its `fires` examples and none of its `silent` ones."""

import pytest
from reviewers.refactor.grown import found

from cli_guard.model import Category, Severity
from cli_guard.rules import catalog
from cli_guard.rules.catalog import Rule
from cli_guard.rules.examples import split_path

RULES = catalog.load("refactor")
EXAMPLES = [
    pytest.param(rule, example, fires, id=f"{rule.id}-{'fires' if fires else 'silent'}-{number}")
    for rule in RULES
    for fires, examples in ((True, rule.fires), (False, rule.silent))
    for number, example in enumerate(examples)
]
CHANGES = [
    pytest.param(rule, change, id=f"{rule.id}-change-{number}")
    for rule in RULES
    for number, change in enumerate(rule.extra.get("change", ()))
]


@pytest.mark.parametrize(("rule", "example", "fires"), EXAMPLES)
def test_example(rule: Rule, example: str, fires: bool) -> None:
    path, text = split_path(example)
    assert path
    assert (rule.id in [finding.rule for finding in found(path, text)]) == fires


@pytest.mark.parametrize(("rule", "change"), CHANGES)
def test_change(rule: Rule, change: dict[str, object]) -> None:
    before, after = (str(change[side]).removeprefix("\n") for side in ("before", "after"))
    own = [f for f in found(str(change["path"]), after, before) if f.rule == rule.id]
    assert bool(own) == change["fires"]
    for part in change.get("suggests", ()):  # type: ignore[attr-defined]
        assert part in (own[0].suggestion or "")


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_rule_is_advice_with_both_kinds_of_examples(rule: Rule) -> None:
    assert rule.category is Category.REFACTOR and rule.severity is Severity.LOW
    assert rule.fires and rule.silent
