"""What the room offers is there by its name, and importing the room starts and loads nothing."""

import subprocess
import sys

import pytest

import cli_guard.execution.processes as room


@pytest.mark.parametrize("name", room.__all__)
def test_every_name_is_there(name: str) -> None:
    assert getattr(room, name).__doc__


def test_a_name_that_is_not_there_is_an_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = room.Nothing  # type: ignore[attr-defined]


def test_importing_it_loads_nothing_heavy() -> None:
    script = (
        "import sys, threading; from cli_guard.execution.processes import ProcessManager; m = ProcessManager();"
        " assert not m.folder.exists(); assert threading.active_count() == 1;"
        " print({'psutil', 'pydantic', 'langgraph', 'click'} & set(sys.modules))"
    )
    done = subprocess.run((sys.executable, "-c", script), capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
