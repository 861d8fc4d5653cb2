"""The public names of the room are in the API, and a new manager starts and loads nothing heavy."""

import subprocess
import sys

import pytest
from examples import table

import cli_guard.api as room

NAMES = [
    name for name, home in room.HOMES.items() if home.startswith("cli_guard.execution")
]


@table("name", NAMES)
def test_every_name_is_there(name: str) -> None:
    assert getattr(room, name).__doc__


def test_a_name_that_is_not_there_is_an_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = room.Nothing  # type: ignore[attr-defined]


def test_importing_it_loads_nothing_heavy() -> None:
    script = (
        "import sys, threading; from cli_guard.execution.processes.manager import ProcessManager; m = ProcessManager();"
        " assert not m.folder.exists(); assert threading.active_count() == 1;"
        " print({'psutil', 'pydantic', 'langgraph', 'click'} & set(sys.modules))"
    )
    done = subprocess.run(
        (sys.executable, "-c", script), capture_output=True, text=True, check=True
    )
    assert done.stdout == "set()\n"
