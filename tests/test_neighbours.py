"""What users of neighbouring tools reported as wrong is right here: see neighbour_reports.py."""

from pathlib import Path

import pytest
from neighbour_reports import (
    Case,
    check,
    parameters,
    read_cases,
    said_by,
    some_of_each_kind,
)

CASES = read_cases()
FEW = list(some_of_each_kind(CASES))
MORE = [case for case in CASES if case not in FEW]


def test_each_has_a_name_of_its_own() -> None:
    assert len({case.id for case in CASES}) == len(CASES) == 371


@pytest.mark.parametrize("case", parameters(FEW))
def test_a_report_of_each_kind(
    case: Case, tmp_path: Path, isolated: dict[str, str], preloaded: Path
) -> None:
    check(case, said_by(case, tmp_path, isolated, preloaded / "cli-guard"))


@pytest.mark.parametrize("case", parameters(MORE))
def test_further_reports(
    case: Case, tmp_path: Path, isolated: dict[str, str], preloaded: Path
) -> None:
    check(case, said_by(case, tmp_path, isolated, preloaded / "cli-guard"))
