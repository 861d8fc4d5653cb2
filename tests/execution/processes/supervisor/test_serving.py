"""The supervisor and its monitors: few processes, used again, and none that knows two commands."""

import os
import threading
from pathlib import Path

import psutil
import pytest
from watching import eventually, marked

from cli_guard.execution.processes.manager import ProcessManager
from cli_guard.execution.processes.model import Limits
from cli_guard.execution.processes.supervisor.process_tree import LINUX

pytestmark = pytest.mark.skipif(not LINUX, reason="looks into /proc (proc(5))")


def helpers() -> list[psutil.Process]:
    """The supervisor of this process, and its monitors."""
    found = []
    for each in psutil.Process().children(recursive=True):
        try:
            found += [each] if "supervisor.serving" in " ".join(each.cmdline()) else []
        except psutil.Error:
            continue
    return found


def monitors() -> set[int]:
    """Who watches, or waits for a command."""
    known = {each.pid for each in helpers()}
    return {each.pid for each in helpers() if each.ppid() in known}


def open_files(pid: int) -> int:
    """How many descriptors a process has, 0 for one that is gone."""
    try:
        return len(os.listdir(f"/proc/{pid}/fd"))
    except FileNotFoundError:
        return 0


def test_commands_one_after_the_other_need_few_processes(manager: ProcessManager) -> None:
    manager.run("true")
    assert eventually(lambda: len(monitors()) == 2)
    files = {pid: open_files(pid) for pid in monitors()}
    for number in range(40):
        assert manager.run(f"echo {number}; cat", respond="x").stdout == f"{number}\nx"
    # One may begin before the supervisor has heard that the one before has ended.
    assert len(monitors()) < 10
    for pid in monitors() & files.keys():
        assert eventually(lambda pid=pid: open_files(pid) <= files[pid])


def test_monitors_that_are_not_needed_any_more_leave(manager: ProcessManager) -> None:
    threads = [threading.Thread(target=manager.run, args=("sleep 0.5",)) for _ in range(6)]
    for thread in threads:
        thread.start()
    assert eventually(lambda: len(monitors()) == 7)
    for thread in threads:
        thread.join()
    assert eventually(lambda: len(monitors()) == 1)
    assert manager.run("echo again").stdout == "again\n"


def test_who_has_watched_over_a_recorded_process_takes_no_other(
    manager: ProcessManager,
) -> None:
    first, second = (manager.start("true").pid for _ in range(2))
    records = [
        entry for entry in manager._registry.entries() if entry.pid in (first, second)
    ]
    assert len({entry.monitor for entry in records}) == 2
    assert eventually(lambda: not monitors() & {entry.monitor for entry in records})


@pytest.mark.parametrize("who", ["supervisor", "monitor"])
def test_a_helper_that_is_killed_is_replaced(manager: ProcessManager, who: str) -> None:
    assert manager.run("echo before").stdout == "before\n"
    known = monitors()
    for each in helpers():
        if (each.pid in known) == (who == "monitor"):
            each.kill()
            assert eventually(lambda pid=each.pid: not psutil.pid_exists(pid) or gone(pid))
    assert manager.run("echo after").stdout == "after\n"


def gone(pid: int) -> bool:
    """Has it ended, and does it only wait to be reaped?"""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


@pytest.mark.parametrize(
    "limits", [None, Limits(cpu_seconds=60)], ids=["spawned", "forked"]
)
def test_both_ways_to_start_a_command_are_one(
    manager: ProcessManager, tmp_path: Path, limits: Limits | None
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
    "limits", [None, Limits(cpu_seconds=60)], ids=["spawned", "forked"]
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
    limits: Limits | None,
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
    "limits", [None, Limits(cpu_seconds=60)], ids=["spawned", "forked"]
)
@pytest.mark.parametrize("env", [{"A": "x\0y"}, {"A=B": "c"}])
def test_an_environment_that_no_program_takes(
    manager: ProcessManager, limits: Limits | None, env: dict[str, str], mark: str
) -> None:
    ran = manager.run(("/bin/sleep", mark), env=env, limits=limits)
    assert "a variable has a NUL" in (ran.error or "")
    assert not marked(mark)
    assert manager.run("echo goes on").stdout == "goes on\n"
