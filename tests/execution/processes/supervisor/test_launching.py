"""How a command is started: alone in a session, as execvp(3) finds it, with all that was ignored as usual again."""

import os
from pathlib import Path

import pytest
from watching import marked

from cli_guard.execution.processes.manager import ProcessManager
from cli_guard.execution.processes.model import ProcessLimits
from cli_guard.execution.processes.supervisor.process_tree import LINUX

pytestmark = pytest.mark.skipif(not LINUX, reason="looks into /proc (proc(5))")


@pytest.mark.parametrize(
    "limits", [None, ProcessLimits(cpu_seconds=60)], ids=["free", "limited"]
)
def test_a_command_has_its_own_session_and_nothing_of_ours(
    manager: ProcessManager, tmp_path: Path, limits: ProcessLimits | None
) -> None:
    show = (
        "ls /proc/self/fd | wc -l; pwd; echo $0 $A; ps -o sid= -p $$ | tr -d ' '; echo $$"
    )
    shown = manager.run(
        show, cwd=tmp_path, env={"A": "b", "PATH": os.environ["PATH"]}, limits=limits
    )
    files, folder, words, session, own = shown.stdout.splitlines()
    # Three streams, and what `ls` looks at.
    assert (files, folder, words.split()[-1]) == ("4", str(tmp_path), "b")
    assert session == own
    status = manager.run(("cat", "/proc/self/status"), limits=limits).stdout
    signals = [
        line
        for line in status.splitlines()
        if line.startswith(("SigBlk", "SigIgn", "SigCgt"))
    ]
    assert len(signals) == 3
    # Of what can be ignored only the two that glibc keeps for itself may be (signal(7), "Real-time signals").
    assert not [line for line in signals if int(line.split()[1], 16) & ~(0b11 << 31)]


@pytest.mark.parametrize(
    "limits", [None, ProcessLimits(cpu_seconds=60)], ids=["free", "limited"]
)
@pytest.mark.parametrize(
    ("name", "mode", "path", "says"),
    [
        ("tool", 0o755, "{folder}", None),
        ("tool", 0o755, "/nonexistent::{folder}", None),
        ("tool", 0o644, "{folder}", "not executable"),
        ("tool", 0o755, "/nonexistent", "not found"),
        ("folder", 0o755, "{folder}", "not executable"),
        ("{folder}/tool", 0o755, "/nonexistent", None),
        ("{folder}/tool/x", 0o755, "/nonexistent", "not found"),
    ],
)
def test_a_program_is_looked_for_as_execvp_does(
    manager: ProcessManager,
    tmp_path: Path,
    limits: ProcessLimits | None,
    name: str,
    mode: int,
    path: str,
    says: str | None,
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "tool").write_text("#!/bin/sh\necho ran\n")
    (tmp_path / "tool").chmod(mode)
    env = {"PATH": path.format(folder=tmp_path)}
    ran = manager.run((name.format(folder=tmp_path),), env=env, limits=limits)
    assert ran.stdout == ("" if says else "ran\n")
    assert (says or "") in (ran.error or "")
    assert ran.success == (says is None)


@pytest.mark.parametrize(
    "limits", [None, ProcessLimits(cpu_seconds=60)], ids=["free", "limited"]
)
@pytest.mark.parametrize("env", [{"A": "x\0y"}, {"A=B": "c"}])
def test_an_environment_that_no_program_takes(
    manager: ProcessManager, limits: ProcessLimits | None, env: dict[str, str], mark: str
) -> None:
    ran = manager.run(("/bin/sleep", mark), env=env, limits=limits)
    assert "a variable has a NUL" in (ran.error or "")
    assert not marked(mark)
    assert manager.run("echo goes on").stdout == "goes on\n"
