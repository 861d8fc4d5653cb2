"""The hooks that `cli-guard install` writes start a Python without its packages; a server answers them all the same."""

import subprocess
import sys
from pathlib import Path
from typing import Any

from repositories import Repo

import cli_guard

# Without what prepares a review, so that the runs of a server can be counted.
OF_A_COMMIT = ("-t", "pre-commit", "-t", "commit-msg")


def commit(repo: Repo, name: str, text: str, env: dict[str, str]) -> tuple[int, str]:
    repo.write(name, text)
    repo.git("add", name)
    done = repo.try_git("commit", "-qm", f"Add {name}", env=env)
    return done.code, done.all


def test_a_commit_is_answered_by_the_server_that_the_command_started(
    committed: Repo, servers: Any
) -> None:
    assert committed.guard("install", *OF_A_COMMIT).code == 0
    servers.start(committed)
    code, said = commit(committed, "a.py", "x = 1\n", servers.required)
    assert code == 0, said
    assert servers.runs(committed) == 2, "pre-commit and commit-msg"


def test_without_one_a_hook_does_the_same_by_itself_and_leaves_one(
    committed: Repo, servers: Any
) -> None:
    assert committed.guard("install", *OF_A_COMMIT).code == 0
    code, said = commit(
        committed, "risky.py", "import os\n\nos.system('ls ' + x)\n", servers.env
    )
    assert code != 0 and "code-python-os-command" in said, said
    assert servers.answers(committed)
    again = committed.try_git("commit", "-qm", "Add it", env=servers.required)
    assert again.code != 0 and again.all == said
    assert servers.runs(committed) == 1


def test_what_lies_beside_the_package_stands_in_for_nothing(
    committed: Repo, servers: Any, tmp_path: Path
) -> None:
    """The folder of the package is searched last, as `site` would have it."""
    hook = committed.path / ".git" / "hooks" / "pre-commit"
    assert committed.guard("install").code == 0
    words = hook.read_text()
    assert "-E -P -S" in words and "sys.path.append" in words
    committed.write("json.py", "raise SystemExit(7)\n")
    committed.write("socket.py", "raise SystemExit(7)\n")
    code, said = commit(
        committed, "b.py", "x = 1\n", committed.env | {"PYTHONPATH": str(committed.path)}
    )
    assert code == 0, said


def test_what_asks_the_server_does_without_os() -> None:
    """To load it takes a tenth of the client's time."""
    said = (
        f"import sys; sys.path.append({str(Path(cli_guard.__file__).parent.parent)!r});"
        "from cli_guard.__main__ import run; from cli_guard.server import client;"
        "client.connect(); client.request('run', ['hook', 'pre-commit']); print('os' in sys.modules)"
    )
    command = (sys.executable, "-E", "-P", "-S", "-c", said)
    assert subprocess.run(command, capture_output=True, check=True).stdout == b"False\n"
