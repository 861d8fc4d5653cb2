"""Systems that cannot be had here: without what they lack, in turn, the same is found, and what is missing is said.

`.github/workflows` run the tests on macOS and Windows themselves; see `platforms` for what stands in for them.
"""

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from in_process import RISKY, Terminal
from platforms import LACKS
from repositories import Repo, isolated_environment
from watching import make_once

from cli_guard.__main__ import main

RUNS = (
    "review --staged --format json",
    "hook pre-commit",
    "check-command ls",
    "check-command 'rm -rf /'",
    "install",
    "doctor",
    "server status",
    "exec -- echo hello",
    "exec ps",
    "shell ls",
    "uninstall",
)
# A name that Windows would take for a drive and a folder, and lines that end as they do there.
NAME = "C:\\temp\\report.py"
NEEDS_FORK = "cli-guard: commands can be run on POSIX systems only: fork(2) and Unix sockets are needed\n"
NO_SERVER = "cli-guard: server: disabled (this system cannot fork)\n"
NO_FORK = ("fork", "Windows")
NO_RUNS = ("fork", "unix sockets", "Windows")
Answer = tuple[int, str, str]


def ask(folder: Path) -> None:
    """Write down what each run answers on each system."""
    repo = Repo.create(folder / "repo", isolated_environment(folder))
    repo.commit("Add a", {"a.py": "x = 1\n"})
    (repo.path / NAME).write_bytes(RISKY.replace("\n", "\r\n").encode())
    repo.git("add", "-A")
    env = {
        name: value for name, value in repo.env.items() if name not in ("USER", "LOGNAME")
    }
    done = subprocess.run(
        (sys.executable, Path(__file__).with_name("platforms.py")),
        input=json.dumps([shlex.split(run) for run in RUNS]),
        capture_output=True,
        text=True,
        cwd=repo.path,
        env=env | {"CLI_GUARD_SERVER": "1"},
        check=True,
    )
    assert not done.stderr, done.stderr
    (folder / "answers.json").write_text(done.stdout)


@pytest.fixture(scope="module")
def answers(shared: Path) -> dict[str, dict[str, Answer]]:
    asked = make_once(shared / "platforms", ask)
    return {
        what: dict(zip(RUNS, given, strict=True))
        for what, given in json.loads((asked / "answers.json").read_text()).items()
    }


@pytest.mark.parametrize("what", LACKS)
def test_the_same_is_found_and_what_is_missing_is_said(
    answers: dict[str, dict[str, Answer]], what: str
) -> None:
    given = answers[what]
    usual = answers["nothing"]
    for run, (code, out, err) in given.items():
        assert code != 4 and "Traceback" not in out + err, (run, err)
    report = json.loads(given["review --staged --format json"][1])
    assert [(each["path"], each["line"], each["rule"]) for each in report["findings"]] == [
        (NAME, 8, "code-python-shell")
    ]
    for run in (
        "hook pre-commit",
        "check-command ls",
        "check-command 'rm -rf /'",
        "install",
        "uninstall",
    ):
        assert given[run][0] == usual[run][0], (run, given[run])
    assert usual["check-command 'rm -rf /'"][0] == 1 and usual["hook pre-commit"][0] == 3
    assert given["exec -- echo hello"] == (
        [1, "", NEEDS_FORK] if what in NO_RUNS else [0, "hello\n", ""]
    )
    assert (given["server status"][1] == NO_SERVER) == (what in NO_FORK)
    assert given["shell ls"][1].startswith(NAME) or "a.py" in given["shell ls"][1]


@pytest.mark.parametrize(("term", "colored"), [("xterm", True), ("dumb", False)])
def test_a_dumb_terminal_gets_no_colour(repo: Repo, term: str, colored: bool) -> None:
    repo.write("a.py", RISKY)
    repo.git("add", "-A")
    screen = Terminal()
    main(
        ["review", "--staged"],
        Terminal(),
        screen,
        screen,
        repo.path,
        repo.env | {"TERM": term},
    )
    assert (
        "code-python-shell" in screen.getvalue()
        and ("\x1b" in screen.getvalue()) == colored
    )
