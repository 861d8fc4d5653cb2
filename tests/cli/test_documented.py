"""What docs/commands.md shows is what happens."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from in_process import call, guard
from repositories import Repo

TEXT = (Path(__file__).parents[2] / "docs" / "commands.md").read_text("utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
SHOWN = re.findall(r"^\$ cli-guard check-command '(.*)'\n((?:(?!\$ |```).+\n)+)", TEXT, re.MULTILINE)
SCRIPTS = [text for kind, text in BLOCKS if kind == "sh"]


@pytest.mark.parametrize(("command", "output"), SHOWN, ids=[command for command, _ in SHOWN])
def test_an_example(tmp_path: Path, isolated: dict[str, str], command: str, output: str) -> None:
    assert call(tmp_path, isolated, "check-command", command).out == output


def test_the_settings_that_are_written(committed: Repo) -> None:
    guard(committed, "install", "--agent", "claude-code")
    written = json.loads((committed.path / ".claude" / "settings.json").read_text())
    assert written in [json.loads(text) for kind, text in BLOCKS if kind == "json"]


@pytest.mark.skipif(shutil.which("jq") is None, reason="the scripts need jq")
@pytest.mark.parametrize(
    ("command", "code", "permission"),
    [("ls", 0, "allow"), ("make test", 2, "ask"), ("rm -rf /", 2, "deny"), ("", 2, "ask"), (None, 2, None)],
)
def test_the_scripts_for_other_agents(
    tmp_path: Path, isolated: dict[str, str], command: str | None, code: int, permission: str | None
) -> None:
    blocks, asks = SCRIPTS

    def run(script: str, request: object) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            ("sh", "-c", script),
            input=json.dumps(request),
            cwd=tmp_path,
            env=isolated,
            capture_output=True,
            text=True,
        )

    given = {} if command is None else {"command": command}
    assert run(blocks, {"tool_input": given}).returncode == code
    asked = run(asks, given)
    assert asked.returncode == (2 if permission is None else 0)
    assert permission is None or json.loads(asked.stdout)["permission"] == permission


def test_there_is_something_to_see() -> None:
    assert [output.split()[0] for _, output in SHOWN] == ["allow", "review", "deny"]
    assert len(SCRIPTS) == 2
