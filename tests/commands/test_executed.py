"""What an attack upon the judge got allowed once, each executed by bash with the harm seen, is not allowed any more.

A row of executed.jsonl is a command with the files and links of an untrusted clone; HOME stands for the home folder.
"""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from examples import examples

from cli_guard.commands import judge
from cli_guard.commands.model import Profile
from cli_guard.execution.context import command_context
from cli_guard.model import Decision

ROWS = (Path(__file__).parent / "executed.jsonl").read_text("utf-8").splitlines()
# What is too long for a row: bounds that were taken for the end of a text.
LONG = [
    "x='a[$(touch X)]'; echo $((echo * x" + " " * 6_000 + "))",
    "x='a[$(touch X)]'; ((echo * x" + " " * 6_000 + "))",
    "x='a[$(touch X)]'; echo $[x" + " " * 6_000 + "]",
    f"sort {{{'a.txt,' * 120}-oX}}",
    f"sort {{a.txt,{'a' * 2_000},-oX}}",
]


def clone(folder: Path, row: dict[str, Any]) -> Path:
    """Make the work tree of a row."""
    folder.mkdir()
    subprocess.run(("git", "init", "-q", folder), check=True)
    files = {
        **dict.fromkeys(["a.txt", *row.get("names", [])], "x\n"),
        **row.get("files", {}),
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    for name, target in row.get("links", {}).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(target.replace("HOME", str(folder.parent)))
    return folder


@examples("line", ROWS)
def test_what_did_harm_is_not_allowed(
    line: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    home = tmp_path_factory.mktemp("home")
    row = json.loads(line)
    env = {"PATH": os.environ["PATH"], "HOME": str(home)}
    context = command_context(clone(home / "clone", row), env, profile=Profile.STRICT)
    assert (
        judge(row["command"].replace("HOME", str(home)), context).verdict
        is not Decision.ALLOW
    )


@examples("command", LONG)
def test_what_is_beyond_a_bound_is_not_allowed(command: str) -> None:
    assert judge(command).verdict is not Decision.ALLOW
