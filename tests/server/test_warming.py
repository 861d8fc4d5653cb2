"""What a server loads before the first run: all that a hook needs, and nothing that only other commands do."""

import subprocess
import sys

import pytest
from in_process import RISKY, stage
from repositories import Repo

from cli_guard.server.warming import modules

SCRIPT = """
import os, sys
from io import StringIO
from pathlib import Path
from cli_guard.__main__ import main
from cli_guard.graph.deferred import defer
from cli_guard.server.warming import warm
defer()
warm()
before = set(sys.modules)
code = main(sys.argv[1:], StringIO(), StringIO(), StringIO(), Path.cwd(), dict(os.environ))
new = set(sys.modules) - before
print(int(code), *sorted(each for each in new if each.startswith("cli_guard.")))
"""


def test_a_hook_in_a_fork_loads_nothing_more(committed: Repo) -> None:
    stage(committed, {"shop/report.py": RISKY})
    argv = (sys.executable, "-c", SCRIPT, "hook", "pre-commit")
    done = subprocess.run(
        argv, cwd=committed.path, env=committed.env, capture_output=True, text=True
    )
    assert done.stdout.split() == ["3"], done.stderr


@pytest.mark.parametrize(
    ("name", "is_loaded"),
    [
        ("cli_guard.cli.check_command", True),
        ("cli_guard.cli.hook", True),
        ("cli_guard.cli.review", True),
        ("cli_guard.graph", True),
        ("cli_guard.reviewers.refactor.metrics", True),
        ("cli_guard.assistant.local", False),
        ("cli_guard.cli.doctor", False),
        ("cli_guard.cli.scan", False),
        ("cli_guard.llm", False),
        ("cli_guard.__main__", False),
    ],
)
def test_what_only_other_commands_need_waits(name: str, is_loaded: bool) -> None:
    assert (name in modules()) == is_loaded
