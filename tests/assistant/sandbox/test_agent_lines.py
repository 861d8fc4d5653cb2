"""What coding agents type over a checkout (fixtures/shell): the same answers as bash with Git, rg, fd, tree and yq."""

from pathlib import Path

import pytest
from repositories import Repo
from sampling import choose_rows
from shell_worlds import (
    AGENT_LINES,
    RECORDED,
    ask_bash,
    is_same,
    make_checkout,
    of_repository,
    read_lines,
)

from cli_guard.assistant import sandbox as shell

NO_PROGRAM = "no program runs here"
# What is known to differ, and why it stays.
KNOWN = {
    "ls -la": "a snapshot has neither owners nor times, and no folder .git",
    "ls -a": "there is no folder .git",
    "rg --hidden -l checkout": "there is no folder .git",
    "file scripts/*": "the kinds are fewer",
    "du -ak src | sort -n | tail -3": "files take no blocks of a disk",
    "diff -u config/dev.yaml config/prod.yaml": "a snapshot has no times",
    "jq -r '.zones | to_entries[] | [.key, .value.base] | @tsv' data/rates.json | sort -k2 -n": (
        "7.0 as jq 1.7 prints it, where 1.6 prints 7"
    ),
}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """The repository of fixtures/shell."""
    made = make_checkout(tmp_path_factory.mktemp("shell") / "parcel")
    assert made.git("rev-parse", "--short", "HEAD") == "9ff7cce"
    return made


@pytest.mark.parametrize(
    "name", choose_rows(("lines", "development"), lambda name: ["a day"], str)
)
def test_the_same_as_bash(name: str, checkout: Repo) -> None:
    here = of_repository(checkout)
    differing = {}
    for line in read_lines(AGENT_LINES / f"{name}.txt"):
        expected = ask_bash(line, checkout)
        ran = shell.run(line, here)
        if line.startswith("python3"):
            assert NO_PROGRAM in ran.shown
        elif expected and not is_same(line, expected, ran) and line not in KNOWN:
            differing[line] = (expected, (ran.exit_code, ran.stdout, ran.stderr))
    assert not differing


def test_the_tables_are_large_and_what_is_known_or_recorded_is_in_them() -> None:
    own, others = (
        read_lines(AGENT_LINES / f"{name}.txt") for name in ("lines", "development")
    )
    assert len(set(own)) == len(own) >= 150 and len(set(others)) == len(others) == 100
    assert set(KNOWN) <= {*own, *others}
    assert set(RECORDED) <= {*own, *others}
    assert len(KNOWN) < 10


def test_history_is_read_in_a_subfolder_of_a_clone(checkout: Repo, tmp_path: Path) -> None:
    clone = Repo(tmp_path / "clone", checkout.env)
    checkout.git("clone", "-q", str(checkout.path), str(clone.path))
    ran = shell.run(
        "cd src/parcel && git ls-files | head -2; git grep -c TTLCache",
        of_repository(clone),
    )
    assert ran.stdout == b"__init__.py\napp.py\napp.py:2\ncache.py:1\n"
