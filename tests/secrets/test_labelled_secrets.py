"""The labelled files of fixtures/secrets: what is found, and the lists of what is not yet, which only shrink."""

from pathlib import Path

import pytest

from benchmarks import secret_findings

# By set: cases whose secrets are not all found, and near misses that are stopped at. One that starts to pass goes.
MISSED: dict[str, set[str]] = {
    "development": set(),
    "kept": {"prose-docstring-real"},
    "unseen": {
        "comment-temp-login-ruby",
        "csv-store-managers",
        "jwt-sign-literal",
        "markdown-table-logins",
        "nix-mosquitto-user",
        "smtp-plainauth-go",
        "twilio-auth-token-python",
    },
}
FALSE: dict[str, set[str]] = {"development": set(), "kept": set(), "unseen": set()}
BREAK = "\u2016"


SETS = sorted(secret_findings.FOLDER.glob("*.toml"))


@pytest.mark.parametrize("file", SETS, ids=lambda file: file.stem)
def test_the_lists_of_misses_and_false_stops_are_exact(file: Path) -> None:
    cases = secret_findings.read_cases(file)
    stops = secret_findings.judge_own(cases)
    wrong = [case for case in cases if not case.is_right(stops[case.id])]
    assert {case.id for case in wrong if case.secrets} == MISSED[file.stem]
    assert {case.id for case in wrong if not case.secrets} == FALSE[file.stem]


@pytest.mark.parametrize("file", SETS, ids=lambda file: file.stem)
def test_a_set_is_well_formed_and_holds_no_key_itself(file: Path) -> None:
    cases = secret_findings.read_cases(file)
    assert len({case.id for case in cases}) == len(cases) >= 100
    assert all(case.text.count("\n") <= 60 and case.note for case in cases)
    for line in file.read_text("utf-8").splitlines():
        assert (
            not line.startswith("secrets = [") or line == "secrets = []" or BREAK in line
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
