"""What users of neighbouring tools reported as wrong is right here: see neighbour_reports.py."""

import shutil
from pathlib import Path

import pytest
from neighbour_reports import (
    Case,
    check,
    make_start,
    parameters,
    read_cases,
    said_by,
    some_of_each_kind,
)
from repositories import isolated_environment
from sampling import NIGHTLY

CASES = read_cases()


def test_each_has_a_name_of_its_own() -> None:
    assert len({case.id for case in CASES}) == len(CASES) == 371


@pytest.fixture(scope="session")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("neighbours") / "start"
    make_start(folder, isolated_environment(folder.parent))
    return folder


@pytest.fixture
def said(
    case: Case, start: Path, tmp_path: Path, isolated: dict[str, str], preloaded: Path
) -> str:
    """What a case prints."""
    folder = tmp_path
    if not case.bare:
        folder = tmp_path / "r"
        shutil.copytree(start / "r", folder, symlinks=True)
    return said_by(case, folder, isolated, preloaded / "cli-guard")


@pytest.mark.parametrize(
    "case", parameters(CASES if NIGHTLY else list(some_of_each_kind(CASES)))
)
def test_a_report_is_right_here(case: Case, said: str) -> None:
    check(case, said)
