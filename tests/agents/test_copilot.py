"""Copilot CLI: a hooks file of our own, and arguments that earlier versions sent as text."""

import json
from pathlib import Path

from agents_seen import meaning, payload, send
from in_process import guard
from repositories import Repo


def test_arguments_in_a_text(committed: Repo) -> None:
    data = payload(committed, "copilot", "earlier")
    data["toolArgs"] = json.dumps({"command": "rm -rf /"})
    assert meaning("copilot", send(committed, "copilot", data))[0] == "deny"
    data["toolArgs"] = "{"
    assert send(committed, "copilot", data).code == 2


def test_the_file_is_ours_unless_it_has_more(committed: Repo) -> None:
    path = committed.path / ".github" / "hooks" / "cli-guard.json"
    guard(committed, "install", "--agent", "copilot")
    guard(committed, "uninstall", "--agent", "copilot")
    assert not path.exists()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        json.dumps(
            {"version": 1, "hooks": {"sessionEnd": [{"type": "command", "bash": "true"}]}}
        )
    )
    guard(committed, "install", "--agent", "copilot")
    guard(committed, "uninstall", "--agent", "copilot")
    assert list(json.loads(path.read_text())["hooks"]) == ["sessionEnd"]


def test_the_folder_of_the_user_may_be_elsewhere(committed: Repo, tmp_path: Path) -> None:
    folder = tmp_path / "of copilot"
    env = {"COPILOT_HOME": str(folder)}
    assert (
        guard(committed, "install", "--agent", "copilot", "--where", "user", env=env).code
        == 0
    )
    assert (folder / "hooks" / "cli-guard.json").exists()
