"""Where the state of what was run is kept: in the repository, or in the user's own folder."""

from pathlib import Path

import pytest
from repositories import Repo

from cli_guard.errors import CliGuardError
from cli_guard.state.records import state_folder


def test_in_a_repository_and_its_linked_work_trees_it_is_one(
    committed: Repo, tmp_path: Path
) -> None:
    own = committed.path / ".git" / "cli-guard"
    committed.write("sub/a.txt", "")
    committed.git("worktree", "add", "-q", str(tmp_path / "linked"))
    for folder in (committed.path, committed.path / "sub", tmp_path / "linked"):
        assert state_folder(folder, committed.env) == own


@pytest.mark.parametrize(
    ("env", "folder"),
    [
        ({"HOME": "/home/ada"}, "/home/ada/.local/state/cli-guard"),
        ({"HOME": "/home/ada", "XDG_STATE_HOME": "/state"}, "/state/cli-guard"),
        ({"XDG_STATE_HOME": "/state"}, "/state/cli-guard"),
        # A relative path does not count (XDG base directory specification).
        (
            {"HOME": "/home/ada", "XDG_STATE_HOME": "state"},
            "/home/ada/.local/state/cli-guard",
        ),
        ({"HOME": "/home/ada", "XDG_STATE_HOME": ""}, "/home/ada/.local/state/cli-guard"),
        ({}, None),
        ({"HOME": ""}, None),
        ({"HOME": "home", "XDG_STATE_HOME": "./x"}, None),
    ],
)
def test_outside_of_any(
    tmp_path: Path, isolated: dict[str, str], env: dict[str, str], folder: str | None
) -> None:
    whole = {name: value for name, value in isolated.items() if name != "HOME"} | env
    if folder is None:
        with pytest.raises(CliGuardError, match="set HOME or XDG_STATE_HOME"):
            state_folder(tmp_path, whole)
    else:
        assert state_folder(tmp_path, whole) == Path(folder)
