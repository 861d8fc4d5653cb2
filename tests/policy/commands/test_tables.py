"""The tables of the programs: each loads, each fact of harm has an example that shows it and one that does not."""

import pytest

from cli_guard.model import Decision
from cli_guard.policy.commands import judge
from cli_guard.policy.commands.model import DECISIONS, HARMLESS, Kind
from cli_guard.policy.commands.programs import Option, Spec, read_table, table
from cli_guard.rules.catalog import FOLDER
from cli_guard.rules.tables import other_names, programs

TABLES = [(name, read_table(name)) for name in programs()]
SPECS = [spec for _, each in TABLES for spec in each.every()]
# A sub-command has the options of its program as well: each is tried once.
FACTS = list(
    {id(fact): (spec, fact) for _, each in TABLES for spec in each.every() for fact in spec.facts()}.values()
)
EFFECTS = {str(kind) for kind in Kind} - {str(kind) for kind in HARMLESS}


def kinds_in(command: str) -> set[str]:
    return {str(effect.kind) for effect in judge(command).effects if effect.kind not in HARMLESS}


def shows(match: str, near: str, kind: str | None) -> None:
    found, beside = kinds_in(match), kinds_in(near)
    if kind in EFFECTS:
        assert kind in found, f"{match}: {sorted(found)}"
        assert kind not in beside, f"{near}: {sorted(beside)}"
    else:
        assert found - beside, f"{match}: {sorted(found)}, {near}: {sorted(beside)}"
    assert str(Kind.UNKNOWN) not in beside or kind == Kind.UNKNOWN, (
        f"{near} is not understood: {judge(near).reason}"
    )


@pytest.mark.parametrize(("name", "spec"), TABLES, ids=[name for name, _ in TABLES])
def test_a_table_says_where_its_facts_come_from(name: str, spec: Spec) -> None:
    assert spec.source
    assert any(spec.examples.values()), "a table has whole commands with their verdicts"


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.name)
def test_every_harm_has_its_two_examples(spec: Spec) -> None:
    if spec.effect and DECISIONS[spec.effect] is not Decision.ALLOW:
        assert spec.match and spec.near, f"{spec.name}: effect without match and near"
    for option in spec.options.values():
        if not option.harmless:
            assert option.match and option.near, f"{spec.name} {option.names}: match and near are missing"


@pytest.mark.parametrize(("spec", "fact"), FACTS, ids=[fact.match for _, fact in FACTS])
def test_an_option_does_what_its_fact_says(spec: Spec, fact: Option) -> None:
    if fact.harmless:
        assert judge(fact.match).verdict is Decision.ALLOW, judge(fact.match).reason
        return
    changed = next((kind.removesuffix("...") for kind in fact.operands or () if kind != "text"), None)
    shows(fact.match, fact.near, fact.effect or (fact.takes if fact.takes != "text" else None) or changed)


@pytest.mark.parametrize(
    "spec",
    [spec for spec in SPECS if spec.effect and spec.match],
    ids=lambda spec: f"{spec.name}: {spec.match}",
)
def test_a_command_does_what_its_table_says(spec: Spec) -> None:
    shows(spec.match, spec.near, spec.effect)


@pytest.mark.parametrize(
    ("command", "verdict"),
    [(c, v) for _, t in TABLES for s in t.every() for v, commands in s.examples.items() for c in commands],
)
def test_whole_commands(command: str, verdict: str) -> None:
    answer = judge(command)
    assert answer.verdict == verdict, answer.reason


def test_other_names_lead_to_a_table() -> None:
    assert not {name: to for name, to in other_names().items() if table(to) is None}


def test_there_are_tables_of_at_least_150_programs() -> None:
    assert len([name for name, _ in TABLES if "-" not in name]) >= 150


def test_no_program_has_two_tables() -> None:
    files = [path.stem for path in (FOLDER / "programs").rglob("*.toml")]
    assert len(files) == len(set(files))
