"""A search of an agent: it asks about the files that its pattern names where reading them asks."""

import datetime
from pathlib import Path

from examples import table

from cli_guard.agents.judging import judge_use
from cli_guard.agents.tool_inputs import find_uses
from cli_guard.runtime import Invocation


@table(
    ("given", "asks"),
    [
        ({"glob": ".e*"}, True),
        ({"glob": "**/.env*"}, True),
        ({"glob": "*.pem", "output_mode": "content"}, True),
        ({"path": ".env"}, True),
        ({"path": "~/.ssh"}, True),
        ({"globs": ["*.py", ".env"]}, True),
        ({"include_pattern": "config/database.yml"}, True),
        ({}, False),
        ({"glob": ""}, False),
        ({"glob": None}, False),
        ({"glob": "*.py"}, False),
        ({"glob": "*.{ts,tsx}"}, False),
        ({"glob": "!.env"}, False),
        ({"glob": "**/*"}, False),
        ({"glob": "*.env.example"}, False),
        ({"path": "src", "glob": "test_*.py"}, False),
    ],
)
def test_a_search_asks_about_files_of_secrets(
    tmp_path: Path, given: dict[str, object], asks: bool
) -> None:
    env = {"HOME": str(tmp_path / "home"), "PATH": "/usr/bin:/bin"}
    invocation = Invocation(
        tmp_path, env, datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
    )
    uses = find_uses("Grep", {"pattern": ".", **given})
    assert any(judge_use(use, invocation, "claude-code") for use in uses) is asks
