"""Coverage data in its three text formats, and what must not be read as any of them."""

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
DOCTYPE = '<!DOCTYPE coverage SYSTEM "http://cobertura.sourceforge.net/xml/coverage-04.dtd">'
XML = (
    '<?xml version="1.0"?>{}<coverage><packages><package><classes>'
    '<class filename="src\\a.py"><lines><line number="1" hits="1"/></lines></class>'
    '<class filename="src/b.py"><lines><line number="1" hits="0"/></lines></class>'
    "</classes></package></packages></coverage>"
)
BOMB = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]>'
LCOV = "TN:login\nSF:./src/a.ts\nDA:1,2\nDA:2,0\nend_of_record\nTN:\nSF:src/b.ts\nDA:1,0\nend_of_record\n"


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (JSON, {"src/a.py": ("tests/t.py::a", "tests/t.py::b|run"), "src/b.py": ()}),
        (JSON.encode(), {"src/a.py": ("tests/t.py::a", "tests/t.py::b|run"), "src/b.py": ()}),
        (XML.format(""), {"src/a.py": ()}),
        (XML.format(DOCTYPE), {"src/a.py": ()}),
        (XML.format(BOMB), {}),
        (XML.format("")[:-20], {}),
        (LCOV, {"src/a.ts": ("login",)}),
        ("{", {}),
        ('{"files": [1]}', {}),
        ('{"files": {"a": 1, "b": {"executed_lines": [1], "contexts": [1]}}}', {"b": ()}),
        ("[" * 100_000, {}),
        ("", {}),
        (b"\xff\xfe\x00", {}),
    ],
)
def test_what_ran_is_read(raw: str | bytes, expected: dict[str, tuple[str, ...]]) -> None:
    assert dict(projects.coverage_of(raw)) == expected


@given(
    st.one_of(st.binary(max_size=300), st.text(max_size=300), st.text('<>{}[]":,SFDATN\n01', max_size=300))
)
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
