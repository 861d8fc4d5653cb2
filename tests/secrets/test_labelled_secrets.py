"""The labelled files of fixtures/secrets: what is found and where nothing stops, by id, and the form of the sets."""

from pathlib import Path

import pytest
from labelled_sets import assert_as_known

from benchmarks import secret_findings

SETS = sorted(secret_findings.FOLDER.glob("*.toml"))


@pytest.mark.parametrize("file", SETS, ids=lambda file: file.stem)
def test_no_secret_is_lost_and_no_near_miss_stops(file: Path) -> None:
    right = secret_findings.judge_cases(file)
    assert_as_known(
        file.parent, file.stem, right, "python -m benchmarks.secret_findings --write"
    )


@pytest.mark.parametrize("file", SETS, ids=lambda file: file.stem)
def test_a_set_is_well_formed_and_holds_no_key_itself(file: Path) -> None:
    cases = secret_findings.read_cases(file)
    assert len({case.id for case in cases}) == len(cases) >= 100
    assert all(case.text.count("\n") <= 60 and case.note for case in cases)
    for line in file.read_text("utf-8").splitlines():
        assert (
            not line.startswith("secrets = [")
            or line == "secrets = []"
            or secret_findings.BREAK in line
        ), line


def test_pieces_of_a_secret_are_found_where_they_stand() -> None:
    case = secret_findings.Case(
        "a", "k", "a.py", "x\nq = 'abcdef' + \\\n  'ghijkl'\n", ("abcdefghijkl",)
    )
    assert case.lines_of("abcdefghijkl") == {2, 3}
    assert case.is_right({3}) and not case.is_right({1}) and not case.is_right(set())


def test_a_near_miss_is_right_if_nothing_stops() -> None:
    case = secret_findings.Case("a", "k", "a.py", "x\n", ())
    assert case.is_right(set()) and not case.is_right({secret_findings.WHOLE_FILE})
