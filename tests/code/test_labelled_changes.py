"""The labelled changes of fixtures/code: what is found and what is false, by id, and the form of the sets."""

import tomllib
from collections import Counter
from pathlib import Path

import pytest
from labelled_sets import assert_as_known

from benchmarks.code_findings import judge_cases

FOLDER = Path(__file__).parents[2] / "fixtures" / "code"
FILES = sorted(FOLDER.glob("*.toml"))


COMMAND = "python -m benchmarks.code_findings --no-peers --write --set fixtures/code"


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_no_risk_is_lost_and_no_twin_is_reported(file: Path) -> None:
    assert_as_known(FOLDER, file.stem, judge_cases(file), COMMAND)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_an_expected_line_is_added_once_and_each_risk_has_a_twin(file: Path) -> None:
    cases = tomllib.loads(file.read_text("utf-8"))["case"]
    assert max(Counter(case["id"] for case in cases).values()) == 1
    for case in cases:
        added = set(case["after"].split("\n")) - set(case["before"].split("\n"))
        assert all(sum(text in line for line in added) == 1 for text in case["expect"]), (
            case["id"]
        )
        assert case["id"].endswith("-twin") != bool(case["expect"])
    assert sum(bool(case["expect"]) for case in cases) * 2 == len(cases)


def test_the_sets_share_no_case() -> None:
    ids = [
        case["id"]
        for file in FILES
        for case in tomllib.loads(file.read_text("utf-8"))["case"]
    ]
    assert len(ids) == len(set(ids)) == 556
