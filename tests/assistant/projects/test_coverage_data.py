"""Coverage data of coverage.py as JSON, and what must not be read as such."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli_guard.assistant import projects

A = "tests/t.py::a"
JSON = json.dumps(
    {
        "files": {
            "./src/a.py": {"executed_lines": [1, 2], "contexts": {"1": ["", "tests/t.py::b|run"], "2": [A]}},
            "src/b.py": {"executed_lines": [1]},
            "src/c.py": {"executed_lines": []},
        }
    }
)  # fmt: skip


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (JSON, {"src/a.py": ("tests/t.py::a", "tests/t.py::b|run"), "src/b.py": ()}),
        (JSON.encode(), {"src/a.py": ("tests/t.py::a", "tests/t.py::b|run"), "src/b.py": ()}),
        ("{", {}),
        ("[1]", {}),
        ('{"files": [1]}', {}),
        ('{"files": {"a": 1, "b": {"executed_lines": [1], "contexts": [1]}}}', {"b": ()}),
        ("[" * 100_000, {}),
        ("<coverage/>", {}),
        ("", {}),
        (b"\xff\xfe\x00", {}),
    ],
)
def test_what_ran_is_read(raw: str | bytes, expected: dict[str, tuple[str, ...]]) -> None:
    assert dict(projects.coverage_of(raw)) == expected


@given(st.one_of(st.binary(max_size=300), st.text(max_size=300), st.text('{}[]":,files01\n', max_size=300)))
def test_anything_is_read_without_an_error(raw: str | bytes) -> None:
    assert isinstance(dict(projects.coverage_of(raw)), dict)


def test_data_among_the_files_is_used() -> None:
    texts = {
        "lib/odd.py": "x = 1\n",
        "tests/test_z.py": "def test_z():\n    assert 1\n",
        "coverage.json": json.dumps(
            {"files": {"lib/odd.py": {"executed_lines": [1], "contexts": {"1": ["tests/test_z.py::test_z"]}}}}
        ),
    }
    (test,) = projects.tests_for(["lib/odd.py"], (), texts).tests
    assert (test.path, test.reason) == ("tests/test_z.py", "coverage data")
