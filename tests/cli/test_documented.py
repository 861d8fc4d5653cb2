"""What docs/commands.md and docs/agents.md show is what happens."""

import json
import re
from pathlib import Path

import pytest
from in_process import call, guard
from repositories import GUARD, Repo

TEXT = (Path(__file__).parents[2] / "docs" / "commands.md").read_text("utf-8")
SHOWN = re.findall(
    r"^\$ cli-guard check-command '(.*)'\n((?:(?!\$ |```).+\n)+)", TEXT, re.MULTILINE
)
AGENTS = (Path(__file__).parents[2] / "docs" / "agents.md").read_text("utf-8")
AGENT_SETTINGS = re.findall(r"^```json\n(.*?)^```$", AGENTS, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(
    ("command", "output"), SHOWN, ids=[command for command, _ in SHOWN]
)
def test_an_example(
    tmp_path: Path, isolated: dict[str, str], command: str, output: str
) -> None:
    assert call(tmp_path, isolated, "check-command", command).out == output


def test_the_settings_that_are_written(committed: Repo) -> None:
    guard(committed, "install", "--agent", "claude-code", "--where", "user")
    written = json.loads(
        Path(committed.env["HOME"], ".claude", "settings.json")
        .read_text()
        .replace(GUARD, "/path/to/cli-guard")
    )
    assert written in [json.loads(text) for text in AGENT_SETTINGS]


def test_there_is_something_to_see() -> None:
    assert [output.split()[0] for _, output in SHOWN] == ["allow", "review", "deny"]
    assert AGENT_SETTINGS
