"""Which conditions the benchmark of mutants negates, and which it chooses."""

import ast
from pathlib import Path

import pytest
from examples import table

from benchmarks.mutants import ROOT, TESTS, WITHOUT, choose_mutants, mutants_of, order_tests

MODULE = """
def is_large(number: int, names: list[str]) -> bool:
    if number > 10 and names:
        return True
    while not names:
        names.append("é")
    return f"{number == 1}" in [name for name in names if name]
"""


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg/sized.py").write_text(MODULE, "utf-8")
    return tmp_path


def test_each_condition_is_negated_once_where_it_stands(copy: Path) -> None:
    mutants = mutants_of(copy / "pkg/sized.py", copy)
    assert sorted((mutant.condition, mutant.negated) for mutant in mutants) == [
        (
            "f'{number == 1}' in [name for name in names if name]",
            "f'{number == 1}' not in [name for name in names if name]",
        ),
        ("name", "not name"),
        ("not names", "not not names"),
        ("number > 10", "number <= 10"),
        ("number > 10 and names", "not (number > 10 and names)"),
    ]
    for mutant in mutants:
        text = mutant.text(MODULE.encode()).decode()
        assert text != MODULE
        ast.parse(text)


def test_the_seed_chooses_and_the_rooms_take_turns() -> None:
    chosen = choose_mutants(["state", "policy"], 7, 4)
    assert chosen == choose_mutants(["state", "policy"], 7, 4)
    assert chosen != choose_mutants(["state", "policy"], 8, 4)
    rooms = [mutant.path.split("/")[1] for mutant in chosen]
    assert rooms == ["state", "policy", "state", "policy"]


@table("room", TESTS)
def test_a_room_and_its_tests_are_there(room: str) -> None:
    assert (ROOT / "cli_guard" / room).is_dir()
    for test in TESTS[room]:
        assert (ROOT / test.removeprefix(WITHOUT)).exists(), test


def test_the_tests_named_like_a_module_come_first() -> None:
    plain = order_tests(ROOT, "commands")
    first, *rest = order_tests(ROOT, "commands", "patterns")
    assert first == "tests/commands/test_patterns.py"
    assert rest == [test for test in plain if test != first]
    assert plain[0] == "tests/commands/test_labelled.py"
    assert "tests/commands/test_tables.py" not in plain
