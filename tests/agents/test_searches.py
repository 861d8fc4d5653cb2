"""Searches, notebooks and tools of MCP servers: they ask about a file where reading it asks."""

import datetime
from pathlib import Path
from typing import Any

from examples import table

from cli_guard.agents.judging import judge_use
from cli_guard.agents.tool_inputs import find_uses
from cli_guard.agents.uses import McpCall
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


@table(
    ("given", "asks"),
    [
        ({"path": "~/.ssh/id_ed25519"}, True),
        ({"paths": ["README.md", ".env"]}, True),
        ({"uri": "file://{home}/.aws/credentials"}, True),
        ({"uri": "FILE:///{home}/%2Essh/id_rsa"}, True),
        ({"file": "prod.pem"}, True),
        ({"include": "**/.env*", "pattern": "KEY"}, True),
        ({"path": "src/app.py"}, False),
        ({"path": ""}, False),
        ({"path": None, "paths": []}, False),
        ({"uri": "https://example.org/.env"}, False),
        ({"uri": "postgres://localhost/db"}, False),
        ({"file": 3}, False),
        ({"query": "how to read .env"}, False),
        ({"path": ".env.example"}, False),
    ],
)
def test_a_tool_of_a_server_asks_about_files_of_secrets(
    tmp_path: Path, given: dict[str, Any], asks: bool
) -> None:
    home = tmp_path / "home"
    env = {"HOME": str(home), "PATH": "/usr/bin:/bin"}
    now = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
    if "uri" in given:
        given = {"uri": given["uri"].format(home=home)}
    call = McpCall((("files", "read_file"),), given)
    answer = judge_use(call, Invocation(tmp_path, env, now), "claude-code")
    assert (answer is not None and answer.word == "ask") is asks


def test_a_notebook_is_a_file(tmp_path: Path) -> None:
    now = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
    invocation = Invocation(tmp_path, {"HOME": str(tmp_path)}, now)
    for path, asks in (("~/.ssh/id_rsa", True), ("a.ipynb", False)):
        (use,) = find_uses("NotebookRead", {"notebook_path": path})
        assert (judge_use(use, invocation, "claude-code") is not None) is asks
