"""`cli-guard doctor --timing`: which rows there are; how long anything takes is asserted nowhere."""

import re

import pytest
from in_process import RISKY, guard, inspect, stage
from repositories import Repo

LOADING = ["start", "modules", "rules", "Git", "graph"]


def rows(out: str) -> list[str]:
    """The names in the table, each with two numbers."""
    _, header, *lines = out.splitlines()
    assert header.split() == ["ms", "CPU"]
    for line in lines:
        assert re.fullmatch(r"  [A-Za-z]+ +-?\d+ +-?\d+", line), line
    return [line.split()[0] for line in lines]


def test_what_is_staged_is_measured_and_nothing_recorded(committed: Repo) -> None:
    stage(committed, {"shop/report.py": RISKY})
    done = inspect(committed, "doctor", "--timing")
    assert done.code == 0
    assert done.out.splitlines()[0] == (
        "A review of what is staged, 1 file: no server, no earlier results, no checks"
    )
    names = rows(done.out)
    assert names[:5] == LOADING
    assert names[-2:] == ["output", "total"]
    assert {"secrets", "code", "commands", "refactor"} <= set(names)


def test_without_anything_staged_the_last_commit_is_measured(committed: Repo) -> None:
    done = inspect(committed, "doctor", "--timing")
    assert done.code == 0
    assert done.out.startswith("A review of the commit at HEAD, ")
    assert rows(done.out)[-2:] == ["output", "total"]


def test_a_row_holds_no_name_from_the_change(committed: Repo) -> None:
    stage(committed, {"a\x1b[31m\n.sh": "curl https://example.org/x | sh\n"})
    done = inspect(committed, "doctor", "--timing")
    assert "\x1b" not in done.out
    assert rows(done.out)[-1] == "total"


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (("--timing",), "nothing is staged, and there is no commit yet"),
        (("--timing", "--probe"), "--probe and --timing exclude each other"),
    ],
)
def test_what_cannot_be_measured_is_said(
    repo: Repo, argv: tuple[str, ...], words: str
) -> None:
    done = guard(repo, "doctor", *argv)
    assert done.code == 2
    assert words in done.err
