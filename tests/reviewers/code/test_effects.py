"""Each code rule has one effect of the closed list, which is the reason of its severity.

After adding rules, run this file: it prints the words that belong under [rules] of rules/code/effects.toml.
"""

import fnmatch
from pathlib import Path

import pytest
from examples import table

from cli_guard.model import Severity
from cli_guard.reviewers.code.remarks import effects, effects_of
from cli_guard.rules import catalog
from cli_guard.rules.catalog import Rule

PAGE = Path(__file__).parents[3] / "docs" / "code.md"
CODE_RULES = [rule for rule in catalog.load_all().values() if rule.id.startswith("code-")]


def test_every_rule_has_the_severity_of_its_effect() -> None:
    wrong: list[str] = []
    for rule in CODE_RULES:
        found = effects_of(rule.id)
        if [each.severity for each in found] != [rule.severity]:
            told = (
                ", ".join(f"{each.name} ({each.severity})" for each in found) or "no effect"
            )
            wrong.append(
                f"{rule.id.removeprefix('code-')}: is {rule.severity}, but has {told}: {rule.title}"
            )
    assert not wrong, "\n".join(
        ["give these one effect in rules/code/effects.toml:", *wrong]
    )


def test_every_word_of_the_table_is_of_a_rule() -> None:
    ids = {rule.id for rule in CODE_RULES}
    for effect in effects():
        unused = [word for word in effect.rules if not fnmatch.filter(ids, f"code-{word}")]
        assert not unused, f"{effect.name}: no such rule"
        assert effect.means and effect.severity in Severity


@table(
    ("rule", "names"),
    [
        ("code-sql-drop-database", ["destroys-data"]),
        ("code-python-shell", ["runs-code"]),
        # An id in full goes before a pattern.
        ("code-python-pickle", ["depends"]),
        ("code-python-pickle-request", ["runs-code"]),
        ("code-nobody-sql", ["runs-code"]),
        ("code-nobody-knows", []),
    ],
)
def test_an_effect_is_chosen_by_id_then_by_pattern(rule: str, names: list[str]) -> None:
    assert [each.name for each in effects_of(rule)] == names


@pytest.mark.parametrize("rule", CODE_RULES[:3], ids=lambda rule: rule.id)
def test_explain_gives_the_reason(rule: Rule) -> None:
    from cli_guard.cli.explain import render_rule

    (effect,) = effects_of(rule.id)
    shown = " ".join(render_rule(rule).split())
    assert f"Why {rule.severity} {effect.means} Why it matters" in shown
