"""The simulator: which tests a command selects, and that nothing passes which nobody recorded."""

from examples import table
from hypothesis import given
from hypothesis import strategies as st

from cli_guard.assistant import projects

TEXTS = {
    "Makefile": "test:\n\tpython -m pytest -q\nci: lint test\nlint:\n\truff check\n",
    "tox.ini": "[testenv]\ncommands = pytest tests/test_a.py\n[testenv:lint]\ncommands = ruff check\n",
    "tests/test_a.py": (
        "def test_one():\n    assert 1\n\n\n"
        "class TestTwo:\n    def test_two(self):\n        assert 1\n\n    def help(self):\n        pass\n"
    ),
    "tests/sub/test_b.py": (
        "import unittest\n\n\nclass Old(unittest.TestCase):\n    def test_three(self):\n        pass\n"
    ),
    "tests/helper.py": "def test_not_one():\n    pass\n",
    "web/a.test.js": "test('clicks', () => {})\nit.skip('waits', () => {})\ndescribe('x', () => {})\n",
    "go/a_test.go": "package a\n\nfunc TestA(t *testing.T) {}\n\nfunc helper() {}\n",
}  # fmt: skip
A1 = "tests/test_a.py::test_one"
A2 = "tests/test_a.py::TestTwo::test_two"
B3 = "tests/sub/test_b.py::Old::test_three"


@table(
    ("command", "selected"),
    [
        ("pytest", 3),
        ("python -m pytest -q", 3),
        ("uv run pytest tests", 3),
        ("pytest tests/sub", 1),
        ("pytest tests/test_a.py", 2),
        ("pytest tests/test_a.py::TestTwo", 1),
        ("pytest tests/test_a.py::test_one tests/sub", 2),
        ("pytest tests/missing.py", 0),
        ("make test", 3),
        ("make deploy", 0),
        ("rm -rf tests", 0),
        ("", 0),
    ],
)
def test_what_a_command_selects(command: str, selected: int) -> None:
    simulated = projects.simulate(command, TEXTS)
    assert (simulated.selected, simulated.status) == (selected, "not recorded")
    assert "simulated" in simulated.text


@table(
    ("recorded", "status", "counts"),
    [
        ({}, "not recorded", (0, 0, 0, 3)),
        ({A1: "passed"}, "not recorded", (1, 0, 0, 2)),
        ({"tests/test_a.py": "passed", B3: "passed"}, "passed", (3, 0, 0, 0)),
        (
            {"tests/test_a.py": "passed", "tests/sub/test_b.py": "skipped"},
            "passed",
            (2, 0, 1, 0),
        ),
        ({"tests/test_a.py": "passed", A2: "failed", B3: "passed"}, "failed", (2, 1, 0, 0)),
        ({A2: {"outcome": "failed", "message": "2 != 3"}}, "failed", (0, 1, 0, 2)),
        ({f"{A1}[x]": "passed", f"{A1}[y]": "failed: no y"}, "failed", (0, 1, 0, 2)),
        ({"tests/test_a.py::TestTwo": "passed"}, "not recorded", (1, 0, 0, 2)),
        ({A1: "great", A2: None, B3: 3}, "not recorded", (0, 0, 0, 3)),
        ({"tests/helper.py": "failed"}, "not recorded", (0, 0, 0, 3)),
        (dict.fromkeys(("tests/test_a.py", B3), "skipped"), "not recorded", (0, 0, 3, 0)),
    ],
)
def test_only_what_was_recorded_counts(
    recorded: dict[str, object], status: str, counts: tuple[int, int, int, int]
) -> None:
    simulated = projects.simulate("pytest", TEXTS, recorded)
    assert simulated.status == status
    named = zip(counts, ("passed", "failed", "skipped", "not recorded"), strict=True)
    for number, outcome in named:
        assert (f"{number} {outcome}" in simulated.text) == bool(number)


def test_a_failure_is_named_with_its_message() -> None:
    simulated = projects.simulate(
        "make test", TEXTS, {A2: {"outcome": "failed", "message": "2 != 3"}}
    )
    assert simulated.text.split("\n") == [
        f"FAILED {A2} - 2 != 3",
        "==== 1 failed, 2 not recorded, 3 selected (simulated: nothing was run) ====",
    ]


@given(
    st.dictionaries(
        st.sampled_from([A1, A2, B3, "tests/test_a.py", "tests/sub/test_b.py", f"{A1}[z]"]),
        st.sampled_from(["passed", "failed", "skipped", "", "unknown"]),
    )
)
def test_a_run_passes_only_if_every_test_was_recorded(recorded: dict[str, object]) -> None:
    simulated = projects.simulate("pytest", TEXTS, recorded)
    assert simulated.selected == 3
    is_failed = "failed" in simulated.text
    is_open = "not recorded" in simulated.text
    assert (simulated.status == "passed") == (
        not is_failed and not is_open and "passed" in simulated.text
    )
